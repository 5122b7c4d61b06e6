package accuracy

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// monotonic is CLOCK_MONOTONIC in ns, which every process of this machine reads
// alike.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// sleep waits without Go's timers, which a busy scheduler may keep waiting.
func sleep(ns int64) {
	t := unix.NsecToTimespec(ns)
	_ = unix.Nanosleep(&t, nil)
}

// privilege asks for real-time priority and for the last core, for this thread.
func privilege() (realtime, pinned bool) {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 10}
	realtime = unix.SchedSetAttr(0, &attr, 0) == nil
	if n := runtime.NumCPU(); n > 1 {
		var set unix.CPUSet
		set.Set(n - 1)
		pinned = unix.SchedSetaffinity(0, &set) == nil
	}
	return realtime, pinned
}

// busy is the CPU time that the whole machine has spent working, in ns, and the
// part of it of this process and of those that it has waited for.
func busy() (all, ours int64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	for i, f := range strings.Fields(line) {
		if i == 0 || i == 4 || i == 5 || i > 7 { // the name, idle, waiting; guests are in user
			continue
		}
		ticks, _ := strconv.ParseInt(f, 10, 64)
		all += ticks * 1e7 // USER_HZ is 100 on every Linux
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			ours += u.Utime.Nano() + u.Stime.Nano()
		}
	}
	return all, ours
}
