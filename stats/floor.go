package stats

import "teapot/probe/event"

// What makes this client's own part worth a word on the title line.
const (
	floorMinute = int64(60) // seconds
	lateWord    = int64(1e6)
	lagWord     = int64(10e6)
)

// beat is what one second of heartbeats said.
type beat struct {
	sec                     int64
	overshoot, lag, lateMax int64
	dropped                 uint64
}

// floor sums up what this client itself added.
type floor struct {
	source  string
	late    *dist // of every token that carries a kernel stamp, ns
	beats   [floorMinute]beat
	session Floor // the counters of the session and the newest readings
	lastAt  int64
}

func (f *floor) beat(at int64) *beat {
	sec := at / second
	b := &f.beats[sec%floorMinute]
	if b.sec != sec {
		*b = beat{sec: sec}
	}
	return b
}

// token takes one token's lateness.
func (f *floor) token(ev *event.Token) {
	if ev.Late > 0 {
		f.late.record(ev.At, ev.Late, 1, ev.Late)
	}
	if ev.Merged {
		f.session.Merged++
	}
}

// heartbeat takes one heartbeat.
func (f *floor) heartbeat(ev *event.Floor) {
	b := f.beat(ev.At)
	b.overshoot = max(b.overshoot, ev.Overshoot)
	b.lag = max(b.lag, ev.Lag)
	if len(ev.Late) > 2 {
		b.lateMax = max(b.lateMax, ev.Late[2])
	}
	s := &f.session
	s.SessionOvershoot = max(s.SessionOvershoot, ev.Overshoot)
	s.Reads += ev.Reads
	s.GC += uint64(ev.GC)
	if ev.Overshoot >= hostStall {
		s.HostStalls++
	}
	if ev.RTT > 0 {
		s.RTT = ev.RTT
	}
	if ev.RSS > 0 {
		s.RSS = ev.RSS
	}
	f.lastAt = ev.At
}

func (f *floor) lost(ev *event.Dropped) {
	f.session.DroppedTexts += ev.Texts
	f.session.DroppedEvents += ev.Events
	f.beat(ev.At).dropped += ev.Events
}

// view tells the floor as of the instant now.
func (f *floor) view(now int64) Floor {
	v := f.session
	v.Source = f.source
	sec := now / second
	dropped := uint64(0)
	for _, b := range f.beats {
		if b.sec > sec-floorMinute && b.sec <= sec {
			v.Overshoot = max(v.Overshoot, b.overshoot)
			v.Lag = max(v.Lag, b.lag)
			v.LateMax = max(v.LateMax, b.lateMax)
			dropped += b.dropped
		}
	}
	const minute = 1 // index of the one-minute window
	late := f.late.query(sec)[minute]
	v.LateP50, v.LateP99, v.LateMax = late.Q[P50].Value, late.Q[P99].Value, max(v.LateMax, late.Max)
	switch {
	case dropped > 0:
		v.Word = "dropping"
	case v.Overshoot >= hostStall:
		v.Word = "stalled"
	case v.LateP99 >= lateWord || v.Lag >= lagWord:
		v.Word = "late"
	default:
		v.Word = "ok"
	}
	return v
}

// resetSession forgets the counters and keeps the newest readings.
func (f *floor) resetSession() {
	f.session = Floor{RTT: f.session.RTT, RSS: f.session.RSS}
	f.beats = [floorMinute]beat{}
	f.late.resetSession()
}
