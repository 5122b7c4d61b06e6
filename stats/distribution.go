package stats

import (
	"math"
	"slices"
)

// Distribution is one quantity of one target over the session, bucket by bucket:
// what other tools make their own histograms of. It holds the samples that the
// session's Figure of the same name counts, no more and no less.
type Distribution struct {
	Target uint32
	Name   string // "ttft", "ttfo", "gap", "itl", "tpot" or "e2e"
	N      uint64
	Sum    int64 // ns, exact; a censored sample at its limit
	// Min and Max are exact.
	Min, Max int64
	// Buckets are those that hold samples, in ascending order. A bucket is at most
	// 0.1 % wide.
	Buckets []Bucketed
	// Censored are the samples of which only a lower bound is known: timeouts, by
	// their limit. They are not in Buckets.
	Censored []Bucketed
}

// Bucketed is how many samples have a value, to the resolution of a histogram.
type Bucketed struct {
	Value int64 // ns: the bucket's upper edge
	N     uint64
}

// exported are the quantities that have a Distribution.
var exported = [...]struct {
	m    metric
	name string
}{{mTTFT, "ttft"}, {mTTFO, "ttfo"}, {mGap, "gap"}, {mITL, "itl"}, {mTPOT, "tpot"}, {mE2E, "e2e"}}

// Distributions returns those of all targets, by target, then in the order of
// the names above. What has no samples is there with none. The slices are the
// caller's.
func (a *Aggregator) Distributions() []Distribution {
	out := make([]Distribution, 0, len(a.order)*len(exported))
	for _, t := range a.order {
		for _, e := range exported {
			d := t.d[e.m].distribution(t.info.ID, e.name)
			if e.m == mITL && t.book.all.unknown > 0 { // as in Figures.ITLWhy
				d = Distribution{Target: d.Target, Name: d.Name}
			}
			out = append(out, d)
		}
	}
	return out
}

func (d *dist) distribution(target uint32, name string) Distribution {
	out := Distribution{Target: target, Name: name, N: d.allC.N, Sum: d.allC.Sum, Min: d.allC.Min, Max: d.allC.Max}
	for _, l := range d.allC.censored {
		out.Censored = append(out.Censored, Bucketed{l.at, l.n})
	}
	if d.all.Histogram == nil {
		return out
	}
	// The library's own listing visits the buckets one by one: six times slower.
	for i, n := range d.all.Export().Counts {
		if n > 0 {
			out.Buckets = append(out.Buckets, Bucketed{d.geom.top(i), uint64(n)})
		}
	}
	return out
}

// All are the samples of both lists.
func (d *Distribution) All() []Bucketed { return slices.Concat(d.Buckets, d.Censored) }

// Deviation is the standard deviation of the samples, ns, a censored one at its
// limit; 0 below two samples. It is as exact as the buckets are.
func (d *Distribution) Deviation() float64 {
	if d.N < 2 {
		return 0
	}
	mean, sum := float64(d.Sum)/float64(d.N), 0.0
	for _, list := range [...][]Bucketed{d.Buckets, d.Censored} {
		for _, b := range list {
			off := float64(b.Value) - mean
			sum += float64(b.N) * off * off
		}
	}
	return math.Sqrt(sum / float64(d.N))
}
