package sim

import "time"

// Clock is the time an engine lives by.
type Clock interface {
	// Now is the monotonic time in nanoseconds. Its zero is the clock's own.
	Now() int64
	// SleepUntil returns at t, or as soon after it as the machine allows; at
	// once when t has passed. Only the decode loop calls it.
	SleepUntil(t int64)
	// Name says which clock it is, for the head of the truth log.
	Name() string
}

// RuntimeClock is the portable clock: the monotonic time and the timers of the
// Go runtime. Its sleeps end up to about a millisecond late; in a bubble of
// testing/synctest they take no time at all.
func RuntimeClock() Clock { return &runtimeClock{base: time.Now()} }

type runtimeClock struct{ base time.Time }

func (c *runtimeClock) Now() int64         { return int64(time.Since(c.base)) }
func (c *runtimeClock) Name() string       { return "process" }
func (c *runtimeClock) SleepUntil(t int64) { time.Sleep(time.Duration(t - c.Now())) }
