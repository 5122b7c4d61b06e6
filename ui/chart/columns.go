package chart

import (
	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

	"teapot/stats"
)

// Limits are the two thresholds by which a gap is coloured, in ns.
type Limits struct {
	Warn, Bad int64
}

// Column tells the role of a value: a bar's, from Bar to BarBad.
func (l Limits) Column(v int64) Role {
	switch {
	case l.Bad > 0 && v > l.Bad:
		return BarBad
	case l.Warn > 0 && v > l.Warn:
		return BarWarn
	}
	return Bar
}

// eighth is the least height that shows: one eighth of a row.
const eighth = 0.125

// Bar1 is one column of a bar chart.
type Bar1 struct {
	Height float64 // share of the area's height, 0 draws nothing
	Role   Role
}

// Bars draws columns from the right edge to the left, the last one rightmost. A
// height above 0 is at least one eighth of a row high, so that nothing that
// happened is invisible; heights are clamped to the area.
func Bars(a Area, bars []Bar1, glyphs Glyphs) {
	if len(bars) > a.W() {
		bars = bars[len(bars)-a.W():]
	}
	x0, h := a.W()-len(bars), float64(a.H())
	onKit(a, func(m *canvas.Model) {
		for i, b := range bars {
			v := finite(b.Height) * h
			if v <= 0 {
				continue
			}
			v = min(max(v, eighth), h)
			if glyphs == Braille {
				dotColumn(m, x0+i, v, b.Role)
				continue
			}
			p := canvas.Point{X: x0 + i, Y: a.H() - 1}
			graph.DrawColumnBottomToTop(m, p, v, style(b.Role))
		}
	})
}

// dotColumn draws a column v rows high out of braille dots, four to a row.
func dotColumn(m *canvas.Model, x int, v float64, role Role) {
	dots := max(int(v*4+0.5), 1)
	for y := m.Height() - 1; y >= 0 && dots > 0; y-- {
		var p runes.PatternDots
		for i, pair := range [4][2]int{{6, 7}, {2, 5}, {1, 4}, {0, 3}} {
			if i < dots {
				p[pair[0]], p[pair[1]] = true, true
			}
		}
		r := runes.BraillePatternFromPatternDots(p)
		m.SetCell(canvas.Point{X: x, Y: y}, canvas.NewCellWithStyle(r, style(role)))
		dots -= 4
	}
}

// Worst draws the longest gap of each column, the newest rightmost. A column
// with a timeout carries × at the top, one whose longest gap was this client's
// own doing a hollow box at its height, one whose longest gap this client read
// late in large part a hollow diamond on its bar.
func Worst(a Area, cols []stats.Column, axis Log, lim Limits, glyphs Glyphs) {
	if len(cols) > a.W() {
		cols = cols[len(cols)-a.W():]
	}
	bars := make([]Bar1, len(cols))
	for i := range cols {
		if v := cols[i].Gap.Max; cols[i].Gap.N > 0 {
			bars[i] = Bar1{Height: max(axis.Pos(float64(v)), 1e-9), Role: lim.Column(v)}
		}
	}
	Bars(a, bars, glyphs)
	x0 := a.W() - len(cols)
	for i := range cols {
		c := &cols[i]
		if c.Ours.N > 0 && (c.Gap.N == 0 || c.Ours.Max > c.Gap.Max) {
			a.Set(x0+i, axis.Row(float64(c.Ours.Max), a.H()), '□', Ours)
		} else if c.Late.N > 0 && c.Late.Max >= c.Gap.Max {
			a.Set(x0+i, axis.Row(float64(c.Late.Max), a.H()), '◇', Ours)
		}
		if c.Timeouts > 0 {
			a.Set(x0+i, 0, '×', Bad)
		}
	}
}

// GapRange is the least and the greatest of the columns' longest gaps, ns; 0, 0
// when there were none.
func GapRange(cols []stats.Column) (lo, hi float64) {
	for i := range cols {
		for _, s := range [...]stats.Summary{cols[i].Gap, cols[i].Ours} {
			if s.N == 0 || s.Max <= 0 {
				continue
			}
			v := float64(s.Max)
			if lo == 0 || v < lo {
				lo = v
			}
			hi = max(hi, v)
		}
	}
	return lo, hi
}

// Over draws how many gaps of each column passed the limit, on a log scale: one
// row, one eighth for the first, more for each doubling or so.
func Over(a Area, cols []stats.Column) {
	if len(cols) > a.W() {
		cols = cols[len(cols)-a.W():]
	}
	bars := make([]Bar1, len(cols))
	for i := range cols {
		if n := cols[i].Over; n > 0 {
			bars[i] = Bar1{Height: countHeight(n), Role: BarBad}
		}
	}
	Bars(a, bars, Blocks)
}

// countHeight maps 1, 2-3, 4-7, ... to 1/8, 2/8, ... up to 8/8.
func countHeight(n uint64) float64 {
	h := 0
	for n > 0 && h < 8 {
		n >>= 1
		h++
	}
	return float64(h) / 8
}

// Strip draws the slowest first token of each column as one row of blocks; ×
// where a request timed out.
func Strip(a Area, cols []stats.Column, axis Log, limit int64) {
	if len(cols) > a.W() {
		cols = cols[len(cols)-a.W():]
	}
	bars := make([]Bar1, len(cols))
	for i := range cols {
		if cols[i].TTFT.N == 0 {
			continue
		}
		role := Dot
		if limit > 0 && cols[i].TTFT.Max > limit {
			role = BarBad
		}
		bars[i] = Bar1{Height: max(axis.Pos(float64(cols[i].TTFT.Max)), 1e-9), Role: role}
	}
	Bars(a, bars, Blocks)
	for i := range cols {
		if cols[i].Timeouts > 0 {
			a.Set(a.W()-len(cols)+i, 0, '×', Bad)
		}
	}
}

// Speeds draws the tokens per second of each column as an area from 0.
func Speeds(a Area, cols []stats.Column, width int64, axis Linear, glyphs Glyphs) {
	if len(cols) > a.W() {
		cols = cols[len(cols)-a.W():]
	}
	bars := make([]Bar1, len(cols))
	for i := range cols {
		if v := PerSecond(cols[i].Tokens, width); v > 0 && axis.Hi > 0 {
			bars[i] = Bar1{Height: v / axis.Hi, Role: Speed}
		}
	}
	Bars(a, bars, glyphs)
}

// PerSecond is n per width ns as n per second.
func PerSecond(n uint64, width int64) float64 {
	if width <= 0 {
		return 0
	}
	return float64(n) * 1e9 / float64(width)
}
