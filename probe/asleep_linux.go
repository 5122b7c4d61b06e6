package probe

import "golang.org/x/sys/unix"

// asleep is for how long this machine has been suspended since it was started,
// in ns: one clock goes on then, and the other stands still.
func asleep() int64 {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0
	}
	return max(boot.Nano()-mono.Nano(), 0)
}
