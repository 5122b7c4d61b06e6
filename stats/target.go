package stats

import (
	"teapot/probe/event"
)

// metric is a quantity with a distribution of its own.
type metric int

const (
	mTTFT metric = iota
	mTTFO
	mGap
	mITL
	mTPOT
	mE2E
	mSchedTTFT
	mSchedE2E
	mLate
	mColdTTFT
	mDNS
	mTCP
	mTLS
	mSend
	mWait
	mFirst
	mServedQueue
	mServedPrefill
	mServedDecode
	mRestFirst
	mRestDecode
	nMetrics
)

// metricNames are the names in service levels; phases have none.
var metricNames = [nMetrics]string{
	mTTFT: "ttft", mTTFO: "ttfo", mGap: "gap", mITL: "itl", mTPOT: "tpot", mE2E: "e2e",
	mSchedTTFT: "sched_ttft", mSchedE2E: "sched_e2e", mLate: "late",
}

// Bounds on what one target may hold; a sane recording stays far below.
const (
	maxSlots  = 1024
	maxDots   = 20_000
	maxRecent = 1000
	maxShifts = 100
)

// target gathers the events of one endpoint. It is owned by one goroutine.
type target struct {
	info   event.Target
	since  int64
	config *Config
	levels *levels
	pauses *pauses // shared by all targets
	lane   *lane

	d        [nMetrics]*dist
	book     *ledger
	stand    standing
	history  history
	spikes   spikes
	watch    *watch    // what the server says of itself; nil when nothing did
	machine  *watch    // and this machine, shared by all targets
	beats    *beatsLog // likewise
	clock    *int64    // the aggregator's
	asked    log[asked]
	gone     log[away]
	answered bool    // at least once
	prompts  float64 // tokens of a prompt, the mean of the last few requests; 0 unknown
	// provider served the last request, behind a gateway that says so.
	provider string
	level    detector
	shifts   log[Shift]
	series   *Series
	dots     log[Dot]
	recent   log[Request]
	slots    map[uint32]*life
	flying   int
	compared sinceMark
	traces   traces

	measured bool  // a request that is not for warm-up was sent,
	first    int64 // and this is when

	// perEvent is the tokens per event of the last requests whose events did not
	// say; it keeps tok/s right while such a request runs.
	perEvent float64

	rtt, rttMin int64 // of the newest connection, and the least seen; 0 unknown

	lastError   string
	lastErrorAt int64
}

func newTarget(id uint32, c *Config, l *levels) *target {
	t := &target{
		info: event.Target{ID: id}, config: c, levels: l,
		book: newLedger(len(l.list)), series: NewSeries(int64(c.Retention)),
		dots: log[Dot]{keep: maxDots}, recent: log[Request]{keep: maxRecent}, shifts: log[Shift]{keep: maxShifts},
		pauses: new(pauses), lane: &lane{log: log[LaneEvent]{keep: keptLane}},
		slots: map[uint32]*life{}, perEvent: 1,
		asked: log[asked]{keep: keptAsked}, gone: log[away]{keep: keptGone},
	}
	for m := range t.d {
		g := fine
		if metric(m) >= mDNS {
			g = coarse
		}
		t.d[m] = newDist(g)
	}
	return t
}

// sample records one value of a metric and judges it.
func (t *target) sample(m metric, at, v int64, to [2]*tally) {
	v = max(v, 0)
	t.d[m].record(at, v, 1, v)
	t.compared.sample(m, v, 1, v)
	for _, y := range to {
		t.levels.judge(m, v, 1, false, y.slo)
	}
}

// begin opens a request. An unfinished one on the same slot is lost: its end
// was dropped, or it would not have been succeeded.
func (t *target) begin(l *life) (lost *life) {
	s := &l.start
	if old := t.slots[s.Slot]; old != nil && !old.ended {
		lost = old
		t.flying--
	}
	if _, reuse := t.slots[s.Slot]; !reuse && len(t.slots) >= maxSlots {
		if old := t.evict(); old != nil && !old.ended {
			lost = old
			t.flying--
		}
	}
	t.slots[s.Slot] = l
	t.compared.of = s.At
	t.flying++
	l.provider = t.provider
	l.trace.whole = t.config.Ended != nil
	t.asked.add(asked{at: s.At, prompt: float64(s.Prompt)})
	if s.Warmup {
		return lost
	}
	if !t.measured {
		t.measured, t.first = true, s.At
	}
	t.compared.sent()
	to := t.book.at(s.At)
	for _, y := range to {
		y.sent++
		if s.Reused {
			y.reused++
		} else {
			y.cold++
		}
	}
	for _, p := range []struct {
		m    metric
		span int64
	}{{mDNS, s.DNS}, {mTCP, s.TCP}, {mTLS, s.TLS}, {mSend, s.Wrote}} {
		if p.span > 0 {
			t.sample(p.m, s.At, p.span, to)
		}
	}
	if s.Scheduled > 0 {
		t.sample(mLate, s.At, s.At-s.Scheduled, to)
	}
	return lost
}

// evict lets the slot go that was silent for longest.
func (t *target) evict() *life {
	var oldest *life
	for _, l := range t.slots {
		if oldest == nil || max(l.last, l.start.At) < max(oldest.last, oldest.start.At) ||
			max(l.last, l.start.At) == max(oldest.last, oldest.start.At) && l.start.Slot < oldest.start.Slot {
			oldest = l
		}
	}
	if oldest != nil {
		delete(t.slots, oldest.start.Slot)
	}
	return oldest
}

func (t *target) headers(l *life, ev *event.Headers) {
	if l.headers != 0 {
		return
	}
	l.headers, l.status = max(ev.At, l.start.At), ev.Status
	t.compared.of = l.start.At
	if l.flight.headers(ev, l.headers); ev.RTT > 0 {
		t.rtt = ev.RTT
		if t.rttMin == 0 || ev.RTT < t.rttMin {
			t.rttMin = ev.RTT
		}
	}
	if !l.start.Warmup && !t.pauses.spans(l.start.At, l.headers, l.headers) {
		t.sample(mWait, l.headers, l.headers-l.start.At, t.book.at(l.headers))
	}
}

// token takes one token event: what can be said at once is counted at once; the
// gap waits while the stream may still turn out to be buffered.
func (t *target) token(l *life, ev *event.Token) {
	t.compared.of = l.start.At
	a := l.take(ev)
	a.transport = l.flight.token(&a, ev.Bytes, func() int64 { return l.medianBefore(a.event) }) && !a.ours
	t.count(l, a)
	if a.event == 1 {
		t.firstToken(l, a)
	}
	if answer := ev.Channel != event.Reasoning && ev.Channel != event.Counted; answer && l.answered == 0 {
		l.answered = a.at
		if !l.start.Warmup && !a.ours && !l.broken() {
			t.sample(mTTFO, a.at, a.at-l.start.At, t.book.at(a.at))
		}
	}
	switch {
	case l.start.Warmup || l.buffered:
		l.holding = l.holding && l.last-l.first < holdBack
	case l.holding && a.at-l.first < holdBack:
		if len(l.held) >= maxHeld {
			l.buffered, l.held = true, nil
			return
		}
		l.held = append(l.held, a)
	case l.holding:
		t.release(l)
		t.settle(l, a)
	default:
		t.settle(l, a)
	}
}

// release lets the gaps that were held back into the figures.
func (t *target) release(l *life) {
	l.holding = false
	held := l.held
	l.held = nil
	for _, a := range held {
		t.settle(l, a)
	}
}

// count adds the tokens of one event to the throughput.
func (t *target) count(l *life, a arrival) {
	k := a.k
	switch {
	case k == 0 && a.event == 1:
		k = 1
	case k == 0:
		l.carry += t.perEvent
		k = int64(l.carry)
		l.carry -= float64(k)
	}
	l.counted += k
	for i, pace := range readers {
		l.through[i] = max(l.through[i], a.at) + max(k, 0)*pace
	}
	if !l.start.Warmup {
		t.arrived(a.at, k)
	}
}

// arrived adds n output tokens, which may be fewer than none: a correction.
func (t *target) arrived(at, n int64) {
	for _, y := range t.book.at(at) {
		y.out += n
	}
	if c := t.series.At(at); c != nil {
		c.Tokens = uint64(max(int64(c.Tokens)+n, 0))
	}
}

func (t *target) firstToken(l *life, a arrival) {
	if l.start.Warmup {
		return
	}
	to := t.book.at(a.at)
	if a.ours {
		// The read was late, or events before this one were lost: the wait that
		// is left is not the server's alone.
		for _, y := range to {
			y.mergedTTFT++
		}
		return
	}
	t.slowFirst(l, a)
	t.sample(mTTFT, a.at, a.gap, to)
	if !l.start.Reused {
		t.sample(mColdTTFT, a.at, a.gap, to)
	}
	if s := l.start.Scheduled; s > 0 {
		t.sample(mSchedTTFT, a.at, a.at-s, to)
	}
	if l.headers > 0 {
		t.sample(mFirst, a.at, a.at-l.headers, to)
	}
	if c := t.series.At(a.at); c != nil {
		c.TTFT.Add(a.gap)
	}
}

// unsent takes a request out of those that were sent: it is sent again, on a
// connection of its own.
func (t *target) unsent(s *event.Start) {
	if s.Warmup {
		return
	}
	for _, y := range t.book.at(s.At) {
		if y.sent == 0 {
			continue // its second, or the session, was emptied since
		}
		y.sent--
		if s.Reused {
			y.reused -= min(y.reused, 1)
		} else {
			y.cold -= min(y.cold, 1)
		}
	}
}

// slowFirst keeps a first token that came far later than most.
func (t *target) slowFirst(l *life, a arrival) {
	d := t.d[mTTFT]
	over := t.levels.first > 0 && a.gap > t.levels.first
	if !over && (d.allC.N < slowFirstMinN || a.gap < slowFirst*d.median()) {
		return
	}
	t.spiked(l, l.start.At, Spike{At: a.at, Length: a.gap, Token: 1, First: true, Merged: a.ours}, false)
}
