package ui

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
)

// What a server says, and that nothing is asked, at every size.
func TestServerGoldens(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *stats.Snapshot
		v    view
	}{{"server", heard(), client}, {"why", heard(), tail}, {"explained", heard(), overview}, {"passive", onlyLooked(), overview}, {"request-why", heard(), requests}} {
		for _, size := range []struct {
			name string
			w, h int
		}{{"80x24", 80, 24}, {"120x40", 120, 40}, {"200x50", 200, 50}, {"60x15", 60, 15}, {"40x8", 40, 8}} {
			for _, look := range goldenLooks {
				name := size.name + "-" + look.name + "-" + c.name + ".txt"
				t.Run(name, func(t *testing.T) {
					m := still(c.s, look.cfg)
					if c.v == requests {
						m.openRequest(twice(c.s.Targets[0]))
					}
					golden(t, name, screenOf(m, size.w, size.h, c.v)+"\n")
				})
			}
		}
	}
}

// twice is a request with two spikes that are judged, and whose gaps are kept.
func twice(t *stats.Target) uint64 {
	n := map[uint64]int{}
	for _, s := range t.Worst {
		if n[s.Request]++; n[s.Request] == 2 && t.Traces.Find(s.Request) != nil {
			return s.Request
		}
	}
	return 0
}

// Colours change nothing of what stands on the screen beside a server.
func TestThemesShowTheSameServer(t *testing.T) {
	for _, s := range []*stats.Snapshot{heard(), onlyLooked()} {
		for _, v := range []view{overview, tail, client} {
			for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {60, 15}, {40, 8}} {
				want := stripSGR(screenOf(still(s, Config{Theme: "dark", Glyphs: "block"}), size[0], size[1], v))
				for _, theme := range []string{"light", "mono", "contrast"} {
					if got := stripSGR(screenOf(still(s, Config{Theme: theme, Glyphs: "block"}), size[0], size[1], v)); got != want {
						t.Errorf("%s, view %d, %v: %s", theme, v, size, firstDifference(want, got))
					}
				}
			}
		}
	}
}

// The pane of the overview, the line where nothing is said, and the age of what
// is, at every size.
func TestWhatIsSaidOfTheServer(t *testing.T) {
	silent := heard()
	silent.Now += 20e9
	for _, c := range []struct {
		name string
		s    *stats.Snapshot
		v    view
		w, h int
		want []string
	}{
		{"overview, wide", heard(), overview, 200, 50, []string{"── server, per 1s · under 1s old ", "run        11 ", "wait        0 ", "kv        65% ", "hits      30% "}},
		{"nothing", busy(), client, 120, 40, []string{sayNothing}},
		{"nothing, 80 wide", busy(), client, 80, 24, []string{sayNothing}},
		{"nothing, 60 wide", busy(), client, 60, 15, []string{sayNone}},
		{"nothing, 40 wide", busy(), client, 40, 8, []string{sayNone}},
		{"silent", silent, client, 80, 24, []string{"SILENT for 20s"}},
		{"silent, 40 wide", silent, client, 40, 8, []string{"SILENT for 20s"}},
		{"silent, without requests", func() *stats.Snapshot { s := onlyLooked(); s.Now += 20e9; return s }(), overview, 60, 15, []string{"● PASSIVE", "SILENT for 20s", "mean     ttft"}},
		{"gpus", heard(), client, 200, 50, []string{"MHz0", "1755", "pow0", "640W", "tmp1", "51°C", "mem0", "71GB", "slw0", "slow", "free", "slowed for its power limit", "1104 KB/min", "60 looks/min", "tokens of a step"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := stripSGR(screenOf(still(c.s, Config{Theme: "mono"}), c.w, c.h, c.v))
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
		})
	}
}

func TestNoSizeOverflowsBesideAServer(t *testing.T) {
	snaps := []*stats.Snapshot{heard(), onlyLooked()}
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 400).Draw(t, "w"), rapid.IntRange(1, 120).Draw(t, "h")
		m := still(rapid.SampledFrom(snaps).Draw(t, "snapshot"), Config{Theme: "mono"})
		m.ownOnly = rapid.IntRange(0, 4).Draw(t, "own") == 0
		handle(t, m, w, h)
		v := rapid.SampledFrom([]view{overview, tail, words, requests, client}).Draw(t, "view")
		lines := strings.Split(screenOf(m, w, h, v), "\n")
		if len(lines) != h {
			t.Fatalf("%dx%d: %d lines", w, h, len(lines))
		}
		for i, l := range lines {
			if n := ansi.StringWidthWc(l); n > w-1 && w > 1 {
				t.Fatalf("%dx%d view %d: line %d is %d wide: %q", w, h, v, i, n, l)
			}
		}
	})
}

// Every preemption has a column of its own in its strip, at every zoom.
func TestEveryPreemptionShowsInItsStrip(t *testing.T) {
	s := heard()
	for zoom := range zooms {
		m := still(s, Config{Theme: "mono"})
		m.zoom = zoom
		screenOf(m, 200, 50, client)
		fr := m.frameFor()
		st := strip{"preemptions", "", "pre", stripCount}
		sum := 0.0
		for _, b := range st.bars(fr, m.plan.plotW) {
			sum += b.v
		}
		if sum != 6 { // at 39 and 79 s
			t.Errorf("zoom %d: %v preemptions on screen, want 6", zoom, sum)
		}
	}
}

func TestStripValues(t *testing.T) {
	fr := still(heard(), Config{Theme: "mono"}).frameFor()
	for _, c := range []struct {
		strip strip
		low   float64
		high  float64
		text  string // of 0.5
	}{
		{strip{"kv_used", "", "kv", stripShare}, .64, .96, "50%"},
		{strip{"prefix_queries", "", "hits", stripRatio}, .299, .301, "50%"},
		{strip{"itl_count", "", "itl", stripMean}, 13.9, 14.1, "0.500"},
		{strip{"gen_tokens", "", "tok/s", stripCount}, 900, 900, "1"},
		{strip{"running", "", "run", stripGauge}, 11, 17, "1"},
		{strip{"gpu.util", "1", "gpu1", stripShare}, .41, .41, "50%"},
		{strip{"preemptions", "", "pre", stripCount}, 0, 3, "+0"},
	} {
		n := 0
		for _, b := range c.strip.bars(fr, 60) {
			if b.has {
				n++
				if b.v < c.low || b.v > c.high {
					t.Errorf("%s holds %v", c.strip.label, b.v)
				}
			}
		}
		if n < 40 {
			t.Errorf("%s has %d columns", c.strip.label, n)
		}
		if got := c.strip.text(.5); got != c.text {
			t.Errorf("%s writes .5 as %q, want %q", c.strip.label, got, c.text)
		}
	}
}

// A gauge is drawn on over a look that fell between two columns, and no longer.
func TestAStripEndsWithItsServer(t *testing.T) {
	a := stats.NewAggregator(stats.Config{})
	a.Add(&event.Target{At: 1, ID: 1, State: event.StateLive})
	for _, at := range []int64{1e9, 2e9, 4e9} {
		a.Add(&event.Signal{At: at, Target: 1, Source: event.SignalMetrics, Values: []event.Sample{
			{Name: "running", Value: 3}, {Name: "kv_used", Value: math.Inf(1)}, {Name: "waiting", Value: math.NaN()},
		}})
	}
	a.Add(&event.Floor{At: 20e9})
	m := still(a.Snapshot(), Config{Theme: "mono"})
	m.w, m.h = 120, 40
	st := strip{"running", "", "run", stripGauge}
	var held, heardAt []int
	for i, b := range st.bars(m.frameFor(), 30) {
		switch {
		case b.has && b.stale:
			held = append(held, 30-i)
		case b.has:
			heardAt = append(heardAt, 30-i)
		}
	}
	if len(heardAt) != 3 || len(held) != 3 {
		t.Errorf("heard in columns %v, held in %v", heardAt, held)
	}
	out := stripSGR(screenOf(m, 120, 40, client))
	for _, want := range []string{"SILENT for 16s", "  run┤"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
		t.Error("no number is on screen")
	}
}

// What a server or a GPU calls itself never reaches the terminal as it is.
func TestHostileSignals(t *testing.T) {
	s := heard()
	sv := *s.Targets[0].Server
	sv.Sources = append([]stats.ServerSource(nil), sv.Sources...)
	sv.Sources[0].Detail, sv.Sources[0].Effect = "\x1b]52;c;aGk=\x07gone\u202e", "\x1b[2J"
	sv.Sources[0].Name = "met\x1b[31mrics"
	sv.Missing = []string{"\x1b31m", "kv"}
	sv.Values = append([]stats.ServerValue{{Name: "gpu.util", Of: "\x1b[31m0\n", Value: .5}}, sv.Values...)
	s.Targets[0].Server = &sv
	s.Targets[0].Causes[0].Worst.Why.Evidence[0] = "\x1b[31mred\u202e"
	for _, v := range []view{overview, tail, client} {
		out := stripSGR(screenOf(still(s, Config{Theme: "mono"}), 200, 50, v))
		if i := strings.IndexAny(out, "\x1b\x07\u202e"); i >= 0 {
			t.Errorf("view %d: %q", v, out[max(i-20, 0):i+20])
		}
	}
}

// Pressed again, the key of the server leaves this client alone on the screen.
func TestFiveAgainIsThisClient(t *testing.T) {
	m := still(heard(), Config{Theme: "mono"})
	screenOf(m, 80, 24, overview)
	press(m, "5")
	if out := bottomless(m); !strings.Contains(out, "── server, per 1s") {
		t.Fatalf("no strips in\n%s", out)
	}
	press(m, "5")
	if out := bottomless(m); strings.Contains(out, "── server, per 1s") || !strings.Contains(out, "oversleep") {
		t.Fatalf("not this client alone:\n%s", out)
	}
	press(m, "5")
	if out := bottomless(m); !strings.Contains(out, "── server, per 1s") {
		t.Error("a third press does not lead back")
	}
}

func bottomless(m *model) string {
	m.dirty = dirtyAll
	return stripSGR(m.View().Content)
}

// The cursor reads out what the server did in its column.
func TestTheCursorReadsTheServer(t *testing.T) {
	m := still(heard(), Config{Theme: "mono"})
	screenOf(m, 200, 50, client)
	m.put(79e9)
	if text := bottom(m, 200, 50, client); !strings.Contains(text, "run ") || !strings.Contains(text, "kv ") || !strings.Contains(text, "p 3 preemptions") {
		t.Errorf("the read-out says %q", text)
	}
}
