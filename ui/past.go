package ui

import (
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
)

// past is what a page of words remembers of the reply before, so that a pane
// does not go blank whenever a request ends and the next one begins.
type past struct {
	words []word   // as drawn last
	at    int64    // when, by the session's clock
	cut   bool     // the reply was not at its end then
	lines []string // the last lines of the request before
}

// pastFresh is how old the last drawing may be when the next request begins.
// Longer ago, other requests may have come and gone unseen.
const pastFresh = int64(2e9)

// keep remembers what a pane shows.
func (p pages) keep(k pageKey, ws []word, at int64, open bool) {
	pg := p[k]
	pg.past.words, pg.past.at, pg.past.cut = ws, at, open
	p[k] = pg
}

// before returns the lines that stand above the first page of a stream: the end
// of what the same pane showed of the request before, at most half a pane.
func (p pages) before(k pageKey, st *stats.Stream, w, h int) []string {
	pg, known := p[k]
	if known && pg.request == st.Request {
		return pg.past.lines
	}
	next := page{request: st.Request, from: st.Events - len(st.Cells)}
	if len(pg.past.words) > 0 && st.Sent-pg.past.at <= pastFresh {
		next.past.lines = lastLines(&pg.past, w, h)
	}
	p[k] = next
	return next.past.lines
}

// lastLines draws the words aside and reads the lines back.
func lastLines(pt *past, w, h int) []string {
	g := chart.NewGrid(w, h)
	_, x, y := drawWords(g.All(), pt.words)
	if y = min(y, h-1); pt.cut && x < w {
		g.All().Set(x, y, '…', chart.Plain)
	}
	var out []string
	for row := max(y+1-(h/2-1), 0); row <= y; row++ {
		var b strings.Builder
		for x := range w {
			switch c := g.At(x, row); c.Rune {
			case chart.Cont:
			case 0:
				b.WriteByte(' ')
			default:
				b.WriteString(string(c.Rune) + c.Marks)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// drawPast draws lines of the reply before at the top, with a rule under them,
// and returns the rest of the area, all of it where it is too low for both.
func drawPast(a chart.Area, lines []string) chart.Area {
	if len(lines) == 0 || a.H() < 2*len(lines) {
		return a
	}
	for y, l := range lines {
		a.Text(0, y, l, chart.Dim)
	}
	n := len(lines)
	a.Row(n).Fill('┄', chart.Rule)
	return a.Sub(0, n+1, a.W(), a.H()-n-1)
}
