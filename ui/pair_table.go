package ui

import (
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// pairFoot is how many rows the comparison of two targets and the keys take.
func pairFoot(h int) int {
	switch {
	case h >= 34:
		return 7
	case h >= 26:
		return 4
	}
	return 2
}

// against is a figure of two targets that is compared.
type against struct {
	name string
	of   func(*stats.Figures) *stats.Figure
}

// pairRows are the figures, the most telling first.
var pairRows = [...]against{
	{"gap", func(f *stats.Figures) *stats.Figure { return &f.Gap }},
	{"ttft", func(f *stats.Figures) *stats.Figure { return &f.TTFT }},
	{"tpot", func(f *stats.Figures) *stats.Figure { return &f.TPOT }},
	{"e2e", func(f *stats.Figures) *stats.Figure { return &f.E2E }},
}

// pairColumns are the quantiles, in the order of their places.
var pairColumns = [...]struct {
	name string
	i    int
}{{"p50", stats.P50}, {"p90", stats.P90}, {"p99", stats.P99}, {"p99.9", stats.P999}, {"p99.99", stats.P9999}}

// drawAgainst holds the second target against the first: one line where there is
// no room, else a table of quantiles with their change.
func drawAgainst(a chart.Area, first, second *stats.Target, window int) {
	x, y := &first.Windows[window], &second.Windows[window]
	if a.H() < 3 {
		drawAgainstLine(a, x, y)
		return
	}
	legend := "window " + windowName(window) + ": ▲ longer, ▼ shorter, ≈ no more than chance"
	heading(a, "2 against 1", legend)
	const name, least, most = 6, 19, 26
	cols := min(max((a.W()-name)/least, 1), len(pairColumns))
	w := min((a.W()-name)/cols, most)
	head := a.H() > 3
	if head {
		for c, q := range pairColumns[:cols] {
			a.Right(name+(c+1)*w, 1, q.name, chart.Dim)
		}
	}
	top := 1
	if head {
		top = 2
	}
	for r, row := range pairRows[:min(a.H()-top, len(pairRows))] {
		a.Text(0, top+r, row.name, chart.Plain)
		before, after := row.of(x), row.of(y)
		for c, q := range pairColumns[:cols] {
			text, role := againstCell(before, after, q.i)
			a.Right(name+(c+1)*w, top+r, text, role)
		}
	}
}

// drawAgainstLine is all of it in one row: the changes alone.
func drawAgainstLine(a chart.Area, x, y *stats.Figures) {
	parts := []part{{text: "2 against 1", role: chart.Head, rank: 0}}
	for r, row := range pairRows {
		for c, q := range pairColumns[:3] {
			text, role := againstCell(row.of(x), row.of(y), q.i)
			rank := min(1+r+c, 9)
			if q.i == stats.P90 {
				rank = 8
			}
			parts = append(parts, part{text: row.name + " " + q.name + " " + text, role: role, rank: rank})
		}
	}
	drawParts(a, parts, -1)
}

// againstCell is "14.1→15.2 +8%▲": both values, the change and its sign.
func againstCell(x, y *stats.Figure, i int) (string, chart.Role) {
	role, before, after := chart.Dim, &x.Q[i], &y.Q[i]
	change := stats.Differ(x, y, i)
	switch change {
	case stats.ChangeUp:
		role = chart.Bad
	case stats.ChangeDown:
		role = chart.Good
	}
	value := func(q *stats.Quantile) string {
		return strings.TrimSuffix(format.Quantile(*q, format.MS), "~")
	}
	if before.Mark == stats.MarkNone && after.Mark == stats.MarkNone {
		return format.None, chart.Dim
	}
	text := value(before) + "→" + value(after)
	if change == stats.ChangeUnknown {
		return text, role
	}
	return text + " " + percentOf(before.Value, after.Value) + change.String(), role
}

// percentOf is the change from a to b: "+8%", "-12%", "×3.1".
func percentOf(a, b int64) string {
	if a <= 0 {
		return ""
	}
	switch r := float64(b) / float64(a); {
	case r >= 2:
		return "×" + strings.TrimSuffix(format.Factor(r), "×")
	case r >= 1:
		return "+" + format.Percent(r-1)
	default:
		return "-" + format.Percent(1-r)
	}
}
