package ui

import (
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/chart"
)

// What this client caused and what it only read late have signs of their own, in
// the chart, in a strip and in the list of the worst.
func TestLateHasASignOfItsOwn(t *testing.T) {
	cols := []stats.Column{
		{Gap: stats.Summary{N: 1, Max: 200e6}, Late: stats.Summary{N: 1, Max: 200e6}},
		{Gap: stats.Summary{N: 2, Max: 200e6}, Late: stats.Summary{N: 1, Max: 20e6}},
		{Gap: stats.Summary{N: 1, Max: 20e6}, Ours: stats.Summary{N: 1, Max: 200e6}},
	}
	g := chart.NewGrid(3, 6)
	chart.Worst(g.All(), cols, chart.Log{}.Fit(10e6, 1e9, 0), chart.Limits{Warn: 100e6, Bad: 400e6}, chart.Blocks)
	signs := ""
	for x := range 3 {
		for y := range 6 {
			if r := g.At(x, y).Rune; r == '◇' || r == '□' {
				signs += string(r)
			}
		}
		signs += "|"
	}
	if signs != "◇||□|" {
		t.Errorf("the columns carry %s", signs)
	}
	g = chart.NewGrid(4, 1)
	chart.Cadence(g.All(), []stats.Cell{{}, {Gap: 14e6}, {Gap: 60e6, Late: true}, {Gap: 60e6, Merged: true}}, 0, 14e6, true)
	if got := chartText(g); got != "›▃◇□" {
		t.Errorf("the strip is %s", got)
	}
	s := busy()
	s.Targets[0].Worst = []stats.Spike{{At: 90e9, Length: 60e6, Request: 3, Merged: true, Late: true}, {At: 91e9, Length: 60e6, Request: 4, Merged: true}}
	out := screenOf(still(s, Config{Theme: "mono"}), 120, 40, overview)
	if !strings.Contains(out, "◇ read late") || !strings.Contains(out, "□ ours") {
		t.Errorf("the list says\n%s", out)
	}
}

// plainSigns are drawings and words, which need no explanation: frames, rules, axes,
// curves, arrows of keys, and what a message or a reply may hold.
const plainSigns = "─│┤├┼╭╮╯╰┌┐└┘┊┄…—≤≥°µ∙⏎“”‘’✕✓✗■▏▂▃▄▅▆▇·░▒▓→←━éÉï日本の茶は静かな時間です。🙂̴̵̶̷̸"

// Every sign that stands on a screen is in the help.
func TestTheHelpNamesEverySign(t *testing.T) {
	k := newKeys()
	help := ""
	for _, l := range helpLines(&k) {
		help += l[0] + " " + l[1] + "\n"
	}
	s := changed()
	s.Lane = append(s.Lane, stats.LaneEvent{At: s.Now, Kind: stats.LaneShift}, stats.LaneEvent{At: s.Now - 1e9, Kind: stats.LaneClock})
	for _, snap := range []*stats.Snapshot{busy(), s, heard(), onlyLooked()} {
		for _, v := range []view{overview, tail, words, requests, client} {
			for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
				for _, r := range stripSGR(screenOf(still(snap, Config{Theme: "mono"}), size[0], size[1], v)) {
					if r >= 0x80 && !strings.ContainsRune(plainSigns, r) && !strings.ContainsRune(help, r) {
						t.Fatalf("view %d at %v: the help does not name %c (%U)", v, size, r, r)
					}
				}
			}
		}
	}
	lane := help[:strings.Index(help, "◇")]
	for kind := range stats.LaneClock + 1 {
		if r, _ := chart.LaneGlyph(&stats.LaneEvent{Kind: kind, Letter: 'A'}); !strings.ContainsRune(lane[strings.Index(lane, "on the event row")-20:], r) {
			t.Errorf("the help does not name %c of the lane", r)
		}
	}
}
