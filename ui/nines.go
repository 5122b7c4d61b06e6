package ui

import (
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// ninesRow is one curve of the drawing, with its values in a row under it.
type ninesRow struct {
	name, sign string
	role       chart.Role
	f          *stats.Figure
}

// ninesRows are the curves: window, session, and what is compared with.
func ninesRows(fr *frame) []ninesRow {
	rows := []ninesRow{
		{"window", "─", chart.CurveWindow, &fr.f.Gap},
		{"session", "┄", chart.CurveSession, &fr.t.Session.Gap},
	}
	if c := fr.compared; c != nil {
		rows = append(rows, ninesRow{"before", "•", chart.MarkRole, &c.before.Gap})
		if c.sent {
			rows[0] = ninesRow{"since", "─", chart.CurveWindow, &c.after.Gap}
		}
	}
	return rows
}

// ninesLabels is how many rows of values fit under a curve of some height.
func ninesLabels(h, w int) int {
	if w < 48 || h < 13 {
		return 0
	}
	return min(h-12, 3)
}

// drawCurve draws the nines curve of the gaps, window against session, and
// against what is compared with. With room the values stand below it.
func drawCurve(a chart.Area, fr *frame) {
	rows := ninesRows(fr)
	legend := ""
	for _, r := range rows {
		legend += r.sign + " " + r.name + "  "
	}
	if len(rows) == 2 {
		legend += "(x = nines)"
	}
	heading(a, "gap curve", strings.TrimSpace(legend))
	b := below(a)
	if b.H() < 3 {
		return
	}
	values := min(ninesLabels(a.H(), a.W()), len(rows))
	h := b.H() - 1 - values
	in := plot(b.Sub(0, 0, b.W()-1, h), fr.axes.curve.Labels(h))
	var before []chart.Point
	if len(rows) > 2 {
		before = chart.Curve(rows[2].f)
	}
	chart.Nines(in, chart.Curve(rows[0].f), chart.Curve(rows[1].f), before, fr.axes.curve, fr.glyphs)
	end, right := 0, chart.Width("session")
	for _, m := range [...]struct {
		i    int
		name string
	}{{stats.P50, "50"}, {stats.P90, "90"}, {stats.P99, "99"}, {stats.P999, "99.9"}, {stats.P9999, "99.99"}} {
		at := chartGutter + chart.CurveColumn(stats.Quantiles[m.i], in.W())
		x := max(min(at-chart.Width(m.name)/2, b.W()-chart.Width(m.name)), chartGutter)
		if x > end {
			end = b.Text(x, h, m.name, chart.Dim)
		}
		right = min(max(at+3, right+7), b.W()) // a blank before each, whatever its width
		for y, r := range rows[:values] {
			text := format.None
			if q := &r.f.Q[m.i]; q.Mark != stats.MarkNone {
				text, _ = quantile(q, false, 6)
			}
			b.Right(right, h+1+y, text, r.role)
		}
	}
	for y, r := range rows[:values] {
		b.Text(0, h+1+y, r.name, r.role)
	}
}

// curves are the points of all of them.
func curves(fr *frame) [][]chart.Point {
	var out [][]chart.Point
	for _, r := range ninesRows(fr) {
		out = append(out, chart.Curve(r.f))
	}
	return out
}
