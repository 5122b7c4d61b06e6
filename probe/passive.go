package probe

import (
	"errors"
	"fmt"
	"time"

	"teapot/probe/engine"
	"teapot/probe/event"
)

const (
	watchEvery = time.Second // between two questions whether the looks still find it
	missesDown = 2           // looks in a row that nobody answered, before it is asked anew what is there
)

// watching keeps the state of a target that is only watched: it is found out
// what it is, by questions that ask for no token, and again when the looks at it
// find nobody. It returns when to come back, in ns of the session's clock.
func (l *looper) watching(now int64) (next int64) {
	if l.health.hold > now {
		return l.health.hold
	}
	if l.health.known && l.ep.misses.Load() < missesDown {
		return now + int64(watchEvery)
	}
	err := l.ep.detect(l.r.asking)
	if l.r.asking.Err() != nil {
		return now + int64(time.Hour)
	}
	if l.detected(err); l.health.hold > now { // its model is being loaded
		return l.health.hold
	}
	if now = l.r.clk.Now(); err != nil && !l.ep.signalled.Load() {
		return l.away(now, err)
	}
	back := l.everOK && l.health.state == event.StateDown
	l.everOK = true
	l.health.trying, l.health.failures, l.health.backoff = false, 0, 0
	l.ep.misses.Store(0)
	if back {
		l.r.in.put(&event.Mark{At: now, Label: l.ep.shown + " answers again", Auto: true})
	}
	l.began()
	return now + int64(watchEvery)
}

// away notes that a target which is only watched does not answer.
func (l *looper) away(now int64, err error) (next int64) {
	h := &l.health
	h.failures++
	h.backoff = min(max(firstBackoff, 2*h.backoff), mostBackoff)
	h.known, h.hold = false, now+int64(h.backoff)
	why := err.Error()
	var refused *engine.StatusError
	if !errors.As(err, &refused) {
		class := connectClass(err, "")
		why = describe(class, err)
	}
	l.announce(event.StateDown, fmt.Sprintf("%s, next try in %s", why, seconds(h.backoff)))
	return h.hold
}
