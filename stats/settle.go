package stats

import "teapot/probe/event"

// A gap is tardy when this client read its end late by a large part of it: half
// of it, and a gap that is worth the word.
const (
	tardyPart = 2
	tardyGap  = int64(1e6)
)

// tardy tells whether a gap is one.
func (a *arrival) tardy() bool {
	return a.gap >= tardyGap && a.late >= a.gap/tardyPart && !a.paused
}

// settle lets one token event into the figures.
func (t *target) settle(l *life, a arrival) {
	to := t.book.at(a.at)
	k := max(a.k, 1)
	d := t.levels.deadline()
	if a.event == 1 {
		limit := t.levels.first
		if a.ours {
			limit = 0
		}
		l.play.first(a.at, a.gap, limit, d, k, a.ours, to)
		return
	}
	tardy := a.tardy()
	excluded := tardy && t.config.ExcludeLate && !a.ours && !a.transport
	ours := a.ours || excluded
	for _, y := range to {
		y.countGap(a, tardy, excluded)
	}
	if a.transport || a.paused {
		l.play.next(a.at, a.gap, d, k, true, to)
		t.apart(l, a, to)
		return
	}
	stall := t.history.stalled(a.at-a.gap, a.gap, t.d[mGap], func() int64 { return l.medianBefore(a.event) })
	stutter := !stall && t.history.stutters(a.at-a.gap, a.gap, t.d[mGap])
	over := !stall && t.over(a)
	if stall || stutter || over {
		t.spiked(l, a.at-a.gap, Spike{At: a.at, Length: a.gap, Token: a.event, Merged: ours || tardy, Late: tardy && !ours, Of: t.receiving()}, !stall && !over)
	}
	l.play.next(a.at, a.gap, d, k, ours, to)
	if ours {
		t.setAside(a, to)
		return
	}
	t.enter(l, a, tardy, stall, stutter, to)
}

// over tells whether a gap is over its service level and out of the ordinary too.
func (t *target) over(a arrival) bool {
	limit := t.levels.gap
	if limit == 0 || a.gap <= limit {
		return false
	}
	usual := t.history.of(a.at-a.gap, t.d[mGap]).p50
	return usual > 0 && a.gap >= overLevel*usual && !t.spikes.full(a.at)
}

// enter lets a gap of the server's into every figure of gaps.
func (t *target) enter(l *life, a arrival, tardy, stall, stutter bool, to [2]*tally) {
	t.gap(l, a.at, a.gap, false, to)
	if c := t.series.At(a.at); c != nil && tardy {
		c.Late.Add(a.gap)
	}
	if !a.burst {
		t.follow(l, a)
	}
	if a.k > 0 {
		each := a.gap / a.k
		t.d[mITL].record(a.at, each, uint64(a.k), a.gap)
		t.compared.sample(mITL, each, uint64(a.k), a.gap)
		t.judgeOwn(l, mITL, each, uint64(a.k), false, to)
	}
	if stutter {
		for _, y := range to {
			y.stutters++
			y.stutterTotal += a.gap
		}
	}
	if stall {
		t.stall(l, a.gap, to)
		if i := l.cell(a.event); i >= 0 {
			l.cells.edit(i).Stall = true
		}
		l.trace.flag(a.event, traceStall)
	}
}

// gap records one gap, or, censored, one that is at least v long.
func (t *target) gap(l *life, at, v int64, censored bool, to [2]*tally) {
	if censored {
		t.d[mGap].censor(at, v)
		t.compared.censor(mGap, v)
	} else {
		t.d[mGap].record(at, v, 1, v)
		t.compared.sample(mGap, v, 1, v)
	}
	t.judgeOwn(l, mGap, v, 1, censored, to)
	if c := t.series.At(at); c != nil {
		c.Gap.Add(v)
		c.Heat[HeatRow(v)]++
		if t.levels.gap > 0 && (v > t.levels.gap || censored) {
			c.Over++
		}
	}
}

// judgeOwn judges samples for the target and for their request alone.
func (t *target) judgeOwn(l *life, m metric, v int64, n uint64, censored bool, to [2]*tally) {
	if !t.levels.perGap {
		return
	}
	for _, y := range to {
		t.levels.judge(m, v, n, censored, y.slo)
	}
	t.levels.judge(m, v, n, censored, l.own)
}

func (t *target) stall(l *life, length int64, to [2]*tally) {
	l.stalls++
	for _, y := range to {
		y.stalls++
		y.stallTotal += length
		y.stallLongest = max(y.stallLongest, length)
	}
}

// finish closes a request. What had been recorded of it stays, however it ends:
// the gaps before an error happened.
func (t *target) finish(l *life, ev *event.End) {
	t.compared.of = l.start.At
	if t.slots[l.start.Slot] == l {
		t.flying--
	}
	t.level.over(l.start.Request)
	if from := max(l.last, l.start.At); t.pauses.spans(from, max(ev.At, from), ev.At) {
		l.paused = l.paused || ev.Class.Censored()
	}
	switch {
	case ev.SentAgain():
		l.finish(ev)
		t.unsent(&l.start)
		return
	case l.start.Warmup:
		l.finish(ev)
		for _, y := range t.book.at(ev.At) {
			y.warmup++
		}
	default:
		t.close(l, ev)
	}
	t.endSpikes(l)
	r := l.request()
	t.recent.add(r)
	t.traces.add(l, r)
	if t.config.Ended != nil {
		t.config.Ended(t.info.ID, l.trace.view(r, false))
	}
	if ev.Class == event.Aborted {
		return
	}
	dot := Dot{At: l.first, TTFT: r.TTFT, Class: ev.Class, Request: r.ID, Warmup: r.Warmup}
	if l.events == 0 {
		dot.At = ev.At
		if ev.Class.Censored() {
			dot.Timeout, dot.TTFT = true, timeout(l, ev)
		}
	}
	i := len(t.dots.items)
	for i > 0 && t.dots.items[i-1].At > dot.At {
		i--
	}
	t.dots.insert(i, dot)
}

// close does the accounts of a measured request.
func (t *target) close(l *life, ev *event.End) {
	l.finish(ev)
	at := max(ev.At, l.last)
	to := t.book.at(at)
	switch {
	case l.buffered:
		l.held = nil
		for _, y := range to {
			y.buffered++
		}
	case l.holding:
		t.release(l)
	}
	t.censored(l, ev, at, to)
	// Only now is N known: make good what the estimate of k missed.
	if more := l.n - l.counted; more > 0 || ev.Class.OK() && l.n > 0 {
		l.counted += more
		t.arrived(at, more)
	}
	if l.tpot > 0 {
		t.sample(mTPOT, at, l.tpot, to)
	}
	if e2e, ok := l.e2e(); ok {
		t.sample(mE2E, at, e2e, to)
		if s := l.start.Scheduled; s > 0 {
			t.sample(mSchedE2E, at, l.last-s, to)
		}
	}
	t.served(l, ev, at, to)
	t.endings(l, ev, to)
	t.compared.ended(ev.Class, l.counted)
	t.column(ev, at)
}

// endings counts how the request ended and what it carried.
func (t *target) endings(l *life, ev *event.End, to [2]*tally) {
	good := ev.Class.OK() && t.levels.good(l.own, l.value)
	exact := ev.Class.OK() && ev.Count != event.CountEvents && l.events > 1 && l.n > 0 && !l.lossy
	if exact && l.unknown > 0 {
		now := float64(l.n-l.n1) / float64(l.events-1)
		t.perEvent += (min(max(now, 0), maxK) - t.perEvent) / 4
	}
	for _, y := range to {
		y.countEnd(ev.Class)
		y.prompt += int64(max(ev.Prompt, 0))
		if ev.Count == event.CountEvents && l.n > 0 {
			y.approx++
		}
		if exact {
			y.moreTok += max(l.n-l.n1, 0)
			y.moreEvs += int64(l.events - 1)
		}
		if good {
			y.good++
		}
	}
}

// value gives a finished request's figure; false when it has none.
func (l *life) value(m metric) (int64, bool) {
	if l.paused && m != mLate {
		return 0, false // the probe was not there to see it
	}
	switch m {
	case mTTFT:
		return l.ttft()
	case mTPOT:
		return l.tpot, l.tpot > 0
	case mE2E:
		return l.e2e()
	case mLate:
		return l.start.At - l.start.Scheduled, l.start.Scheduled > 0
	case mTTFO:
		return l.answered - l.start.At, l.answered > 0
	case mSchedTTFT:
		return l.first - l.start.Scheduled, l.events > 0 && l.start.Scheduled > 0
	case mSchedE2E:
		_, ok := l.e2e()
		return l.last - l.start.Scheduled, ok && l.start.Scheduled > 0
	}
	return 0, false
}

// timeout is what a censored request is known to have waited, ns.
func timeout(l *life, ev *event.End) int64 {
	if ev.Limit > 0 {
		return ev.Limit
	}
	return max(ev.At-max(l.last, l.start.At), 0)
}

// censored enters what a timeout cut short: it is known only to be at least as
// long as the limit, and pushes the tail up instead of vanishing from it.
func (t *target) censored(l *life, ev *event.End, at int64, to [2]*tally) {
	if !ev.Class.Censored() || l.broken() {
		return
	}
	limit := timeout(l, ev)
	if l.events == 0 {
		t.censor(mTTFT, at, limit, to)
		if s := l.start.Scheduled; s > 0 {
			t.censor(mSchedTTFT, at, limit+max(l.start.At-s, 0), to)
		}
		if c := t.series.At(at); c != nil {
			c.TTFT.Add(limit)
		}
		t.spiked(l, l.start.At, Spike{At: at, Length: limit, Token: 1, First: true}, false)
		return
	}
	if ev.Class == event.ErrTotal {
		t.censor(mE2E, at, limit, to)
		if s := l.start.Scheduled; s > 0 {
			t.censor(mSchedE2E, at, limit+max(l.start.At-s, 0), to)
		}
		// The open gap is a sample only if it is out of the ordinary already: a
		// common one that our limit cut in two says nothing.
		limit = at - l.last
		if !t.history.stalled(l.last, limit, t.d[mGap], func() int64 { return l.medianBefore(l.events + 1) }) {
			return
		}
	}
	t.gap(l, at, limit, true, to)
	t.stall(l, limit, to)
	l.play.hung(at, limit, t.levels.deadline(), to)
	t.spiked(l, l.last, Spike{At: at, Length: limit, Token: l.events + 1}, false)
}

func (t *target) censor(m metric, at, v int64, to [2]*tally) {
	t.d[m].censor(at, v)
	t.compared.censor(m, v)
	for _, y := range to {
		t.levels.judge(m, v, 1, true, y.slo)
	}
}

// column marks a failure on the charts.
func (t *target) column(ev *event.End, at int64) {
	c := t.series.At(at)
	if c == nil || !ev.Class.Failed() {
		return
	}
	if ev.Class.Censored() {
		c.Timeouts++
	} else {
		c.Errors++
	}
}

// receiving counts the streams that have had a token and may have more.
func (t *target) receiving() (n int) {
	for _, l := range t.slots {
		if l.events > 0 && !l.ended {
			n++
		}
	}
	return n
}
