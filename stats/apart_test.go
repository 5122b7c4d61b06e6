package stats

import (
	"math/rand/v2"
	"testing"

	"teapot/probe/event"
)

// A late read is counted and drawn hollow, and left out only when asked for:
// both counts can be told either way.
func TestLateGapsCanBeLeftOut(t *testing.T) {
	for _, exclude := range []bool{false, true} {
		s := newScript(Config{ExcludeLate: exclude})
		s.start(1, 0)
		for i := range int64(10) {
			late := int64(20e3)
			switch i {
			case 4:
				late = 60 * ms // of 100 ms
			case 6:
				late = 40 * ms // less than half
			}
			s.a.Add(&event.Token{At: (100 + 100*i) * ms, Late: late, Target: 1, Request: 1, Slot: 1, K: 1})
		}
		s.a.Add(&event.Token{At: 1000*ms + 500e3, Late: 400e3, Target: 1, Request: 1, Slot: 1, K: 1}) // too short to matter
		f := s.target().Session
		excluded := uint64(0)
		if exclude {
			excluded = 1
		}
		if f.Tardy != 1 || f.Excluded != excluded || f.Gap.N+f.Excluded != 10 || f.Merged != excluded || f.ITL.N != f.Gap.N {
			t.Errorf("exclude %v: %d tardy, %d excluded, n %d", exclude, f.Tardy, f.Excluded, f.Gap.N)
		}
		c := s.target().Series.Columns(500*ms, Bucket, 1)[0]
		hollow := c.Late
		if exclude {
			hollow = c.Ours
		}
		if hollow.N != 1 || hollow.Max != 100*ms || c.Gap.N+c.Ours.N != 1 {
			t.Errorf("exclude %v: column %+v", exclude, c)
		}
	}
}

// Response time and service time side by side, timeouts at what they had waited
// from the schedule on.
func TestOpenLoopTimeoutsAreCensoredFromTheSchedule(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Start{At: 3 * second, Scheduled: second, Target: 1, Request: 1, Slot: 1})
	s.a.Add(&event.End{At: 13 * second, Target: 1, Request: 1, Slot: 1, Class: event.ErrFirst, Limit: 10 * second})
	s.a.Add(&event.Start{At: 3 * second, Scheduled: second, Target: 1, Request: 2, Slot: 2})
	s.tok(2, 3100, 1)
	s.tok(2, 3200, 1)
	s.a.Add(&event.End{At: 8 * second, Target: 1, Request: 2, Slot: 2, Class: event.ErrTotal, Limit: 5 * second})
	f := s.target().Session
	for _, c := range []struct {
		name        string
		f           Figure
		n, censored uint64
		top         int64
	}{
		{"ttft", f.TTFT, 2, 1, 10 * second}, {"ttft from schedule", f.SchedTTFT, 2, 1, 12 * second},
		{"e2e", f.E2E, 1, 1, 5 * second}, {"e2e from schedule", f.SchedE2E, 1, 1, 7 * second}, {"late", f.Late, 2, 0, 2 * second},
	} {
		if c.f.N != c.n || c.f.Censored != c.censored || c.f.Max != c.top {
			t.Errorf("%s: %+v", c.name, c.f)
		}
	}
	if fl := s.a.Snapshot().Floor; fl.LagN != 2 || !near(fl.LagP50/10, 2*second/10) && fl.LagP50 < 1_980*ms {
		t.Errorf("%+v", fl)
	}
}

func TestColdConnectionsStandApart(t *testing.T) {
	s := newScript(Config{})
	for i, c := range []struct{ reused, warmup bool }{{false, true}, {false, false}, {true, false}, {true, false}, {false, false}} {
		req, at := uint64(i+1), int64(i)*second
		s.a.Add(&event.Start{At: at, Target: 1, Request: req, Slot: 1, Reused: c.reused, Warmup: c.warmup, TCP: 5 * ms})
		wait := 100 * ms
		if !c.reused {
			wait = 300 * ms
		}
		s.tokNs(req, at+wait, 1)
		s.a.Add(&event.End{At: at + wait, Target: 1, Request: req, Slot: 1, Warmup: c.warmup, N: 1, Class: event.OKFull, Count: event.CountUsage})
	}
	f := s.target().Session
	if f.Cold != 2 || f.ColdTTFT.N != 2 || f.ColdTTFT.Min != 300*ms || f.TTFT.N != 4 || f.Requests.Warmup != 1 || f.Phases.Reused != 0.5 {
		t.Errorf("%d cold, %+v of %+v", f.Cold, f.ColdTTFT, f.TTFT)
	}
}

// Pauses in two or five of a hundred gaps make the P99 that they are measured
// by, and so are hardly ever stalls; they are told as a stutter instead.
func TestRegularStutterIsTold(t *testing.T) {
	for _, c := range []struct {
		name          string
		law           law
		least, stalls float64 // shares of the gaps
		most          float64
	}{
		{"half a second in two of a hundred", law{{0, 18}, {0.98, 22}, {0.9801, 490}, {1, 510}}, 0.01, 0.01, 0.021},
		{"half a second in eight of a hundred", law{{0, 18}, {0.92, 22}, {0.9201, 490}, {1, 510}}, 0.06, 0.01, 0.081},
		{"others' prefill", law{{0, 9.8}, {0.915, 10.2}, {0.917, 79}, {1, 81}}, 0, 0.001, 0.0005},
	} {
		s := newScript(Config{})
		c.law.stream(s, 20_000)
		f := s.target().Session
		n := float64(f.Gap.N)
		if x := float64(f.Stalls.Stutters) / n; x < c.least || x > c.most || float64(f.Stalls.Count)/n > c.stalls {
			t.Errorf("%s: %.4f stutters, %.4f stalls", c.name, x, float64(f.Stalls.Count)/n)
		}
	}
}

// The law of the article has a heavy tail and does not stutter, at any scale.
func TestAHeavyTailIsNoStutter(t *testing.T) {
	for _, scale := range []float64{1, 10, 20, 100} {
		scaled := law{}
		for _, p := range article {
			scaled = append(scaled, point{p.p, p.ms * scale})
		}
		s := newScript(Config{})
		r := rand.New(rand.NewPCG(5, 6))
		s.start(1, 0)
		at := int64(0)
		const n = 20_000
		for range n {
			at += scaled.at(r.Float64())
			s.tokNs(1, at, 1)
		}
		if f := s.target().Session; f.Stalls.Stutters > n/2000 {
			t.Errorf("×%v: %d of %d", scale, f.Stalls.Stutters, f.Gap.N)
		}
	}
}

// A percentile is the server's while the floor's P99 is under a tenth of it.
func TestTheFloorMarksPercentiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		late   int64 // of each token, ns
		over   int64 // of each heartbeat
		source string
		p50    bool // cannot be called the server's
		p99    bool
	}{
		{"exact", 50e3, 90e3, event.SourceKernel, false, false},
		{"late by an eighth of the median", 1250e3, 90e3, event.SourceKernel, true, false},
		{"late by half of it", 6 * ms, 90e3, event.SourceKernel, true, true},
		{"no kernel stamps, a quiet machine", 0, 90e3, event.SourceRead, false, false},
		{"no kernel stamps, a busy machine", 0, 3 * ms, event.SourceRead, true, false},
		{"kernel stamps, a busy machine", 50e3, 3 * ms, event.SourceKernel, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(Config{})
			s.start(1, 0)
			s.a.Add(&event.Headers{At: ms, Request: 1, Status: 200, Source: c.source})
			at := int64(0)
			for i := range int64(1000) {
				at += 10 * ms
				if i%20 == 0 {
					at += 40 * ms
				}
				s.a.Add(&event.Token{At: at, Late: c.late, Target: 1, Request: 1, Slot: 1, K: 1})
				if i%10 == 0 {
					s.a.Add(&event.Floor{At: at, Overshoot: c.over})
				}
			}
			snap := s.a.Snapshot()
			for h, f := range append(snap.Targets[0].Windows[:], snap.Targets[0].Session) {
				if q := f.Gap.Q; q[P50].Ours != c.p50 || q[P99].Ours != c.p99 {
					t.Errorf("horizon %d: P50 %+v, P99 %+v, floor %d", h, q[P50], q[P99], snap.Floor.P99)
				}
			}
			if k := snap.Floor; k.KernelStreams+k.ReadStreams != 1 || (k.ReadStreams == 1) != (c.source == event.SourceRead) || k.P99 == 0 || k.SessionP99 == 0 {
				t.Errorf("%+v", k)
			}
		})
	}
}

func TestLateAndMergedReads(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	for i, k := range []event.Token{
		{Late: 2 * ms}, {Late: 2 * ms, Burst: 1}, {Late: 900e3}, {Late: 5 * ms, Merged: true}, {Late: 5 * ms, Merged: true, Burst: 1}, {},
	} {
		k.At, k.Target, k.Request, k.Slot = int64(100+20*i)*ms, 1, 1, 1
		s.a.Add(&k)
	}
	if f := s.a.Snapshot().Floor; f.LateReads != 2 || f.MergedReads != 1 || f.Merged != 2 {
		t.Errorf("%+v", f)
	}
}
