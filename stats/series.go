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
func (s *Summary) Add(v int64) {
	if s.N == 0 || v < s.Min {
		s.Min = v
	}
	if s.N == 0 || v > s.Max {
		s.Max = v
	}
	s.N++
	s.Sum += v
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
	Ours      Summary // gaps left out because they are this client's
	HostStall int64   // worst oversleep of the heartbeat, ns
	Heat      [len(HeatEdges)]uint32
}

func (c *Column) merge(o *Column) {
	c.Gap.Merge(o.Gap)
	c.TTFT.Merge(o.TTFT)
	c.Ours.Merge(o.Ours)
	c.Tokens += o.Tokens
	c.Over += o.Over
	c.Errors += o.Errors
	c.Timeouts += o.Timeouts
	c.HostStall = max(c.HostStall, o.HostStall)
	for i, n := range o.Heat {
		c.Heat[i] += n
	}
}

// Series is the history of one target in buckets of 100 ms, as far back as the
// retention goes.
type Series struct {
	buckets map[int64]*Column // by time/Bucket
	keep    int64             // buckets kept
	newest  int64
}

// NewSeries returns an empty series that keeps at least retention ns.
func NewSeries(retention int64) *Series {
	return &Series{buckets: map[int64]*Column{}, keep: retention/Bucket + 1, newest: -1}
}

// At returns the bucket that holds the instant at, to be written; nil when it
// is older than the retention or before the session.
func (s *Series) At(at int64) *Column {
	id := at / Bucket
	if at < 0 || s.newest >= 0 && id <= s.newest-s.keep {
		return nil
	}
	if id > s.newest {
		s.newest = id
	}
	c := s.buckets[id]
	if c == nil {
		c = &Column{Start: id * Bucket}
		s.buckets[id] = c
	}
	return c
}

// View returns an immutable copy.
func (s *Series) View() *Series {
	v := *s
	v.buckets = make(map[int64]*Column, len(s.buckets))
	for k, c := range s.buckets {
		cc := *c
		v.buckets[k] = &cc
	}
	return &v
}

// Columns returns n columns of width ns each, oldest first. They are aligned to
// multiples of width, and the last one is the one that holds the instant end.
// width is a multiple of Bucket. A column without events is zero but for Start.
func (s *Series) Columns(end, width int64, n int) []Column {
	cols := make([]Column, n)
	first := end/width - int64(n) + 1
	for i := range cols {
		start := (first + int64(i)) * width
		cols[i].Start = start
		for at := max(start, 0); at < start+width; at += Bucket {
			if c := s.buckets[at/Bucket]; c != nil {
				cols[i].merge(c)
			}
		}
	}
	return cols
}
