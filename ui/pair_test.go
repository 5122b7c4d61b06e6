package ui

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

// twins are two targets, the second with longer gaps.
func twins() *stats.Snapshot {
	s := busy()
	w := newWorld(9, 4)
	w.beat = 19e6
	w.target.Info.ID, w.target.Info.URL, w.target.Info.Model = 2, "http://gpu08:8000/v1", "canary-70B"
	w.run(s.Now)
	s.Targets = append(s.Targets, w.snapshot().Targets[0])
	return s
}

func TestGoldenPairs(t *testing.T) {
	s := twins()
	for _, size := range [][2]int{{120, 40}, {200, 50}, {100, 20}, {100, 27}, {99, 30}} {
		for _, look := range goldenLooks {
			if look.name != "dark" && size != [2]int{120, 40} {
				continue
			}
			for _, v := range []view{overview, words} {
				name := "pair-" + strconv.Itoa(size[0]) + "x" + strconv.Itoa(size[1]) + "-" + look.name + "-" + viewNames[v] + ".txt"
				golden(t, name, screenOf(still(s, look.cfg), size[0], size[1], v)+"\n")
			}
		}
	}
}

// tab goes from both to the one and to the other; where both have no room, or
// the view is of one target, from one to the other.
func TestTabGoesFromSideToSide(t *testing.T) {
	m := still(twins(), Config{Theme: "mono"})
	look := func(w, h int, v view) string { return stripSGR(screenOf(m, w, h, v)) }
	shows := func(step, text, first, second string) {
		t.Helper()
		if has := strings.Contains(text, "Llama"); has != (first != "") {
			t.Errorf("%s: the first is shown: %v", step, has)
		}
		if has := strings.Contains(text, "canary"); has != (second != "") {
			t.Errorf("%s: the second is shown: %v", step, has)
		}
		if both := strings.Contains(text, "2 against 1"); both != (first != "" && second != "") {
			t.Errorf("%s: a comparison: %v", step, both)
		}
	}
	for range 2 {
		shows("both", look(140, 40, overview), "y", "y")
		press(m, "tab")
		shows("first", look(140, 40, overview), "y", "")
		press(m, "tab")
		shows("second", look(140, 40, words), "", "y")
		press(m, "tab")
	}
	shows("a tail is of one", look(140, 40, tail), "y", "")
	press(m, "tab")
	shows("of the other", look(140, 40, tail), "", "y")
	press(m, "tab")
	shows("and again", look(80, 24, overview), "y", "")
	press(m, "tab")
	shows("where there is no room", look(80, 24, overview), "", "y")
}

// A second target that is announced later, and a change of size, leave nothing of
// the screen before.
func TestPairsLeaveNothingBehind(t *testing.T) {
	two := twins()
	one := *two
	one.Targets = two.Targets[:1]
	shown := &one
	m := still(shown, Config{Theme: "dark", Glyphs: "block"})
	m.cfg.Snapshot = func() *stats.Snapshot { return shown }
	m.w, m.h, m.view, m.dirty = 130, 36, overview, dirtyAll
	m.View()
	later := *two
	later.Seq++
	shown = &later
	m.pull()
	m.dirty |= dirtyTokens
	m.View()
	if got, want := m.View().Content, screenOf(still(&later, Config{Theme: "dark", Glyphs: "block"}), 130, 36, overview); stripSGR(got) != stripSGR(want) {
		t.Errorf("%s", firstDifference(stripSGR(want), stripSGR(got)))
	}
	press(m, "?")
	if !strings.Contains(stripSGR(m.View().Content), "this help") {
		t.Error("the help is not over both")
	}
	press(m, "esc", "p")
	_ = m.View()
}

// At every size the two halves place everything alike, on axes that they share,
// and drawing a part anew gives what drawing all of it gives.
func TestPairsAtEverySize(t *testing.T) {
	s := twins()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(pairW, 300).Draw(t, "w"), rapid.IntRange(pairH, 100).Draw(t, "h")
		v := rapid.SampledFrom([]view{overview, words}).Draw(t, "view")
		m := still(s, Config{Theme: "mono", Glyphs: "block"})
		m.do = func(event.Control) {}
		all := screenOf(m, w, h, v)
		if !m.pair.on {
			t.Fatal("not both are shown")
		}
		a, b := &m.pair.halves[0].plan, &m.pair.halves[1].plan
		if a.heat.Min.Y != b.heat.Min.Y || a.gap.Dy() != b.gap.Dy() || len(a.panes) != len(b.panes) || a.keys.Min.Y != b.keys.Min.Y {
			t.Fatalf("%dx%d: the halves differ", w, h)
		}
		m.dirty = rapid.SampledFrom([]uint8{dirtyNumbers, dirtyCharts, dirtyTokens, dirtyNumbers | dirtyTokens}).Draw(t, "dirty")
		if again := m.View().Content; again != all {
			t.Fatalf("%dx%d: drawn in part it differs: %s", w, h, firstDifference(all, again))
		}
	})
}

func TestAgainstCell(t *testing.T) {
	q := func(v int64) *stats.Quantile {
		return &stats.Quantile{Value: v * 1e5, Lo: v*1e5 - 1e4, Hi: v*1e5 + 1e4, Mark: stats.MarkOK}
	}
	none, vague := &stats.Quantile{}, &stats.Quantile{Value: 12e6, Lo: 1e6, Hi: 90e6, Mark: stats.MarkApprox}
	figure := func(q *stats.Quantile) *stats.Figure {
		f := &stats.Figure{N: 1000}
		f.Q[stats.P50] = *q
		return f
	}
	for _, c := range []struct {
		a, b *stats.Quantile
		text string
		role chart.Role
	}{
		{q(100), q(110), "10.0→11.0 +10%▲", chart.Bad},
		{q(110), q(100), "11.0→10.0 -9.1%▼", chart.Good},
		{q(100), q(310), "10.0→31.0 ×3.1▲", chart.Bad},
		{q(100), q(100), "10.0→10.0 +0%≈", chart.Dim},
		{q(100), vague, "10.0→12.0 +20%≈", chart.Dim},
		{q(100), none, "10.0→–", chart.Dim},
		{none, none, "–", chart.Dim},
	} {
		if text, role := againstCell(figure(c.a), figure(c.b), stats.P50); text != c.text || role != c.role {
			t.Errorf("%q %v, want %q %v", text, role, c.text, c.role)
		}
	}
}
