package ui

import (
	"image"

	"teapot/ui/chart"
)

// helpLines are the rows of the help: the keys, then what the signs mean.
func helpLines(k *keyMap) [][2]string {
	var out [][2]string
	for _, b := range k.all() {
		h := b.Help()
		out = append(out, [2]string{h.Key, h.Desc})
	}
	out = append(out,
		[2]string{"", ""},
		[2]string{"–", "too few samples for this percentile to exist"},
		[2]string{"~", "too few to trust it"},
		[2]string{">30s", "it lies among the timeouts: at least this"},
		[2]string{"× ▼ A", "on the event row: error or timeout, this host stalled, a mark"},
		[2]string{"↓ ↑ s !", "target went away, came back, setting changed, events dropped"},
		[2]string{"p ~ z c", "the server preempted, gaps changed their level, probe asleep, clock set"},
	)
	out = append(out, signHelp[:]...)
	return append(out,
		[2]string{"▲ ▼ ≈", "longer, shorter, or no more than chance: whether 95 % intervals overlap"},
		[2]string{"‖812ms‖", "a stall, where it happened"},
		[2]string{"□", "caused by this client or the transport, left out of the percentiles"},
		[2]string{"◇", "in large part read late by this client, and in the percentiles"},
		[2]string{"● • ◦", "first tokens: several in one place, one, one of a warm-up"},
		[2]string{"▁ █", "a token's gap against its stream's median, and longest gaps of a time"},
		[2]string{"5 10", "in streams: how far a reader of 5 and of 10 tokens a second has come"},
		[2]string{"fluidity", "share of tokens in time for their deadline, with what came early saved up"},
		[2]string{"›", "first token of a strip; a late word; what is chosen"},
		[2]string{"_", "an underlined cell of a strip held several tokens"},
	)
}

// helpKeyW is the width of the column of the keys.
const helpKeyW = 11

// wrapHelp breaks what is said about a key between words into rows of w columns.
func wrapHelp(lines [][2]string, w int) [][2]string {
	var out [][2]string
	for _, l := range lines {
		name := l[0]
		for _, row := range wrap(l[1], w) {
			out = append(out, [2]string{name, row})
			name = ""
		}
	}
	return out
}

// drawHelp draws the help over the screen, scrolled down by top rows, and
// returns the greatest useful top and how many rows it shows.
func drawHelp(g *chart.Grid, k *keyMap, top int) (most, rows int) {
	w := min(80, g.W-1)
	lines := wrapHelp(helpLines(k), w-4-helpKeyW)
	h := min(len(lines)+2, g.H)
	if w < 10 || h < 3 {
		return 0, 0
	}
	x, y := (g.W-1-w)/2, (g.H-h)/2
	a := g.Area(image.Rect(x, y, x+w, y+h))
	a.Clear()
	box(a, "keys", "esc closes")
	most = max(len(lines)-(h-2), 0)
	in := a.Sub(2, 1, w-4, h-2)
	for i, l := range lines[min(max(top, 0), most):] {
		if i >= in.H() {
			break
		}
		in.Text(0, i, l[0], chart.Key)
		in.Text(helpKeyW, i, cut(l[1], in.W()-helpKeyW), chart.Plain)
	}
	if most > 0 {
		a.Right(w-2, h-1, " ↑↓ more ", chart.Dim)
	}
	return most, in.H()
}

// box draws a frame with a title and a note in its upper edge.
func box(a chart.Area, title, note string) {
	w, h := a.W(), a.H()
	for x := range w {
		a.Set(x, 0, '─', chart.Rule)
		a.Set(x, h-1, '─', chart.Rule)
	}
	for y := range h {
		a.Set(0, y, '│', chart.Rule)
		a.Set(w-1, y, '│', chart.Rule)
	}
	a.Set(0, 0, '┌', chart.Rule)
	a.Set(w-1, 0, '┐', chart.Rule)
	a.Set(0, h-1, '└', chart.Rule)
	a.Set(w-1, h-1, '┘', chart.Rule)
	a.Text(2, 0, " "+title+" ", chart.Head)
	a.Right(w-2, 0, " "+note+" ", chart.Dim)
}

// drawKeys draws the bottom row: a message, a question, or the keys.
func drawKeys(a chart.Area, k *keyMap, fr *frame, message string, role chart.Role) {
	if message != "" {
		a.Text(0, 0, cut(message, a.W()), role)
		return
	}
	x := 0
	for _, h := range k.hints(fr.staged, fr.played != nil) {
		n := chart.Width(h[0]) + 1 + chart.Width(h[1])
		if x+n > a.W() {
			return
		}
		x = a.Text(x, 0, h[0], chart.Key)
		x = a.Text(x+1, 0, h[1], chart.Dim) + 2
	}
}
