package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

// rowsOf are the rows of a screen that begin with a name.
func rowsOf(out, name string) (rows []string) {
	for _, l := range strings.Split(out, "\n") {
		if i := strings.Index(l, name+" "); i == 0 || i > 0 && strings.HasSuffix(l[:i], "│") {
			rows = append(rows, l[i:])
		}
	}
	return rows
}

func TestAMarkComparesEveryFigure(t *testing.T) {
	m := still(changed(), Config{Theme: "mono"})
	for _, c := range []struct{ w, h, rows int }{{80, 24, 4}, {120, 40, 4}, {200, 50, 5}} {
		out := stripSGR(screenOf(m, c.w, c.h, overview))
		rows := rowsOf(out, "·vs A")
		if len(rows) != c.rows {
			t.Fatalf("%dx%d: %d rows of changes:\n%s", c.w, c.h, len(rows), out)
		}
		if !strings.Contains(rows[1], "▲") || strings.Contains(rows[1], "▼") {
			t.Errorf("%dx%d: gaps a third longer read %q", c.w, c.h, rows[1])
		}
		if !strings.Contains(rows[0], "≈") {
			t.Errorf("%dx%d: first tokens as before read %q", c.w, c.h, rows[0])
		}
		if !strings.Contains(out, "vs A 40s, n ") && c.w > 80 {
			t.Errorf("%dx%d: the title does not say what is compared:\n%s", c.w, c.h, out)
		}
	}
	// Too low for rows of changes, the sign stands with P99.
	if out := stripSGR(screenOf(m, 40, 8, overview)); !strings.Contains(out, "▲") || strings.Contains(out, "·vs") {
		t.Errorf("40x8:\n%s", out)
	}
	if out := stripSGR(screenOf(m, 120, 40, tail)); !strings.Contains(out, "─ since  ┄ session  • before") || len(rowsOf(out, "before")) == 0 {
		t.Errorf("the curves do not say what is compared:\n%s", out)
	}
	press(m, "B")
	if out := stripSGR(screenOf(m, 120, 40, overview)); strings.Contains(out, "vs A") {
		t.Error("B does not end it")
	}
}

func TestABaseline(t *testing.T) {
	w := newWorld(3, 4)
	w.run(100e9)
	snap := w.snapshot()
	var did []string
	m := still(snap, Config{Theme: "mono", Control: func(event.Control) {}})
	m.do = func(c event.Control) { did = append(did, c.Do) }
	m.cfg.Snapshot = func() *stats.Snapshot { return snap }
	press(m, "b")
	if len(did) != 0 {
		t.Errorf("b asks the probe for %v", did)
	}
	rows := rowsOf(stripSGR(screenOf(m, 120, 40, overview)), "·base")
	if len(rows) != 4 || strings.ContainsAny(rows[1], "▲▼") || !strings.Contains(rows[1], "+0≈") {
		t.Fatalf("against itself: %q", rows)
	}
	w.beat *= 1.5
	w.run(180e9)
	snap = w.snapshot()
	m.pull()
	rows = rowsOf(stripSGR(screenOf(m, 120, 40, overview)), "·base")
	if !strings.Contains(rows[1], "▲") {
		t.Errorf("a slower server reads %q", rows[1])
	}
	// A mark after the baseline says when something was changed.
	w.change(1 / 3.0)
	w.run(200e9)
	snap = w.snapshot()
	m.pull()
	c := m.comparison(m.shown())
	if c == nil || !c.sent || c.name != "base" || c.after != &m.shown().Marked.After {
		t.Fatalf("comparison %+v", c)
	}
	rows = rowsOf(stripSGR(screenOf(m, 120, 40, overview)), "·base")
	if !strings.Contains(rows[1], "▼") {
		t.Errorf("a faster server reads %q", rows[1])
	}
	press(m, "B")
	if m.comparison(m.shown()) != nil {
		t.Error("B leaves a comparison")
	}
}

// Before there is anything to compare with, there is no comparison.
func TestNothingToCompareWith(t *testing.T) {
	s := busy()
	s.Targets[0].Marked = &stats.Marked{At: 1, Letter: 'A'}
	m := still(s, Config{})
	if m.comparison(m.shown()) != nil {
		t.Error("a mark before the first sample compares with nothing")
	}
	back := changed()
	back.Targets[0].Marked.Letter = 0
	m = still(back, Config{})
	if c := m.comparison(m.shown()); c == nil || c.name != "vs ↑" {
		t.Errorf("a target that came back: %+v", c)
	}
	m = still(empty(), Config{})
	press(m, "b", "B")
	screenOf(m, 80, 24, overview)
}

func TestDeltas(t *testing.T) {
	q := func(v int64) stats.Quantile {
		return stats.Quantile{Value: v, Lo: v - v/100, Hi: v + v/100, Mark: stats.MarkOK}
	}
	a, b, none := q(50e6), q(59_100_000), stats.Quantile{}
	for _, c := range []struct {
		from, to *stats.Quantile
		want     string
		role     chart.Role
	}{
		{&a, &b, "+9.10▲", chart.Bad}, {&b, &a, "-9.10▼", chart.Good}, {&a, &a, "+0≈", chart.Dim}, {&none, &a, "–", chart.Dim},
	} {
		if s, role := delta(c.from, c.to, 6); s != c.want || role != c.role {
			t.Errorf("%q in role %d, want %q", s, role, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Int64Range(0, int64(3600e9))
		from, to := q(span.Draw(t, "from")), q(span.Draw(t, "to"))
		w := rapid.IntRange(6, 9).Draw(t, "w")
		if s, _ := delta(&from, &to, w); chart.Width(s) > w || !strings.ContainsAny(s, "▲▼≈") {
			t.Fatalf("%q does not fit into %d columns", s, w)
		}
	})
}
