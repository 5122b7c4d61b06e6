package stats

import (
	"strconv"
	"time"

	"teapot/probe/event"
)

const (
	// silence is how long the heartbeat, ten times a second, must stay away for
	// the probe not to have been running: stopped, or asleep with its machine.
	silence = 2 * second
	// A heartbeat is missed only where it had been regular: so many in a row
	// that came no further apart than this.
	beatsRegular = 10
	beatApart    = second

	keptPauses = 16

	// A step of the wall clock, against the monotonic one, that is worth a word.
	clockStep = second
)

// pause is a span of time in which the probe was not running.
type pause struct{ from, to int64 }

// pauses finds out from the heartbeat when the probe was not running. What
// spans such a time is nobody's latency.
type pauses struct {
	list    []pause // the last few, oldest first
	last    int64   // the newest heartbeat
	regular int     // heartbeats in a row
	wall    int64   // wall minus monotonic at the last heartbeat; 0 before it
}

// spans tells whether the probe was stopped at some time within from..to, ns.
// read is when the event at the end was read: a heartbeat that was due long
// before then tells of a pause that no heartbeat has yet closed.
func (p *pauses) spans(from, to, read int64) bool {
	for _, x := range p.list {
		if from < x.to && to > x.from {
			return true
		}
	}
	return p.regular >= beatsRegular && read-p.last >= silence && to > p.last
}

// beat takes one heartbeat and returns the span, in ns, for which the probe was
// stopped before it, 0 for none. asleep is the part that the session's clock
// did not count.
func (p *pauses) beat(ev *event.Floor) (stopped int64) {
	apart := ev.At - p.last
	asleep := min(max(ev.Asleep, 0), maxTime)
	switch {
	case p.regular >= beatsRegular && apart >= silence:
		stopped = apart
	case asleep >= silence:
		stopped = max(apart, 1)
	}
	if stopped > 0 {
		p.list = append(p.list, pause{ev.At - stopped, ev.At})
		if len(p.list) > keptPauses {
			p.list = append(p.list[:0], p.list[1:]...)
		}
		stopped += asleep
	}
	if apart < 0 || apart > beatApart {
		p.regular = 0
	}
	p.regular++
	p.last = max(p.last, ev.At)
	return stopped
}

// lost notes that events were dropped: a heartbeat may have been among them.
func (p *pauses) lost(at int64) { p.last, p.regular = max(p.last, at), 0 }

// step returns by how many ns the wall clock was set between this heartbeat and
// the one before, 0 when it ran on. asleep is no step. No figure depends on it.
func (p *pauses) step(ev *event.Floor) int64 {
	if ev.Wall == 0 {
		return 0
	}
	before := p.wall
	p.wall = ev.Wall - ev.At
	if before == 0 {
		return 0
	}
	by := p.wall - before - max(ev.Asleep, 0)
	if by > -clockStep && by < clockStep {
		return 0
	}
	return by
}

// stopped makes a pause of the probe an event on the lane.
func (a *Aggregator) stopped(ev *event.Floor, span int64) {
	a.lane.put(ev.At, LaneSuspended, 0, "suspended "+seconds(span))
	s := &a.floor.session
	s.Suspensions++
	s.Suspended += span
}

// stepped makes a step of the wall clock an event on the lane.
func (a *Aggregator) stepped(ev *event.Floor, by int64) {
	way := "set forward "
	if by < 0 {
		way, by = "set back ", -by
	}
	a.lane.put(ev.At, LaneClock, 0, "wall clock "+way+seconds(by))
	a.floor.session.ClockSteps++
}

// seconds writes a long span: "12 s", "2.5 s", "1 h 0 min".
func seconds(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " min"
	case d >= 10*time.Second:
		return strconv.Itoa(int(d.Round(time.Second).Seconds())) + " s"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}
