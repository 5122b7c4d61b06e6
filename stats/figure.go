package stats

// ranking answers with the values at some ranks of its exact samples.
type ranking interface {
	exact() uint64 // how many there are
	values(ranks []uint64) []int64
}

// ranked returns the values at ranks of all samples of a cell, from 1: exact
// ones come first, then the censored ones by their limit. A bucket answers with
// its upper edge, which is kept within what was really seen.
func ranked(r ranking, c *cell, ranks ...uint64) []int64 {
	exact := r.exact()
	low := make([]uint64, len(ranks))
	for i, rank := range ranks {
		low[i] = min(max(rank, 1), exact)
	}
	var out []int64
	if exact > 0 {
		out = r.values(low)
	} else {
		out = make([]int64, len(ranks))
	}
	for i, rank := range ranks {
		if rank > exact {
			out[i] = c.censored.rank(rank - exact)
		}
		out[i] = min(max(out[i], c.Min), c.Max)
	}
	return out
}

// figure reads a distribution out of a histogram and what stands beside it.
func figure(r ranking, c *cell) Figure {
	f := Figure{N: c.N, Min: c.Min, Max: c.Max, Clipped: c.clipped}
	if c.N == 0 {
		return f
	}
	f.Mean = float64(c.Sum) / float64(c.N)
	exact := r.exact()
	f.Censored = c.N - exact

	// All ranks are read in one scan: of each quantile its own and the two of
	// its interval.
	const each = 3
	var ranks [each * len(Quantiles)]uint64
	for i, ppm := range quantilePPM {
		l, u := orderInterval(ppm, c.N)
		ranks[each*i], ranks[each*i+1], ranks[each*i+2] = l, nearestRank(ppm, c.N), u
	}
	values := ranked(r, c, ranks[:]...)
	floor := int64(0) // quantiles grow, also where limits of several lengths mix
	for i, ppm := range quantilePPM {
		l, own, u := ranks[each*i], ranks[each*i+1], ranks[each*i+2]
		q := Quantile{
			Value:    max(values[each*i+1], floor),
			Mark:     sampleRule(ppm, c.N),
			Censored: own > exact,
			HiOpen:   u > exact,
			LoOpen:   l == 0,
			Lo:       values[each*i],
			Hi:       values[each*i+2],
		}
		if l == 0 {
			q.Lo = c.Min
		}
		if u > c.N {
			q.Hi = c.Max
		}
		q.Lo, q.Hi = min(q.Lo, q.Value), max(q.Hi, q.Value)
		floor = q.Value
		f.Q[i] = q
	}
	return f
}
