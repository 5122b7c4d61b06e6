package chart

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

	"teapot/stats"
)

// Point is one point of a nines curve: x is −log10(1−p), so P90 is 1 and P99.99
// is 4; Value is in ns.
type Point struct{ Nines, Value float64 }

// The span of the curve's x axis: from the median to P99.99.
const (
	minNines = 0.30103 // P50
	maxNines = 4.0
)

// Curve returns the points of a figure that the sample rule lets exist, and the
// maximum at the place its rank has, x = log10 n.
func Curve(f *stats.Figure) []Point {
	var pts []Point
	if f.N == 0 {
		return nil
	}
	for i, q := range stats.Quantiles {
		if f.Q[i].Mark != stats.MarkNone && f.Q[i].Value > 0 {
			pts = append(pts, Point{-math.Log10(1 - q), float64(f.Q[i].Value)})
		}
	}
	last := minNines
	if len(pts) > 0 {
		last = pts[len(pts)-1].Nines
	}
	if at := math.Log10(float64(f.N)); at > last+0.02 && f.Max > 0 {
		pts = append(pts, Point{at, float64(f.Max)})
	}
	return pts
}

// valueAt is the value of a curve at x, straight in log value between points;
// false outside of the curve.
func valueAt(pts []Point, x float64) (float64, bool) {
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		if x < a.Nines-1e-9 || x > b.Nines+1e-9 || b.Nines <= a.Nines {
			continue
		}
		t := min(max((x-a.Nines)/(b.Nines-a.Nines), 0), 1)
		return math.Exp(math.Log(a.Value)*(1-t) + math.Log(b.Value)*t), true
	}
	return 0, false
}

// ninesAt is the x of a column's middle.
func ninesAt(x, w int) float64 {
	if w <= 1 {
		return minNines
	}
	return minNines + (maxNines-minNines)*float64(x)/float64(w-1)
}

// CurveColumn is the column of P in a curve w columns wide; p from 0 to 1.
func CurveColumn(p float64, w int) int {
	n := -math.Log10(1 - min(max(p, 0.5), 0.9999))
	return min(max(int(math.Round((n-minNines)/(maxNines-minNines)*float64(w-1))), 0), max(w-1, 0))
}

// Nines draws the curve of the window as a line, that of the session dotted
// behind it, and behind both the one that is compared with, if any.
func Nines(a Area, window, session, before []Point, axis Log, glyphs Glyphs) {
	if !axis.Known() {
		return
	}
	for _, behind := range [...]struct {
		pts  []Point
		r    rune
		role Role
	}{{before, '•', MarkRole}, {session, '┄', CurveSession}} {
		for x := range a.W() {
			if v, ok := valueAt(behind.pts, ninesAt(x, a.W())); ok {
				a.Set(x, axis.Row(v, a.H()), behind.r, behind.role)
			}
		}
	}
	if glyphs == Braille {
		brailleCurve(a, window, axis)
		return
	}
	start, ys := -1, []int(nil)
	for x := range a.W() {
		v, ok := valueAt(window, ninesAt(x, a.W()))
		if !ok {
			continue
		}
		if start < 0 {
			start = x
		}
		ys = append(ys, axis.Row(v, a.H()))
	}
	if start < 0 {
		return
	}
	onKit(a, func(m *canvas.Model) {
		graph.DrawLineSequence(m, false, start, ys, runes.ArcLineStyle, style(CurveWindow))
	})
}

func brailleCurve(a Area, pts []Point, axis Log) {
	onKit(a, func(m *canvas.Model) {
		w, h := m.Width(), m.Height()
		g := graph.NewBrailleGrid(w, h, 0, float64(max(w*2-1, 1)), 0, 1)
		prev := -1
		for x := range w * 2 {
			v, ok := valueAt(pts, minNines+(maxNines-minNines)*float64(x)/float64(max(w*2-1, 1)))
			if !ok {
				continue
			}
			p := g.GridPoint(canvas.Float64Point{X: float64(x), Y: axis.Pos(v)})
			for y := p.Y; prev >= 0 && y != prev; { // join steep steps
				g.Set(canvas.Point{X: p.X, Y: y})
				if y < prev {
					y++
				} else {
					y--
				}
			}
			g.Set(p)
			prev = p.Y
		}
		graph.DrawBraillePatterns(m, canvas.Point{}, g.BraillePatterns(), style(CurveWindow))
	})
}

// CurveRange is the least and greatest value of the curves, ns; 0, 0 for none.
func CurveRange(curves ...[]Point) (lo, hi float64) {
	for _, pts := range curves {
		for _, p := range pts {
			if p.Nines > maxNines {
				continue
			}
			if lo == 0 || p.Value < lo {
				lo = p.Value
			}
			hi = max(hi, p.Value)
		}
	}
	return lo, hi
}
