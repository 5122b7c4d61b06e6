package stats

import (
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// A proxy that hands a reply over after the fact is found out by its speed.
func TestFakeStreamIsBuffered(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	for i := range int64(200) {
		s.tokNs(1, 2000*ms+i*15_000, 1)
	}
	s.end(1, 2010, 200, event.OKFull)
	tg := s.target()
	f := tg.Session
	if tg.Buffered != 1 || f.Gap.N != 0 || f.TPOT.N != 0 || f.SpeedMedian != 0 || f.Smooth != (Smooth{}) {
		t.Errorf("buffered %v, gap n %d, speed %v", tg.Buffered, f.Gap.N, f.SpeedMedian)
	}
	if f.TTFT.N != 1 || f.E2E.N != 1 {
		t.Errorf("its TTFT and E2E are true and stay")
	}
}

func TestTimeoutsAreCensoredSamples(t *testing.T) {
	s := newScript(Config{})
	for i := range uint64(99) {
		at := int64(i) * 100
		s.start(i+1, at)
		s.tok(i+1, at+50, 1)
		s.end(i+1, at+60, 1, event.OKFull)
	}
	s.start(100, 10_000)
	s.a.Add(&event.End{At: 40_000 * ms, Target: 1, Request: 100, Slot: 0, Class: event.ErrFirst, Limit: 30_000 * ms})
	f := s.target().Session
	if f.TTFT.N != 100 || f.TTFT.Censored != 1 || f.TTFT.Max != 30_000*ms {
		t.Fatalf("%+v", f.TTFT)
	}
	if q := f.TTFT.Q[P99]; q.Censored || !near(q.Value, 50*ms) {
		t.Errorf("P99 %+v", q)
	}
	if q := f.TTFT.Q[P999]; !q.Censored || q.Value != 30_000*ms || !q.HiOpen {
		t.Errorf("P99.9 %+v", q)
	}
	tg := s.target()
	if q := f.TTFT.Q[P90]; q.HiOpen {
		t.Errorf("P90 %+v: its interval holds exact samples only", q)
	}
	if d := tg.Dots[len(tg.Dots)-1]; !d.Timeout || d.TTFT != 30_000*ms || d.At != 40_000*ms {
		t.Errorf("dot %+v", d)
	}
	if c := tg.Series.Columns(40_000*ms, Bucket, 1)[0]; c.Timeouts != 1 || c.TTFT.Max != 30_000*ms {
		t.Errorf("column %+v", c)
	}
}

func TestStalledStreamIsCensoredGap(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	for i := range int64(10) {
		s.tok(1, 100+20*i, 1)
	}
	s.a.Add(&event.End{At: 10_280 * ms, Target: 1, Request: 1, Slot: 1, Class: event.ErrIdle, Limit: 10_000 * ms})
	f := s.target().Session
	if f.Gap.N != 10 || f.Gap.Censored != 1 || f.Gap.Max != 10_000*ms || f.Stalls.Count != 1 || f.E2E.N != 0 || s.target().Worst[0].Token != 11 {
		t.Errorf("gap %+v stalls %+v", f.Gap, f.Stalls)
	}
	heat := uint64(0)
	for _, c := range s.target().Series.Columns(11_000*ms, second, 20) {
		for _, n := range c.Heat {
			heat += uint64(n)
		}
	}
	if heat != f.Gap.N {
		t.Errorf("heat %d, n %d", heat, f.Gap.N)
	}
}

func TestTotalTimeout(t *testing.T) {
	for _, c := range []struct {
		name  string
		quiet int64 // ms of silence when the limit passed
		gaps  uint64
	}{{"in the middle of a smooth stream", 5, 9}, {"in a silence", 3000, 10}} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(Config{})
			s.start(1, 0)
			for i := range int64(10) {
				s.tok(1, 100+20*i, 1)
			}
			at := 280 + c.quiet
			s.a.Add(&event.End{At: at * ms, Target: 1, Request: 1, Slot: 1, Class: event.ErrTotal, Limit: at * ms})
			f := s.target().Session
			if f.Gap.N != c.gaps || f.E2E.N != 1 || f.E2E.Censored != 1 || f.TPOT.N != 0 {
				t.Errorf("gap n %d, e2e %+v", f.Gap.N, f.E2E)
			}
		})
	}
}

func TestMergedGapsStayInSums(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	s.tok(1, 100, 1)
	s.tok(1, 200, 1)
	s.a.Add(&event.Token{At: 1200 * ms, Target: 1, Request: 1, Slot: 1, K: 1, Merged: true})
	s.tok(1, 1300, 1)
	s.end(1, 1310, 4, event.OKFull)
	tg := s.target()
	f, r := tg.Session, tg.Recent[0]
	if f.Gap.N != 2 || f.Gap.Max != 100*ms || f.ITL.N != 2 || f.Merged != 1 || f.MergedSum != 1000*ms {
		t.Errorf("gap %+v merged %d", f.Gap, f.Merged)
	}
	if r.TTFT+r.Gaps != r.E2E || r.Gaps != 1200*ms || r.Merged != 1000*ms || r.TPOT != 400*ms {
		t.Errorf("%+v", r)
	}
	if f.Stalls.Count != 0 || len(tg.Worst) != 1 || !tg.Worst[0].Merged {
		t.Errorf("a stop of ours is no stall of the server's: %+v %+v", f.Stalls, tg.Worst)
	}
	if c := tg.Series.Columns(1200*ms, Bucket, 1)[0]; c.Ours.N != 1 || c.Gap.N != 0 {
		t.Errorf("column %+v", c)
	}
}

func TestLateFirstTokenEntersNoPercentile(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	s.a.Add(&event.Token{At: 1200 * ms, Target: 1, Request: 1, Slot: 1, K: 1, Merged: true})
	s.tok(1, 1300, 1)
	s.end(1, 1310, 2, event.OKFull)
	f := s.target().Session
	if f.TTFT.N != 0 || f.TTFO.N != 0 || f.MergedTTFT != 1 || f.Merged != 0 || f.E2E.N != 1 {
		t.Errorf("%+v", f)
	}
}

func TestExcludeLate(t *testing.T) {
	for _, exclude := range []bool{false, true} {
		s := newScript(Config{ExcludeLate: exclude})
		s.start(1, 0)
		s.tok(1, 100, 1)
		s.tok(1, 200, 1)
		s.a.Add(&event.Token{At: 300 * ms, Late: 60 * ms, Target: 1, Request: 1, Slot: 1, K: 1})
		s.end(1, 310, 3, event.OKFull)
		f := s.target().Session
		if f.Tardy != 1 || f.Gap.N+f.Merged != 2 || (f.Merged == 1) != exclude {
			t.Errorf("exclude %v: %d tardy, n %d, %d merged", exclude, f.Tardy, f.Gap.N, f.Merged)
		}
	}
}

func TestWarmupIsLeftOut(t *testing.T) {
	s := newScript(Config{SLO: []SLO{{Metric: "ttft", Limit: ms, Goal: 1}}})
	s.a.Add(&event.Start{At: 0, Target: 1, Request: 1, Slot: 1, Warmup: true})
	for i := range int64(20) {
		s.tok(1, 100+i*20, 1)
	}
	s.a.Add(&event.End{At: 500 * ms, Target: 1, Request: 1, Slot: 1, Warmup: true, Class: event.OKFull, N: 20})
	tg := s.target()
	f := tg.Session
	if f.TTFT.N+f.Gap.N+f.ITL.N+f.TPOT.N+f.E2E.N != 0 || f.OutputTokens != 0 || f.Requests.Warmup != 1 || f.Requests.OK != 0 {
		t.Errorf("%+v", f)
	}
	if !f.SLO[0].NoData || len(tg.Recent) != 1 || !tg.Recent[0].Warmup || !tg.Dots[0].Warmup || len(tg.Streams[0].Cells) != 20 {
		t.Errorf("it is seen all the same: %+v", tg.Recent)
	}
}

func TestOpenLoopKeepsTheWaitForAStream(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Start{At: 5000 * ms, Scheduled: 1000 * ms, Target: 1, Request: 1, Slot: 1})
	s.tok(1, 5100, 1)
	s.tok(1, 5200, 1)
	s.end(1, 5210, 2, event.OKFull)
	f := s.target().Session
	if f.TTFT.Max != 100*ms || f.SchedTTFT.Max != 4100*ms || f.SchedE2E.Max != 4200*ms || f.Late.Max != 4000*ms {
		t.Errorf("ttft %d, from schedule %d", f.TTFT.Max, f.SchedTTFT.Max)
	}
}

func TestIntervalAmongTimeoutsIsOpen(t *testing.T) {
	d := newDist(fine)
	for i := range int64(100) {
		if i < 55 {
			d.record(0, i*ms, 1, i*ms)
		} else {
			d.censor(0, 30*second)
		}
	}
	if q := d.query(0)[0].Q[P50]; q.Censored || !q.HiOpen || q.Hi != 30*second {
		t.Errorf("%+v", q)
	}
}

func TestITLNeedsEveryK(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	for i := range int64(10) {
		s.tok(1, 100+20*i, uint32(min(i, 1))) // of the first event k is not known: it has no gap
	}
	s.tok(1, 400, 1)
	if f := s.target().Session; f.ITL.N != 10 || f.ITLWhy != "" {
		t.Errorf("n %d, %q", f.ITL.N, f.ITLWhy)
	}
	s.tok(1, 420, 0)
	if f := s.target().Session; f.ITL.N != 0 || f.ITLWhy == "" || f.Gap.N != 11 {
		t.Errorf("n %d, %q", f.ITL.N, f.ITLWhy)
	}
}

// The checks that hold by construction, over random streams.
func TestStreamsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(Config{})
		var heat, gaps, tokens uint64
		classes := []event.Class{event.OKFull, event.OKShort, event.ErrStream, event.ErrTruncated, event.Aborted, event.ErrIdle, event.ErrTotal}
		now := int64(0)
		for req := uint64(1); req <= uint64(rapid.IntRange(1, 6).Draw(t, "requests")); req++ {
			sent := now
			s.a.Add(&event.Start{At: sent, Target: 1, Request: req, Slot: uint32(req % 3)})
			at, sum := sent, int64(0)
			for i := range rapid.IntRange(0, 40).Draw(t, "events") {
				at += int64(rapid.SampledFrom([]float64{0, 1e4, 1e6, 2e7, 5e8}).Draw(t, "gap"))
				k := uint32(rapid.IntRange(1, 4).Draw(t, "k"))
				s.a.Add(&event.Token{At: at, Target: 1, Request: req, Slot: uint32(req % 3), K: k,
					Burst: uint32(rapid.IntRange(0, 1).Draw(t, "burst")), Merged: rapid.IntRange(0, 5).Draw(t, "merged") == 0 && i > 0})
				sum += int64(k)
			}
			tokens += uint64(sum)
			now = at + ms
			s.a.Add(&event.End{At: now, Target: 1, Request: req, Slot: uint32(req % 3), N: int(sum), Count: event.CountRunning,
				Class: rapid.SampledFrom(classes).Draw(t, "class"), Limit: 10 * second})
		}
		snap := s.a.Snapshot()
		finite(t, snap)
		tg := snap.Targets[0]
		f := tg.Session
		for _, r := range tg.Recent {
			if r.E2E > 0 && r.TTFT+r.Gaps != r.E2E {
				t.Fatalf("E2E %d is not TTFT %d + gaps %d", r.E2E, r.TTFT, r.Gaps)
			}
		}
		for _, c := range tg.Series.Columns(now, second, int(now/second)+2) {
			for _, n := range c.Heat {
				heat += uint64(n)
			}
			gaps += c.Gap.N
		}
		if heat != f.Gap.N || gaps != f.Gap.N {
			t.Fatalf("heatmap holds %d and columns %d of %d gaps", heat, gaps, f.Gap.N)
		}
		if f.OutputTokens != tokens {
			t.Fatalf("%d tokens, sent %d", f.OutputTokens, tokens)
		}
		for _, g := range []Figure{f.TTFT, f.Gap, f.ITL, f.TPOT, f.E2E} {
			last := g.Min
			for _, q := range g.Q {
				if q.Value < last || q.Value > g.Max {
					t.Fatalf("percentiles out of order: %+v", g)
				}
				last = q.Value
			}
		}
	})
}

// TPOT spans the time from the first token to the last, whatever k is.
func TestE2EFromTPOT(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(Config{})
		s.start(1, 0)
		at := int64(rapid.IntRange(1, 1000).Draw(t, "ttft")) * ms
		n, n1 := int64(0), int64(0)
		for i := range rapid.IntRange(2, 60).Draw(t, "events") {
			k := rapid.IntRange(1, 5).Draw(t, "k")
			n += int64(k)
			if i == 0 {
				n1 = n
			} else {
				at += int64(rapid.IntRange(60_000, 1e9).Draw(t, "gap"))
			}
			s.tokNs(1, at, uint32(k))
		}
		s.a.Add(&event.End{At: at + ms, Target: 1, Request: 1, Slot: 1, N: int(n), Count: event.CountUsage, Class: event.OKFull})
		r := s.target().Recent[0]
		if r.Buffered {
			return // so fast that nobody can have made it: no TPOT
		}
		if d := r.TTFT + r.TPOT*(n-n1) - r.E2E; d > n || d < -n {
			t.Fatalf("TTFT %d + TPOT %d × %d is %d ns off E2E %d", r.TTFT, r.TPOT, n-n1, d, r.E2E)
		}
	})
}

// A try that was repeated under another number leaves no trace in the counts.
func TestSentAgainCountsNeitherWay(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Start{At: 1, Target: 1, Request: 1, Slot: 1})
	s.a.Add(&event.End{At: 2, Target: 1, Request: 1, Slot: 1, Class: event.Aborted, Flags: []event.Flag{event.FlagRetried, event.FlagSentAgain}})
	s.a.Add(&event.Start{At: 3, Target: 1, Request: 2, Slot: 1})
	s.a.Add(&event.Start{At: 4, Target: 1, Request: 3, Slot: 2, Reused: true})
	s.a.Add(&event.End{At: 5, Target: 1, Request: 3, Slot: 2, Class: event.Aborted, Flags: []event.Flag{event.FlagRetried, event.FlagSentAgain}})
	tg := s.a.Snapshot().Targets[0]
	if f := &tg.Session; f.Cold != 1 || f.Phases.Reused != 0 {
		t.Errorf("%d on new connections, %v on used ones: of the one that was sent", f.Cold, f.Phases.Reused)
	}
	if r := tg.Session.Requests; r.Aborted != 0 || r.Failed != 0 || len(r.ByClass) != 0 || len(tg.Recent) != 0 || tg.InFlight != 1 {
		t.Errorf("%+v, %d in the list, %d in flight", r, len(tg.Recent), tg.InFlight)
	}
}

// A length is that of the load once a request was sent with it, and never when
// none was.
func TestALengthCountsOnceItWasSent(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Session{At: 1, Load: event.Load{MaxTokens: 256, PromptTokens: 128, Concurrency: 2}})
	look := func() event.Load { return s.a.Snapshot().Load }
	s.a.Add(&event.Setting{At: 2, Name: event.DoMaxTokens, From: "256", To: "512"})
	s.a.Add(&event.Setting{At: 2, Name: event.DoConcurrency, From: "2", To: "3"})
	if l := look(); l.MaxTokens != 256 || l.Concurrency != 3 {
		t.Errorf("before a request: %+v", l)
	}
	s.a.Add(&event.Start{At: 3, Target: 1, Request: 1, Asked: 256, Prompt: 128})
	if l := look(); l.MaxTokens != 256 {
		t.Errorf("after one of the old length: %+v", l)
	}
	s.a.Add(&event.Setting{At: 4, Name: event.DoMaxTokens, From: "512", To: "1024"})
	s.a.Add(&event.Setting{At: 4, Name: event.DoPromptTokens, From: "128", To: "64"})
	s.a.Add(&event.Start{At: 5, Target: 1, Request: 2, Asked: 1024, Prompt: 64})
	if l := look(); l.MaxTokens != 1024 || l.PromptTokens != 64 {
		t.Errorf("after one of the new lengths: %+v", l)
	}
}
