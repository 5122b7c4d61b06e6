package ui

import (
	"regexp"
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/chart"
)

var numbers = regexp.MustCompile(`[0-9][0-9.:]*`)

// At every width each number that stands in a row is one of those that stand
// there with all the room there is: none is cut in half.
func TestNoNumberIsHalved(t *testing.T) {
	m := still(busy(), Config{Theme: "mono"})
	screenOf(m, 400, 40, tail)
	press(m, "n")
	fr := m.frameFor()
	worst := &fr.t.Worst[0]
	worst.Peers, worst.Of = 3, 4
	trace := fr.t.Traces.Find(worst.Request)
	if trace == nil {
		t.Fatal("the worst request has no trace")
	}
	rows := map[string]func(a chart.Area){
		"readout":  func(a chart.Area) { drawParts(a, readout(fr), -1) },
		"spike":    func(a chart.Area) { drawParts(a, spikeLine(fr, worst, "12/345"), -1) },
		"chosen":   func(a chart.Area) { drawChosen(a, fr) },
		"facts":    func(a chart.Area) { drawParts(a, requestFacts(fr, &trace.Request, trace), -1) },
		"gap":      func(a chart.Area) { a.Text(0, 0, fitWords(worstLines(fr, trace, 100)[0], a.W()), chart.Plain) },
		"smooth":   func(a chart.Area) { drawSmoothLine(a, fr) },
		"levels":   func(a chart.Area) { drawSLO(a, fr) },
		"worst":    func(a chart.Area) { drawWorstLine(a, fr) },
		"one line": func(a chart.Area) { drawOneLine(a, fr) },
		"compared": func(a chart.Area) { drawTitle(a, m.frameFor()) },
		"request": func(a chart.Area) {
			drawRequest(a, &stats.Request{ID: 7, Sent: 61e9, TTFT: 123e6, TPOT: 14.5e6, E2E: 4321e6, MaxGap: 987e6, N: 256, Stalls: 12}, requestColumns(fr, a.W()-nameColumn-endColumn), true)
		},
	}
	for name, draw := range rows {
		at := func(w int) string {
			g := chart.NewGrid(w, 1)
			draw(g.All())
			var b strings.Builder
			for x := range w {
				if r := g.At(x, 0).Rune; r > 0 {
					b.WriteRune(r)
				} else {
					b.WriteByte(' ')
				}
			}
			return b.String()
		}
		whole := map[string]bool{}
		for _, n := range numbers.FindAllString(at(500), -1) {
			whole[n] = true
		}
		if len(whole) < 3 {
			t.Fatalf("%s holds %v", name, whole)
		}
		for w := 40; w <= 260; w++ {
			text := at(w)
			if name == "compared" { // a model's name is no number, and is cut in its middle
				_, text, _ = strings.Cut(text, "  ")
				_, text, _ = strings.Cut(text, "  ")
			}
			for _, n := range numbers.FindAllString(text, -1) {
				if !whole[n] {
					t.Errorf("%s, %d columns: %q is no number of it: %q", name, w, n, text)
				}
			}
		}
	}
}
