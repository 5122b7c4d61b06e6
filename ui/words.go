package ui

import (
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// word is one token as it is drawn: clean text in the role of its pace.
type word struct {
	text string
	role chart.Role
	// stall is the length of the stall before it, ns; 0 for none.
	stall int64
}

// tokens turns the cells of a stream, from an index on, into words. It cleans
// from the first cell on, because a token may end in the middle of a rune or of
// an escape sequence.
func tokens(st *stats.Stream, from int) []word {
	var scrub scrubber
	first := st.Events == len(st.Cells)
	var out []word
	for i := range st.Cells {
		c := &st.Cells[i]
		text := scrub.token(c.Text)
		if i < from {
			continue
		}
		w := word{text: text, role: chart.TokFast}
		if !(first && i == 0) && !c.Merged {
			w.role = chart.Pace(c.Gap, st.Median)
			if c.Stall {
				w.stall = c.Gap
			}
		}
		if w.role == chart.TokFast && c.Channel != 0 {
			w.role = chart.TokThought
		}
		if c.Merged {
			w.role = chart.Ours
		}
		out = append(out, w)
	}
	return out
}

// hasText tells whether the words of a stream were recorded.
func hasText(st *stats.Stream) bool {
	for i := range st.Cells {
		if st.Cells[i].Text != "" {
			return true
		}
	}
	return false
}

// pen writes words into an area and remembers where it stands.
type pen struct {
	a    chart.Area
	x, y int
}

// drawWords draws words into an area from its top left corner, breaking lines
// between words of the text, which may be made of several tokens. It returns how
// many of the tokens fitted and where the write head stands.
func drawWords(a chart.Area, ws []word) (fitted, x, y int) {
	p := &pen{a: a}
	for i := range ws {
		if !p.token(ws, i) {
			return i, p.x, p.y
		}
	}
	return len(ws), p.x, p.y
}

// token draws one token; false when it does not fit.
func (p *pen) token(ws []word, i int) bool {
	t := &ws[i]
	if t.stall > 0 && !p.put(chart.StallLabel(t.stall), 0, chart.Bad) {
		return false
	}
	late := t.role == chart.TokLate && t.stall == 0
	lines := strings.Split(t.text, "\n")
	for k, line := range lines {
		if k > 0 && (p.x > 0 || p.y == 0 && i > 0) && !p.newline() {
			return false
		}
		ps := pieces(line)
		for j, piece := range ps {
			if piece == " " {
				p.blank()
				continue
			}
			if late { // a sign that does not need a colour
				piece, late = "›"+piece, false
			}
			rest := 0
			if j == len(ps)-1 && k == len(lines)-1 {
				rest = wordRest(ws[i+1:])
			}
			if !p.put(piece, rest, t.role) {
				return false
			}
		}
	}
	return true
}

// wordRest is the width of what the next tokens add to a word.
func wordRest(ws []word) int {
	n := 0
	for i := range ws {
		end := strings.IndexAny(ws[i].text, " \n")
		if ws[i].stall > 0 {
			return n
		}
		if end >= 0 {
			return n + chart.Width(ws[i].text[:end])
		}
		if n += chart.Width(ws[i].text); n > 40 {
			return n
		}
	}
	return n
}

func (p *pen) newline() bool {
	p.x, p.y = 0, p.y+1
	return p.y < p.a.H()
}

// blank draws a blank, but not at the beginning of a line.
func (p *pen) blank() {
	if p.x > 0 && p.x < p.a.W() {
		p.a.Set(p.x, p.y, ' ', chart.Plain)
		p.x++
	}
}

// put draws a piece of a word that goes on for rest more columns. A word that
// does not fit begins a new line when it fits there; a piece in the middle of
// one stays where it is.
func (p *pen) put(s string, rest int, role chart.Role) bool {
	n := chart.Width(s)
	begins := p.x == 0 || p.a.Cell(p.x-1, p.y).Rune == ' '
	if whole := n + rest; p.x > 0 && (p.x+n > p.a.W() && n <= p.a.W() || begins && p.x+whole > p.a.W() && whole <= p.a.W()) {
		if !p.newline() {
			return false
		}
	}
	for _, r := range s {
		rw := chart.RuneWidth(r)
		if rw == 0 {
			p.a.Mark(p.x-1, p.y, r)
			continue
		}
		if p.x+rw > p.a.W() && !p.newline() {
			return false
		}
		if p.y >= p.a.H() {
			return false
		}
		p.x = p.a.Text(p.x, p.y, string(r), role)
	}
	return true
}

// pieces splits at blanks and keeps each blank as a piece of its own.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		i := strings.IndexByte(s, ' ')
		switch {
		case i < 0:
			return append(out, s)
		case i > 0:
			out = append(out, s[:i])
		}
		out = append(out, " ")
		s = s[i+1:]
	}
	return out
}

// drawTalk runs the newest stream's words along one or two rows.
func drawTalk(a chart.Area, fr *frame, pg pages) {
	i := newest(fr.t)
	if i < 0 || a.W() <= nameW {
		return
	}
	st := &fr.t.Streams[i]
	if !fr.text || !hasText(st) {
		return
	}
	a.Text(0, 0, requestName(st.Request, nameW-1), chart.Dim)
	in := a.Sub(nameW, 0, a.W()-nameW, a.H())
	drawPage(in, fr, st, pg, paneTalk)
}

// drawPage draws a stream's words from where its page begins, and turns the
// page when it is full.
func drawPage(a chart.Area, fr *frame, st *stats.Stream, pg pages, pane uint8) {
	if a.W() <= 1 || a.H() <= 0 {
		return
	}
	k := pageKey{fr.t.Info.ID, st.Slot, pane}
	all := tokens(st, 0)
	if pane == paneTalk { // its few rows are for words, not for line ends
		for i := range all {
			all[i].text = strings.ReplaceAll(all[i].text, "\n", " ")
		}
	}
	x, y, in := 0, 0, a
	first := st.Events - len(st.Cells)
	from := pg.start(k, st, func(from int) int {
		a.Clear()
		in = a
		if first+from == 0 { // what was there before leaves with the first page
			in = drawPast(a, pg[k].past.lines)
		}
		var n int
		n, x, y = drawWords(in, all[from:])
		if n == 0 {
			n = 1 // a token larger than the page
		}
		return from + n
	})
	if st.EndAt == 0 && x < in.W() && y < in.H() {
		in.Set(x, y, '▏', chart.Info)
	}
	if pane == paneWords {
		pg.keep(k, all[from:], fr.s.Now, st.EndAt == 0)
	}
}

// readerRoom is how many rows a pane has under its heading before one of them is
// for the readers.
const readerRoom = 4

// drawPane draws one stream of the words view: a heading, its words or without
// text its cadence, and how it ended.
func drawPane(a chart.Area, fr *frame, st *stats.Stream, pg pages) {
	if a.H() <= 0 {
		return
	}
	a.Row(0).Fill('─', chart.Rule)
	x := a.Text(0, 0, "── ", chart.Rule)
	x = a.Text(x, 0, "#"+strconv.FormatUint(st.Request, 10)+" ", chart.Head)
	for _, p := range paneFacts(st) {
		if x+chart.Width(p)+2 > a.W() {
			break
		}
		x = a.Text(x, 0, p+" ", chart.Dim)
	}
	in := below(a)
	if in.H() >= readerRoom {
		drawReaders(in.Row(0), fr, st)
		in = below(in)
	}
	if in.H() <= 0 {
		return
	}
	var before []string
	if fr.text {
		before = pg.before(pageKey{fr.t.Info.ID, st.Slot, paneWords}, st, in.W(), in.H())
	}
	if len(st.Cells) == 0 {
		in = drawPast(in, before)
		in.Text(0, 0, cut(waiting(fr, st), in.W()), chart.Dim)
		return
	}
	end := ""
	if st.EndAt > 0 && st.Class.Failed() {
		end = "× " + label(string(st.Class))
	}
	if end != "" && in.H() > 1 {
		in.Text(0, in.H()-1, cut(end, in.W()), chart.Bad)
		in = in.Sub(0, 0, in.W(), in.H()-1)
	}
	if fr.text && hasText(st) {
		drawPage(in, fr, st, pg, paneWords)
		return
	}
	drawCadencePage(in, fr, st, pg)
}

func paneFacts(st *stats.Stream) []string {
	out := []string{strconv.Itoa(st.Tokens) + " tok"}
	if st.TPOT > 0 {
		out = append(out, format.Speed(st.TPOT)+" tok/s")
	}
	if st.Median > 0 {
		out = append(out, "median "+format.MS(st.Median)+" ms")
	}
	var worst int64
	for i := range st.Cells {
		if st.Cells[i].Stall && !st.Cells[i].Merged {
			worst = max(worst, st.Cells[i].Gap)
		}
	}
	if worst > 0 {
		out = append(out, "stall "+format.Dur(worst))
	}
	if st.EndAt > 0 {
		out = append(out, "ended")
	}
	return out
}

// drawCadencePage fills an area with rows of cadence cells.
func drawCadencePage(a chart.Area, fr *frame, st *stats.Stream, pg pages) {
	w := a.W()
	rows := func(from int) int {
		for range a.H() {
			from = chart.CadenceNext(st.Cells, from, w)
		}
		return from
	}
	k := pageKey{fr.t.Info.ID, st.Slot, paneWords}
	from := pg.start(k, st, rows)
	for y := 0; y < a.H() && from < len(st.Cells); y++ {
		to := chart.CadenceNext(st.Cells, from, w)
		if to == from {
			return
		}
		x := chart.Cadence(a.Row(y), st.Cells[:to], from, st.Median, st.Events == len(st.Cells))
		if to == len(st.Cells) && st.EndAt == 0 {
			a.Set(x, y, '▏', chart.Info)
		}
		from = to
	}
}
