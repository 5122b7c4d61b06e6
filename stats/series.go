package stats

import "sort"

// Bucket is the resolution of a Series, in ns of the session's clock. Buckets
// are aligned to time 0, so a sample never changes its column.
const Bucket = int64(100e6)

// HeatEdges are the upper bounds, in ns, of the rows of the heatmap: 1-2-5
// steps from 100 µs to 60 s. A row holds the gaps above the edge before it and
// up to its own; the last row holds everything longer too.
var HeatEdges = [...]int64{
	100e3, 200e3, 500e3, 1e6, 2e6, 5e6, 10e6, 20e6, 50e6,
	100e6, 200e6, 500e6, 1e9, 2e9, 5e9, 10e9, 20e9, 60e9,
}

// HeatRow tells the row of a gap in ns.
func HeatRow(gap int64) int {
	i := sort.Search(len(HeatEdges), func(i int) bool { return gap <= HeatEdges[i] })
	return min(i, len(HeatEdges)-1)
}

// Summary is n, sum and extremes of one quantity, in ns.
type Summary struct {
	N             uint64
	Sum, Min, Max int64
}

// Add takes one sample.
func (s *Summary) Add(v int64) { s.add(v, 1, v) }

// add takes n samples of value v whose true sum is sum: a sum is kept exactly
// even where a value was divided.
func (s *Summary) add(v int64, n uint64, sum int64) {
	if s.N == 0 || v < s.Min {
		s.Min = v
	}
	if s.N == 0 || v > s.Max {
		s.Max = v
	}
	s.N += n
	s.Sum += sum
}

// Merge takes all samples of another summary.
func (s *Summary) Merge(o Summary) {
	if o.N == 0 {
		return
	}
	if s.N == 0 {
		*s = o
		return
	}
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.N += o.N
	s.Sum += o.Sum
}

// Column is what happened in one span of time: one column of every chart.
// Maxima are maxima, never means.
type Column struct {
	Start     int64 // ns; the span is [Start, Start+width)
	Gap, TTFT Summary
	Tokens    uint64 // output tokens that arrived
	Over      uint64 // gaps above the gap SLO
	Errors    uint64 // failed requests that were not timeouts
	Timeouts  uint64
	Ours      Summary // gaps left out because they are not the server's: drawn hollow
	Transport uint64  // of Ours, those that are the transport's and not this client's
	Late      Summary // of Gap, those read late by a large part of them: drawn hollow too
	HostStall int64   // worst oversleep of the heartbeat, ns
	Heat      [len(HeatEdges)]uint32
}

func (c *Column) merge(o *Column) {
	c.Gap.Merge(o.Gap)
	c.TTFT.Merge(o.TTFT)
	c.Ours.Merge(o.Ours)
	c.Transport += o.Transport
	c.Late.Merge(o.Late)
	c.Tokens += o.Tokens
	c.Over += o.Over
	c.Errors += o.Errors
	c.Timeouts += o.Timeouts
	c.HostStall = max(c.HostStall, o.HostStall)
	for i, n := range o.Heat {
		c.Heat[i] += n
	}
}

// Buckets live in pages, so that a view copies page pointers and not buckets.
const pageBuckets = 64

// page is a run of buckets that a series owns alone until it is shown.
type page struct {
	id      int64 // bucket number / pageBuckets
	owner   uint64
	buckets [pageBuckets]Column
}

// Series is the history of one target in buckets of 100 ms, as far back as the
// retention goes. Memory is bounded by the retention.
//
// View shares pages with the series it came from: the series copies a page
// before it writes to one that was shown (copy on write).
type Series struct {
	pages  []*page // ring by page id; nil where nothing happened
	keep   int64   // buckets kept
	newest int64
	gen    uint64 // pages of another generation are shown and must not be written
}

// NewSeries returns an empty series that keeps at least retention ns. Fewer
// than one bucket means one.
func NewSeries(retention int64) *Series {
	keep := max(retention/Bucket+1, 1)
	return &Series{pages: make([]*page, keep/pageBuckets+2), keep: keep, newest: -1}
}

// At returns the bucket that holds the instant at, to be written until the next
// View; nil when it is older than the retention or before the session.
func (s *Series) At(at int64) *Column {
	id := at / Bucket
	if at < 0 || s.newest >= 0 && id <= s.newest-s.keep {
		return nil
	}
	s.newest = max(s.newest, id)
	pid := id / pageBuckets
	ref := &s.pages[pid%int64(len(s.pages))]
	p := *ref
	switch {
	case p == nil || p.id != pid:
		p = &page{id: pid, owner: s.gen}
		*ref = p
	case p.owner != s.gen:
		c := *p
		c.owner = s.gen
		p = &c
		*ref = p
	}
	c := &p.buckets[id%pageBuckets]
	c.Start = id * Bucket
	return c
}

// View returns an immutable copy. It costs one pointer per 64 buckets.
func (s *Series) View() *Series {
	v := *s
	v.pages = append([]*page(nil), s.pages...)
	s.gen++
	v.gen = s.gen // whoever writes to the view copies too
	s.gen++
	return &v
}

// bucket returns a bucket to be read; nil when nothing happened in it.
func (s *Series) bucket(id int64) *Column {
	if id < 0 || id > s.newest || id <= s.newest-s.keep {
		return nil
	}
	pid := id / pageBuckets
	p := s.pages[pid%int64(len(s.pages))]
	if p == nil || p.id != pid {
		return nil
	}
	return &p.buckets[id%pageBuckets]
}

// Columns returns n columns of width ns each, oldest first. They are aligned to
// multiples of width, and the last one is the one that holds the instant end.
// width is a multiple of Bucket, and taken as one Bucket when it is less. A
// column without events is zero but for Start.
func (s *Series) Columns(end, width int64, n int) []Column {
	per := max(width/Bucket, 1)
	width = per * Bucket
	cols := make([]Column, max(n, 0))
	first := end/width - int64(n) + 1
	for i := range cols {
		col := first + int64(i)
		cols[i].Start = col * width
		// Outside what is kept there is nothing to visit.
		from := max(col*per, s.newest-s.keep+1, 0)
		to := min((col+1)*per, s.newest+1)
		for id := from; id < to; id++ {
			if c := s.bucket(id); c != nil {
				cols[i].merge(c)
			}
		}
	}
	return cols
}
