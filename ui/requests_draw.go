package ui

import (
	"slices"
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// requestColumn is one column of the list of requests. Those of the highest
// rank go first where it is narrow.
type requestColumn struct {
	head string
	w    int
	rank int
	cell func(r *stats.Request, w int) string
}

// nameColumn is the width of a request's name with its sign, and endColumn the
// least width of how it ended.
const (
	nameColumn = 10
	endColumn  = 12
)

func requestColumns(fr *frame, w int) []requestColumn {
	span := func(of func(*stats.Request) int64) func(*stats.Request, int) string {
		return func(r *stats.Request, w int) string {
			if v := of(r); v > 0 {
				return fitMS(v, "", "", w)
			}
			return format.None
		}
	}
	num := func(of func(*stats.Request) int) func(*stats.Request, int) string {
		return func(r *stats.Request, _ int) string { return format.Count(uint64(max(of(r), 0))) }
	}
	cols := []requestColumn{
		{"sent", 9, 2, func(r *stats.Request, _ int) string { return fr.clock(r.Sent) }},
		{"stream", 7, 5, num(func(r *stats.Request) int { return int(r.Slot) })},
		{"ttft", 7, 0, span(func(r *stats.Request) int64 { return r.TTFT })},
		{"tpot", 7, 1, span(func(r *stats.Request) int64 { return r.TPOT })},
		{"e2e", 7, 3, span(func(r *stats.Request) int64 { return r.E2E })},
		{"max gap", 8, 0, span(func(r *stats.Request) int64 { return r.MaxGap })},
		{"stalls", 7, 4, num(func(r *stats.Request) int { return r.Stalls })},
		{"tok", 6, 2, num(func(r *stats.Request) int { return r.N })},
	}
	for rank := 5; rank > 0 && widthOfRequest(cols) > w; rank-- {
		cols = slices.DeleteFunc(cols, func(c requestColumn) bool { return c.rank == rank })
	}
	return cols
}

func widthOfRequest(cols []requestColumn) (w int) {
	for _, c := range cols {
		w += c.w
	}
	return w
}

// drawRequests draws the list under a heading that says what it holds.
func drawRequests(a chart.Area, fr *frame, l *list) {
	rows := l.listed(fr.t)
	n := format.Count(uint64(len(fr.t.Recent)))
	title, note := "requests: "+n+", "+orders()[l.order].name, "enter opens  s sorts  / filters"
	if l.text != "" {
		title, note = "requests: "+format.Count(uint64(len(rows)))+" of "+n+", "+orders()[l.order].name, "filter "+l.text+", esc ends it"
	}
	heading(a, cut(title, max(a.W()-5, 0)), cut(note, max(a.W()-chart.Width(title)-6, 0)))
	if a.H() < 3 {
		return
	}
	cols := requestColumns(fr, a.W()-nameColumn-endColumn)
	x := nameColumn
	for _, c := range cols {
		x += c.w
		a.Right(x, 1, c.head, chart.Dim)
	}
	a.Text(x+2, 1, "ended", chart.Dim)
	body := a.Sub(0, 2, a.W(), a.H()-2)
	l.rows = body.H()
	at := l.at(rows)
	l.top = min(max(l.top, at-l.rows+1), at)
	l.top = max(min(l.top, len(rows)-l.rows), 0)
	for y := 0; y < body.H() && l.top+y < len(rows); y++ {
		drawRequest(body.Row(y), rows[l.top+y], cols, l.top+y == at)
	}
	if len(rows) == 0 {
		text := "none finished yet"
		if l.text != "" {
			text = "none that the filter lets through"
		}
		body.Text(1, 0, cut(text, body.W()-1), chart.Dim)
	}
}

func drawRequest(a chart.Area, r *stats.Request, cols []requestColumn, chosen bool) {
	role := chart.Plain
	switch {
	case r.Warmup:
		role = chart.Dim
	case r.Class.Failed():
		role = chart.Bad
	}
	if chosen {
		a.Set(0, 0, '›', chart.Key)
		role |= chart.Bold
	}
	a.Text(1, 0, requestName(r.ID, nameColumn-2), role)
	x := nameColumn
	for _, c := range cols {
		x += c.w
		a.Right(x, 0, c.cell(r, c.w-1), role)
	}
	a.Text(x+2, 0, cut(endText(r), a.W()-x-2), role)
}

// endText says how a request ended: "ok", "× 503 http_overload: busy".
func endText(r *stats.Request) string {
	text := label(string(r.Class))
	switch {
	case r.Class.Failed():
		text = "× "
		if r.Status != 0 && (r.Status < 200 || r.Status > 299) {
			text += strconv.Itoa(r.Status) + " "
		}
		text += label(string(r.Class))
		if r.Message != "" {
			text += ": " + labelURL(strings.TrimPrefix(r.Message, strconv.Itoa(r.Status)+" ")) // said already
		}
	case r.Class.OK():
		text = "ok"
		if r.Buffered {
			text += ", buffered"
		}
	}
	if r.Warmup {
		text += ", warm-up"
	}
	return text
}
