//go:build unix && !linux

package probe

import "golang.org/x/sys/unix"

// setNice asks for a nice value for the whole process. It stays as it is where
// that is not allowed.
func setNice(n int) {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, n)
}

// niceValue is the nice value of the process, 0 when it cannot be read.
func niceValue() int {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return n
}

// resident is the memory of the process in bytes; 0, unknown, on this system.
func resident() int64 { return 0 }

// setSlice does nothing on this system.
func setSlice(int64) {}

// sliceValue is 0, unknown, on this system.
func sliceValue() int64 { return 0 }
