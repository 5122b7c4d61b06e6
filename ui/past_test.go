package ui

import (
	"slices"
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/chart"
)

// paneOf draws one stream into a pane of 30 by 12 and returns its rows without
// that of the readers.
func paneOf(pg pages, st *stats.Stream, now int64) []string {
	g := chart.NewGrid(30, 12)
	drawPane(g.All(), &frame{s: &stats.Snapshot{Now: now}, t: noTarget(), text: true}, st, pg)
	var out []string
	for y := range g.H {
		var b strings.Builder
		for x := range g.W {
			if r := g.At(x, y).Rune; r > 0 {
				b.WriteRune(r)
			} else {
				b.WriteByte(' ')
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return slices.Delete(out, 1, 2)
}

func reply(request uint64, sent int64, text string) *stats.Stream {
	st := &stats.Stream{Request: request, Sent: sent}
	for _, w := range strings.SplitAfter(text, " ") {
		st.Cells = append(st.Cells, stats.Cell{At: sent, Text: w})
	}
	st.Events = len(st.Cells)
	return st
}

func TestTheReplyBeforeStaysAboveTheNextOne(t *testing.T) {
	pg := pages{}
	paneOf(pg, reply(1, 1e9, "one\ntwo\nthree\nfour\nfive\nsix"), 2e9)
	waits := paneOf(pg, &stats.Stream{Request: 2, Sent: 2e9}, 2e9)
	if got := strings.Join(waits[1:6], "|"); got != "three|four|five|six…|"+strings.Repeat("┄", 30) || !strings.HasPrefix(waits[6], "… no token") {
		t.Errorf("while it waits the pane shows\n%s", strings.Join(waits, "\n"))
	}
	first := paneOf(pg, reply(2, 2e9, "new"), 3e9)
	if first[1] != "three" || first[6] != "new▏" {
		t.Errorf("the next reply begins as\n%s", strings.Join(first, "\n"))
	}
	more := paneOf(pg, reply(2, 2e9, "new\nA\nB\nC"), 3e9)
	if more[1] != "three" || more[6] != "new" || more[9] != "C▏" {
		t.Errorf("what was there moved:\n%s", strings.Join(more, "\n"))
	}
	turned := paneOf(pg, reply(2, 2e9, "new A B C\nD\nE\nF\nG\n H\nI "+strings.Repeat("kettle ", 40)), 4e9)
	if strings.Contains(strings.Join(turned, ""), "three") {
		t.Errorf("a turned page still shows the reply before:\n%s", strings.Join(turned, "\n"))
	}
}

func TestAReplyOfLongAgoIsNotTheOneBefore(t *testing.T) {
	pg := pages{}
	paneOf(pg, reply(1, 1e9, "one two"), 2e9)
	if got := paneOf(pg, reply(9, 30e9, "nine"), 31e9); got[1] != "nine▏" {
		t.Errorf("the pane shows\n%s", strings.Join(got, "\n"))
	}
}
