package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"teapot/probe/event"
)

// batch is an engine with continuous batching, on paper: all of its streams get
// a token with every step, so that their gaps are the same ones, and a step now
// and then takes long. pace multiplies every step.
func batch(seed uint64, seconds int64, streams int, pace float64) *Target {
	r := rand.New(rand.NewPCG(seed, 5))
	a := NewAggregator(Config{MaxErrorRate: -1})
	a.Add(&event.Target{ID: 1, URL: "http://x", State: event.StateLive})
	type stream struct {
		request uint64
		left, n int
	}
	list := make([]stream, streams)
	request := uint64(0)
	for now := int64(1e6); now < seconds*second; {
		for i := range list {
			s := &list[i]
			if s.left == 0 {
				if s.request > 0 {
					a.Add(&event.End{At: now, Target: 1, Request: s.request, Slot: uint32(i), Class: event.OKFull, N: s.n, Count: event.CountUsage, Status: 200})
				}
				request++
				*s = stream{request: request, left: 64 + r.IntN(64)}
				a.Add(&event.Start{At: now, Target: 1, Request: request, Slot: uint32(i), Asked: s.left, Reused: true})
				a.Add(&event.Headers{At: now + 1e5, Target: 1, Request: request, Status: 200})
			}
		}
		step := 8e6 * math.Exp(0.15*r.NormFloat64())
		if r.IntN(60) == 0 {
			step += 20e6 * (1 + r.Float64())
		}
		now += int64(step * pace)
		for i := range list {
			s := &list[i]
			s.n++
			s.left--
			a.Add(&event.Token{At: now, Target: 1, Request: s.request, Slot: uint32(i), K: 1})
		}
	}
	a.Add(&event.Finished{At: seconds * second, Complete: true, Reason: "duration"})
	return a.Snapshot().Targets[0]
}

// Two runs of one engine show no change, though their streams share every step;
// a run whose steps take a tenth longer is found out, always.
func TestTwoRunsOfOneEngine(t *testing.T) {
	seeds, seconds := uint64(100), int64(30)
	if testing.Short() {
		seeds = 4
	}
	equal, found, naive := 0, 0, 0
	for seed := range seeds {
		a, b := batch(3*seed, seconds, 4, 1), batch(3*seed+1, seconds, 4, 1)
		up, down := Hold(a, b).Changed()
		if len(up)+len(down) == 0 {
			equal++
		} else {
			t.Logf("seed %d: %v %v", seed, up, down)
		}
		plain := true
		for q := range Quantiles {
			plain = plain && Compare(a.Session.Gap.Q[q], b.Session.Gap.Q[q]) == ChangeNone
		}
		if plain {
			naive++
		}
		if seed%5 > 0 {
			continue
		}
		v := Hold(a, batch(3*seed+2, seconds, 4, 1.1))
		if m := v.Find("gap", "p50"); m.Change == ChangeUp && math.Abs(m.B/m.A-1.1) < 0.03 {
			found++
		} else {
			t.Errorf("seed %d: gap p50 %+v", seed, *m)
		}
		if _, down := v.Changed(); len(down) > 0 {
			t.Errorf("seed %d: a slower engine is faster in %v", seed, down)
		}
	}
	t.Logf("no change in %d of %d (with intervals of independent samples %d); a tenth more found in %d of %d", equal, seeds, naive, found, (seeds+4)/5)
	if equal+1 < int(seeds) && 100*equal < 95*int(seeds) {
		t.Errorf("two runs of one engine differ in %d of %d", int(seeds)-equal, seeds)
	}
}

// Streams that share their steps are so many fewer samples; one stream alone is
// as many as it has.
func TestSpreadSeesWhatStreamsShare(t *testing.T) {
	shared, alone := batch(1, 30, 8, 1), batch(1, 30, 1, 1)
	for i := range [...]int{P50, P90, P95, P99} {
		s, a := shared.Session.Gap.Q[i].Spread, alone.Session.Gap.Q[i].Spread
		if s < 3 || s > 25 || a < 1 || a > 3 {
			t.Errorf("quantile %d: the spread of 8 streams is %.1f, of one %.1f", i, s, a)
		}
	}
	if g := &shared.Session.Gap; g.MeanErr <= 0 || g.MeanErr > g.Mean/20 {
		t.Errorf("mean %g ± %g", g.Mean, g.MeanErr)
	}
	if running := newScript(Config{}); running.a.Snapshot() != nil {
		running.replies(1, 60, 0, 10)
		if q := running.target().Session.Gap.Q[P50]; q.Spread != 0 {
			t.Errorf("a run that goes on has a spread of %g", q.Spread)
		}
	}
}

func TestJudge(t *testing.T) {
	q := func(lo, v, hi float64) Quantile {
		return Quantile{Value: int64(v * 1e6), Lo: int64(lo * 1e6), Hi: int64(hi * 1e6), Mark: MarkOK}
	}
	target := func(gap Quantile, max float64, failed uint64) *Target {
		f := Figure{N: 1000, Mean: float64(gap.Value), Max: int64(max * 1e6)}
		f.Q[P50] = gap
		return &Target{Session: Figures{Gap: f, Requests: Requests{OK: 1000 - failed, Failed: failed}}}
	}
	v := Hold(target(q(9.9, 10, 10.1), 100, 0), target(q(11.4, 11.5, 11.6), 150, 100))
	back := Hold(v.B, v.A)
	vague := Hold(target(q(9, 10, 11), 100, 0), target(q(10.5, 11.5, 12.5), 150, 2))
	relative := func(of string, over bool, limit float64) Condition {
		return Condition{Metric: "gap", Of: of, Over: over, Relative: true, Percent: true, Limit: limit}
	}
	plain := func(of string, over bool, ms float64) Condition {
		return Condition{Metric: "gap", Of: of, Over: over, Limit: ms * 1e6}
	}
	for _, c := range []struct {
		name string
		v    *Versus
		c    Condition
		want Outcome
	}{
		{"15 % more is more than 10 %", v, relative("p50", true, 0.1), Holds},
		{"and not more than 20 %", v, relative("p50", true, 0.2), NotHeld},
		{"what shrinks does not grow", back, relative("p50", true, 0.1), NotHeld},
		{"it shrinks", back, relative("p50", false, -0.1), Holds},
		{"but not so much", back, relative("p50", false, -0.2), NotHeld},
		{"by chance", vague, relative("p50", true, 0.1), ByChance},
		{"in ms", v, Condition{Metric: "gap", Of: "p50", Over: true, Relative: true, Limit: 1e6}, Holds},
		{"itl is gap here", v, Condition{Metric: "itl", Of: "p50", Over: true, Relative: true, Limit: 1e6}, Holds},
		{"B alone", v, plain("p50", true, 11), Holds},
		{"B alone, under", v, plain("p50", false, 12), Holds},
		{"B alone, by chance", v, plain("p50", true, 11.45), ByChance},
		{"B alone, not", v, plain("p50", true, 12), NotHeld},
		{"a maximum as it is", v, relative("max", true, 0.3), Holds},
		{"a maximum, plain", v, plain("max", true, 149), Holds},
		{"a mean without an error", v, relative("mean", true, 0.1), ByChance},
		{"less than a third more is certain", v, relative("p50", false, 0.33), Holds},
		{"no such number", v, relative("p99", true, 0.1), NoNumbers},
		{"no such figure", v, Condition{Metric: "ttft", Of: "p50", Over: true}, NoNumbers},
		{"errors", v, Condition{Metric: "err", Over: true, Percent: true, Limit: 0.05}, Holds},
		{"errors more", v, Condition{Metric: "err", Over: true, Relative: true, Percent: true, Limit: 0.05}, Holds},
		{"few errors", vague, Condition{Metric: "err", Over: true, Percent: true, Limit: 0.001}, ByChance},
	} {
		if got := c.v.Judge(&c.c); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
