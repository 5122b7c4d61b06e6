package chart

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
)

// axisOver is a log axis that covers lo to hi.
func axisOver(lo, hi float64) Log { return Log{}.Fit(lo, hi, 0) }

// text is a row of a grid as a string, for messages.
func text(g *Grid, y int) string {
	var b strings.Builder
	for x := range g.W {
		if r := g.At(x, y).Rune; r > 0 {
			b.WriteRune(r)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// height is the column's height in eighths.
func height(g *Grid, x int) int {
	h := 0
	for y := range g.H {
		if r := g.At(x, y).Rune; r >= '▁' && r <= '█' {
			h += int(r-'▁') + 1
		}
	}
	return h
}

func TestASpikeIsVisibleAtEveryZoom(t *testing.T) {
	series := stats.NewSeries(int64(2 * time.Hour))
	rapid.Check(t, func(t *rapid.T) {
		spike := rapid.Int64Range(0, int64(time.Hour)-1).Draw(t, "at")
		s := series.View()
		for at := spike - spike%1e9; at < int64(time.Hour); at += 97e9 {
			s.At(at).Gap.Add(15e6)
		}
		s.At(spike).Gap.Add(15e6)
		s.At(spike).Gap.Add(1000e6)
		var full int
		for _, sec := range []int64{1, 2, 5, 15, 60} {
			width := sec * 1e9
			end := spike + rapid.Int64Range(0, 79).Draw(t, "columns later")*width
			cols := s.Columns(end, width, 80)
			g := NewGrid(80, 5)
			Worst(g.All(), cols, axisOver(15e6, 1000e6), Limits{Warn: 40e6, Bad: 50e6}, Blocks)
			x := int(spike/width - cols[0].Start/width)
			if h := height(g, x); full == 0 {
				full = h
			} else if h != full {
				t.Fatalf("zoom %ds: the spike is %d eighths high in column %d, elsewhere %d", sec, h, x, full)
			}
			if full != 40 {
				t.Fatalf("zoom %ds: a gap of the axis' top is %d of 40 eighths high", sec, full)
			}
			if g.At(x, 0).Role != BarBad {
				t.Fatalf("zoom %ds: the spike has role %d", sec, g.At(x, 0).Role)
			}
		}
	})
}

func TestEveryGapHasACellAndNoneIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := make([]stats.Column, rapid.IntRange(1, 30).Draw(t, "columns"))
		total := uint64(0)
		for i := range cols {
			for range rapid.IntRange(0, 6).Draw(t, "gaps") {
				cols[i].Heat[rapid.IntRange(0, len(stats.HeatEdges)-1).Draw(t, "row")]++
				total++
			}
		}
		rows := rapid.IntRange(1, 30).Draw(t, "rows")
		p := HeatPlan{}.Fit(cols, rows, 0)
		g := NewGrid(len(cols), rows)
		Heat(g.All(), cols, p, 50e6)
		sum := uint64(0)
		for i := range cols {
			for y, n := range p.HeatCells(&cols[i], rows) {
				sum += uint64(n)
				if drawn := g.At(i, y).Rune != 0; drawn != (n > 0) {
					t.Fatalf("a cell of %d gaps is drawn: %v", n, drawn)
				}
			}
		}
		if sum != total {
			t.Fatalf("the cells hold %d of %d gaps", sum, total)
		}
	})
}

func TestHeatLabelsNameTheirRows(t *testing.T) {
	cols := make([]stats.Column, 1)
	for _, gap := range []int64{3e6, 15e6, 700e6} {
		cols[0].Heat[stats.HeatRow(gap)]++
	}
	p := HeatPlan{}.Fit(cols, 9, 0)
	labels, cells := p.Labels(9), p.HeatCells(&cols[0], 9)
	got := map[string]uint32{}
	for y, n := range cells {
		if n > 0 {
			got[labels[y]] = n
		}
	}
	for _, want := range []string{"≤5", "≤20", "≤1s"} {
		if got[want] != 1 {
			t.Errorf("row %q has %d gaps; rows %v", want, got[want], got)
		}
	}
}

func TestEveryHeatLabelSaysWhichEdgeItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := make([]stats.Column, 1)
		for range rapid.IntRange(0, 5).Draw(t, "gaps") {
			cols[0].Heat[rapid.IntRange(0, len(stats.HeatEdges)-1).Draw(t, "row")]++
		}
		rows := rapid.IntRange(2, 40).Draw(t, "rows")
		labels := HeatPlan{}.Fit(cols, rows, 0).Labels(rows)
		for y, l := range labels {
			if Width(l) > Gutter-1 {
				t.Fatalf("%q is too wide for the gutter", l)
			}
			if want := map[bool]string{true: "≥", false: "≤"}[y == 0]; l != "" && !strings.HasPrefix(l, want) {
				t.Fatalf("row %d of %q has no %s", y, labels, want)
			}
		}
	})
}

func TestNothingAboveZeroIsInvisible(t *testing.T) {
	for _, glyphs := range []Glyphs{Blocks, Braille, ASCII} {
		g := NewGrid(4, 3)
		Bars(g.All(), []Bar1{{1e-12, Bar}, {0, Bar}, {math.NaN(), Bar}, {2, Bar}}, glyphs)
		if g.At(0, 2).Rune == 0 {
			t.Errorf("glyphs %d: a tiny value is not drawn", glyphs)
		}
		if g.At(1, 2).Rune != 0 || g.At(2, 2).Rune != 0 {
			t.Errorf("glyphs %d: nothing is drawn as something", glyphs)
		}
		if g.At(3, 0).Rune == 0 {
			t.Errorf("glyphs %d: a value beyond the axis does not reach the top", glyphs)
		}
	}
}

func TestTimeoutsStandAtTheTop(t *testing.T) {
	cols := make([]stats.Column, 3)
	cols[1].Timeouts = 1
	g := NewGrid(3, 4)
	Worst(g.All(), cols, axisOver(1e6, 1e9), Limits{}, Blocks)
	if g.At(1, 0).Rune != '×' {
		t.Errorf("no × over the column: %q", text(g, 0))
	}
	g = NewGrid(3, 4)
	Dots(g.All(), []stats.Dot{{At: 15e8, TTFT: 5e9, Timeout: true}}, Span{Width: 1e9, N: 3}, axisOver(1e8, 1e9), 0)
	if g.At(1, 0).Rune != '×' || g.At(1, 3).Rune != '┊' {
		t.Errorf("a timed-out request: top %q, below %q", text(g, 0), text(g, 3))
	}
}

func TestOursIsHollow(t *testing.T) {
	cols := make([]stats.Column, 1)
	cols[0].Gap.Add(15e6)
	cols[0].Ours.Add(900e6)
	g := NewGrid(1, 5)
	Worst(g.All(), cols, axisOver(10e6, 1e9), Limits{Bad: 50e6}, Blocks)
	if g.At(0, 0).Rune != '□' || g.At(0, 0).Role != Ours {
		t.Errorf("a gap of our own is drawn as %q", g.At(0, 0).Rune)
	}
}

func TestTheAxisWidensAtOnceAndNarrowsLate(t *testing.T) {
	a := axisOver(14e6, 30e6)
	if a.Hi != 1e8 || a.Lo != 5e6 {
		t.Fatalf("axis for 14 to 30 ms: %g to %g", a.Lo, a.Hi)
	}
	a = a.Fit(14e6, 800e6, 1e9)
	if a.Hi != 1e9 {
		t.Fatalf("a spike of 800 ms is above the axis' top %g", a.Hi)
	}
	if b := a.Fit(14e6, 30e6, 15e9); b.Hi != 1e9 {
		t.Fatalf("the top left after 14 s: %g", b.Hi)
	}
	if b := a.Fit(14e6, 30e6, 22e9); b.Hi != 1e8 {
		t.Fatalf("the top stays after 21 s without need: %g", b.Hi)
	}
}

func TestAxesStandAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, l := Log{}, Linear{}
		for range rapid.IntRange(1, 20).Draw(t, "fits") {
			v := rapid.Float64().Draw(t, "v")
			w := rapid.Float64().Draw(t, "w")
			at := rapid.Int64Range(-1e12, 1e12).Draw(t, "at")
			if rapid.Bool().Draw(t, "odd") {
				v = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1}).Draw(t, "x")
			}
			a, l = a.Fit(min(v, w), max(v, w), at), l.Fit(v, at)
			for _, x := range []float64{v, w, math.NaN(), math.Inf(1), math.Inf(-1), 0} {
				if p := a.Pos(x); !(p >= 0 && p <= 1) {
					t.Fatalf("place of %g on %+v: %g", x, a, p)
				}
			}
			if a.Known() && a.Hi < a.Lo*9.99 {
				t.Fatalf("less than a decade: %+v", a)
			}
			if math.IsNaN(l.Hi) || math.IsInf(l.Hi, 0) {
				t.Fatalf("linear axis %+v", l)
			}
			a.Labels(rapid.IntRange(0, 20).Draw(t, "rows"))
		}
	})
}

func TestLabelsAreTheirRows(t *testing.T) {
	a := axisOver(8e6, 1e9)
	labels := a.Labels(6)
	want := map[string]float64{"5": 5e6, "10": 10e6, "20": 20e6, "50": 50e6, "100": 100e6, "200": 200e6, "500": 500e6}
	seen := 0
	for y, l := range labels {
		if v, ok := want[l]; ok {
			seen++
			if r := a.Row(v*1.001, 6); r != y {
				t.Errorf("label %s is in row %d, its value in %d", l, y, r)
			}
		}
	}
	if seen < 3 {
		t.Errorf("too few labels: %q", labels)
	}
}

func TestCurveIsMonotone(t *testing.T) {
	f := stats.Figure{N: 20000, Max: 900e6}
	for i, v := range []int64{13e6, 19e6, 30e6, 61e6, 410e6, 790e6} {
		f.Q[i] = stats.Quantile{Value: v, Mark: stats.MarkOK}
	}
	pts := Curve(&f)
	if len(pts) != 7 || pts[6].Value != 900e6 {
		t.Fatalf("points %v", pts)
	}
	last := 0.0
	for x := range 60 {
		v, ok := valueAt(pts, ninesAt(x, 60))
		if !ok || v < last {
			t.Fatalf("column %d: %g after %g (%v)", x, v, last, ok)
		}
		last = v
	}
	f.Q[5].Mark = stats.MarkNone
	f.N = 2000
	if pts := Curve(&f); pts[len(pts)-1].Nines > 3.4 {
		t.Errorf("a curve of 2000 samples goes to %g nines", pts[len(pts)-1].Nines)
	}
}

func TestCadence(t *testing.T) {
	cells := []stats.Cell{
		{Gap: 200e6, K: 1}, {Gap: 14e6, K: 1}, {Gap: 812e6, K: 1, Stall: true}, {Gap: 14e6, K: 3},
		{Gap: 600e6, K: 1, Stall: true, Merged: true}, {Gap: 0, K: 1, Burst: true},
	}
	g := NewGrid(20, 1)
	end := Cadence(g.All(), cells, 0, 14e6, true)
	if got := strings.TrimRight(text(g, 0), " "); got != "›▃‖812ms‖▃□▁" {
		t.Errorf("strip %q", got)
	}
	if end != 12 || CadenceNext(cells, 0, 20) != len(cells) {
		t.Errorf("it ends at %d", end)
	}
	if g.At(9, 0).Role&Underline == 0 || g.At(1, 0).Role&Underline != 0 {
		t.Error("the event of three tokens is not the underlined one")
	}
	if n := CadenceNext(cells, 0, 8); n != 2 {
		t.Errorf("in 8 columns the first that does not fit is %d, not the stall", n)
	}
}

func TestLaneShowsTheMostImportant(t *testing.T) {
	span := Span{Width: 1e9, N: 4}
	g := NewGrid(4, 1)
	Lane(g.All(), []stats.LaneEvent{
		{At: 5e8, Kind: stats.LaneMark, Letter: 'B'}, {At: 6e8, Kind: stats.LaneHostStall},
		{At: 15e8, Kind: stats.LaneError, Target: 1}, {At: 25e8, Kind: stats.LaneError, Target: 2},
		{At: 35e8, Kind: stats.LaneDown, Target: 1}, {At: 99e9, Kind: stats.LaneMark, Letter: 'Z'},
	}, span, 1)
	if got := text(g, 0); got != "B× ↓" {
		t.Errorf("lane %q", got)
	}
}

func TestNoSizeBreaksAChart(t *testing.T) {
	series := stats.NewSeries(int64(10 * time.Minute))
	for at := int64(0); at < 60e9; at += 37e7 {
		c := series.At(at)
		c.Gap.Add(at%900e6 + 1)
		c.TTFT.Add(at%5e9 + 1)
		c.Heat[int(at/37e7)%len(c.Heat)]++
		c.Tokens += 7
		c.Over++
		c.Timeouts = uint64(at/37e7) % 2
		c.Ours.Add(3e8)
	}
	f := stats.Figure{N: 100000, Max: 1e9}
	for i := range f.Q {
		f.Q[i] = stats.Quantile{Value: int64(i+1) * 1e7, Mark: stats.MarkOK}
	}
	cells := []stats.Cell{{Gap: 1e7}, {Gap: 9e8, Stall: true}, {Gap: 1e7, K: 2}}
	dots := []stats.Dot{{At: 1e9, TTFT: 1e8, Class: event.OKFull}, {At: 2e9, Timeout: true}}
	lane := []stats.LaneEvent{{At: 3e9, Kind: stats.LaneMark, Letter: 'A'}}
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(0, 400).Draw(t, "w"), rapid.IntRange(0, 120).Draw(t, "h")
		glyphs := Glyphs(rapid.IntRange(0, 2).Draw(t, "glyphs"))
		g := NewGrid(w+2, h+2)
		g.All().Fill('?', Plain)
		in := g.All().Sub(1, 1, w, h)
		n := rapid.IntRange(0, 450).Draw(t, "columns")
		cols := series.Columns(60e9, 1e9, n)
		axis := Log{}
		if rapid.Bool().Draw(t, "known") {
			axis = axisOver(1e6, 1e9)
		}
		axis.Straight = rapid.Bool().Draw(t, "straight")
		plan := HeatPlan{}.Fit(cols, h, 0)
		Worst(in, cols, axis, Limits{}, glyphs)
		Heat(in, cols, plan, 5e7)
		Dots(in, dots, SpanOf(cols, 1e9), axis, 1e7)
		Speeds(in, cols, 1e9, Linear{}.Fit(70, 0), glyphs)
		Over(in, cols)
		Strip(in, cols, axis, 0)
		Nines(in, Curve(&f), Curve(&f), Curve(&f), axis, glyphs)
		Cadence(in, cells, 0, 1e7, false)
		Lane(in, lane, SpanOf(cols, 1e9), 0)
		YAxis(in, axis.Labels(h))
		TimeAxis(in, SpanOf(cols, 1e9), time.Unix(0, 0), int64(h)*7e8)
		for x := range g.W {
			for y := range g.H {
				if (x == 0 || y == 0 || x == w+1 || y == h+1) && g.At(x, y).Rune != '?' {
					t.Fatalf("%dx%d: something is drawn outside, at %d,%d", w, h, x, y)
				}
			}
		}
	})
}
