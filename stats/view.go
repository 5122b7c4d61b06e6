package stats

import (
	"slices"
	"time"

	"teapot/probe/event"
)

// Snapshot returns everything as it is now. It is immutable, and the same one
// as before when nothing was added since.
func (a *Aggregator) Snapshot() *Snapshot {
	if a.last != nil && a.last.Seq == a.seq {
		return a.last
	}
	s := &Snapshot{
		Seq: a.seq, Now: a.now, Session: a.session, Load: a.load,
		Floor: a.floor.view(a.now), Lane: a.lane.view(), Notes: a.notes.view(),
		Finished: a.finished, Damaged: a.damaged, Machine: a.machine.view(),
		Targets: make([]*Target, len(a.order)),
	}
	if a.session.Wall != 0 {
		s.Wall = time.Unix(0, a.session.Wall)
	}
	for i, t := range a.order {
		s.Targets[i] = t.view(a)
		s.Targets[i].Floor = &s.Floor
	}
	a.last = s
	return s
}

// view returns the target's block of a snapshot.
func (t *target) view(a *Aggregator) *Target {
	t.prune(a.now)
	v := &Target{
		Info: t.info, Since: t.since, InFlight: t.flying,
		Series: t.series.View(), Dots: t.dots.view(), Recent: t.recent.view(),
		Shifts: t.shifts.view(), RTT: t.rtt, RTTMin: t.rttMin,
		Worst: t.spikes.view(), Spikes: t.spikes.newest.view(), Causes: t.spikes.causesView(),
		Unlisted: t.spikes.unlisted, Server: t.watch.view(), Streams: make([]Stream, 0, len(t.slots)),
		LastError: t.lastError, LastErrorAt: t.lastErrorAt,
	}
	v.Marked, v.Traces = t.compared.view(a.now), t.traces.view(t)
	for _, l := range t.slots {
		v.Streams = append(v.Streams, l.stream())
	}
	slices.SortFunc(v.Streams, func(a, b Stream) int { return int(int64(a.Slot) - int64(b.Slot)) })

	sums := t.book.sums(a.now / second)
	p99 := a.floor.p99(a.now / second)
	for h := range horizons {
		f := &v.Session
		from := a.start
		if h < len(Windows) {
			f = &v.Windows[h]
			// The window's oldest second is whole; the newest is not yet.
			from = max(a.since, a.start, (a.now/second+1)*second-int64(Windows[h]))
		}
		t.figures(f, h, a.now/second, &sums[h])
		f.tells(p99[h])
		f.Span = 0
		if t.measured {
			// Connecting, loading and warming up are no time of measuring.
			f.Span = max(a.now-max(from, t.first), 0)
		}
		rates(f, &sums[h])
		f.SLO = t.levels.results(&sums[h])
		t.stand.since(h, a.now, f.SLO)
	}
	t.spreads(v, len(a.order) > 1, a.finished != nil || a.damaged != "")
	v.Buffered = bufferedShare(&sums[1])
	if sums[1].ok+sums[1].failed == 0 {
		v.Buffered = bufferedShare(&sums[horizons-1])
	}
	return v
}

func bufferedShare(t *tally) float64 {
	return share(float64(t.buffered), float64(t.ok+t.failed+t.aborted))
}

// prune forgets dots older than the retention.
func (t *target) prune(now int64) {
	n := 0
	for n < len(t.dots.items) && t.dots.items[n].At < now-int64(t.config.Retention) {
		n++
	}
	t.dots.drop(n)
}

// figures fills in the distributions and the sums of one horizon.
func (t *target) figures(f *Figures, h int, sec int64, y *tally) {
	for _, p := range [...]struct {
		m  metric
		to *Figure
	}{
		{mTTFT, &f.TTFT}, {mTTFO, &f.TTFO}, {mGap, &f.Gap}, {mITL, &f.ITL}, {mTPOT, &f.TPOT}, {mE2E, &f.E2E},
		{mSchedTTFT, &f.SchedTTFT}, {mSchedE2E, &f.SchedE2E}, {mLate, &f.Late}, {mColdTTFT, &f.ColdTTFT},
	} {
		*p.to = t.d[p.m].query(sec)[h]
	}
	switch {
	case y.unknown > 0:
		f.ITL, f.ITLWhy = Figure{}, "the stream does not say how many tokens an event holds"
	case f.ITL.N == 0:
		f.ITLWhy = "no gaps yet"
	}
	for _, p := range [...]struct {
		m  metric
		to *Span
	}{
		{mDNS, &f.Phases.DNS}, {mTCP, &f.Phases.TCP}, {mTLS, &f.Phases.TLS},
		{mSend, &f.Phases.Send}, {mWait, &f.Phases.Wait}, {mFirst, &f.Phases.First},
		{mServedQueue, &f.Served.Queue}, {mServedPrefill, &f.Served.Prefill}, {mServedDecode, &f.Served.Decode},
		{mRestFirst, &f.Served.RestFirst}, {mRestDecode, &f.Served.RestDecode},
	} {
		q := t.d[p.m].query(sec)[h]
		*p.to = Span{N: q.N, P50: q.Q[P50].Value, P90: q.Q[P90].Value}
	}
	f.Cold = y.cold
	f.Phases.Reused = share(float64(y.reused), float64(y.sent))
	f.SpeedMedian = speed(f.TPOT.Q[P50].Value)
	f.SpeedSlow10, f.SpeedSlow10Mark = speed(f.TPOT.Q[P90].Value), f.TPOT.Q[P90].Mark
	f.Requests = y.requests()
	f.OutputTokens, f.PromptTokens = uint64(max(y.out, 0)), uint64(max(y.prompt, 0))
	f.Approx = y.approx > 0
	f.Bursts, f.BurstShare = y.bursts, share(float64(y.bursts), float64(y.gaps))
	f.TokensPerEvent = share(float64(y.moreTok), float64(y.moreEvs))
	f.Stalls = Stalls{
		Count: y.stalls, Total: y.stallTotal, Longest: y.stallLongest,
		PerKTok: 1000 * share(float64(y.stalls), float64(f.OutputTokens)),
	}
	f.Stalls.Stutters, f.Stalls.StutterTotal = y.stutters, y.stutterTotal
	f.Smooth = y.smooth()
	f.Excluded, f.Paused = y.excluded, y.paused
	f.Transport = Apart{Count: y.transport, Total: y.transportSum, Longest: y.transportLongest}
	f.Merged, f.MergedSum, f.MergedTTFT, f.Tardy = y.merged, y.mergedSum, y.mergedTTFT, y.tardy
	f.Buffered = y.buffered
	f.ErrorRate = share(float64(y.failed), float64(y.ok+y.failed))
	f.Goodput = share(float64(y.good), float64(y.ok+y.failed))
}

// spreads tells how the figures wobbled: those of a session that is over, and
// with several targets, which are compared while they run, those of the windows.
// A window of more than a minute wobbles as the last minute does.
func (t *target) spreads(v *Target, several, over bool) {
	for i, m := range [...]metric{mGap, mITL, mTTFT, mTTFO, mTPOT, mE2E, mSchedTTFT, mSchedE2E} {
		if over {
			t.d[m].spread(figuresOf(&v.Session)[i], slots)
		}
		if !several || m == mSchedTTFT || m == mSchedE2E {
			continue
		}
		for h := range Windows {
			f := figuresOf(&v.Windows[h])[i]
			if h <= 1 {
				t.d[m].spread(f, int64(Windows[h])/second)
				continue
			}
			for q := range f.Q {
				f.Q[q].Spread = figuresOf(&v.Windows[1])[i].Q[q].Spread
			}
		}
	}
}

// tells marks in every figure what the floor does not let be the server's.
func (f *Figures) tells(p99 int64) {
	for _, g := range []*Figure{
		&f.TTFT, &f.TTFO, &f.Gap, &f.ITL, &f.TPOT, &f.E2E, &f.SchedTTFT, &f.SchedE2E, &f.ColdTTFT,
	} {
		g.tells(p99)
	}
}

// speed is tok/s from ns per token.
func speed(tpot int64) float64 { return share(1e9, float64(tpot)) }

// rates divides what was counted by the time it took.
func rates(f *Figures, y *tally) {
	s := float64(f.Span) / 1e9
	f.OutputRate = share(float64(f.OutputTokens), s)
	f.PromptRate = share(float64(f.PromptTokens), s)
	f.RequestRate = share(float64(y.ok+y.failed), s)
}

// stray counts the end of a request that was never seen to start.
func (t *target) stray(ev *event.End) {
	to := t.book.at(ev.At)
	for _, y := range to {
		if ev.Warmup {
			y.warmup++
		} else {
			y.countEnd(ev.Class)
		}
	}
	if !ev.Warmup {
		t.column(ev, ev.At)
	}
}

func (t *target) resetWindows() {
	for _, d := range t.d {
		d.resetWindows()
	}
	t.book.resetWindows()
}

func (t *target) resetSession() {
	for _, d := range t.d {
		d.resetSession()
	}
	t.book.resetSession()
	t.compared = sinceMark{}
	t.spikes = spikes{ids: t.spikes.ids}
}
