package ui

import (
	"slices"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// column is one column of the table of figures.
type column struct {
	head string
	w    int
	cell func(r *row, w int) (string, chart.Role)
}

// drop is the order in which columns go when the table is narrow; P50, P99, max
// and n stay to the end.
var drop = [...]string{"now", "p90", "p99.99", "p99.9"}

// columnsFor are the columns that fit into w beside a name of nameW. They are
// narrowed by one before any of them goes.
func columnsFor(w, nameW int, now bool) []column {
	q := func(head string, i int) column {
		return column{head, 7, func(r *row, w int) (string, chart.Role) {
			if r.before != nil {
				return delta(&r.before.Q[i], &r.f.Q[i], w)
			}
			s, role := quantile(&r.f.Q[i], r.dim, w)
			if i == stats.P99 && r.change != stats.ChangeUnknown && chart.Width(s) < w {
				s += r.change.String()
			}
			return s, role
		}}
	}
	cols := []column{
		{"now", 7, func(r *row, w int) (string, chart.Role) {
			if r.before != nil {
				return "", chart.Dim
			}
			if r.now <= 0 {
				return format.None, chart.Dim
			}
			return fitMS(r.now, "", "", w), chart.Plain
		}},
		q("p50", stats.P50), q("p90", stats.P90), q("p99", stats.P99), q("p99.9", stats.P999), q("p99.99", stats.P9999),
		{"max", 7, func(r *row, w int) (string, chart.Role) {
			if r.before != nil {
				return "", chart.Dim // the longest of two samples says nothing
			}
			if r.f.N == 0 {
				return format.None, chart.Dim
			}
			sign := ""
			if r.f.Censored > 0 {
				sign = ">"
			}
			return fitMS(r.f.Max, sign, "", w), shade(r.dim, chart.Plain)
		}},
		{"n", 6, func(r *row, w int) (string, chart.Role) {
			return format.Count(r.f.N), shade(r.dim, chart.Plain)
		}},
	}
	without := func(head string) {
		cols = slices.DeleteFunc(cols, func(c column) bool { return c.head == head })
	}
	if !now {
		without("now")
	}
	narrow := func() {
		for i := range cols {
			cols[i].w = 6
		}
	}
	for _, head := range drop {
		if nameW+widthOf(cols) <= w {
			break
		}
		if nameW+6*len(cols) <= w {
			narrow()
			break
		}
		without(head)
	}
	if nameW+widthOf(cols) > w {
		narrow()
	}
	return cols
}

func widthOf(cols []column) int {
	w := 0
	for _, c := range cols {
		w += c.w
	}
	return w
}

func shade(dim bool, r chart.Role) chart.Role {
	if dim {
		return chart.Dim
	}
	return r
}

func quantile(q *stats.Quantile, dim bool, w int) (string, chart.Role) {
	if q.Mark == stats.MarkNone {
		return format.None, chart.Dim
	}
	before, after := "", ""
	if q.Censored {
		before = ">"
	}
	if q.Mark == stats.MarkApprox {
		after = "~"
	}
	s := fitMS(q.Value, before, after, w)
	switch {
	case dim:
		return s, chart.Dim
	case q.Censored:
		return s, chart.Bad
	}
	return s, chart.Strong
}

// drawTable draws the figures. In the small layout the session has one column
// of its own at the right, its P99; in the wide one a row under each figure.
func drawTable(a chart.Area, fr *frame, wide bool) {
	nameW, w := 6, a.W()
	sess := 0
	if wide {
		nameW = 8
	} else if w >= 70 {
		sess = 12
	}
	cols := columnsFor(w-sess, nameW, !wide)
	x := nameW
	a.Text(0, 0, "ms", chart.Dim)
	for _, c := range cols {
		x += c.w
		a.Right(x, 0, fitHead(c), chart.Dim)
	}
	if sess > 0 {
		a.Text(x+1, 0, "│", chart.Rule)
		a.Right(w, 0, "session p99", chart.Dim)
	}
	y := 1
	perToken := wide && a.H() >= tableHeight(true, true, fr.compared != nil)
	rows := fr.rows(wide, perToken, a.H()-tableHeight(wide, perToken, false))
	for i := range rows {
		if y >= a.H() {
			return
		}
		r := &rows[i]
		role := chart.Head
		if r.name[0] > 0x7f { // ·session
			role = chart.Dim
		}
		a.Text(0, y, r.name, role)
		if r.name == "itl" && r.f.N == 0 && fr.f.ITLWhy != "" {
			a.Text(nameW+1, y, cut(label(fr.f.ITLWhy), w-nameW-1), chart.Dim)
			y++
			continue
		}
		x := nameW
		for _, c := range cols {
			x += c.w
			s, role := c.cell(r, c.w-1)
			a.Right(x, y, s, role)
		}
		if sess > 0 {
			a.Text(x+1, y, "│", chart.Rule)
			if r.sess != nil {
				s, _ := quantile(&r.sess.Q[stats.P99], true, 9)
				a.Right(w, y, s, chart.Dim)
			}
		}
		y++
	}
	if y < a.H() {
		drawSpeed(a.Row(y), fr, nameW)
	}
}

func fitHead(c column) string {
	if len(c.head) >= c.w && len(c.head) > 4 {
		return c.head[1:] // p99.99 → 99.99
	}
	return c.head
}

// tableHeight is how many rows the table has: a heading, the figures, the speeds.
func tableHeight(wide, perToken, compared bool) int {
	figures, each := 4, 1
	if perToken {
		figures++
	}
	if wide {
		each++
	}
	if compared {
		each++
	}
	return 2 + figures*each
}

// drawSpeed draws the row of the speeds: all streams together, then the single
// stream's median and the speed that the slowest tenth stays under.
func drawSpeed(a chart.Area, fr *frame, nameW int) {
	a.Text(0, 0, "tok/s", chart.Head)
	now := format.None
	if n := len(fr.cols); n > 0 {
		now = format.Rate(chart.PerSecond(fr.cols[n-1].Tokens, fr.zoom))
	}
	all := now
	if fr.f.Span > 0 {
		all = format.Rate(fr.f.OutputRate)
	}
	x := a.Text(nameW, 0, "all ", chart.Dim)
	x = a.Text(x, 0, all, chart.Strong)
	if fr.f.SpeedMedian <= 0 {
		return
	}
	slow := format.None
	switch fr.f.SpeedSlow10Mark {
	case stats.MarkOK:
		slow = "≤" + format.Rate(fr.f.SpeedSlow10)
	case stats.MarkApprox:
		slow = "≤" + format.Rate(fr.f.SpeedSlow10) + "~"
	}
	long := a.W() >= 60
	parts := [][2]string{{"stream ", format.Rate(fr.f.SpeedMedian)}, {"slow10% ", slow}}
	if long {
		parts = [][2]string{{"per stream median ", format.Rate(fr.f.SpeedMedian)}, {"slowest 10% ", slow}}
	}
	for i, p := range parts {
		if x+2+chart.Width(p[0])+chart.Width(p[1]) > a.W() {
			return
		}
		role := chart.Strong
		if i > 0 {
			role = chart.Plain
		}
		x = a.Text(x+2, 0, p[0], chart.Dim)
		x = a.Text(x, 0, p[1], role)
	}
	load := strings.TrimSpace(requestRate(fr.f) + " " + tokenRate(fr.f))
	if x+3+chart.Width(load) > a.W() {
		load = requestRate(fr.f) // the tokens stand at the left
	}
	if fr.f.Span > 0 && x+3+chart.Width(load) <= a.W() {
		a.Text(x+3, 0, load, chart.Plain) // narrow titles have no room for the load
	}
}
