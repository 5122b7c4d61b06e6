package stats

import (
	"cmp"
	"slices"
)

// limits is a small sorted list of censored samples by their limit.
type limits []limit

type limit struct {
	at int64 // ns: the sample is at least this
	n  uint64
}

// Timers are few; a list longer than this loses the difference between two.
const maxLimits = 16

func (l *limits) add(at int64, n uint64) {
	i, found := slices.BinarySearchFunc(*l, at, func(e limit, at int64) int { return cmp.Compare(e.at, at) })
	switch {
	case found:
		(*l)[i].n += n
	case len(*l) >= maxLimits && i > 0:
		(*l)[i-1].n += n // still a lower bound
	case len(*l) >= maxLimits:
		(*l)[0] = limit{at, (*l)[0].n + n}
	default:
		*l = slices.Insert(*l, i, limit{at, n})
	}
}

// rank returns the limit of the r-th censored sample, from 1; the last one's
// for a rank beyond.
func (l limits) rank(r uint64) int64 {
	last := int64(0)
	for _, e := range l {
		last = e.at
		if r <= e.n {
			break
		}
		r -= e.n
	}
	return last
}

// cell is what is known exactly beside a histogram.
type cell struct {
	Summary  // of all samples, the censored ones at their limit
	clipped  uint64
	censored limits
}

func (c *cell) merge(o *cell) {
	c.Summary.Merge(o.Summary)
	c.clipped += o.clipped
	for _, l := range o.censored {
		c.censored.add(l.at, l.n)
	}
}

func (c *cell) reset() { *c = cell{censored: c.censored[:0]} }
