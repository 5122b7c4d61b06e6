package ui

import (
	"math"
	"strconv"
	"time"

	"teapot/probe/event"
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
)

// mostGPUs is how many GPUs get a strip each.
const mostGPUs = 4

// stripsOf are the strips that a target's signals can fill, most wanted first.
func stripsOf(s *stats.Snapshot, t *stats.Target) []strip {
	var out []strip
	for _, st := range [...]strip{
		{"running", "", "run", stripGauge},
		{"waiting", "", "wait", stripGauge},
		{"kv_used", "", "kv", stripShare},
		{"preemptions", "", "pre", stripCount},
		{"queue_count", "", "queue", stripMean},
		{"ttft_count", "", "ttft", stripMean},
		{"itl_count", "", "itl", stripMean},
		{"prefix_queries", "", "hits", stripRatio},
		{"gen_tokens", "", "tok/s", stripCount},
		{"prefill_tokens", "", "in/s", stripCount},
		{"prefilling", "", "fill", stripGauge},
	} {
		if _, ok := t.Server.Value(st.name); ok {
			out = append(out, st)
		}
	}
	gpus := 0
	for _, from := range [...]*stats.Server{t.Server, s.Machine} {
		if from == nil {
			continue
		}
		for i := range from.Values {
			if v := &from.Values[i]; v.Name == "gpu.util" && gpus < mostGPUs {
				out = append(out, strip{v.Name, v.Of, "gpu" + cut(label(v.Of), 2), stripShare})
				gpus++
			}
		}
	}
	return out
}

// source is where a strip's figure comes from.
func (st *strip) source(fr *frame) *stats.Server {
	if st.name == "gpu.util" {
		if fr.s.Machine != nil {
			if _, ok := fr.s.Machine.Value(st.name); ok {
				return fr.s.Machine
			}
		}
	}
	return fr.t.Server
}

// bar is what one column of a strip shows.
type bar struct {
	v     float64
	has   bool
	stale bool // held from an earlier column
}

// bars are the columns of a strip, oldest first.
func (st *strip) bars(fr *frame, n int) []bar {
	from := st.source(fr)
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
	}
	return format.Count(uint64(min(v+0.5, 1e15)))
}

// drawStrips draws the strips of the shown target, each from 0 to its largest
// value on screen, or to 100 %.
func drawStrips(a chart.Area, fr *frame) {
	list := stripsOf(fr.s, fr.t)
	heading(a, "server, per "+per(fr.zoom), "now, and ≤ the most on screen")
	b := below(a)
	if len(list) == 0 {
		b.Text(0, 0, cut(nothingSaid(fr), b.W()), chart.Dim)
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
	scale := top
	if st.kind == stripShare || st.kind == stripRatio {
		scale = max(1, top)
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
	chart.Bars(in, drawn, fr.glyphs)
	role := chart.Strong
	if len(cols)-1-newest > int(holdFor/fr.zoom) {
		role = chart.Dim // nothing newer was heard
	}
	v := a.Sub(a.W()-stripValue, y, stripValue, 1)
	v.Right(6, 0, st.text(cols[newest].v), role)
	v.Text(8, 0, cut("≤"+st.text(top), stripValue-8), chart.Dim)
}

// nothingSaid says why there are no strips.
func nothingSaid(fr *frame) string {
	if t := fr.t.Server; t != nil {
		for i := range t.Sources {
			if d := t.Sources[i].Detail; d != "" {
				return t.Sources[i].Name + ": " + labelURL(d)
			}
		}
	}
	if fr.t.Info.State == event.StateConnecting {
		return "not asked yet"
	}
	return "this server says nothing of itself; --server-metrics URL names its page"
}

// stripsAt is what the strips show in the column under the cursor: "run 14".
func stripsAt(fr *frame, x int) []string {
	var out []string
	for _, st := range stripsOf(fr.s, fr.t) {
		if cols := st.bars(fr, len(fr.cols)); x >= 0 && x < len(cols) && cols[x].has {
			out = append(out, st.label+" "+st.text(cols[x].v))
		}
	}
	return out
}
