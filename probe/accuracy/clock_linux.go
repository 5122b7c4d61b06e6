package accuracy

import (
	"runtime"

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
