package ui

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file, run with -update: %v", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; -update writes it anew\n%s", name, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < max(len(a), len(b)); i++ {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return "line " + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "\nwant " + x + "\ngot  " + y
		}
	}
	return ""
}

// nowhere is a terminal that takes everything at once.
type nowhere struct{ written int64 }

func (*nowhere) Ready() bool      { return true }
func (*nowhere) Lost() bool       { return false }
func (n *nowhere) Written() int64 { return n.written }

// clock is a clock that stands where it is put.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{time.Date(2026, 5, 4, 12, 1, 40, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.at }

func vars(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

// still is a model over one snapshot and a standing clock.
func still(s *stats.Snapshot, c Config) *model {
	c.Snapshot = func() *stats.Snapshot { return s }
	if c.Env == nil {
		c.Env = vars("TERM", "xterm-256color", "COLORTERM", "truecolor", "LANG", "en_US.UTF-8")
	}
	c.Now, c.Window = newClock().now, 1
	return newModel(c, &nowhere{}, func(event.Control) {})
}

// screenOf is the content of the screen at a size.
func screenOf(m *model, w, h int, v view) string {
	m.w, m.h, m.view, m.dirty = w, h, v, dirtyAll
	m.pages = pages{}
	return m.View().Content
}

var viewNames = map[view]string{overview: "overview", tail: "tail", words: "words", requests: "requests", client: "client"}

// goldenLooks are the ways in which the goldens hold every view. Dark and light
// hold the same characters and other colours, mono attributes alone.
var goldenLooks = []struct {
	name string
	cfg  Config
}{
	{"dark", Config{Theme: "dark", Glyphs: "block"}},
	{"light", Config{Theme: "light", Glyphs: "block"}},
	{"mono", Config{Theme: "mono", Glyphs: "block"}},
	{"ascii", Config{Env: vars("NO_COLOR", "1", "LC_ALL", "C", "TERM", "xterm")}},
}

func TestGoldens(t *testing.T) {
	s := busy()
	sizes := []struct {
		name string
		w, h int
	}{{"80x24", 80, 24}, {"120x40", 120, 40}, {"200x50", 200, 50}, {"60x15", 60, 15}, {"40x8", 40, 8}, {"20x3", 20, 3}}
	for _, size := range sizes {
		for _, look := range goldenLooks {
			for _, v := range []view{overview, tail, words, requests, client} {
				name := size.name + "-" + look.name + "-" + viewNames[v] + ".txt"
				t.Run(name, func(t *testing.T) {
					golden(t, name, screenOf(still(s, look.cfg), size.w, size.h, v)+"\n")
				})
			}
		}
	}
}

// A theme changes colours and attributes, and not one character. No two of them
// look alike, and only mono is without colour.
func TestThemesShowTheSame(t *testing.T) {
	s := busy()
	for _, v := range []view{overview, tail, words, requests, client} {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {60, 15}, {40, 8}} {
			dark := screenOf(still(s, Config{Theme: "dark", Glyphs: "block"}), size[0], size[1], v)
			want, looks := stripSGR(dark), map[string]string{dark: "dark"}
			for _, theme := range []string{"light", "mono", "contrast"} {
				got := screenOf(still(s, Config{Theme: theme, Glyphs: "block"}), size[0], size[1], v)
				if text := stripSGR(got); text != want {
					t.Errorf("%s, view %d, %v: %s", theme, v, size, firstDifference(want, text))
				}
				if other, both := looks[got]; both {
					t.Errorf("%s looks like %s, view %d, %v", theme, other, v, size)
				}
				looks[got] = theme
				if coloured := strings.Contains(got, "38;2;"); coloured != (theme != "mono") {
					t.Errorf("%s, view %d, %v: colour %v", theme, v, size, coloured)
				}
			}
		}
	}
}

func TestGoldenStates(t *testing.T) {
	mono := Config{Theme: "mono", Glyphs: "block"}
	cases := []struct {
		name string
		edit func(s *stats.Snapshot, m *model)
	}{
		{"connecting", func(s *stats.Snapshot, m *model) { *s = *empty() }},
		{"down", func(s *stats.Snapshot, m *model) {
			in := &s.Targets[0].Info
			in.State, in.Detail = event.StateDown, "connection refused, next try in 4 s"
			s.Targets[0].Since = s.Now - 12e9
		}},
		{"loading", func(s *stats.Snapshot, m *model) {
			s.Targets[0].Info.State, s.Targets[0].Info.Detail = event.StateLoading, "the model is being loaded"
		}},
		{"busy", func(s *stats.Snapshot, m *model) { s.Targets[0].Info.State = event.StateBusy }},
		{"stale", func(s *stats.Snapshot, m *model) { m.newAt = m.cfg.Now().Add(-5 * time.Second) }},
		{"ended", func(s *stats.Snapshot, m *model) { m.cfg.Ended = func() string { return "signal killed" } }},
		{"frozen", func(s *stats.Snapshot, m *model) {
			m.frozen = m.snap
			m.frozenAt = m.cfg.Now().Add(-17 * time.Second)
		}},
		{"done", func(s *stats.Snapshot, m *model) { s.Finished = &event.Finished{Complete: true, Reason: "duration"} }},
		{"no-text", func(s *stats.Snapshot, m *model) { m.text = false }},
		{"help", func(s *stats.Snapshot, m *model) { m.help = true }},
		{"compared", func(s *stats.Snapshot, m *model) { *s = *changed() }},
		{"cursor", func(s *stats.Snapshot, m *model) {
			screenOf(m, 80, 24, overview)
			m.put(93e9)
		}},
		{"past", func(s *stats.Snapshot, m *model) {
			screenOf(m, 80, 24, overview)
			press(m, "home", "home")
		}},
		{"spike", func(s *stats.Snapshot, m *model) {
			screenOf(m, 80, 24, overview)
			press(m, "n", "n")
		}},
		{"linear", func(s *stats.Snapshot, m *model) { m.straight = true }},
		{"filter", func(s *stats.Snapshot, m *model) {
			press(m, "/")
			typed(m, "gap>500 tok>99 x")
			press(m, "enter")
		}},
		{"filtered", func(s *stats.Snapshot, m *model) {
			press(m, "/")
			typed(m, "gap>500 tok>99")
			press(m, "enter", "s", "down")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := busy()
			m := still(s, mono)
			c.edit(s, m)
			v := overview
			switch c.name {
			case "no-text":
				v = words
			case "filter", "filtered":
				v = requests
			}
			golden(t, "state-"+c.name+".txt", screenOf(m, 80, 24, v)+"\n")
		})
	}
}

// One request, at every size and in every look.
func TestGoldenRequest(t *testing.T) {
	s := busy()
	id := uint64(0)
	for _, r := range s.Targets[0].Traces.Finished {
		if r.Stalls > 0 {
			id = r.ID
		}
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {60, 15}, {40, 8}} {
		for _, look := range goldenLooks {
			m := still(s, look.cfg)
			m.openRequest(id)
			name := strconv.Itoa(size[0]) + "x" + strconv.Itoa(size[1]) + "-" + look.name + "-request.txt"
			golden(t, name, screenOf(m, size[0], size[1], requests)+"\n")
		}
	}
}
