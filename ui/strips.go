package ui

import (
	"math"
	"strconv"
	"time"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// strip is one figure of the server's, or of a GPU, over the columns of the
// charts.
type strip struct {
	name, of string // of the signal
	label    string // at most five columns
	kind     stripKind
}

// stripKind says how a strip is made of the signals.
type stripKind uint8

const (
	stripGauge stripKind = iota // a value, the largest of a column
	stripShare                  // likewise, from 0 to 1
	stripCount                  // how much a counter grew
	stripRatio                  // growth of prefix_hits by that of prefix_queries
	stripMean                   // mean of what a histogram counted, in ms
	stripOf                     // a gauge by the largest it can be, in the gauge's unit
	stripSlow                   // whether a GPU is slowed down
)

// loadStrips are how busy a server is.
var loadStrips = [...]strip{
	{"running", "", "run", stripGauge},
	{"waiting", "", "wait", stripGauge},
	{"kv_used", "", "kv", stripShare},
	{"preemptions", "", "pre", stripCount},
}

// stripsOf are the strips that a target's signals can fill, most wanted first.
func stripsOf(s *stats.Snapshot, t *stats.Target) []strip {
	var out []strip
	for _, st := range append(loadStrips[:len(loadStrips):len(loadStrips)], []strip{
		{"queue_count", "", "queue", stripMean},
		{"ttft_count", "", "ttft", stripMean},
		{"itl_count", "", "itl", stripMean},
		{"prefix_queries", "", "hits", stripRatio},
		{"gen_tokens", "", "tok/s", stripCount},
		{"prefill_tokens", "", "in/s", stripCount},
		{"prefilling", "", "fill", stripGauge},
	}...) {
		if _, ok := t.Server.Value(st.name); ok {
			out = append(out, st)
		}
	}
	for _, g := range gpusOf(s, t) {
		out = append(out, strip{"gpu.util", g, "gpu" + gpuName(g), stripShare})
	}
	return out
}

// bar is what one column of a strip shows.
type bar struct {
	v     float64
	has   bool
	stale bool // held from an earlier column
}

// bars are the columns of a strip, oldest first.
func (st *strip) bars(fr *frame, n int) []bar {
	from := st.source(fr.s, fr.t)
	get := func(name string) []stats.StripCell { return from.Strip(name, st.of, fr.end, fr.zoom, n) }
	out := make([]bar, max(n, 0))
	switch st.kind {
	case stripCount:
		for i, c := range get(st.name) {
			out[i] = bar{v: rateOf(c.Delta, st, fr.zoom), has: c.Has}
		}
	case stripRatio, stripMean:
		over, under := "prefix_hits", st.name
		scale := 1.0
		if st.kind == stripMean {
			over, scale = st.name[:len(st.name)-len("_count")]+"_sum", 1e3
		}
		top := get(over)
		for i, c := range get(under) {
			if c.Delta > 0 && top[i].Has {
				out[i] = bar{v: max(top[i].Delta, 0) / c.Delta * scale, has: true}
			}
		}
	default:
		held := bar{}
		heldAt := int64(math.MinInt64 / 2)
		for i, c := range get(st.name) {
			switch {
			case c.Has:
				held, heldAt = bar{v: c.Value, has: true, stale: true}, c.Start
				out[i] = bar{v: c.Max, has: true}
			case c.Start-heldAt <= holdFor && c.Start <= fr.s.Now:
				out[i] = held
			}
		}
	}
	if st.kind == stripSlow {
		for i := range out {
			slow := out[i].has && stats.SlowedFor(out[i].v) != ""
			if out[i].v = 0; slow {
				out[i].v = 1
			}
		}
	}
	for i := range out {
		if math.IsNaN(out[i].v) || math.IsInf(out[i].v, 0) || out[i].v < 0 {
			out[i] = bar{}
		}
	}
	return out
}

// holdFor is how long a gauge is drawn on after it was heard: looks are a second
// apart, and now and then a column falls between two.
const holdFor = int64(2500 * time.Millisecond)

// rateOf is growth as it is shown: preemptions as their number, tokens a second.
func rateOf(delta float64, st *strip, zoom int64) float64 {
	if st.name == "preemptions" || zoom <= 0 {
		return delta
	}
	return delta * 1e9 / float64(zoom)
}

// role colours a column: what is short of memory or of slots is a warning.
func (st *strip) role(v float64) chart.Role {
	switch st.name {
	case "waiting":
		if v > 0 {
			return chart.BarWarn
		}
	case "kv_used":
		switch {
		case v >= kvBad:
			return chart.BarBad
		case v >= kvWarn:
			return chart.BarWarn
		}
	case "preemptions":
		return chart.BarBad
	case "gpu.throttle":
		return chart.BarWarn
	}
	return chart.Speed
}

// From kvWarn on a KV cache is nearly full; from kvBad on vLLM and its like begin
// to preempt.
const (
	kvWarn = 0.8
	kvBad  = 0.9
)

// text is a value in a strip's words.
func (st *strip) text(v float64) string {
	switch st.kind {
	case stripShare, stripRatio:
		return strconv.FormatFloat(min(v, 9.99)*100, 'f', 0, 64) + "%"
	case stripMean:
		return format.MS(int64(min(v, 1e9) * 1e6))
	case stripCount:
		if st.name == "preemptions" {
			return "+" + format.Count(uint64(min(v, 1e15)))
		}
	case stripSlow:
		if v > 0 {
			return "slow"
		}
		return "free"
	case stripOf:
		return st.gpuText(v)
	}
	return format.Count(uint64(min(v+0.5, 1e15)))
}

// drawStrips draws the strips of the shown target, each from 0 to its largest
// value on screen, or to 100 %.
func drawStrips(a chart.Area, fr *frame) {
	if a.H() == 1 {
		drawNothingSaid(a, fr)
		return
	}
	list := append(stripsOf(fr.s, fr.t), gpuStrips(fr.s, fr.t)...)
	drawHeardHeading(a, fr)
	b := below(a)
	if len(list) == 0 {
		b.Text(0, 0, fitWords(nothingSaid(fr), b.W()), chart.Dim)
		return
	}
	n := min(len(list), b.H())
	if n == 0 {
		return
	}
	high, rest := min(b.H()/n, 6), 0
	if high < 6 {
		rest = b.H() % n
	}
	y := 0
	for i := range n {
		rows := high
		if i < rest {
			rows++
		}
		list[i].draw(b.Sub(0, y, b.W(), rows), fr)
		y += rows
	}
}

func (st *strip) draw(a chart.Area, fr *frame) {
	w := a.W() - chartGutter - stripValue
	labels := make([]string, a.H())
	if len(labels) > 0 {
		labels[len(labels)-1] = st.label
	}
	in := plot(a.Sub(0, 0, a.W()-stripValue, a.H()), labels)
	cols := st.bars(fr, w)
	top, newest := 0.0, -1
	for i := range cols {
		if cols[i].has {
			newest = i
			top = max(top, cols[i].v)
		}
	}
	y := a.H() - 1
	if newest < 0 {
		a.Right(a.W()-1, y, format.None, chart.Dim)
		return
	}
	st.plot(in, fr, cols, top)
	role := chart.Strong
	if st.late(fr, len(cols)-1-newest) {
		role = chart.Dim // nothing newer was heard
	}
	v := a.Sub(a.W()-stripValue, y, stripValue, 1)
	v.Right(6, 0, st.text(cols[newest].v), role)
	if st.kind != stripSlow {
		v.Text(8, 0, cut("≤"+st.text(top), stripValue-8), chart.Dim)
	}
}

// late tells whether the newest value is so many columns back that it is old.
func (st *strip) late(fr *frame, columns int) bool { return columns > int(holdFor/fr.zoom) }

// plot draws the columns from 0 to the largest, or to the most there can be.
func (st *strip) plot(a chart.Area, fr *frame, cols []bar, top float64) {
	scale := top
	if st.kind == stripShare || st.kind == stripRatio {
		scale = max(1, top)
	}
	if most := st.most(fr); most > 0 {
		scale = max(most, top)
	}
	drawn := make([]chart.Bar1, len(cols))
	for i, c := range cols {
		if !c.has || c.v <= 0 || scale <= 0 {
			continue
		}
		role := st.role(c.v)
		if c.stale {
			role = chart.Dim
		}
		drawn[i] = chart.Bar1{Height: c.v / scale, Role: role}
	}
	chart.Bars(a, drawn, fr.glyphs)
}

// readStrips is how many strips the read-out of the cursor names.
const readStrips = 5

// stripsAt is what the first strips show in the column under the cursor: "run 14".
func stripsAt(fr *frame, x int) []string {
	var out []string
	for _, st := range stripsOf(fr.s, fr.t) {
		if len(out) == readStrips {
			break
		}
		if cols := st.bars(fr, len(fr.cols)); x >= 0 && x < len(cols) && cols[x].has {
			out = append(out, st.label+" "+st.text(cols[x].v))
		}
	}
	return out
}
