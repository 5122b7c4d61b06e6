package ui

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"teapot/stats"
	"teapot/ui/chart"
)

// states are what a person can have brought a screen to, beside its view.
var states = []struct {
	name  string
	bring func(m *model)
}{
	{"as it starts", func(*model) {}},
	{"help", func(m *model) { m.help = true }},
	{"compared", func(m *model) { m.keepBaseline() }},
	{"cursor", func(m *model) { m.put(93e9) }},
	{"spike", func(m *model) { press(m, "n") }},
	{"a filter that is typed", func(m *model) { press(m, "/"); typed(m, "gap>500 x") }},
	{"one request", func(m *model) {
		tr := m.shown().Traces.Finished
		m.openRequest(tr[len(tr)-1].ID)
	}},
}

// fits checks that a screen has the rows it should and that none is too wide.
func fits(t *testing.T, out string, w, h int) {
	t.Helper()
	lines := strings.Split(out, "\n")
	if len(lines) != h {
		t.Fatalf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if n := ansi.StringWidthWc(l); n > w-1 && w > 1 {
			t.Fatalf("%dx%d: line %d is %d wide: %q", w, h, i, n, l)
		}
	}
}

// Every view in every state, at every width up to 400 and at every height up to
// 120: nothing overflows and nothing panics.
func TestEveryWidthAndHeight(t *testing.T) {
	s, step := changed(), len(states)
	if testing.Short() { // every fourth size is enough for the race detector
		step *= 4
	}
	for _, v := range []view{overview, tail, words, requests, client} {
		for i, state := range states {
			m := still(s, Config{Theme: "mono"})
			screenOf(m, 120, 40, v)
			state.bring(m)
			// Each state takes its turn of the sizes, and each size is had by some state.
			for w := 1 + i; w <= 400; w += step {
				h := 1 + (w*7+int(v))%60
				fits(t, screenOf(m, w, h, v), w, h)
			}
			for h := 1 + i; h <= 120; h += step {
				w := 20 + (h*37+int(v)*11)%230
				fits(t, screenOf(m, w, h, v), w, h)
			}
		}
	}
}

// One gap of a second in ten minutes stands on the screen at every zoom and at
// every place in a column, as high as at the finest.
func TestASpikeStandsOnTheScreenAtEveryZoom(t *testing.T) {
	w := newWorld(1, 1)
	w.beat = 500e6 // the rest of it does not matter
	w.run(700e9)
	s := w.snapshot()
	for zoom, secs := range zooms {
		for _, ago := range []int64{1, 7, 29, 60, 119, 300, 599} {
			series := stats.NewSeries(1000e9)
			at := s.Now/1e9*1e9 - ago*1e9
			for sec := s.Now/1e9 - 690; sec <= s.Now/1e9; sec++ {
				c := series.At(sec * 1e9)
				c.Gap.Add(14e6)
				if sec == at/1e9 {
					c.Gap.Add(1e9)
				}
			}
			s.Targets[0].Series = series
			m := still(s, Config{Theme: "mono", Glyphs: "block"})
			m.zoom = zoom
			screenOf(m, 200, 50, overview)
			fr := m.frameFor()
			x, ok := fr.span.Column(at)
			if inside := ago < int64(m.plan.plotW)*secs-secs; !ok {
				if inside {
					t.Errorf("zoom %d s: %d s ago is not on the screen", secs, ago)
				}
				continue
			}
			a := below(m.grid.Area(m.plan.gap))
			top, col := a.H(), chartGutter+x+a.W()-chartGutter-fr.span.N
			for y := a.H() - 1; y >= 0; y-- {
				if r := a.Cell(col, y).Rune; r >= '▁' && r <= '█' {
					top = y
				}
			}
			if want := fr.axes.gap.Row(1e9, a.H()); top > want {
				t.Errorf("zoom %d s, %d s ago: the spike ends in row %d of %d, not in row %d", secs, ago, top, a.H(), want)
			}
		}
	}
}

// spoil sets every number of a kind below v to a value.
func spoil(v reflect.Value, f float64, n int64) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*stats.Series]() {
			spoil(v.Elem(), f, n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				spoil(v.Field(i), f, n)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i), f, n)
		}
	case reflect.Float64:
		v.SetFloat(f)
	case reflect.Int64:
		if n != 0 {
			v.SetInt(n)
		}
	}
}

// Whatever the figures hold, the screen shows no NaN and no infinity, and lives.
func TestNoFigureSpoilsTheScreen(t *testing.T) {
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.MaxFloat64}
	if testing.Short() {
		values = values[:2]
	}
	for _, f := range values {
		for _, n := range []int64{0, -1, math.MinInt64 / 4, math.MaxInt64 / 4} {
			s := changed()
			now := s.Now
			for _, t := range s.Targets {
				for i := range t.Windows {
					spoil(reflect.ValueOf(&t.Windows[i]).Elem(), f, n)
				}
				spoil(reflect.ValueOf(&t.Session).Elem(), f, n)
				spoil(reflect.ValueOf(t.Marked).Elem(), f, 0)
				for i := range t.Streams {
					spoil(reflect.ValueOf(&t.Streams[i]).Elem(), f, n)
				}
				for i := range t.Worst {
					spoil(reflect.ValueOf(&t.Worst[i]).Elem(), f, n)
				}
				for i := range t.Dots {
					spoil(reflect.ValueOf(&t.Dots[i]).Elem(), f, n)
				}
				for i := range t.Recent {
					spoil(reflect.ValueOf(&t.Recent[i]).Elem(), f, n)
				}
			}
			spoil(reflect.ValueOf(&s.Floor).Elem(), f, n)
			spoil(reflect.ValueOf(&s.Load).Elem(), f, n)
			s.Now = now
			m := still(s, Config{Theme: "mono"})
			for _, v := range []view{overview, tail, words, requests, client} {
				for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {60, 15}, {40, 8}, {30, 2}} {
					out := screenOf(m, size[0], size[1], v)
					fits(t, out, size[0], size[1])
					for _, bad := range []string{"NaN", "Inf", "inf", "nan ", "e+", "-0x"} {
						if bad == "e+" && (n != 0 || f > 1e300) { // no service level is a century long
							continue
						}
						if i := strings.Index(out, bad); i >= 0 && !strings.Contains(out[max(i-3, 0):i+6], "interf") && !strings.Contains(out[max(i-12, 0):i+12], "pause") {
							t.Fatalf("%v and %d, view %d: %q stands on the screen: %q", f, n, v, bad, out[max(i-30, 0):min(i+30, len(out))])
						}
					}
				}
			}
		}
	}
	// The drawings themselves, too.
	g := chart.NewGrid(40, 10)
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		chart.Bars(g.All(), []chart.Bar1{{Height: f}, {Height: 0.5}, {Height: f}}, chart.Blocks)
	}
}
