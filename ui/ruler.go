package ui

import (
	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// The eye and the reader, ns per token or frame: films have 24 frames a second,
// screens 60, and people read 5 to 10 tokens a second to themselves.
const (
	frame60  = int64(16_666_667)
	frame24  = int64(41_666_667)
	reader10 = int64(100e6)
	reader5  = int64(200e6)
)

// drawRuler draws a log ruler of gaps from 2 ms to 1 s with the lines that
// matter to an eye, named in the row below, and the median, P99 and maximum of
// the window on it. A third row says what the looks of the words mean.
func drawRuler(a chart.Area, fr *frame) {
	axis := chart.Log{}.Fit(3.3e6, 1e9, 0)
	in := a.Sub(3, 0, a.W()-3, 1)
	a.Text(0, 0, "ms", chart.Dim)
	in.Fill('─', chart.Rule)
	at := func(ns int64) int { return int(axis.Pos(float64(ns)) * float64(in.W()-1)) }
	end := 0
	for _, m := range [...]struct {
		ns   int64
		name string
	}{{frame60, "16.7 60fps"}, {frame24, "41.7 film"}, {reader10, "100 reader 10/s"}, {reader5, "200 reader 5/s"}} {
		x := at(m.ns)
		in.Set(x, 0, '┼', chart.Plain)
		left := max(3+x-chart.Width(m.name)/2, end)
		if left+chart.Width(m.name) <= a.W() && a.H() > 1 {
			end = a.Text(left, 1, m.name, chart.Dim) + 2
		}
	}
	if g := &fr.f.Gap; g.N > 0 {
		for _, m := range [...]struct {
			ns   int64
			r    rune
			role chart.Role
		}{{g.Max, '▲', chart.Bad}, {g.Q[stats.P99].Value, '◦', chart.Warn}, {g.Q[stats.P50].Value, '●', chart.Good}} {
			if m.ns > 0 {
				in.Set(at(m.ns), 0, m.r, m.role)
			}
		}
	}
	if a.H() > 2 {
		drawLegend(a.Row(2))
	}
}

// drawLegend names the signs of the ruler and the looks of the words.
func drawLegend(a chart.Area) {
	x := 0
	for _, p := range [...]struct {
		text string
		role chart.Role
	}{
		{"● median  ", chart.Good}, {"◦ p99  ", chart.Warn}, {"▲ max", chart.Bad}, {" │ ", chart.Rule},
		{"at pace", chart.TokFast}, {"  ", chart.Plain}, {"slow ×1.7", chart.TokSlow}, {"  ", chart.Plain},
		{"›late ×3.5", chart.TokLate}, {"  ", chart.Plain}, {"‖812ms‖ stall", chart.Bad},
		{"  thinking", chart.TokThought}, {"  ours", chart.Ours},
	} {
		if x+chart.Width(p.text) > a.W() {
			return
		}
		x = a.Text(x, 0, p.text, p.role)
	}
}

// fluidity is the share of tokens that came by their deadline, "" for none.
func fluidity(f *stats.Figures) string {
	if f.Smooth.FluidityN == 0 {
		return ""
	}
	return "fluidity " + format.Percent(f.Smooth.Fluidity)
}

// longestStall names the longest stall, "" for none.
func longestStall(f *stats.Figures) string {
	if f.Stalls.Count == 0 {
		return ""
	}
	return "longest " + format.Dur(f.Stalls.Longest) + " of " + format.Count(f.Stalls.Count) + ", " + format.Dur(f.Stalls.Total) + " in all"
}

// drawSmoothLine is the words view's row of figures on smoothness.
func drawSmoothLine(a chart.Area, fr *frame) {
	f := fr.f
	parts := []part{
		{text: "stalls " + format.Rate(f.Stalls.PerKTok) + "/1k tok", role: chart.Strong, rank: 0},
		{text: "readers wait " + format.Percent(f.Smooth.Stalled5) + " at 5/s", role: chart.Strong, rank: 1},
		{text: format.Percent(f.Smooth.Stalled10) + " at 10/s", role: chart.Strong, rank: 2},
		{text: fluidity(f), role: chart.Strong, rank: 3},
		{text: longestStall(f), role: chart.Plain, rank: 4},
		{text: "gap p50 " + format.Quantile(f.Gap.Q[stats.P50], format.MS) + " p99 " + format.Quantile(f.Gap.Q[stats.P99], format.MS) +
			" max " + format.Max(&f.Gap, format.MS) + " ms", role: chart.Plain, rank: 5},
	}
	if f.Gap.N > 1 {
		parts = append(parts, part{text: "cv " + format.Rate(f.Smooth.CV), role: chart.Plain, rank: 6})
	}
	drawParts(a, parts, -1)
}
