package probe

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// setNice asks for a nice value for every thread of the process. It stays as
// it is where that is not allowed.
func setNice(n int) {
	eachThread(func(tid int) { _ = unix.Setpriority(unix.PRIO_PROCESS, tid, n) })
}

// setSlice asks the scheduler for slices of ns for every thread: a thread that
// wants to run briefly is then let in sooner among those that run for long,
// which takes nothing from them. Anybody may ask; kernels before 6.12 take no
// notice.
func setSlice(ns int64) {
	eachThread(func(tid int) {
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_NORMAL {
			attr.Runtime = uint64(ns)
			_ = unix.SchedSetAttr(tid, attr, 0)
		}
	})
}

// sliceValue is the slice of the process's first thread in ns, 0 when the
// kernel does not tell.
func sliceValue() int64 {
	attr, err := unix.SchedGetAttr(os.Getpid(), 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return 0
	}
	return int64(attr.Runtime)
}

// eachThread calls do for every thread of the process: what the scheduler is
// told belongs to the thread, and new ones take it from the one that starts
// them. A thread that was started meanwhile by one that had not been told is
// found on another look.
func eachThread(do func(tid int)) {
	told := map[int]bool{}
	for range 10 {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			do(0) // this one, at least
			return
		}
		before := len(told)
		for _, e := range entries {
			if tid, err := strconv.Atoi(e.Name()); err == nil && !told[tid] {
				told[tid] = true
				do(tid)
			}
		}
		if len(told) == before {
			return
		}
	}
}

// niceValue is the nice value of the process's first thread, 0 when it cannot
// be read. The system call itself returns 20 minus the value.
func niceValue() int {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid())
	if err != nil {
		return 0
	}
	return 20 - raw
}

// resident is the anonymous memory of the process that is in RAM, in bytes; 0
// when it cannot be read.
func resident() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(status, []byte("\nRssAnon:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(line), []byte("kB")))), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
