package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sample is one value of the oracle.
type sample struct {
	at, v    int64
	censored bool
}

// oracle answers from the sorted samples of a horizon: exact ones rank first.
func oracle(all []sample, from int64) (sorted []sample) {
	for _, s := range all {
		if s.at >= from {
			sorted = append(sorted, s)
		}
	}
	slices.SortStableFunc(sorted, func(a, b sample) int {
		switch {
		case a.censored != b.censored && a.censored:
			return 1
		case a.censored != b.censored:
			return -1
		}
		return int(min(max(a.v-b.v, -1), 1))
	})
	return sorted
}

func genValue(t *rapid.T) int64 {
	// Any order of magnitude from nothing to beyond what is tracked.
	return int64(math.Pow(10, rapid.Float64Range(0, 13).Draw(t, "log v")))
}

func TestWindowsAgainstSortedSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDist(fine)
		var all []sample
		now, steps := int64(0), rapid.IntRange(1, 120).Draw(t, "n")
		for range steps {
			now += int64(rapid.SampledFrom([]float64{0, 1e6, 3e8, 1e9, 4e9, 25e9, 200e9, 2000e9}).Draw(t, "dt"))
			s := sample{at: now, v: genValue(t), censored: rapid.IntRange(0, 9).Draw(t, "cens") == 0}
			if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
				s.at = max(0, now-int64(rapid.IntRange(0, 5000).Draw(t, "by"))*ms)
			}
			all = append(all, s)
			if s.censored {
				d.censor(s.at, s.v)
			} else {
				d.record(s.at, s.v, 1, s.v)
			}
			if rapid.IntRange(0, 19).Draw(t, "ask") == 0 {
				check(t, d, all, now)
			}
		}
		check(t, d, all, now)
		check(t, d, all, now+int64(rapid.IntRange(0, 1000).Draw(t, "quiet"))*second)
	})
}

func check(t *rapid.T, d *dist, all []sample, now int64) {
	figs := *d.query(now / second)
	for h, f := range figs {
		from := int64(0)
		if h < len(Windows) {
			from = (now/second + 1 - int64(Windows[h])/second) * second
		}
		sorted := oracle(all, from)
		if f.N != uint64(len(sorted)) {
			t.Fatalf("horizon %d: n %d, want %d", h, f.N, len(sorted))
		}
		if f.N == 0 {
			if f != (Figure{}) {
				t.Fatalf("horizon %d: empty is %+v", h, f)
			}
			continue
		}
		lo, hi, sum := sorted[0].v, sorted[0].v, 0.0
		for _, s := range sorted {
			lo, hi, sum = min(lo, s.v), max(hi, s.v), sum+float64(s.v)
		}
		if f.Min != lo || f.Max != hi {
			t.Fatalf("horizon %d: %d..%d, want %d..%d", h, f.Min, f.Max, lo, hi)
		}
		if mean := sum / float64(len(sorted)); math.Abs(f.Mean-mean) > 1e-9*mean+1 {
			t.Fatalf("horizon %d: mean %v, want %v", h, f.Mean, mean)
		}
		last := int64(0)
		for i, q := range f.Q {
			want := sorted[nearestRank(quantilePPM[i], f.N)-1]
			if q.Value < last || q.Value > f.Max || q.Value < f.Min {
				t.Fatalf("horizon %d quantile %d: %d is out of order", h, i, q.Value)
			}
			last = q.Value
			if q.Censored != want.censored {
				t.Fatalf("horizon %d quantile %d: censored %v", h, i, q.Censored)
			}
			if q.Lo > q.Value || q.Hi < q.Value {
				t.Fatalf("horizon %d quantile %d: %d outside of %d..%d", h, i, q.Value, q.Lo, q.Hi)
			}
			// Limits of several lengths may overtake exact samples, and what is
			// clipped is only known to be long.
			if want.censored || want.v > hour {
				continue
			}
			if diff := math.Abs(float64(q.Value - want.v)); diff > float64(want.v)/1000+1 && q.Value < hour {
				t.Fatalf("horizon %d quantile %d: %d, want %d", h, i, q.Value, want.v)
			}
		}
	}
}

// A window merged from its seconds is what recording its samples anew gives.
func TestMergingIsRecomputing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDist(fine)
		samples := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sample {
			return sample{at: int64(rapid.IntRange(0, 120_000).Draw(t, "at")) * ms, v: genValue(t)}
		}), 1, 200).Draw(t, "samples")
		now := int64(0)
		for _, s := range samples {
			d.record(s.at, s.v, 1, s.v)
			now = max(now, s.at)
		}
		got := *d.query(now / second)
		for h, w := range Windows {
			fresh := newDist(fine)
			for _, s := range samples {
				if s.at >= (now/second+1)*second-int64(w) {
					fresh.record(now, s.v, 1, s.v)
				}
			}
			want := fresh.query(now / second)[horizons-1]
			if got[h] != want {
				t.Fatalf("window %v: %+v, want %+v", w, got[h], want)
			}
		}
	})
}

func TestClippedAndSmall(t *testing.T) {
	d := newDist(fine)
	for _, v := range []int64{-5, 0, 1, 999, 3 * hour} {
		d.record(0, v, 1, v)
	}
	f := d.query(0)[0]
	if f.N != 5 || f.Clipped != 1 || f.Min != 0 || f.Max != 3*hour {
		t.Errorf("%+v", f)
	}
	if got := f.Q[P50].Value; got != 1 {
		t.Errorf("median %d ns, want 1", got)
	}
	if got := f.Q[P99].Value; got < hour || got > 3*hour {
		t.Errorf("P99 %d does not say that it is beyond an hour", got)
	}
}

func TestResetWindowKeepsTheMinuteBehindStalls(t *testing.T) {
	d := newDist(fine)
	for i := range int64(200) {
		d.record(i*100*ms, 10*ms, 1, 10*ms)
	}
	d.resetWindows()
	if n := d.query(19)[3].N; n != 0 {
		t.Errorf("the window still holds %d samples", n)
	}
	if n := d.query(19)[horizons-1].N; n != 200 {
		t.Errorf("the session holds %d samples", n)
	}
	d.record(20*second, 30*ms, 1, 30*ms)
	if n := d.query(20)[0].N; n != 1 {
		t.Errorf("the window holds %d samples", n)
	}
	if _, n := d.quantiles(0, 19, 500_000, 990_000); n != 200 {
		t.Errorf("%d samples behind the stall rule", n)
	}
}

func TestResetSession(t *testing.T) {
	d := newDist(fine)
	d.record(0, ms, 1, ms)
	d.resetSession()
	if f := *d.query(0); f != ([horizons]Figure{}) {
		t.Errorf("%+v", f)
	}
	d.record(0, 2*ms, 1, 2*ms)
	if f := d.query(0)[horizons-1]; f.N != 1 || f.Max != 2*ms {
		t.Errorf("%+v", f)
	}
}

func BenchmarkRecord(b *testing.B) {
	d := newDist(fine)
	for i := range b.N {
		v := int64(1_000_000 + i%1000*3000)
		d.record(int64(i)*1000, v, 1, v)
	}
}

// filled is a dist with rate samples in each of 900 seconds.
func filled(rate int64) *dist {
	d := newDist(fine)
	x := uint64(1)
	for i := range 900 * rate {
		x = x*6364136223846793005 + 1442695040888963407
		v := int64(1e6 * math.Exp(3*float64(x>>40)/(1<<24)))
		d.record(i*second/rate, v, 1, v)
	}
	return d
}

func BenchmarkRotate(b *testing.B) {
	d := filled(500)
	for i := range int64(b.N) {
		sec := 900 + i
		for j := range int64(500) {
			d.record(sec*second, 1e6+j*3001, 1, 1e6+j*3001)
		}
		d.advance(sec + 1)
	}
}

func BenchmarkQuery(b *testing.B) {
	d := filled(500)
	b.ResetTimer()
	for range b.N {
		d.dirty = true
		d.query(899)
	}
}
