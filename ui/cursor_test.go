package ui

import (
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/format"
)

// bottom is the text of the last row.
func bottom(m *model, w, h int, v view) string {
	lines := strings.Split(stripSGR(screenOf(m, w, h, v)), "\n")
	return lines[len(lines)-1]
}

func TestTheCursorReadsOutItsColumn(t *testing.T) {
	s := busy()
	m := still(s, Config{Theme: "mono"})
	screenOf(m, 120, 40, tail)
	press(m, "left")
	if !m.cursor.on || m.cursor.at != 99e9 {
		t.Fatalf("the first arrow puts the cursor to %d", m.cursor.at)
	}
	press(m, "left", "shift+left", "right")
	if m.cursor.at != 89e9 {
		t.Errorf("the cursor is at %d", m.cursor.at)
	}
	col := s.Targets[0].Series.Columns(89e9, 1e9, 1)[0]
	text := bottom(m, 120, 40, tail)
	for _, want := range []string{"12:01:29", "-11s", "gap max " + format.Dur(col.Gap.Max), "tok/s"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	// The lane's words, and a spike of the column.
	m.put(60e9)
	if text = bottom(m, 120, 40, tail); !strings.Contains(text, "A mark") {
		t.Errorf("no mark in %q", text)
	}
	press(m, "end")
	if m.cursor.on || !strings.HasPrefix(bottom(m, 120, 40, tail), "? help") {
		t.Error("end does not lead back to the present")
	}
}

func TestTheCursorGoesBeyondTheLeftEdge(t *testing.T) {
	m := still(busy(), Config{Theme: "mono"})
	screenOf(m, 80, 24, overview)
	n := int64(m.plan.plotW)
	press(m, "home")
	first := m.cursor.at / 1e9
	if first != 100-n || m.cursor.end != 0 {
		t.Fatalf("home is column %d of %d, the charts end at %d", first, n, m.cursor.end)
	}
	press(m, "left")
	if m.cursor.at/1e9 != first-1 || m.cursor.end == 0 {
		t.Fatalf("beyond the edge: %+v", m.cursor)
	}
	out := stripSGR(screenOf(m, 80, 24, overview))
	if !strings.Contains(out, " back") || strings.Contains(out, " now\n") {
		t.Errorf("it does not say that the charts are of the past:\n%s", out)
	}
	press(m, "home", "home", "home", "home")
	if m.cursor.at != 0 {
		t.Errorf("the far end is %d", m.cursor.at)
	}
	press(m, "esc")
	if m.cursor.on || m.cursor.end != 0 {
		t.Error("esc leaves the cursor")
	}
}

// Time goes on under a cursor: it keeps its instant, and the charts stop when it
// would leave them.
func TestTheCursorKeepsItsInstant(t *testing.T) {
	w := newWorld(5, 2)
	w.run(100e9)
	snap := w.snapshot()
	m := still(snap, Config{Theme: "mono"})
	m.cfg.Snapshot = func() *stats.Snapshot { return snap }
	screenOf(m, 80, 24, overview)
	m.put(40e9)
	screenOf(m, 80, 24, overview)
	for range 9 {
		w.run(w.now + 10e9)
		snap = w.snapshot()
		m.pull()
		screenOf(m, 80, 24, overview)
		fr := m.frameFor()
		x := fr.cursorColumn()
		if m.cursor.at != 40e9 || x < 0 || fr.cols[x].Start != 40e9 {
			t.Fatalf("at %d s the cursor is in column %d", w.now/1e9, x)
		}
	}
	if m.cursor.end == 0 {
		t.Error("the charts follow the time away from the cursor")
	}
	for range len(zooms) {
		press(m, "-")
		screenOf(m, 80, 24, overview)
		if m.frameFor().cursorColumn() < 0 {
			t.Errorf("zoom %d s loses the cursor", zooms[m.zoom])
		}
	}
}

func TestSpikesOneByOne(t *testing.T) {
	s := busy()
	m := still(s, Config{Theme: "mono"})
	screenOf(m, 200, 40, tail)
	from := (100 - int64(m.plan.plotW)) * 1e9
	want := spikesIn(s.Targets[0], from, 100e9)
	if len(want) < 5 {
		t.Fatalf("only %d spikes on screen", len(want))
	}
	seen := map[spikeKey]bool{}
	for i := range want {
		press(m, "n")
		if m.spike != keyOf(&want[i]) || m.cursor.at != want[i].At {
			t.Fatalf("spike %d is %+v, want %+v", i, m.spike, want[i])
		}
		if i > 0 && want[i].Length > want[i-1].Length {
			t.Errorf("spike %d is longer than the one before", i)
		}
		text := bottom(m, 200, 40, tail)
		if !strings.Contains(text, spikeText(&want[i])) || !strings.Contains(text, struck(&want[i])) {
			t.Errorf("the evidence is not in %q", text)
		}
		seen[m.spike] = true
	}
	press(m, "n", "N", "N")
	if len(seen) != len(want) || m.spike != keyOf(&want[len(want)-2]) {
		t.Errorf("%d of %d spikes, then %+v", len(seen), len(want), m.spike)
	}
	// The list of the worst leads to those that have scrolled off.
	m.live()
	worst := s.Targets[0].Worst
	for i := range worst {
		press(m, "down")
		screenOf(m, 120, 40, tail)
		if m.spike != keyOf(&worst[i]) || m.frameFor().cursorColumn() < 0 {
			t.Fatalf("down %d leads to %+v, in column %d", i, m.spike, m.frameFor().cursorColumn())
		}
	}
	press(m, "enter")
	if m.open != worst[len(worst)-1].Request {
		t.Errorf("enter opens %d", m.open)
	}
	if out := stripSGR(screenOf(m, 120, 40, tail)); !strings.Contains(out, "request #") || !strings.Contains(out, "gap ms by token event") {
		t.Errorf("the request:\n%s", out)
	}
	press(m, "esc")
	if m.open != 0 || m.spike == (spikeKey{}) {
		t.Error("esc leads back to what was chosen")
	}
	m = still(empty(), Config{})
	screenOf(m, 120, 40, tail)
	press(m, "n")
	if !strings.Contains(m.message, "no stall") {
		t.Errorf("without spikes n says %q", m.message)
	}
}

func TestLinearScale(t *testing.T) {
	m := still(busy(), Config{Theme: "mono"})
	if out := screenOf(m, 120, 40, overview); !strings.Contains(out, "(log)") {
		t.Error("the scale is not named")
	}
	press(m, "l")
	if out := screenOf(m, 120, 40, overview); !strings.Contains(out, "worst per 1s (linear)") || !strings.Contains(out, "per request (linear)") {
		t.Error("l changes no scale")
	}
	press(m, "l")
	if out := screenOf(m, 120, 40, overview); strings.Contains(out, "(linear)") {
		t.Error("l does not lead back")
	}
}

// A verdict of ours says so, also where the read itself was not late.
func TestOursIsSaidOfASpike(t *testing.T) {
	s := busy()
	worst := &s.Targets[0].Worst[0]
	worst.Merged, worst.Peers, worst.Of = false, 3, 4
	worst.Why = &stats.Why{Verdict: stats.Ours, Cause: stats.CauseOurs, Evidence: []string{"this client overslept by 0.9 s of the 0.9 s"}, Settled: true}
	if text := struck(worst); !strings.Contains(text, "this client's own stop") {
		t.Errorf("it reads %q", text)
	}
	m := still(s, Config{Theme: "mono"})
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		if out := stripSGR(screenOf(m, size[0], size[1], overview)); !strings.Contains(out, "ours") {
			t.Errorf("%v: it is not called ours in\n%s", size, out)
		}
	}
}

// What was found out about a spike stands with it wherever it is named.
func TestAVerdictStandsWithItsSpike(t *testing.T) {
	s := busy()
	worst := &s.Targets[0].Worst[0]
	worst.Why = &stats.Why{
		Verdict: stats.Likely, Cause: stats.CausePrefill, Evidence: []string{"3 long gaps follow each other\x1b[31m", "4 of the 4 streams stood still"},
	}
	outage := stats.Spike{
		At: 97e9, Length: 3e9, Phase: stats.PhaseOutage,
		Why: &stats.Why{Verdict: stats.Proven, Cause: stats.CauseOutage, Evidence: []string{"it refused connections"}, Settled: true},
	}
	s.Targets[0].Spikes = []stats.Spike{outage}
	m := still(s, Config{Theme: "mono"})
	screenOf(m, 200, 40, tail)
	press(m, "n")
	if text := bottom(m, 200, 40, tail); !strings.Contains(text, "3s outage") || !strings.Contains(text, "proven: outage") || !strings.Contains(text, "it refused connections") {
		t.Errorf("the outage reads %q", text)
	}
	press(m, "enter")
	if m.open != 0 || !strings.Contains(m.message, "no request") {
		t.Errorf("enter on an outage opens %d and says %q", m.open, m.message)
	}
	m.message = ""
	press(m, "n")
	out := stripSGR(screenOf(m, 120, 40, tail))
	for _, want := range []string{"likely: prefill interference (so far)", "         3 long gaps follow each other", "         4 of the 4 streams stood still"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("an escape sequence is on screen")
	}
}
