package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// coverage is the exact chance that the order statistics of ranks l and u
// enclose the quantile: P(l ≤ Bin(n, p) < u), summed term by term.
func coverage(ppm, n, l, u uint64) float64 {
	p, sum := float64(ppm)/million, 0.0
	lg := func(x uint64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	for k := l; k < u && k <= n; k++ {
		sum += math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return sum
}

// From one sample to a million: an interval never covers less than it says.
func TestIntervalsCoverAtLeast95(t *testing.T) {
	for _, ppm := range quantilePPM {
		for _, n := range []uint64{1, 2, 5, 10, 37, 100, 368, 1000, 3688, 5000, 20_000, 36_887, 50_000, 100_000, 400_000, 1_000_000} {
			l, u := orderInterval(ppm, n)
			c := coverage(ppm, n, l, u)
			if c < 0.95-1e-9 {
				t.Errorf("p %d n %d: ranks %d..%d cover %.5f", ppm, n, l, u, c)
			}
			// Where ranks are close together the next narrower pair would not do.
			if n*(million-ppm) > 400*million && c > 0.957 {
				t.Errorf("p %d n %d: ranks %d..%d are wider than need be: %.5f", ppm, n, l, u, c)
			}
		}
	}
}

// Samples of an exponential law, read back through the histogram: how often the
// interval holds the true quantile is what the ranks promise.
func TestSimulatedCoverage(t *testing.T) {
	const runs = 4000
	sizes := []uint64{100, 400}
	if !testing.Short() {
		sizes = append(sizes, 3000)
	}
	for _, n := range sizes {
		r := rand.New(rand.NewPCG(n, 42))
		var hit [len(Quantiles)]int
		h := histogram{fine.dense()}
		for range runs {
			h.Reset()
			var c cell
			for range n {
				v := int64(1e6 * (1 + 20*r.ExpFloat64()))
				_ = h.RecordValue(v)
				c.add(v, 1, v)
			}
			f := figure(h, &c)
			for i, q := range f.Q {
				l, _ := orderInterval(quantilePPM[i], n)
				want := int64(1e6 * (1 - 20*math.Log1p(-Quantiles[i])))
				if (l == 0 || q.Lo <= want) && (q.HiOpen || q.Hi >= want) {
					hit[i]++
				}
			}
		}
		for i, ppm := range quantilePPM {
			l, u := orderInterval(ppm, n)
			got, exact := float64(hit[i])/runs, coverage(ppm, n, l, u)
			// Three standard errors of the simulation.
			noise := 3 * math.Sqrt(exact*(1-exact)/runs)
			if math.Abs(got-exact) > 0.01 || got < 0.95-noise {
				t.Errorf("p %d n %d: %.4f covered, exactly %.4f", ppm, n, got, exact)
			}
		}
	}
}
