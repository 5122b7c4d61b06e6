package probe

import (
	"math"
	"sync"
)

// abreast has the open loops of all targets keep one schedule: arrival i is at
// the same instant everywhere, so that what happens to the world, and to this
// client, happens to all of them. They go out one shortly after the other, and
// who goes first changes with every arrival, for the first one may find caches
// cold and the last one may find this client busy.
type abreast struct {
	mu   sync.Mutex
	rate float64
	at   int64
}

// apart is how long after the one before a target sends, ns, at most: long
// enough that their order is kept, and nothing beside the time of a reply.
const apart = int64(1e6)

// since is when the schedule of a rate began, ns of the session's clock: when
// the first target asked for it.
func (a *abreast) since(rate float64, now int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rate != rate {
		a.rate, a.at = rate, now
	}
	return a.at
}

// turns tells how long after the common instant target who of n sends arrival i.
func turns(who, n int, rate float64) func(i uint64) int64 {
	step := apart
	if rate > 0 && n > 0 {
		step = min(step, int64(math.Min(1e9/(4*rate*float64(n)), 1e9)))
	}
	return func(i uint64) int64 {
		return int64((uint64(who)+i)%uint64(max(n, 1))) * step
	}
}

// schedule is the open loop's schedule of a target. Among several it is the
// common one, and what of it is in the past was never wanted of this target.
func (l *looper) schedule(rate float64, now int64) *schedule {
	load := &l.r.cfg.Load
	p, n := newPacer(load.Arrival, rate, load.Seed), len(l.r.cfg.Targets)
	if n < 2 || !l.measuring {
		return newSchedule(p, now)
	}
	return newTurns(p, l.r.abreast.since(rate, now), now, turns(int(l.ep.id)-1, n, rate))
}

// newTurns is a schedule that began at start and goes on at now; its arrivals
// come later by turn.
func newTurns(p Pacer, start, now int64, turn func(i uint64) int64) *schedule {
	s := &schedule{pacer: p, start: start, turn: turn}
	for s.step(); s.next < now; {
		s.step()
	}
	return s
}
