package stats

import "math"

func close9(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-9 }

// same compares a figure with the sorted samples: n and extremes exactly, the
// quantiles and the ends of their intervals within the histogram's 0.1 %.
func same(t failer, name string, f Figure, all []sample) {
	t.Helper()
	sorted := oracle(all, math.MinInt64)
	n := uint64(len(sorted))
	if f.N != n {
		t.Errorf("%s: n %d, want %d", name, f.N, n)
		return
	}
	if n == 0 {
		return
	}
	lo, hi, sum, cut := sorted[0].v, sorted[0].v, 0.0, uint64(0)
	for _, s := range sorted {
		lo, hi, sum = min(lo, s.v), max(hi, s.v), sum+float64(s.v)
		if s.censored {
			cut++
		}
	}
	if f.Min != lo || f.Max != hi || !near(int64(f.Mean), int64(sum/float64(n))) || f.Censored != cut {
		t.Errorf("%s: %d..%d mean %v, %d censored, want %d..%d, %v, %d", name, f.Min, f.Max, f.Mean, f.Censored, lo, hi, sum/float64(n), cut)
	}
	for i, q := range f.Q {
		at := sorted[nearestRank(quantilePPM[i], n)-1]
		l, u := orderInterval(quantilePPM[i], n)
		if !near(q.Value, at.v) && !at.censored || q.Censored != at.censored || q.Mark != sampleRule(quantilePPM[i], n) {
			t.Errorf("%s quantile %d of %d: %+v, want %+v", name, i, n, q, at)
		}
		if cut > 0 {
			continue // limits of several lengths need not grow with their rank
		}
		if l > 0 && !near(q.Lo, sorted[l-1].v) || u <= n && !near(q.Hi, sorted[u-1].v) || q.HiOpen != (u > n) {
			t.Errorf("%s quantile %d of %d: interval %d..%d, ranks %d and %d", name, i, n, q.Lo, q.Hi, l, u)
		}
	}
}

// verify compares one horizon with the truth.
func verify(t failer, f *Figures, o *truth) {
	t.Helper()
	for _, c := range []struct {
		name string
		f    Figure
		all  []sample
	}{
		{"ttft", f.TTFT, o.ttft}, {"ttfo", f.TTFO, o.ttfo}, {"gap", f.Gap, o.gap}, {"itl", f.ITL, o.itl}, {"tpot", f.TPOT, o.tpot},
		{"e2e", f.E2E, o.e2e}, {"late", f.Late, o.late}, {"ttft from schedule", f.SchedTTFT, o.sTTFT},
		{"e2e from schedule", f.SchedE2E, o.sE2E}, {"cold ttft", f.ColdTTFT, o.cold},
	} {
		same(t, c.name, c.f, c.all)
	}
	if f.Merged != o.merged || f.MergedSum != o.mergedSum || f.MergedTTFT != o.mergedTTFT || f.OutputTokens != o.out {
		t.Errorf("%d merged of %d ns, %d first ones, %d tokens, want %d, %d, %d, %d",
			f.Merged, f.MergedSum, f.MergedTTFT, f.OutputTokens, o.merged, o.mergedSum, o.mergedTTFT, o.out)
	}
	r := f.Requests
	if r.OK != o.ok || r.Failed != o.failed || r.Aborted != o.aborted || !close9(f.Goodput, share(float64(o.good), float64(o.ok+o.failed))) {
		t.Errorf("%+v goodput %v, want %d, %d, %d and %d good", r, f.Goodput, o.ok, o.failed, o.aborted, o.good)
	}
	s := f.Smooth
	if s.FluidityN != o.met+o.missed || !close9(s.Fluidity, share(float64(o.met), float64(o.met+o.missed))) {
		t.Errorf("fluidity %v of %d, want %d met and %d missed", s.Fluidity, s.FluidityN, o.met, o.missed)
	}
	if !close9(s.Stalled5, share(o.starved[0], o.played[0])) || !close9(s.Stalled10, share(o.starved[1], o.played[1])) {
		t.Errorf("stalled %v and %v, want %v of %v", s.Stalled5, s.Stalled10, o.starved, o.played)
	}
	if !close9(s.QoE5, quality(o.behind[0], o.whole[0])) || !close9(s.QoE10, quality(o.behind[1], o.whole[1])) {
		t.Errorf("quality %v and %v, want %v of %v", s.QoE5, s.QoE10, o.behind, o.whole)
	}
	if !close9(s.Jitter, share(o.jitter, float64(o.jitters))) {
		t.Errorf("jitter %v, want %v", s.Jitter, share(o.jitter, float64(o.jitters)))
	}
	if cv := variation(o.gap); math.Abs(s.CV-cv) > 1e-6*cv+1e-6 {
		t.Errorf("cv %v, want %v", s.CV, cv)
	}
}

// variation is σ/mean in two passes.
func variation(all []sample) float64 {
	n, sum, square := 0.0, 0.0, 0.0
	for _, s := range all {
		if !s.censored {
			n, sum = n+1, sum+float64(s.v)
		}
	}
	mean := share(sum, n)
	for _, s := range all {
		if !s.censored {
			square += (float64(s.v) - mean) * (float64(s.v) - mean)
		}
	}
	return share(math.Sqrt(share(square, n)), mean)
}
