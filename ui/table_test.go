package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

func TestColumnsGoInTheirOrder(t *testing.T) {
	heads := func(w int) string {
		var out []string
		for _, c := range columnsFor(w, 6, true) {
			out = append(out, c.head)
		}
		return strings.Join(out, " ")
	}
	for w, want := range map[int]string{
		61: "now p50 p90 p99 p99.9 p99.99 max n", 54: "now p50 p90 p99 p99.9 p99.99 max n",
		53: "p50 p90 p99 p99.9 p99.99 max n", 47: "p50 p99 p99.9 p99.99 max n",
		41: "p50 p99 p99.9 max n", 35: "p50 p99 max n", 30: "p50 p99 max n", 20: "p50 p99 max n",
	} {
		if got := heads(w); got != want {
			t.Errorf("%d columns: %s", w, got)
		}
	}
}

func TestQuantileCells(t *testing.T) {
	cases := []struct {
		name string
		q    stats.Quantile
		w    int
		want string
	}{
		{"no such percentile", stats.Quantile{Value: 5e6}, 6, "–"},
		{"few samples", stats.Quantile{Value: 790e6, Mark: stats.MarkApprox}, 6, "790~"},
		{"sound", stats.Quantile{Value: 14_800_000, Mark: stats.MarkOK}, 6, "14.8"},
		{"among the timeouts", stats.Quantile{Value: 30e9, Mark: stats.MarkOK, Censored: true}, 6, ">30000"},
		{"the same, narrow", stats.Quantile{Value: 30e9, Mark: stats.MarkApprox, Censored: true}, 5, ">30s~"},
		{"below a millisecond", stats.Quantile{Value: 508e3, Mark: stats.MarkApprox}, 5, "0.51~"},
		{"far below", stats.Quantile{Value: 42e3, Mark: stats.MarkApprox}, 5, "42us~"},
		{"a bound is not rounded up", stats.Quantile{Value: 119e9, Mark: stats.MarkApprox, Censored: true}, 5, ">1m~"},
		{"long", stats.Quantile{Value: 12_345e6, Mark: stats.MarkApprox}, 5, "12s~"},
	}
	for _, c := range cases {
		got, _ := quantile(&c.q, false, c.w)
		if got != c.want || chart.Width(got) > c.w {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNoCellTouchesItsNeighbour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Custom(func(t *rapid.T) int64 { // 1 µs to 10 h, each decade as likely
			top := rapid.SampledFrom([]int64{1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 36e12}).Draw(t, "decade")
			return rapid.Int64Range(max(top/10, 1e3), top).Draw(t, "ns")
		})
		figure := func() stats.Figure {
			f := stats.Figure{
				N: rapid.Uint64().Draw(t, "n"), Max: ns.Draw(t, "max"),
				Censored: rapid.Uint64Range(0, 1).Draw(t, "timeouts"),
			}
			for i := range f.Q {
				f.Q[i] = stats.Quantile{
					Value: ns.Draw(t, "q"), Censored: rapid.Bool().Draw(t, "censored"),
					Mark: rapid.SampledFrom([]stats.Mark{stats.MarkNone, stats.MarkApprox, stats.MarkOK}).Draw(t, "mark"),
				}
			}
			return f
		}
		tg := &stats.Target{}
		var win stats.Figures
		for _, f := range []*stats.Figures{&win, &tg.Session} {
			f.TTFT, f.Gap, f.ITL, f.TPOT, f.E2E = figure(), figure(), figure(), figure(), figure()
		}
		tg.Dots = []stats.Dot{{TTFT: ns.Draw(t, "now")}}
		w, wide := rapid.IntRange(leastW-1, 120).Draw(t, "w"), rapid.Bool().Draw(t, "wide")
		if wide {
			w = rapid.SampledFrom([]int{sideW, sideW + 6}).Draw(t, "side")
		}
		g := chart.NewGrid(w, 12)
		drawTable(g.All(), &frame{s: &stats.Snapshot{}, t: tg, f: &win}, wide)
		x, sess := 6, 0
		if wide {
			x = 8
		} else if w >= 70 {
			sess = 12
			if r := g.At(w-10, 1).Rune; r != 0 {
				t.Fatalf("%d columns: %q touches the line before the session", w, r)
			}
		}
		for _, c := range columnsFor(w-sess, x, !wide) {
			for y := 0; y < map[bool]int{true: 11, false: 5}[wide]; y++ {
				if r := g.At(x, y).Rune; r != 0 && r != ' ' {
					t.Fatalf("%d columns: row %d of %s begins with %q in column %d", w, y, c.head, r, x)
				}
			}
			x += c.w
		}
	})
}

func TestWarmUpIsNoNewestSample(t *testing.T) {
	cells := func(gap int64) []stats.Cell { return []stats.Cell{{At: 1}, {At: 2 + gap, Gap: gap}} }
	tg := &stats.Target{
		Dots:    []stats.Dot{{TTFT: 7}, {TTFT: 9, Warmup: true}},
		Streams: []stats.Stream{{Cells: cells(7)}, {Cells: cells(9), Warmup: true}},
		Recent:  []stats.Request{{Class: event.OKFull, TPOT: 7, E2E: 7}, {Class: event.OKFull, TPOT: 9, E2E: 9, Warmup: true}},
	}
	fr := &frame{t: tg}
	tpot, e2e := fr.lastRequest()
	for name, got := range map[string]int64{"ttft": fr.lastTTFT(), "gap": fr.lastGap(), "tpot": tpot, "e2e": e2e} {
		if got != 7 {
			t.Errorf("%s shows %d of the warm-up, want 7", name, got)
		}
	}
}

func TestEmptyFiguresShowNoNumbers(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
		out := screenOf(still(empty(), Config{Theme: "mono"}), size[0], size[1], overview)
		for _, bad := range []string{"NaN", "Inf", "-1", "now 0"} {
			if strings.Contains(out, bad) {
				t.Errorf("%v: an empty screen shows %q", size, bad)
			}
		}
		if !strings.Contains(out, "–") || !strings.Contains(out, "CONNECTING") {
			t.Errorf("%v: an empty screen shows\n%s", size, out)
		}
	}
}

func TestSLOText(t *testing.T) {
	cases := []struct {
		name string
		r    stats.SLOResult
		want string
	}{
		{"all met", stats.SLOResult{Expr: "ttft<=500ms:95%", N: 83, Met: 83, Attained: 1, OK: true, Goal: .95}, "ttft≤500ms 83/83 ok"},
		{"met", stats.SLOResult{Expr: "gap<=50ms:99%", N: 1000, Met: 995, Attained: .995, OK: true, Goal: .99}, "gap≤50ms 99.5% ok"},
		{"missed", stats.SLOResult{Expr: "gap<=50ms:99%", N: 1000, Met: 986, Attained: .986, Goal: .99, For: 14e9}, "gap≤50ms 98.6% ✗ goal 99% for 14s"},
		{"no data", stats.SLOResult{Expr: "gap<=50ms:99%", NoData: true, Goal: .99}, "gap≤50ms –"},
	}
	for _, c := range cases {
		if got, _ := sloText(&c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
