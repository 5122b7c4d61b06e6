//go:build unix

package ui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"teapot/stats"
	"teapot/ui/chart"
)

// While nothing is resized the screen is never cleared, and what is written
// comes in whole frames.
func TestTheSteadyScreenIsNeverCleared(t *testing.T) {
	s := startSession(t, "live", 120, 40)
	go s.read()
	s.await("LIVE")
	s.await("\x1b[?2026l")
	before := len(s.output())
	time.Sleep(3 * time.Second)
	steady := s.output()[before:]
	s.keys("qq")
	s.end()
	for _, clear := range []string{"\x1b[2J", "\x1b[3J", "\x1bc"} {
		if strings.Contains(steady, clear) {
			t.Errorf("%q is written while nothing is resized", clear)
		}
	}
	all := s.output()
	if on, off := strings.Count(all, "\x1b[?2026h"), strings.Count(all, "\x1b[?2026l"); on < 2 || on > off {
		t.Errorf("synchronized output begins %d times and ends %d times", on, off)
	}
	s.whole()
}

// A storm of sizes, while data comes, leaves a screen as if it had always had
// the last one: nothing stale, nothing lost, and history independent of width.
func TestAStormOfSizesLeavesNothingStale(t *testing.T) {
	w := newWorld(5, 4)
	w.run(120e9)
	snap := w.snapshot()
	m := still(snap, Config{Theme: "dark"})
	m.cfg.Snapshot = func() *stats.Snapshot { return snap }
	rng := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		w.run(w.now + 150e6)
		snap = w.snapshot()
		m.w, m.h = 1+rng.IntN(300), 1+rng.IntN(120)
		m.view = []view{overview, tail, words, requests, client}[rng.IntN(5)]
		m.dirty = dirtyAll
		m.Update(frameMsg(m.tick))
		lines := strings.Split(m.View().Content, "\n")
		if len(lines) > m.h {
			t.Fatalf("%d lines at %dx%d", len(lines), m.w, m.h)
		}
		for _, line := range lines {
			if n := chart.Width(stripSGR(line)); n > m.w {
				t.Fatalf("a line of %d columns at %dx%d: %q", n, m.w, m.h, line)
			}
		}
	}
	stormy := screenOf(m, 120, 40, overview)
	fresh := still(snap, Config{Theme: "dark"})
	fresh.axes = m.axes // the hysteresis of the axes is the session's, not the size's
	if calm := screenOf(fresh, 120, 40, overview); calm != stormy {
		t.Errorf("the screen after the storm differs\n%s", firstDifference(calm, stormy))
	}
}

// stripSGR takes the colours out of a line.
func stripSGR(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
