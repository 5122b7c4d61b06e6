package probe

import (
	"math"

	"teapot/probe/event"
)

// grow adds a stream, with a goroutine that sends its requests.
func (l *looper) grow(now int64, n int) {
	s := &slot{n: uint32(len(l.slots)), jobs: make(chan job)}
	s.ready = now + int64(stagger(len(l.slots), n))
	l.slots = append(l.slots, s)
	sender := l.r.newSender(l.ep, s.n)
	go func() {
		defer sender.line.close()
		for j := range s.jobs {
			out := sender.do(l.r.work, j)
			l.r.floor.memory.between(l.r.flying.Load() - 1)
			l.results <- result{s, j, out}
		}
	}()
}

// closed sends on every stream whose pause is over.
func (l *looper) closed(set *settings, allowed int) (next int64) {
	next = math.MaxInt64
	for _, s := range l.slots[:min(allowed, len(l.slots))] {
		now := l.r.clk.Now()
		switch {
		case s.busy || l.flying >= allowed:
		case s.ready > now:
			next = min(next, s.ready)
		default:
			if s.timed && s.ready >= l.freed {
				l.r.floor.lagged(now - s.ready)
			}
			if !l.send(s, set, 0) {
				return next
			}
		}
	}
	return next
}

// open sends what the schedule wants, on the lowest free lanes.
func (l *looper) open(set *settings, allowed int) (next int64) {
	for _, s := range l.slots[:min(allowed, len(l.slots))] {
		if s.busy || l.flying >= allowed || s.ready > l.r.clk.Now() {
			continue
		}
		at, ok := l.sched.take()
		if !ok {
			break
		}
		if s.ready <= at && at >= l.freed { // a lane was free in time, so being late is ours
			l.r.floor.lagged(l.r.clk.Now() - at)
		}
		if !l.send(s, set, at) {
			break
		}
	}
	return l.sched.next
}

// send hands a request to a stream. It is false when no request may be made.
func (l *looper) send(s *slot, set *settings, scheduled int64) bool {
	load := &l.r.cfg.Load
	warmup := l.warm > 0 && (l.health.failures == 0 || l.health.anew) || l.health.state == event.StateLoading
	switch {
	case !warmup && l.warming > 0: // measuring begins when warming up is over
		return false
	case !warmup && load.Requests > 0 && l.sent >= load.Requests:
		return false
	}
	if !l.r.budget.take(set.maxTokens + set.promptTokens) {
		l.spent = l.flying == 0 || l.spent
		return false
	}
	l.ordinal++
	j := job{ordinal: l.ordinal, scheduled: scheduled, warmup: warmup, asked: set.maxTokens, prompt: set.promptTokens, trial: l.health.trying, serial: set.serial}
	switch {
	case !warmup:
		l.sent++
		l.began()
	default:
		if l.health.state != event.StateLoading {
			l.warm--
			if !l.health.trying { // else it is not known yet whether the target is back
				l.announce(event.StateWarmup, "")
			}
		}
		l.warming++
	}
	l.flying++
	l.r.flying.Add(1)
	s.busy = true
	s.jobs <- j
	return true
}
