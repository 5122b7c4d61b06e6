package ui

import (
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

// rects are all panes of a plan.
func (p *plan) rects() []image.Rectangle {
	out := []image.Rectangle{
		p.oneLine, p.title, p.slo, p.table, p.heat, p.gap, p.ttft, p.over, p.speed, p.lane, p.axis, p.split, p.curve,
		p.worst, p.recent, p.health, p.streams, p.talk, p.keys, p.ruler, p.smooth, p.list, p.inspect, p.floor,
	}
	return append(out, p.panes...)
}

func TestPanesStayApart(t *testing.T) {
	for w := 0; w <= 400; w += 3 {
		for h := 0; h <= 120; h++ {
			for _, v := range []view{overview, tail, words, requests, client} {
				p := layout(w, h, v, shape{streams: 1 + (w+h)%9, compared: w%2 == 0, open: (w+h)%5 == 0, strips: (w + 2*h) % 13, told: (w + h) % 17, passive: (w+h)%7 == 0})
				inside := image.Rect(0, 0, max(w-1, 0), h)
				rs := p.rects()
				for i, a := range rs {
					if !a.In(inside) {
						t.Fatalf("%dx%d view %d: pane %d %v leaves the screen", w, h, v, i, a)
					}
					for j, b := range rs[:i] {
						if a.Overlaps(b) {
							t.Fatalf("%dx%d view %d: panes %d %v and %d %v overlap", w, h, v, i, a, j, b)
						}
					}
				}
			}
		}
	}
}

func TestWhatGoesWhenItIsShort(t *testing.T) {
	has := func(p plan) string {
		s := ""
		for _, x := range []struct {
			name string
			r    image.Rectangle
		}{{"title ", p.title}, {"slo ", p.slo}, {"table ", p.table}, {"gap ", p.gap}, {"ttft ", p.ttft}, {"streams ", p.streams}, {"worst ", p.worst}, {"keys", p.keys}} {
			if !x.r.Empty() {
				s += x.name
			}
		}
		return s
	}
	for h, want := range map[int]string{
		24: "title slo table gap ttft streams worst keys", 18: "title slo table gap ttft worst keys",
		15: "title slo table gap worst keys", 12: "title slo table worst keys", 9: "title slo table keys", 8: "title table keys",
	} {
		if got := has(layout(80, h, overview, shape{streams: 4})); got != want {
			t.Errorf("%d rows: %s", h, got)
		}
	}
}

func TestNoSizeOverflows(t *testing.T) {
	snaps := []*stats.Snapshot{busy(), changed(), empty(), twins(), func() *stats.Snapshot { w := newWorld(1, 1); w.noText = true; w.run(9e9); return w.snapshot() }()}
	env := [][]string{{"LANG", "C.UTF-8", "TERM", "xterm"}, {"LC_ALL", "C", "NO_COLOR", "1"}}
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 400).Draw(t, "w"), rapid.IntRange(1, 120).Draw(t, "h")
		e := rapid.IntRange(0, 1).Draw(t, "env")
		m := still(rapid.SampledFrom(snaps).Draw(t, "snapshot"), Config{Env: vars(env[e]...)})
		m.help = rapid.IntRange(0, 9).Draw(t, "help") == 0
		m.zoom = rapid.IntRange(0, len(zooms)-1).Draw(t, "zoom")
		handle(t, m, w, h)
		v := rapid.SampledFrom([]view{overview, tail, words, requests, client}).Draw(t, "view")
		out := screenOf(m, w, h, v)
		lines := strings.Split(out, "\n")
		if len(lines) != h {
			t.Fatalf("%dx%d: %d lines", w, h, len(lines))
		}
		for i, l := range lines {
			if n := ansi.StringWidthWc(l); n > w-1 && w > 1 {
				t.Fatalf("%dx%d view %d: line %d is %d wide: %q", w, h, v, i, n, l)
			}
		}
		if e == 1 {
			for i := range len(out) {
				if out[i] >= 0x80 {
					t.Fatalf("%dx%d: byte %#x at %d with LC_ALL=C", w, h, out[i], i)
				}
			}
		}
	})
}

// handle does to a screen what a person could have done before.
func handle(t *rapid.T, m *model, w, h int) {
	m.straight = rapid.Bool().Draw(t, "linear")
	screenOf(m, w, h, overview)
	if rapid.Bool().Draw(t, "cursor") {
		m.put(rapid.Int64Range(0, 110e9).Draw(t, "at"))
	}
	press(m, rapid.SliceOfN(rapid.SampledFrom([]string{
		"n", "N", "left", "right", "home", "end", "up", "down", "b", "l", "B", "s", "enter", "esc", "pgup", "pgdown",
	}), 0, 4).Draw(t, "keys")...)
	if rapid.IntRange(0, 3).Draw(t, "filter") == 0 {
		press(m, "/")
		typed(m, rapid.SampledFrom([]string{"gap>100", "gap", "status:err", "tok<10 stream:1", "日本 é"}).Draw(t, "text"))
		if rapid.Bool().Draw(t, "enter") {
			press(m, "enter")
		}
	}
	if tr := m.shown().Traces; tr != nil && rapid.IntRange(0, 3).Draw(t, "open") == 0 {
		all := append(slices.Clone(tr.Running), tr.Finished...)
		m.open = rapid.SampledFrom(append(all, stats.Trace{Request: stats.Request{ID: 5}})).Draw(t, "request").ID
	}
}

func TestNoColourMeansNone(t *testing.T) {
	for _, no := range []string{"1", "yes", "0"} {
		out := screenOf(still(busy(), Config{Env: vars("NO_COLOR", no, "TERM", "xterm-256color", "COLORTERM", "truecolor")}), 120, 40, overview)
		if strings.Contains(out, "38;") || strings.Contains(out, "48;") {
			t.Errorf("NO_COLOR=%s: there is colour", no)
		}
	}
}

func TestHostileTextReachesNothing(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202eX\x9b5n\r\n"
	s := busy()
	tg := s.Targets[0]
	tg.Info.Model, tg.Info.URL, tg.Info.Engine, tg.Info.Version = evil, "http://user:secret@h/"+evil+"?key=secret", evil, evil
	tg.Info.State, tg.Info.Detail = event.StateDown, evil
	tg.LastError, tg.LastErrorAt = evil, s.Now
	s.Notes = []event.Note{{Text: evil + " http://user:secret@h/"}}
	for i := range tg.Recent {
		tg.Recent[i].Message, tg.Recent[i].Class = evil, event.ErrHTTP
	}
	for _, v := range []view{overview, tail, words, requests, client} {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {30, 2}} {
			m := still(s, Config{Theme: "mono"})
			m.cfg.Ended = func() string { return evil }
			out := screenOf(m, size[0], size[1], v)
			for _, bad := range []string{"owned\x07", "\x1b]", "\x1b[2J", "\u202e", "\x9b", "\r", "secret"} {
				if strings.Contains(out, bad) {
					t.Errorf("%v view %d: the screen holds %q", size, v, bad)
				}
			}
		}
	}
}

func TestNothingNewWritesNothing(t *testing.T) {
	m := still(busy(), Config{})
	c := newClock()
	m.cfg.Now = c.now
	screenOf(m, 120, 40, overview)
	before := m.View()
	draws := 0
	for range 8 { // the same second, the same snapshot
		c.at = c.at.Add(100 * time.Millisecond)
		m.Update(frameMsg(m.tick))
		if m.dirty != 0 {
			draws++
		}
		if m.View().Content != before.Content {
			t.Fatal("the view changed")
		}
	}
	if draws != 0 {
		t.Errorf("%d drawings of nothing new", draws)
	}
}

// stalled is a terminal that takes nothing.
type stalled struct{ nowhere }

func (*stalled) Ready() bool { return false }

func TestAStalledTerminalGetsNoNewFrames(t *testing.T) {
	w := newWorld(1, 2)
	w.run(20e9)
	s := w.snapshot()
	m := still(s, Config{})
	screenOf(m, 80, 24, overview)
	before := m.View().Content
	m.out = &stalled{}
	w.run(25e9)
	s2 := w.snapshot()
	m.cfg.Snapshot = func() *stats.Snapshot { return s2 }
	m.Update(frameMsg(m.tick))
	if m.View().Content != before {
		t.Error("a frame was drawn for a terminal that takes none")
	}
	m.out = &nowhere{}
	if m.View().Content == before {
		t.Error("what came meanwhile is not drawn once the terminal takes it")
	}
}

func TestSpikesKeepTheirPlaceWhenTimeGoesOn(t *testing.T) {
	w := newWorld(5, 2)
	w.run(50e9)
	s1 := w.snapshot()
	m := still(s1, Config{Theme: "mono"})
	a := m.viewAt(s1)
	w.run(51e9)
	b := m.viewAt(w.snapshot())
	moved := 0
	for y := range a.H {
		for x := chartGutter; x < m.plan.plotW+chartGutter-1; x++ {
			if image.Pt(x, y).In(m.plan.gap) && y > m.plan.gap.Min.Y && a.At(x+1, y) != b.At(x, y) {
				moved++
			}
		}
	}
	if moved != 0 {
		t.Errorf("after one second %d cells of the gap chart are not the ones before, one column on", moved)
	}
}

// viewAt draws a snapshot and returns a copy of the cells.
func (m *model) viewAt(s *stats.Snapshot) *chart.Grid {
	m.cfg.Snapshot = func() *stats.Snapshot { return s }
	m.w, m.h = 80, 24
	m.pull()
	m.dirty = dirtyAll
	m.View()
	g := m.grid
	m.grid = nil
	return g
}
