// Package stamp says when bytes arrived. It holds the session's clock, a
// net.Conn whose reads carry the kernel's receive time where that can be had
// (Linux) and the time of the read elsewhere, the heartbeat that knows when
// this process itself could not run, and the rule that tells a true burst from
// events that were merged because they were taken late.
//
// It must not parse what it reads, keep it, or allocate on the way of a byte;
// it knows nothing of HTTP, of events or of statistics.
package stamp

import "time"

// Clock is the clock of one session: nanoseconds since it was made, which never
// step, and the wall-clock instant of that zero. It is safe for concurrent use.
type Clock struct {
	start time.Time
	wall  int64
}

// NewClock starts a session's clock at 0, now.
func NewClock() *Clock {
	now := time.Now()
	return &Clock{start: now, wall: now.UnixNano()}
}

// Now is the time since the start in nanoseconds, from the monotonic clock.
func (k *Clock) Now() int64 { return int64(time.Since(k.start)) }

// Wall is the wall-clock instant of the session's 0, in Unix nanoseconds, as it
// was believed when the clock was made; later steps do not change it.
func (k *Clock) Wall() int64 { return k.wall }

// pairSlop is how far apart in ns the two halves of a pair may be read. A pair
// is about 0.1 µs wide unless this thread was interrupted in its middle.
const pairSlop = 5_000

// Pair reads both clocks as one instant: mono in ns since the start, wall in
// Unix ns. Should the thread be interrupted between the two, it tries again, so
// that the difference of the halves is good to some microseconds even on a busy
// machine.
func (k *Clock) Pair() (mono, wall int64) {
	for range 4 {
		before := k.Now()
		both := time.Now() // reads the wall clock first, then the monotonic one
		mono, wall = int64(both.Sub(k.start)), both.UnixNano()
		if mono-before <= pairSlop {
			break
		}
	}
	return mono, wall
}
