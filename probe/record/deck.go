package record

import (
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"teapot/probe/event"
)

// The speeds that a Deck can be set to by doubling and halving.
const (
	slowest = 1.0 / 16
	fastest = 1024
)

// early is how far ahead of its instant an event may be given: a timer per
// event would cost more than it brings.
const early = time.Millisecond

// Deck plays a recording for somebody who pauses it, changes its pace and goes
// to another instant. One goroutine calls Next; all else may be called by any.
type Deck struct {
	// Now is the clock; time.Now unless set before the first Next.
	Now func() time.Time
	// Restart is what Next returns where it begins anew, to go back: what it gave
	// before is void.
	Restart error
	// AtEnd, unless nil, is called by Next each time the end is reached.
	AtEnd func()
	// Idle, unless nil, is called by Next before it waits for somebody to do
	// something.
	Idle func()

	open    func() (func() (event.Event, error), error)
	next    func() (event.Event, error)
	held    event.Event // read, and not due yet
	opened  error       // of the last open
	changed chan struct{}

	mu      sync.Mutex
	began   bool
	first   int64 // time of the first event, ns
	end     int64 // of the last one; 0 unknown
	at      int64 // of the newest one given
	goal    int64 // to be gone to as fast as possible
	seeking bool
	rewind  bool
	speed   float64
	paused  bool
	over    bool
	stopped bool
	from    time.Time // the instant at which
	fromAt  int64     // this time of the recording was due
}

// NewDeck plays the events that open's function gives. With speed 2 an hour
// takes half an hour; speed 0, or one that makes no sense, means as fast as
// possible. The schedule is absolute, so that a wait which was too long shortens
// those after it, and an event older than one before it comes at once. open is called for every beginning. end is the time of the last
// event, 0 where nobody knows it.
func NewDeck(open func() (func() (event.Event, error), error), end int64, speed float64) (*Deck, error) {
	if !(speed > 0) || math.IsInf(speed, 1) {
		speed = 0
	}
	next, err := open()
	if err != nil {
		return nil, err
	}
	return &Deck{Now: time.Now, open: open, next: next, end: end, speed: speed, changed: make(chan struct{}, 1)}, nil
}

// Next returns the next event when it is due. At the end it waits for somebody
// to go back; after Stop it returns io.EOF. Other errors are those of the
// source, and Restart.
func (d *Deck) Next() (event.Event, error) {
	for {
		if again, err := d.again(); again || err != nil {
			return nil, err
		}
		if d.held == nil && !d.isOver() {
			ev, err := d.next()
			switch {
			case errors.Is(err, io.EOF):
				d.finish()
			case err != nil:
				return nil, err
			case ev == nil:
				return nil, nil
			}
			d.held = ev
		}
		if wait := d.wait(); wait > 0 {
			d.sleep(wait)
			continue
		}
		ev := d.held
		d.held = nil
		return ev, nil
	}
}

// again begins anew where that was asked for.
func (d *Deck) again() (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return true, io.EOF
	}
	if !d.rewind {
		return false, nil
	}
	next, err := d.open()
	if err != nil {
		return true, err
	}
	d.next, d.held = next, nil
	d.rewind, d.over, d.began = false, false, false
	return true, d.Restart
}

func (d *Deck) isOver() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

func (d *Deck) finish() {
	d.mu.Lock()
	d.over, d.seeking = true, false
	d.end = max(d.end, d.at)
	d.mu.Unlock()
	if d.AtEnd != nil {
		d.AtEnd()
	}
}

const forever = time.Duration(math.MaxInt64)

// wait is how long the event held is not due yet; it counts as given when it is
// due.
func (d *Deck) wait() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stopped || d.rewind:
		return 1 // look again
	case d.held == nil:
		return forever
	}
	t := d.held.Time()
	if !d.began {
		d.began, d.first, d.at = true, t, t
		d.anchor(t)
		return 0
	}
	if d.seeking && t > d.goal {
		d.seeking, d.at = false, max(d.at, d.goal)
		d.anchor(d.at)
	}
	switch {
	case d.seeking:
	case d.paused:
		return forever
	case d.speed > 0:
		// In floats the difference of two arbitrary times cannot overflow.
		due := (float64(t) - float64(d.fromAt)) / d.speed
		if left := due - float64(d.Now().Sub(d.from)); left >= float64(early) {
			return time.Duration(min(left, math.MaxInt64/2))
		}
	}
	d.at = max(d.at, t)
	return 0
}

// anchor has a time of the recording be due now; mu is held.
func (d *Deck) anchor(at int64) { d.from, d.fromAt = d.Now(), at }

func (d *Deck) sleep(wait time.Duration) {
	if wait == forever {
		if d.Idle != nil {
			d.Idle()
		}
		<-d.changed
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-d.changed:
	case <-t.C:
	}
}

// wake has Next look again.
func (d *Deck) wake() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// position is the time of the recording that is due now; mu is held.
func (d *Deck) position() int64 {
	at := d.at
	if d.began && !d.paused && !d.seeking && !d.over && d.speed > 0 {
		played := float64(d.Now().Sub(d.from)) * d.speed
		at = max(at, d.fromAt+int64(min(played, math.MaxInt64/4)))
	}
	if d.end > 0 {
		at = min(at, d.end)
	}
	return at
}

// Pause holds the recording, or lets it go on. It says whether it is held now.
func (d *Deck) Pause() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.position()
	d.paused = !d.paused
	d.anchor(d.at)
	d.wake()
	return d.paused
}

// Faster multiplies the speed and returns it, 0 being as fast as possible.
func (d *Deck) Faster(by float64) float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = d.position()
	switch {
	case d.speed > 0:
		d.speed = min(max(d.speed*by, slowest), fastest)
	case by < 1:
		d.speed = fastest
	}
	d.anchor(d.at)
	d.wake()
	return d.speed
}

// GoTo goes to an instant, ns of the recording's clock, within its bounds.
func (d *Deck) GoTo(to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.position()
	if d.end > 0 {
		to = min(to, d.end)
	}
	d.goal, d.seeking = max(to, d.first), true
	if d.goal < at {
		d.rewind, d.at = true, d.goal
	}
	d.wake()
}

// Stop has Next return io.EOF from now on.
func (d *Deck) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.wake()
}

// Position is the time of the recording now, or the one that is gone to, and
// its bounds, ns; end is 0 where nobody knows it.
func (d *Deck) Position() (at, first, end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seeking {
		return d.goal, d.first, d.end
	}
	return d.position(), d.first, d.end
}

// Pace is the speed, 0 being as fast as possible, and whether the recording is
// held, on its way to another instant, or at its end.
func (d *Deck) Pace() (speed float64, paused, seeking, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.speed, d.paused, d.seeking || d.rewind, d.over
}
