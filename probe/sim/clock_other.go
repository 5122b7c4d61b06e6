//go:build !linux

package sim

import "runtime"

// SystemClock is the most exact clock of this system.
func SystemClock() Clock { return RuntimeClock() }

// ownThread gives the calling goroutine a thread for itself.
func ownThread() { runtime.LockOSThread() }
