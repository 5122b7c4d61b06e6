package sim

import (
	"math"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func near(got, want time.Duration, share float64) bool {
	return math.Abs(float64(got-want)) <= share*float64(want)
}

func TestArticleLawHasTheFigures(t *testing.T) {
	law := ArticleLaw()
	us := func(v float64) time.Duration { return time.Duration(v * 1000) }
	for _, c := range []struct {
		name string
		p    float64
		want time.Duration
	}{
		{"least", 0, us(900)}, {"median", 0.5, us(1600)}, {"P90", 0.9, us(7215.7)},
		{"P99", 0.99, us(12880)}, {"P99.99", 0.9999, us(120220)}, {"most", 1, us(180000)},
		{"below 0", -1, us(900)}, {"above 1", 2, us(180000)}, {"not a number", math.NaN(), us(900)},
		{"between two knots it is their geometric mean", 0.25, us(1000 * math.Sqrt(0.9*1.6))},
	} {
		if got := law.Quantile(c.p); !near(got, c.want, 1e-6) {
			t.Errorf("%s: Quantile(%v) = %v, want %v", c.name, c.p, got, c.want)
		}
	}
	if got := law.Mean(); !near(got, us(3470), 2e-4) {
		t.Errorf("Mean() = %v, want 3.470 ms", got)
	}
}

func TestLawMeanIsTheIntegral(t *testing.T) {
	law := ArticleLaw()
	const n = 400_000
	var sum float64
	for i := range n {
		sum += float64(law.Quantile((float64(i) + 0.5) / n))
	}
	if got := time.Duration(sum / n); !near(got, law.Mean(), 1e-4) {
		t.Errorf("the integral is %v, Mean() says %v", got, law.Mean())
	}
	flat := Law{p: []float64{0, 1}, ms: []float64{5, 5}}
	if got := flat.Mean(); got != 5*time.Millisecond {
		t.Errorf("a constant law of 5 ms has mean %v", got)
	}
}

func TestLawIsMonotone(t *testing.T) {
	law := ArticleLaw()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		b := rapid.Float64Range(0, 1).Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if law.Quantile(a) > law.Quantile(b) {
			t.Fatalf("Quantile(%v) = %v > Quantile(%v) = %v", a, law.Quantile(a), b, law.Quantile(b))
		}
	})
}

// discrepancy is the star discrepancy of v, which it sorts: the largest
// distance between the share of values below x and x.
func discrepancy(v []float64) float64 {
	sort.Float64s(v)
	n := float64(len(v))
	var worst float64
	for i, x := range v {
		worst = max(worst, math.Abs(x-float64(i)/n), math.Abs(x-float64(i+1)/n))
	}
	return worst
}

func TestEveryPrefixIsStratified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		n := rapid.IntRange(1, 20000).Draw(t, "n")
		s := newSequence(seed)
		v := make([]float64, n)
		for i := range v {
			v[i] = s.next()
			if v[i] <= 0 || v[i] >= 1 {
				t.Fatalf("value %d is %v", i, v[i])
			}
		}
		// n shuffled values are those of a stratified prefix of n+window save
		// window of them; a stratified prefix is off by at most log₂(n)/2+1
		// values.
		bound := (window + math.Log2(float64(n))/2 + 2) / float64(n)
		if d := discrepancy(v); d > bound {
			t.Fatalf("seed %d: star discrepancy of %d values is %v, want at most %v", seed, n, d, bound)
		}
	})
}

func TestAlignedBlocksHaveOneValuePerStratum(t *testing.T) {
	s := newSequence(7)
	s.n = 0
	const size = 1024
	for block := range 5 {
		var seen [size]int
		for range size {
			seen[int(s.raw()*size)]++
		}
		for i, n := range seen {
			if n != 1 {
				t.Fatalf("block %d has %d values in stratum %d", block, n, i)
			}
		}
	}
}

func TestSequenceIsSeededAndMixed(t *testing.T) {
	a, b, c := newSequence(1), newSequence(1), newSequence(2)
	same, rises := 0, 0
	last := 0.0
	for range 4096 {
		x := a.next()
		if y := b.next(); x != y {
			t.Fatalf("the same seed gives %v and %v", x, y)
		}
		if x == c.next() {
			same++
		}
		if (x < 0.5) != (last < 0.5) {
			rises++
		}
		last = x
	}
	if same > 4 {
		t.Errorf("two seeds agree in %d of 4096 values", same)
	}
	if rises > 2400 { // unmixed, it would change halves every time
		t.Errorf("neighbours lie in different halves %d times of 4096: not mixed", rises)
	}
}

// TestLawFromSequence is the promise of the profile: a run of 70 000 gaps
// already has the law's tail, whatever the seed and wherever it stops.
func TestLawFromSequence(t *testing.T) {
	law := ArticleLaw()
	for seed := range uint64(5) {
		for _, n := range []int{70_000, 83_217, 100_000} {
			s := newSequence(seed)
			gaps := make([]float64, n)
			var sum float64
			for i := range gaps {
				gaps[i] = float64(law.Quantile(s.next()))
				sum += gaps[i]
			}
			sort.Float64s(gaps)
			for _, c := range []struct{ p, share float64 }{{0.5, 0.005}, {0.9, 0.005}, {0.99, 0.008}, {0.9999, 0.03}} {
				got := time.Duration(gaps[int(math.Ceil(c.p*float64(n)))-1])
				if !near(got, law.Quantile(c.p), c.share) {
					t.Errorf("seed %d, %d gaps: P%g = %v, want %v", seed, n, c.p*100, got, law.Quantile(c.p))
				}
			}
			if mean := time.Duration(sum / float64(n)); !near(mean, law.Mean(), 0.003) {
				t.Errorf("seed %d, %d gaps: mean %v, want %v", seed, n, mean, law.Mean())
			}
		}
	}
}
