package ui

import (
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// servedStrips is how many figures the pane of the overview has.
const servedStrips = 5

// sayNothing is the line on a server without signals, and sayNone the same where
// there is little room.
const (
	sayNothing = "says nothing of itself: --server-metrics URL names its page"
	sayNone    = "none: --server-metrics URL"
)

// drawNothingSaid is the line that stands in for strips, and says how to get
// some.
func drawNothingSaid(a chart.Area, fr *frame) {
	name := floorName
	if a.W() < floorName+chart.Width(sayNothing) {
		name = 8
	}
	text := nothingSaid(fr)
	if text == sayNothing && name+chart.Width(text) > a.W() {
		text = sayNone
	}
	a.Text(0, 0, "server", chart.Head)
	a.Text(name, 0, fitWords(text, a.W()-name), chart.Dim)
}

// nothingSaid says why there are no strips.
func nothingSaid(fr *frame) string {
	if t := fr.t.Server; t != nil {
		for i := range t.Sources {
			if d := t.Sources[i].Detail; d != "" {
				return label(t.Sources[i].Name) + ": " + labelURL(d)
			}
		}
	}
	if fr.t.Info.State == event.StateConnecting {
		return "not asked yet"
	}
	return sayNothing
}

// heardAgo is how old the newest answer of a source is, and whether it is old: then
// what is drawn from it is of the past.
func heardAgo(fr *frame, src *stats.ServerSource) (text string, stale bool) {
	age := max(fr.s.Now-src.At, 0)
	switch {
	case age > max(staleLooks*src.Every, int64(staleLooks*time.Second)):
		return "SILENT for " + format.Dur(age/1e9*1e9), true
	case age < 1e9:
		return "under 1s old", false
	}
	return format.Dur(age/1e8*1e8) + " old", false
}

// mainSource is what most of a server's figures come from; nil where there is
// none: then that of this machine.
func mainSource(fr *frame) *stats.ServerSource {
	for _, sv := range [...]*stats.Server{fr.t.Server, fr.s.Machine} {
		if sv == nil || len(sv.Sources) == 0 {
			continue
		}
		for i := range sv.Sources {
			if sv.Sources[i].Name == event.SignalMetrics {
				return &sv.Sources[i]
			}
		}
		return &sv.Sources[0]
	}
	return nil
}

// drawHeardHeading is the heading of what a server says, with its age.
func drawHeardHeading(a chart.Area, fr *frame) {
	title := "server, per " + per(fr.zoom)
	heading(a, title, "")
	x := 3 + chart.Width(title)
	if src := mainSource(fr); src != nil {
		role := chart.Dim
		text, stale := heardAgo(fr, src)
		if stale {
			role = chart.Warn
		}
		if x+chart.Width(dot+text)+1 <= a.W() {
			x = a.Text(x, 0, dot, chart.Dim)
			x = a.Text(x, 0, text, role)
		}
	}
	if legend := dot + "now, and ≤ the most on screen"; x+chart.Width(legend)+1 <= a.W() {
		x = a.Text(x, 0, legend, chart.Dim)
	}
	if x < a.W() {
		a.Text(x, 0, " ", chart.Dim)
	}
}

// drawServed is the server's load in few rows, for the overview: what is now,
// and how it came about, in the newest columns of the charts.
func drawServed(a chart.Area, fr *frame) {
	drawHeardHeading(a, fr)
	b := below(a)
	const name, value = 6, 13
	y := 0
	for _, st := range servedOf(fr) {
		if y >= b.H() {
			return
		}
		b.Text(0, y, st.label, chart.Head)
		cols := st.bars(fr, max(b.W()-value-1, 0))
		top, newest := 0.0, -1
		for i := range cols {
			if cols[i].has {
				newest, top = i, max(top, cols[i].v)
			}
		}
		if newest < 0 {
			b.Right(value, y, format.None, chart.Dim)
			y++
			continue
		}
		role := chart.Strong
		if st.late(fr, len(cols)-1-newest) {
			role = chart.Dim
		}
		b.Right(value, y, st.text(cols[newest].v), role)
		st.plot(b.Sub(value+1, y, b.W()-value-1, 1), fr, cols, top)
		y++
	}
}

// servedOf are the strips of the pane: the load, and how much of the prompts the
// cache held.
func servedOf(fr *frame) []strip {
	all := stripsOf(fr.s, fr.t)
	var out, rest []strip
	for _, st := range all {
		if strings.Contains("running waiting kv_used preemptions prefix_queries", st.name) {
			out = append(out, st)
		} else {
			rest = append(rest, st)
		}
	}
	return append(out, rest...)
}
