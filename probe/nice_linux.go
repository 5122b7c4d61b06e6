package probe

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// setNice asks for a nice value for every thread of the process: on Linux it
// belongs to the thread, and new threads take that of the one that starts
// them. It stays as it is where that is not allowed.
func setNice(n int) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, n)
		return
	}
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, n)
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
