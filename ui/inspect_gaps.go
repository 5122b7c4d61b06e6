package ui

import (
	"cmp"
	"slices"
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// drawGaps draws the gaps of a request by the number of the event after them,
// the longest of each column.
func drawGaps(a chart.Area, fr *frame, trace *stats.Trace) {
	if a.H() < 3 {
		return
	}
	if trace == nil {
		heading(a, "gap ms by token event", "")
		a.Text(0, 1, fitWords("its gaps are no longer kept: those of the newest 200 requests are, and of the worst", a.W()), chart.Dim)
		return
	}
	cells := trace.Cells()
	axis := gapAxis(cells, fr.straight)
	heading(a, "gap ms by token event ("+axis.Word()+")", "the longest of each column  □ not the server's")
	b := below(a)
	rows := b.H() - 1
	in := plot(b.Sub(0, 0, b.W(), rows), axis.Labels(rows))
	n := len(cells) - 1
	w := min(in.W(), n)
	if w <= 0 {
		in.Text(1, 0, cut("no gap: "+strconv.Itoa(len(cells))+" token events", in.W()-1), chart.Dim)
		return
	}
	bars, ours := gapColumns(cells[1:], w, axis, fr.lim)
	in = in.Sub(0, 0, w, rows)
	chart.Bars(in, bars, fr.glyphs)
	for x, v := range ours {
		if v > 0 && axis.Pos(float64(v)) >= bars[x].Height {
			in.Set(x, axis.Row(float64(v), rows), '□', chart.Ours)
		}
	}
	indexLabels(b.Sub(chartGutter, rows, b.W()-chartGutter, 1), w, n)
}

// gapAxis covers the gaps of a request, down to a two-thousandth of the longest.
func gapAxis(cells []stats.Cell, straight bool) chart.Log {
	lo, hi := 0.0, 0.0
	for _, c := range cells[min(1, len(cells)):] {
		if v := float64(c.Gap); v > 0 {
			if lo == 0 || v < lo {
				lo = v
			}
			hi = max(hi, v)
		}
	}
	return chart.Log{Straight: straight}.Fit(max(lo, hi/2000), hi, 0)
}

// gapColumns are the longest gaps of each of w columns, and those of each that
// are not the server's, ns.
func gapColumns(cells []stats.Cell, w int, axis chart.Log, lim chart.Limits) ([]chart.Bar1, []int64) {
	bars, ours := make([]chart.Bar1, w), make([]int64, w)
	for i, c := range cells {
		x := i * w / len(cells)
		switch {
		case c.Merged || c.Transport:
			ours[x] = max(ours[x], c.Gap)
		case c.Gap > 0:
			if h := max(axis.Pos(float64(c.Gap)), 1e-9); h > bars[x].Height {
				bars[x] = chart.Bar1{Height: h, Role: lim.Column(c.Gap)}
			}
		}
	}
	return bars, ours
}

// indexLabels names the first, middle and last of w columns by the event they
// stand for: the second event is the first with a gap.
func indexLabels(a chart.Area, w, n int) {
	end := a.Text(0, 0, "2", chart.Dim)
	last := strconv.Itoa(n + 1)
	lastAt := w - len(last)
	if mid := strconv.Itoa(n/2 + 2); w/2 > end+1 && w/2+len(mid)+1 < lastAt {
		end = a.Text(w/2, 0, mid, chart.Dim)
	}
	if lastAt > end {
		a.Text(lastAt, 0, last, chart.Dim)
	}
}

// longestGaps is how many gaps of a request are named.
const longestGaps = 5

// worstLines are the longest gaps of a request with what is known of them, in
// rows of w columns: a first token first that came late.
func worstLines(fr *frame, trace *stats.Trace, w int) []string {
	if trace == nil {
		return nil
	}
	type gap struct {
		event int
		c     stats.Cell
	}
	var gaps []gap
	for i, c := range trace.Cells() {
		if i > 0 && c.Gap > 0 {
			gaps = append(gaps, gap{i + 1, c})
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.c.Gap, a.c.Gap) })
	var out []string
	why := reasons{w, map[string]bool{}}
	if text, s := firstLine(fr, trace); text != "" {
		out = append(append(out, text), why.of(s)...)
	}
	for _, g := range gaps[:min(len(gaps), longestGaps)] {
		var s *stats.Spike
		text := format.Dur(g.c.Gap) + " before event " + strconv.Itoa(g.event) + " " + fr.clock(g.c.At)
		switch {
		case g.c.Merged:
			text += "  □ this client's own stop"
		case g.c.Transport:
			text += "  □ the transport's"
		case g.c.Late:
			text += "  ◇ read late here"
		case g.c.Stall:
			text += "  ‖ stall"
			if s = findSpike(fr.t, spikeKey{trace.ID, g.event, g.c.At}); s != nil {
				text += ": " + struck(s)
			}
		}
		out = append(append(out, text), why.of(s)...)
	}
	return out
}
