package stats

import "teapot/probe/event"

// keptBeats is how many heartbeats are remembered: about a minute and a half.
const keptBeats = 900

// beatsLog remembers the newest heartbeats and losses, so that a spike can be
// held against this client at the same time.
type beatsLog struct {
	ring  [keptBeats]lastBeat
	count int
}

// lastBeat is one heartbeat with the span that it speaks of.
type lastBeat struct {
	from, at int64
	Stretch
}

// take remembers a heartbeat.
func (b *beatsLog) take(ev *event.Floor, from int64, paused bool) {
	s := Stretch{
		Overshoot: within(ev.Overshoot), Lag: within(ev.Lag), GC: uint64(ev.GC), Paused: paused, Known: true,
		GCPause: within(ev.GCPause), Sched: within(ev.Sched), Steal: within(ev.Steal),
	}
	if len(ev.Late) > 2 {
		s.Late = within(ev.Late[2])
	}
	b.put(lastBeat{from, ev.At, s})
}

// lost remembers that events were dropped.
func (b *beatsLog) lost(ev *event.Dropped) {
	b.put(lastBeat{ev.At, ev.At, Stretch{Dropped: ev.Events}})
}

func (b *beatsLog) put(l lastBeat) {
	b.ring[b.count%keptBeats] = l
	b.count++
}

// over sums up what this client added over the span from..to.
func (b *beatsLog) over(from, to int64) (s Stretch) {
	for n := 1; n <= min(b.count, keptBeats); n++ {
		l := &b.ring[(b.count-n)%keptBeats]
		if l.at <= from {
			break
		}
		if l.from > to {
			continue
		}
		// Asleep it was at most for what the two spans have in common.
		s.Overshoot = max(s.Overshoot, min(l.Overshoot, min(l.at, to)-max(l.from, from)))
		s.Late, s.Lag = max(s.Late, l.Late), max(s.Lag, l.Lag)
		s.GCPause, s.Sched = max(s.GCPause, l.GCPause), max(s.Sched, l.Sched)
		s.Steal = within(s.Steal + l.Steal)
		s.GC += l.GC
		s.Dropped += l.Dropped
		s.Paused = s.Paused || l.Paused
		s.Known = s.Known || l.Known && l.at >= to
	}
	return s
}
