package signals

import (
	"sort"
	"strconv"
)

// figure is a value under its normal name, before it is compared with the look
// before.
type figure struct {
	name, of string
	kind     kind
	value    float64
	buckets  *buckets // of a histogram
}

// buckets are the counts of a histogram: cumulative, by upper ends in seconds
// or tokens.
type buckets struct {
	upper      []float64 // ascending, without +Inf
	below      []float64 // observations up to each
	sum, count float64
}

// figures reads everything that the table knows from a page.
func (t *Table) figures(p page) []figure {
	var out []figure
	for _, r := range t.rows {
		for _, s := range r.sources {
			if got := r.read(p, s); len(got) > 0 {
				out = append(out, got...)
				break
			}
		}
	}
	return out
}

// read is the figure of a row by one of its sources, nil where the page does
// not have it.
func (r *row) read(p page, s source) []figure {
	switch r.kind {
	case histogram:
		if b := p.buckets(s); b != nil {
			return []figure{{name: r.name, kind: histogram, buckets: b}}
		}
		return nil
	case each:
		return r.eachOf(p, s)
	case share:
		return r.shareOf(p, s)
	case counter:
		v, n := sum(p.pick(s.metric))
		if n == 0 {
			other := s.metric
			other.name = otherName(other.name)
			v, n = sum(p.pick(other))
		}
		if n == 0 {
			return nil
		}
		return []figure{{name: r.name, kind: counter, value: v * s.factor}}
	}
	v, n := sum(p.pick(s.metric))
	if n == 0 {
		return nil
	}
	return []figure{{name: r.name, value: v * s.factor}}
}

// shareOf is the highest series and the mean. What is below 0 is not known.
func (r *row) shareOf(p page, s source) []figure {
	if s.whole.name != "" {
		part, n := sum(p.pick(s.metric))
		whole, m := sum(p.pick(s.whole))
		if n == 0 || m == 0 || whole <= 0 || part < 0 {
			return nil
		}
		return []figure{{name: r.name, kind: share, value: part / whole * s.factor}}
	}
	highest, total, n := 0.0, 0.0, 0
	for _, v := range p.pick(s.metric) {
		if v.value >= 0 && finite(v.value) {
			highest, total, n = max(highest, v.value), total+v.value, n+1
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return []figure{{name: r.name, kind: share, value: highest * s.factor}}
	}
	return []figure{
		{name: r.name, kind: share, value: highest * s.factor},
		{name: r.name + "_mean", kind: share, value: total / float64(n) * s.factor},
	}
}

// eachOf is a figure for every value of a label.
func (r *row) eachOf(p page, s source) []figure {
	sums := map[string]float64{}
	var order []string
	for _, v := range p.pick(s.metric) {
		of := label(v.labels, r.by)
		if !finite(v.value) {
			continue
		}
		if _, have := sums[of]; !have {
			order = append(order, of)
		}
		sums[of] += v.value
	}
	sort.Strings(order)
	var out []figure
	for _, of := range order {
		out = append(out, figure{name: r.name, of: of, kind: each, value: sums[of] * s.factor})
	}
	return out
}

// pick finds the series of a metric that have the labels asked for.
func (p page) pick(s selector) []series {
	all := p.series[s.name]
	if len(s.match) == 0 {
		return all
	}
	var out []series
	for _, one := range all {
		ok := true
		for _, m := range s.match {
			ok = ok && label(one.labels, m[0]) == m[1]
		}
		if ok {
			out = append(out, one)
		}
	}
	return out
}

// sum adds the series that are numbers and tells how many there were.
func sum(all []series) (total float64, n int) {
	for _, s := range all {
		if finite(s.value) {
			total, n = total+s.value, n+1
		}
	}
	return total, n
}

// buckets adds up the histograms of a metric over all of its series; nil where
// the page has none.
func (p page) buckets(s source) *buckets {
	part := func(end string) []series {
		sel := s.metric
		sel.name += end
		return p.pick(sel)
	}
	b := &buckets{}
	var n int
	if b.count, n = sum(part("_count")); n == 0 {
		return nil
	}
	b.sum, _ = sum(part("_sum"))
	b.sum *= s.factor
	at := map[float64]float64{}
	for _, one := range part("_bucket") {
		le, err := strconv.ParseFloat(label(one.labels, "le"), 64)
		if err == nil && finite(le) && finite(one.value) {
			at[le*s.factor] += one.value
		}
	}
	for le := range at {
		b.upper = append(b.upper, le)
	}
	sort.Float64s(b.upper)
	for _, le := range b.upper {
		b.below = append(b.below, at[le])
	}
	return b
}

// since is what was observed after an earlier state; ok is false where the
// server began anew or has other buckets now.
func (b *buckets) since(old *buckets) (d buckets, ok bool) {
	if b.count < old.count || len(b.upper) != len(old.upper) {
		return buckets{}, false
	}
	d = buckets{upper: b.upper, below: make([]float64, len(b.below)), sum: b.sum - old.sum, count: b.count - old.count}
	for i, v := range b.below {
		if b.upper[i] != old.upper[i] || v < old.below[i] {
			return buckets{}, false
		}
		d.below[i] = v - old.below[i]
	}
	return d, true
}

// quantile is the value below which the share q of the observations lies,
// found inside its bucket along a straight line, as Prometheus does. Above the
// last upper end only that is known, and it is returned: the true value is
// higher. ok is false without observations or buckets.
func (b *buckets) quantile(q float64) (v float64, ok bool) {
	if b.count <= 0 || len(b.upper) == 0 {
		return 0, false
	}
	rank := q * b.count
	i := sort.Search(len(b.below), func(i int) bool { return b.below[i] >= rank })
	if i == len(b.below) {
		return b.upper[i-1], true
	}
	low, under := 0.0, 0.0
	if i > 0 {
		low, under = b.upper[i-1], b.below[i-1]
	}
	in := b.below[i] - under
	if in <= 0 {
		return b.upper[i], true
	}
	return low + (b.upper[i]-low)*(rank-under)/in, true
}

// edge is the upper edge of the bucket that holds a quantile: the quantile is at
// most this. A negative one is that of the last bucket with an edge, and the
// quantile lies beyond it.
func (b *buckets) edge(q float64) (v float64, ok bool) {
	if b.count <= 0 || len(b.upper) == 0 {
		return 0, false
	}
	i := sort.Search(len(b.below), func(i int) bool { return b.below[i] >= q*b.count })
	if i == len(b.below) {
		return -b.upper[i-1], true
	}
	return b.upper[i], true
}
