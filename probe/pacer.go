package probe

import (
	"math"
	"math/rand/v2"
	"time"
)

// A Pacer is the schedule of an open loop: a pure function from the number of
// an arrival to its time. It knows nothing of what became of the requests, so
// a slow server cannot slow the schedule down.
type Pacer interface {
	// Arrival gives the offset from the start of the schedule of arrival i,
	// counted from 0, when arrival i-1 was at prev (0 for the first). It never
	// goes back and never overflows: an arrival beyond the range of a Duration
	// is at its maximum, which means never.
	Arrival(i uint64, prev time.Duration) time.Duration
}

var (
	_ Pacer = Constant{}
	_ Pacer = Poisson{}
)

// never is the offset of an arrival that does not come.
const never = time.Duration(math.MaxInt64)

// Constant spaces arrivals evenly: arrival i is at i/Rate seconds.
type Constant struct {
	Rate float64 // requests/s; an arrival never comes unless it is positive and finite
}

// Arrival is computed from i alone, so that rounding does not add up.
func (c Constant) Arrival(i uint64, prev time.Duration) time.Duration {
	if !usable(c.Rate) {
		return never
	}
	return max(prev, span(float64(i)/c.Rate))
}

// Poisson makes arrivals that know nothing of each other: the times between
// two are exponential with mean 1/Rate, the way independent users arrive. The
// same seed gives the same schedule.
type Poisson struct {
	Rate float64 // requests/s; an arrival never comes unless it is positive and finite
	Seed uint64
}

// Arrival adds the i-th interval, which depends on Seed and i alone.
func (p Poisson) Arrival(i uint64, prev time.Duration) time.Duration {
	if !usable(p.Rate) {
		return never
	}
	var src rand.PCG
	src.Seed(p.Seed, i)
	gap := span(rand.New(&src).ExpFloat64() / p.Rate)
	if gap > never-prev {
		return never
	}
	return prev + gap
}

// usable tells whether a rate makes arrivals at all.
func usable(rate float64) bool { return rate > 0 && !math.IsInf(rate, 1) }

// span turns seconds into a Duration, with never for what does not fit.
func span(seconds float64) time.Duration {
	ns := math.Round(seconds * 1e9)
	if !(ns < math.MaxInt64) {
		return never
	}
	return time.Duration(ns)
}

// newPacer picks the pacer of a load: Poisson if asked for, else constant.
func newPacer(arrival string, rate float64, seed uint64) Pacer {
	if arrival == "poisson" {
		return Poisson{Rate: rate, Seed: seed}
	}
	return Constant{Rate: rate}
}

// ready tells when a stream of the closed loop sends again, in ns of the
// session's clock: a pause after its request ended.
func ready(ended int64, pause time.Duration) int64 {
	if pause <= 0 {
		return ended
	}
	if ended > math.MaxInt64-int64(pause) {
		return math.MaxInt64
	}
	return ended + int64(pause)
}

// stagger tells how long after the others the stream of a slot starts, so
// that n streams do not begin at one instant: 20 ms apart, all within 1 s.
func stagger(slot, n int) time.Duration {
	if n <= 1 || slot <= 0 {
		return 0
	}
	step := min(20*time.Millisecond, time.Second/time.Duration(n))
	return time.Duration(min(slot, n)) * step
}

// maxBacklog is how many due arrivals wait for a free lane. They are sent late
// and keep their scheduled time; arrivals beyond them are skipped and counted,
// so that a target which cannot keep up costs no unbounded memory.
const maxBacklog = 256

// schedule walks a Pacer on the session's clock and keeps what is due.
type schedule struct {
	pacer Pacer
	start int64 // session time of offset 0
	i     uint64
	prev  time.Duration
	next  int64 // session time of the next arrival; MaxInt64 when none comes
	queue []int64
	// turn is how much later than at its time arrival i goes out, ns; nil: not at
	// all.
	turn func(i uint64) int64
}

// newSchedule begins at start, in ns of the session's clock.
func newSchedule(p Pacer, start int64) *schedule {
	s := &schedule{pacer: p, start: start}
	s.step()
	return s
}

// step finds the next arrival.
func (s *schedule) step() {
	if s.prev == never {
		s.next = math.MaxInt64
		return
	}
	s.prev = s.pacer.Arrival(s.i, s.prev)
	s.i++
	s.next = math.MaxInt64
	if int64(s.prev) < math.MaxInt64-max(s.start, 0) {
		s.next = s.start + int64(s.prev)
		if s.turn != nil {
			s.next += s.turn(s.i - 1)
		}
	}
}

// advance queues the arrivals that are due at now, and returns how many did
// not fit into the backlog and are lost.
func (s *schedule) advance(now int64) (skipped int) {
	for s.next <= now && s.next != math.MaxInt64 {
		if len(s.queue) < maxBacklog {
			s.queue = append(s.queue, s.next)
		} else {
			skipped++
		}
		s.step()
	}
	return skipped
}

// take hands out the longest waiting arrival.
func (s *schedule) take() (at int64, ok bool) {
	if len(s.queue) == 0 {
		return 0, false
	}
	at = s.queue[0]
	s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	return at, true
}

// clear forgets the backlog and returns how many arrivals that were.
func (s *schedule) clear() int {
	n := len(s.queue)
	s.queue = s.queue[:0]
	return n
}
