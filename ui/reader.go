package ui

import (
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
)

// paces are those of the two readers of a stream, ns per token, as in
// stats.Stream.Through.
var paces = [...]int64{reader5, reader10}

// readerAt is how many tokens of a stream somebody at pace i has read at an
// instant, and whether all of what came is read.
func readerAt(st *stats.Stream, i int, now int64) (read int, waits bool) {
	left := st.Through[i] - now
	if left <= 0 {
		return st.Tokens, true
	}
	unread := int((left + paces[i] - 1) / paces[i])
	return max(st.Tokens-unread, 0), false
}

// readerLabel is the width kept for how far the stream is ahead of its readers.
const readerLabel = 17

// drawReaders draws a stream as a line on which two readers move: what the
// quicker one has read, what has come and waits to be read, and what is still to
// come. Where a stream stands still they catch up with it, and then they wait.
func drawReaders(a chart.Area, fr *frame, st *stats.Stream) {
	if a.H() <= 0 || a.W() < readerLabel+8 || st.FirstAt == 0 {
		return
	}
	now := fr.s.Now
	whole := max(fr.s.Load.MaxTokens, st.Tokens)
	if st.EndAt > 0 { // no more will come
		whole = st.Tokens
	}
	in := a.Sub(0, 0, a.W()-readerLabel, 1)
	at := func(tokens int) int { return int(int64(in.W()-1) * int64(min(tokens, whole)) / int64(max(whole, 1))) }
	slow, _ := readerAt(st, 0, now)
	quick, waits := readerAt(st, 1, now)
	head := at(st.Tokens)
	for x := range in.W() {
		switch {
		case x < at(quick):
			in.Set(x, 0, '━', chart.Info)
		case x <= head:
			in.Set(x, 0, '─', chart.Plain)
		default:
			in.Set(x, 0, '┄', chart.Rule)
		}
	}
	in.Set(head, 0, '▏', chart.Info)
	x := min(max(at(quick)-1, 0), in.W()-2)
	in.Text(x, 0, "10", chart.Strong)
	if y := max(at(slow)-1, 0); y+1 < x { // else the two would read as one number
		in.Text(y, 0, "5", chart.Strong)
	}
	text, role := strconv.Itoa(st.Tokens-quick)+" ahead of 10/s", chart.Dim
	switch {
	case waits && st.EndAt > 0:
		text = "10/s has read it"
	case waits:
		text, role = "10/s waits", chart.Bad
	}
	a.Right(a.W(), 0, cut(text, readerLabel), role)
}
