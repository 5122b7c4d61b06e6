package stats

import "math"

const (
	spreadBlocks = 16 // stretches that a run is cut into, to see how it wobbles
	leastBlocks  = 8  // fewer say nothing
	normal95     = 1.959964
)

// block is one stretch of a run: how many of its samples are no longer than each
// quantile of the whole, how many there are, and their sum.
type block struct {
	under [len(Quantiles)]uint64
	n     uint64
	sum   float64
}

// spread fills in how far a figure over the last seconds may be from what a run
// like it would show: samples of one instant resemble each other, because streams
// share the steps of the engine, so there are fewer independent ones than
// samples. The run is cut into blocks, at most its last quarter of an hour, and
// the shares under a quantile are compared from block to block: the ratio of
// their variance to that of independent samples is the design effect (Kish,
// Survey Sampling, 1965), the variance that of a ratio of block totals.
func (d *dist) spread(f *Figure, seconds int64) {
	if d.ring == nil || f.N == 0 {
		return
	}
	blocks := d.blocks(f, seconds)
	m := float64(len(blocks))
	if len(blocks) < leastBlocks {
		return
	}
	var all block
	for i := range blocks {
		all.add(&blocks[i])
	}
	n := float64(all.n)
	// Few blocks tell their variance roughly: Student's t instead of the normal.
	few := 1 + 2.1/(m-1)
	mean, square := all.sum/n, 0.0
	for i := range blocks {
		off := blocks[i].sum - mean*float64(blocks[i].n)
		square += off * off
	}
	f.MeanErr = few * math.Sqrt(square*m/(m-1)) / n
	for q := range f.Q {
		share := float64(all.under[q]) / n
		square := 0.0
		for i := range blocks {
			off := float64(blocks[i].under[q]) - share*float64(blocks[i].n)
			square += off * off
		}
		f.Q[q].Spread = 1
		if alone := n * share * (1 - share); alone > 0 {
			f.Q[q].Spread = max(1, few*few*square*m/(m-1)/alone)
		}
	}
}

// blocks cuts what the ring holds of the last seconds into stretches of equal
// length that have samples.
func (d *dist) blocks(f *Figure, seconds int64) []block {
	var at [len(Quantiles)]int
	for q := range at {
		at[q] = d.geom.index(min(f.Q[q].Value, hour))
	}
	seconds = min(seconds, slots)
	first := d.now
	for sec := max(d.now-seconds+1, 0); sec < d.now; sec++ {
		if d.held(sec) != nil {
			first = sec
			break
		}
	}
	length := max((d.now-first+spreadBlocks)/spreadBlocks, 1)
	var out []block
	last := int64(-1)
	for sec := first; sec <= d.now; sec++ {
		one := block{}
		count := func(i int, n uint64) {
			for q, top := range at {
				if i <= top {
					one.under[q] += n
				}
			}
		}
		if s := d.ring[sec%slots]; s != nil && s.sec == sec {
			one.n, one.sum = s.N, float64(s.Sum)
			s.each(d.geom, count)
		}
		if sec == d.now { // not packed yet
			one.n, one.sum = one.n+d.nowC.N, one.sum+float64(d.nowC.Sum)
			for i := d.cur.low; i < d.cur.high; i++ {
				count(i, uint64(d.cur.counts[i]))
			}
		}
		if one.n == 0 {
			continue
		}
		if k := (sec - first) / length; k != last {
			out, last = append(out, block{}), k
		}
		out[len(out)-1].add(&one)
	}
	return out
}

func (b *block) add(o *block) {
	b.n += o.n
	b.sum += o.sum
	for q, n := range o.under {
		b.under[q] += n
	}
}

// Two runs are compared in some twenty numbers at once, so their intervals are
// of 99 % and not of 95: else one pair of equal runs in ten would differ in
// something.
const (
	normal99 = 2.575829
	widen    = normal99 / normal95
	// bucket is how wide a bucket of a histogram is at most, of its value: what
	// lies closer together is not told apart.
	bucket = 1.0 / 1024
)

// interval is the 99 % confidence interval of quantile i, ns: that of 95 %, which
// holds for independent samples, made wider on a logarithmic scale by the ratio
// of the two and by the root of Spread, as the interval of so many fewer samples
// would be. An end that so few samples would not give is endless.
func (f *Figure) interval(i int) (lo, hi float64) {
	q := &f.Q[i]
	lo, hi = float64(q.Lo), float64(q.Hi)
	k := widen * math.Sqrt(max(q.Spread, 1))
	if v := float64(q.Value); q.Lo > 0 {
		lo, hi = v*math.Pow(lo/v, k)-v*bucket, v*math.Pow(hi/v, k)+v*bucket
	}
	alone := uint64(float64(f.N) / (k * k))
	l, u := orderInterval(quantilePPM[i], alone)
	if q.LoOpen || l == 0 {
		lo = math.Inf(-1)
	}
	if q.HiOpen || u > alone {
		hi = math.Inf(1)
	}
	return lo, hi
}
