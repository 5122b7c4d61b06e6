package stats

import (
	"math"
	"math/bits"
)

// Quantiles as parts per million, so that ranks are exact integers: a rank
// computed in floating point is off by one at some n.
const million = 1_000_000

var quantilePPM = [len(Quantiles)]uint64{500_000, 900_000, 950_000, 990_000, 999_000, 999_900}

// nearestRank is ⌈p·n⌉ for p in parts per million, at least 1; 0 when n is 0.
func nearestRank(ppm, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	hi, lo := bits.Mul64(ppm, n)
	lo, carry := bits.Add64(lo, million-1, 0)
	q, _ := bits.Div64((hi+carry)%million, lo, million)
	return min(max(q, 1), n)
}

// sampleRule tells what n samples allow to be said of a quantile: nothing below
// 1/(1−p), an approximation below 10/(1−p).
func sampleRule(ppm, n uint64) Mark {
	rest := million - ppm
	switch {
	case n < (million+rest-1)/rest:
		return MarkNone
	case n < (10*million+rest-1)/rest:
		return MarkApprox
	}
	return MarkOK
}

// Each side of a 95 % interval may be wrong this often.
const tail = 0.025

// Above this standard deviation of the binomial its quantiles are taken from
// the Cornish-Fisher expansion, which is then within one rank in thousands.
const exactSigma = 60

// orderInterval returns the ranks l and u of the order statistics that enclose
// a quantile with 95 % confidence, whatever the distribution: l is the largest
// rank with P(Bin(n, p) < l) ≤ 2.5 %, u the smallest with P(Bin(n, p) ≥ u) ≤
// 2.5 %. l is 0 when there is no finite lower one, and u is n+1 when there is
// no finite upper one.
func orderInterval(ppm, n uint64) (l, u uint64) {
	// Work with the number of samples above the quantile, X ~ Bin(n, 1−p): it is
	// the small one, so sums over its tails are short.
	b := binomial{n: int64(n), q: float64(million-ppm) / million}
	return uint64(b.n - b.highest() + 1), uint64(b.n - b.lowest())
}

type binomial struct {
	n int64
	q float64
}

func (b binomial) sigma() float64 { return math.Sqrt(float64(b.n) * b.q * (1 - b.q)) }

// guess is the quantile at z standard deviations by Cornish-Fisher.
func (b binomial) guess(z float64) float64 {
	return float64(b.n)*b.q + z*b.sigma() + (z*z-1)/6*(1-2*b.q)
}

// pmf is P(X = k), from logarithms: n may be any size.
func (b binomial) pmf(k int64) float64 {
	if k < 0 || k > b.n {
		return 0
	}
	lg := func(x int64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return math.Exp(lg(b.n) - lg(k) - lg(b.n-k) +
		float64(k)*math.Log(b.q) + float64(b.n-k)*math.Log1p(-b.q))
}

// up is P(X = k+1)/P(X = k).
func (b binomial) up(k int64) float64 {
	return float64(b.n-k) / float64(k+1) * b.q / (1 - b.q)
}

// lowest is the largest x with P(X ≤ x) ≤ tail, −1 when there is none.
func (b binomial) lowest() int64 {
	x := min(max(int64(math.Floor(b.guess(-1.959964)-0.5)), 0), b.n)
	if b.sigma() > exactSigma {
		return x
	}
	at := b.pmf(x)
	sum := 0.0
	for k, f := x, at; k >= 0 && f > 1e-14; k-- {
		sum += f
		f /= b.up(k - 1)
	}
	for sum > tail && x >= 0 {
		sum -= at
		x--
		at /= b.up(x)
	}
	for x < b.n {
		next := b.pmf(x + 1)
		if sum+next > tail {
			break
		}
		sum += next
		x++
	}
	return x
}

// highest is the smallest y with P(X ≥ y) ≤ tail; n+1 when only that is.
func (b binomial) highest() int64 {
	y := min(max(int64(math.Ceil(b.guess(1.959964)+0.5)), 0), b.n+1)
	if b.sigma() > exactSigma {
		return y
	}
	at := b.pmf(y)
	sum := 0.0
	for k, f := y, at; k <= b.n && f > 1e-14; k++ {
		sum += f
		f *= b.up(k)
	}
	for sum > tail && y <= b.n {
		sum -= at
		at *= b.up(y)
		y++
	}
	for y > 0 {
		before := b.pmf(y - 1)
		if sum+before > tail {
			break
		}
		sum += before
		y--
	}
	return y
}

// Endless tells whether the lower end of the 95 % interval of a quantile, by its
// index in Quantiles, does not exist at this n: Quantile.LoOpen.
func Endless(i int, n uint64) bool {
	l, _ := orderInterval(quantilePPM[i], n)
	return l == 0
}
