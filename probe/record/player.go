package record

import (
	"math"
	"time"

	"teapot/probe/event"
)

// early is how far ahead of its instant an event may be given: a timer per
// event would cost more than it brings.
const early = time.Millisecond

// Player gives the events of a recording at the pace at which they happened.
type Player struct {
	// Now is the clock; time.Now unless set before the first Next.
	Now func() time.Time

	next  func() (event.Event, error)
	speed float64
	sleep func(time.Duration)

	began bool
	first int64     // the time of the first event, ns
	start time.Time // when it was given
}

// NewPlayer paces the events of next. With speed 2 an hour takes half an hour;
// speed 0, or one that makes no sense, means as fast as possible. sleep nil is
// time.Sleep.
func NewPlayer(next func() (event.Event, error), speed float64, sleep func(time.Duration)) *Player {
	if !(speed > 0) || math.IsInf(speed, 1) {
		speed = 0
	}
	if sleep == nil {
		sleep = time.Sleep
	}
	return &Player{Now: time.Now, next: next, speed: speed, sleep: sleep}
}

// Next returns the next event when it is due. The schedule is absolute: every
// event has its instant counted from the first one, so a sleep that was too
// long shortens those after it. An event that is older than one before it comes
// at once. Errors are those of the source, at once.
func (p *Player) Next() (event.Event, error) {
	ev, err := p.next()
	if err != nil || ev == nil || p.speed == 0 {
		return ev, err
	}
	if !p.began {
		p.began, p.first, p.start = true, ev.Time(), p.Now()
		return ev, nil
	}
	// In floats the difference of two arbitrary times cannot overflow.
	due := (float64(ev.Time()) - float64(p.first)) / p.speed
	wait := due - float64(p.Now().Sub(p.start))
	if wait >= float64(early) {
		p.sleep(time.Duration(min(wait, math.MaxInt64/2)))
	}
	return ev, nil
}
