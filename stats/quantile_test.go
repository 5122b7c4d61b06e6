package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestNearestRank(t *testing.T) {
	for _, c := range []struct {
		name    string
		ppm, n  uint64
		want    uint64
		comment string
	}{
		{"hundred", 990_000, 100, 99, "not the maximum"},
		{"twenty", 990_000, 20, 20, ""},
		{"median of two", 500_000, 2, 1, "the lower one"},
		{"thousand", 999_000, 1000, 999, ""},
		{"one", 999_900, 1, 1, ""},
		{"none", 500_000, 0, 0, ""},
		{"where floating point is off", 999_900, 30_000, 29_997, ""},
		{"very many", 999_900, 1 << 50, 1_125_787_316_851_940, ""},
	} {
		if got := nearestRank(c.ppm, c.n); got != c.want {
			t.Errorf("%s: rank %d, want %d %s", c.name, got, c.want, c.comment)
		}
	}
}

func TestSampleRule(t *testing.T) {
	for _, c := range []struct {
		ppm, none, approx uint64 // the first n that exists, the first that is trusted
	}{
		{500_000, 2, 20}, {900_000, 10, 100}, {950_000, 20, 200},
		{990_000, 100, 1000}, {999_000, 1000, 10_000}, {999_900, 10_000, 100_000},
	} {
		for n, want := range map[uint64]Mark{
			c.none - 1: MarkNone, c.none: MarkApprox, c.approx - 1: MarkApprox, c.approx: MarkOK,
		} {
			if got := sampleRule(c.ppm, n); got != want {
				t.Errorf("p %d n %d: mark %d, want %d", c.ppm, n, got, want)
			}
		}
	}
}

// Below these n the upper end of a 95 % interval is open.
func TestIntervalNeedsSamples(t *testing.T) {
	for ppm, n := range map[uint64]uint64{990_000: 368, 999_000: 3688, 999_900: 36_887} {
		if _, u := orderInterval(ppm, n-1); u <= n-1 {
			t.Errorf("p %d: finite at n = %d", ppm, n-1)
		}
		if _, u := orderInterval(ppm, n); u != n {
			t.Errorf("p %d: upper rank %d at n = %d, want the maximum", ppm, u, n)
		}
	}
	if l, _ := orderInterval(500_000, 5); l != 0 {
		t.Errorf("a median of five has no finite lower end, got rank %d", l)
	}
}

// cdf sums the binomial term by term from the bottom, in logarithms.
func cdf(n int64, p float64, k int64) float64 {
	sum := 0.0
	for i := int64(0); i <= k; i++ {
		a, _ := math.Lgamma(float64(n) + 1)
		b, _ := math.Lgamma(float64(i) + 1)
		c, _ := math.Lgamma(float64(n-i) + 1)
		sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

func TestIntervalIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ppm := rapid.SampledFrom(quantilePPM[:]).Draw(t, "ppm")
		n := rapid.Uint64Range(1, 3000).Draw(t, "n")
		l, u := orderInterval(ppm, n)
		p := float64(ppm) / million
		below := func(r int64) float64 { // P(Bin < r)
			if r <= 0 {
				return 0
			}
			return cdf(int64(n), p, r-1)
		}
		const eps = 1e-9
		if v := below(int64(l)); v > tail+eps {
			t.Fatalf("P(B < l=%d) = %v", l, v)
		}
		if v := below(int64(l) + 1); v < tail-eps && l < n {
			t.Fatalf("l=%d could be one more: %v", l, v)
		}
		if v := 1 - below(int64(u)); v > tail+eps && u <= n {
			t.Fatalf("P(B ≥ u=%d) = %v", u, v)
		}
		if v := 1 - below(int64(u)-1); v < tail-eps {
			t.Fatalf("u=%d could be one less: %v", u, v)
		}
	})
}

// Where the exact sums end, the approximation takes over without a step.
func TestIntervalApproximationJoins(t *testing.T) {
	for _, ppm := range quantilePPM {
		q := float64(million-ppm) / million
		n := int64(0.98 * exactSigma * exactSigma / (q * (1 - q)))
		b := binomial{n: n, q: q}
		lo, hi := b.lowest(), b.highest()
		if g := int64(math.Floor(b.guess(-1.959964) - 0.5)); max(g-lo, lo-g) > 1 {
			t.Errorf("p %d: lower %d, approximated %d", ppm, lo, g)
		}
		if g := int64(math.Ceil(b.guess(1.959964) + 0.5)); max(g-hi, hi-g) > 1 {
			t.Errorf("p %d: upper %d, approximated %d", ppm, hi, g)
		}
	}
}

func BenchmarkInterval(b *testing.B) {
	for i := range b.N {
		orderInterval(quantilePPM[i%len(quantilePPM)], uint64(450_000+i%1000))
	}
}
