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
	over    *dist // of every heartbeat, ns
	lag     *dist // of every request that had a schedule, ns
	beats   [floorMinute]beat
	session Floor // the counters of the session and the newest readings
	lastAt  int64
}

func newFloor() floor {
	return floor{late: newDist(coarse), over: newDist(coarse), lag: newDist(coarse)}
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
	if ev.Late >= lateWord && ev.Burst == 0 {
		f.session.LateReads++
	}
	if ev.Merged {
		f.session.Merged++
		if ev.Burst == 0 {
			f.session.MergedReads++
		}
	}
}

// lagged takes by how many ns a request was sent behind its schedule.
func (f *floor) lagged(at, by int64) {
	by = max(by, 0)
	f.lag.record(at, by, 1, by)
}

// stream counts a stream by the source of its stamps.
func (f *floor) stream(source string) {
	switch source {
	case event.SourceKernel:
		f.session.KernelStreams++
	case event.SourceRead:
		f.session.ReadStreams++
	}
}

// p99 is the 99th percentile of what this client added to an instant, per
// horizon, ns: the lateness, as far as the kernel stamped. Where our own read
// did, nobody knows it; then it is taken from the heartbeat, whose value is the
// worst of about a hundred ticks of a millisecond, so that its median is the
// 99.3rd percentile of the ticks.
func (f *floor) p99(sec int64) (out [horizons]int64) {
	late, over := f.late.query(sec), f.over.query(sec)
	for h := range out {
		out[h] = late[h].Q[P99].Value
		if late[h].N == 0 || f.session.ReadStreams > 0 {
			out[h] = max(out[h], over[h].Q[P50].Value)
		}
	}
	return out
}

// tells marks the quantiles of a figure that cannot be called the server's
// beside a floor of p99.
func (f *Figure) tells(p99 int64) {
	for i := range f.Q {
		f.Q[i].Ours = f.N > 0 && !server(f.Q[i].Value, p99)
	}
}

// server is the rule: this client's part is under a tenth of the value.
func server(v, p99 int64) bool { return p99 < v/floorPart || p99 == 0 }

// heartbeat takes one heartbeat. The one after the probe was stopped says
// nothing of what it adds while it runs.
func (f *floor) heartbeat(ev *event.Floor, stopped bool) {
	defer func() { f.lastAt = ev.At }()
	if stopped {
		return
	}
	f.over.record(ev.At, ev.Overshoot, 1, ev.Overshoot)
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
	lag := f.lag.query(sec)[minute]
	v.LagN, v.LagP50, v.LagP99 = lag.N, lag.Q[P50].Value, lag.Q[P99].Value
	p99 := f.p99(sec)
	v.P99, v.SessionP99 = p99[minute], p99[horizons-1]
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
	for _, d := range []*dist{f.late, f.over, f.lag} {
		d.resetSession()
	}
}
