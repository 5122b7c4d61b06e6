package sim

import (
	"math"
	"sort"
	"time"
)

// Law is a distribution of gaps given by its quantile function: between two
// knots the logarithm of the gap is linear in the probability.
type Law struct {
	p  []float64 // probabilities of the knots, from 0 to 1, ascending
	ms []float64 // gap at each, milliseconds, positive, ascending
}

// ArticleLaw is the law of the profile "article": median 1.60 ms, P90 7.2157,
// P99 12.88, P99.99 120.22, between 0.9 and 180 ms, mean 3.470 ms.
func ArticleLaw() Law {
	return Law{
		p:  []float64{0, 0.5, 0.9, 0.99, 0.9999, 1},
		ms: []float64{0.9, 1.60, 7.2157, 12.88, 120.22, 180},
	}
}

// Quantile returns the gap that a share p of all gaps do not exceed. A p
// outside 0..1, and NaN, are taken as the nearest end.
func (l Law) Quantile(p float64) time.Duration {
	last := len(l.p) - 1
	if !(p > 0) {
		return millis(l.ms[0])
	}
	if p >= 1 {
		return millis(l.ms[last])
	}
	i := sort.SearchFloat64s(l.p, p) // first knot at or above p
	a, b := math.Log(l.ms[i-1]), math.Log(l.ms[i])
	share := (p - l.p[i-1]) / (l.p[i] - l.p[i-1])
	return millis(math.Exp(a + share*(b-a)))
}

// Mean returns the expectation: the quantile function integrated from 0 to 1.
// A segment from (p₀, x₀) to (p₁, x₁) adds (p₁−p₀)·(x₁−x₀)/ln(x₁/x₀).
func (l Law) Mean() time.Duration {
	var sum float64
	for i := 1; i < len(l.p); i++ {
		lo, hi := l.ms[i-1], l.ms[i]
		width := l.p[i] - l.p[i-1]
		if hi == lo {
			sum += width * lo
			continue
		}
		sum += width * (hi - lo) / math.Log(hi/lo)
	}
	return millis(sum)
}

func millis(ms float64) time.Duration {
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}
