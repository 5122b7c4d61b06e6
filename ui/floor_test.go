package ui

import (
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/chart"
)

func TestFloorWord(t *testing.T) {
	for _, c := range []struct {
		name string
		fl   stats.Floor
		want string
		role chart.Role
	}{
		{"nothing yet", stats.Floor{}, "", chart.Dim},
		{"all is well", stats.Floor{Word: "ok", Source: "kernel"}, "exact", chart.Good},
		{"some streams are stamped by the read", stats.Floor{Word: "ok", Source: "kernel", ReadStreams: 1}, "client ok", chart.Good},
		{"no kernel stamps", stats.Floor{Word: "ok", Source: "read"}, "client ok", chart.Good},
		{"late", stats.Floor{Word: "late", Source: "kernel"}, "client late", chart.Warn},
	} {
		if text, role := floorWord(&c.fl); text != c.want || role != c.role {
			t.Errorf("%s: %q, %v", c.name, text, role)
		}
	}
}

// The rows are as many as the layout keeps room for, and say what is wrong.
func TestFloorRows(t *testing.T) {
	s := busy()
	m := still(s, Config{Theme: "mono"})
	find := func(name string) floorRow {
		t.Helper()
		rows := floorRows(m.frameFor())
		if len(rows) != floorCount {
			t.Fatalf("%d rows, and room for %d", len(rows), floorCount)
		}
		for _, r := range rows {
			if r.name == name {
				return r
			}
		}
		t.Fatalf("no row %q", name)
		return floorRow{}
	}
	m.w, m.h = 120, 40
	f := &s.Targets[0].Windows[m.window]
	if r := find("gap"); !strings.HasPrefix(r.text, "the server's: p50") || r.role != chart.Good {
		t.Errorf("%+v", r)
	}
	f.Gap.Q[stats.P50].Ours, f.Gap.Q[stats.P90].Ours = true, true
	if r := find("gap"); !strings.Contains(r.text, "□ p50 p90 hold") || !strings.Contains(r.text, "the server's: p95") || r.role != chart.Ours {
		t.Errorf("%+v", r)
	}
	f.Tardy, f.Excluded = 12, 7
	f.Gap.N = 93
	if r := find("late gaps"); !strings.Contains(r.text, "n 100 with them, 93 without") {
		t.Errorf("%+v", r)
	}
	f.Transport = stats.Apart{Count: 3, Total: 75e6, Longest: 26e6}
	if r := find("transport"); !strings.Contains(r.text, "3 stops") || !strings.Contains(r.text, "longest 26") {
		t.Errorf("%+v", r)
	}
	s.Floor.DroppedEvents, s.Floor.Suspensions, s.Floor.Suspended = 4, 1, 12e9
	if r := find("dropped"); r.role != chart.Warn || !strings.HasPrefix(r.text, "4 events") {
		t.Errorf("%+v", r)
	}
	if r := find("time"); r.role != chart.Warn || !strings.Contains(r.text, "12") {
		t.Errorf("%+v", r)
	}
	if r := find("server says"); r.text != "nothing of its own times" {
		t.Errorf("%+v", r)
	}
	f.Served = stats.Served{Prefill: stats.Span{N: 3, P50: 90e6}, RestFirst: stats.Span{N: 3, P50: 2e6}}
	if r := find("server says"); !strings.Contains(r.text, "prefill 90") || !strings.Contains(r.text, "rest of ttft 2") || strings.Contains(r.text, "queue") {
		t.Errorf("%+v", r)
	}
	s.Floor.LagN, s.Floor.LagP99, s.Floor.Lag = 40, 2e6, 9e6
	if r := find("schedule lag"); r.role != chart.Warn || !strings.Contains(r.text, "p99 2") {
		t.Errorf("%+v", r)
	}
}
