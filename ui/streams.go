package ui

import (
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// pages remembers, per slot, where the strip or page of a stream begins, so
// that its write head moves while everything already written stays in place.
type pages map[pageKey]page

type pageKey struct {
	target, slot uint32
	pane         uint8
}

// page is the first token event shown, by its absolute number in the request.
type page struct {
	request uint64
	from    int
	past    past
}

// Panes that keep pages.
const (
	paneStrip uint8 = iota
	paneTalk
	paneWords
)

// start returns the index in cells of the first event to show, and stores the
// page. next tells where a page that begins at an index ends; when it ends
// before the newest event the page is turned.
func (p pages) start(k pageKey, st *stats.Stream, next func(from int) int) int {
	first := st.Events - len(st.Cells) // absolute number of Cells[0]
	pg := p[k]
	if pg.request != st.Request || pg.from < first || pg.from > st.Events {
		pg = page{request: st.Request, from: first}
	}
	for {
		n := next(pg.from - first)
		if n >= len(st.Cells) || n <= pg.from-first {
			break
		}
		pg.from = first + n
	}
	p[k] = pg
	return pg.from - first
}

// nameW and tailW are the columns before and after a strip.
const (
	nameW = 7
	tailW = 18
)

// drawStreams draws the strip of each stream under a heading.
func drawStreams(a chart.Area, fr *frame, pg pages) {
	heading(a, "streams: 1 cell = 1 event, height = gap (log)", "‖ stall  _ several tokens  □ ours  ◇ read late")
	n := a.H() - 1
	for i := range n {
		if i >= len(fr.t.Streams) {
			return
		}
		drawStrip(a.Row(1+i), fr, &fr.t.Streams[i], pg)
	}
}

func drawStrip(a chart.Area, fr *frame, st *stats.Stream, pg pages) {
	role := chart.Plain
	if st.EndAt > 0 {
		role = chart.Dim
	}
	a.Text(0, 0, requestName(st.Request, nameW-1), role)
	tail := tailW
	if a.W() < 70 {
		tail = 9
	}
	strip := a.Sub(nameW, 0, a.W()-nameW-tail, 1)
	if strip.W() > 0 {
		drawCells(strip, fr, st, pg)
	}
	a.Right(a.W()-tail+9, 0, "tok "+strconv.Itoa(st.Tokens), role)
	if tail == tailW && st.TPOT > 0 {
		text := format.MS(st.TPOT) + "ms"
		if st.TPOT >= 1e9 {
			text = format.Dur(st.TPOT)
		}
		a.Right(a.W(), 0, text, role)
	}
}

func drawCells(a chart.Area, fr *frame, st *stats.Stream, pg pages) {
	if len(st.Cells) == 0 {
		a.Text(0, 0, waiting(fr, st), chart.Dim)
		return
	}
	k := pageKey{fr.t.Info.ID, st.Slot, paneStrip}
	from := pg.start(k, st, func(from int) int { return chart.CadenceNext(st.Cells, from, a.W()-1) })
	x := chart.Cadence(a.Sub(0, 0, a.W()-1, 1), st.Cells, from, st.Median, st.Events == len(st.Cells))
	drawHead(a, x, fr, st)
}

// drawHead draws the write head, or how the request ended.
func drawHead(a chart.Area, x int, fr *frame, st *stats.Stream) {
	switch {
	case st.EndAt == 0:
		a.Set(x, 0, '▏', chart.Info)
	case st.Class.Failed():
		a.Text(x, 0, cut("× "+label(string(st.Class)), a.W()-x), chart.Bad)
	}
}

// waiting says what a stream without a token does.
func waiting(fr *frame, st *stats.Stream) string {
	switch {
	case st.EndAt > 0 && st.Class.Failed():
		return "× " + label(string(st.Class)) + " before a token"
	case st.EndAt > 0:
		return "ended without a token"
	case st.Sent == 0:
		return "idle"
	}
	return "… no token yet " + format.Dur(max(fr.s.Now-st.Sent, 0)/1e7*1e7)
}

// newest is the index of the stream whose request is the newest of those that
// have a token, -1 for none.
func newest(t *stats.Target) int {
	best := -1
	for i := range t.Streams {
		s := &t.Streams[i]
		if len(s.Cells) > 0 && (best < 0 || s.Request > t.Streams[best].Request) {
			best = i
		}
	}
	return best
}
