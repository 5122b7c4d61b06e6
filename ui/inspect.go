package ui

import (
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// openRequest looks into one request, until esc.
func (m *model) openRequest(id uint64) {
	if id == 0 {
		m.say("no request was under way")
		return
	}
	m.open = id
	m.help, m.message = false, ""
	m.dirty = dirtyAll
}

// enter opens what is chosen: a spike's request, or else the one with the worst
// of the column under the cursor.
func (m *model) enter() {
	t := m.shown()
	if s := findSpike(t, m.spike); s != nil {
		m.openRequest(s.Request) // of an outage there is none
		return
	}
	if !m.cursor.on {
		m.say("nothing is chosen: n goes to a spike, the arrows move a cursor")
		return
	}
	z := m.zoomNS()
	from := m.cursor.at / z * z
	if list := spikesIn(t, from, from+z); len(list) > 0 {
		m.openRequest(list[0].Request)
		return
	}
	if id := longestIn(t, from, from+z); id != 0 {
		m.openRequest(id)
		return
	}
	m.say("no request whose gaps are still kept had a token in this column")
}

// longestIn is the request whose gap is the longest of those that ended within
// from..to; 0 when none is kept.
func longestIn(t *stats.Target, from, to int64) (id uint64) {
	if t.Traces == nil {
		return 0
	}
	most := int64(-1)
	for _, list := range [...][]stats.Trace{t.Traces.Running, t.Traces.Finished, t.Traces.Worst} {
		for i := range list {
			r := &list[i]
			if r.Sent >= to || !r.Running && r.End < from {
				continue
			}
			for _, c := range r.Cells() {
				if c.At >= from && c.At < to && c.Gap > most {
					most, id = c.Gap, r.ID
				}
			}
		}
	}
	return id
}

// lookUp finds a request, with its gaps where they are kept.
func lookUp(t *stats.Target, id uint64) (r *stats.Request, trace *stats.Trace) {
	if trace = t.Traces.Find(id); trace != nil {
		return &trace.Request, trace
	}
	for i := len(t.Recent) - 1; i >= 0; i-- {
		if t.Recent[i].ID == id {
			return &t.Recent[i], nil
		}
	}
	return nil, nil
}

// drawInspect draws one request: how it ended, where its time went, and each of
// its gaps by the number of the token event.
func drawInspect(a chart.Area, fr *frame, id uint64) {
	r, trace := lookUp(fr.t, id)
	name := "request #" + strconv.FormatUint(id, 10)
	if r == nil {
		heading(a, name, "esc goes back")
		a.Text(0, 1, fitWords("no longer kept: the newest 1000 requests are, and the gaps of the newest 200", a.W()), chart.Dim)
		return
	}
	running := trace != nil && trace.Running
	ended := endText(r)
	if running {
		ended = "under way"
	}
	heading(a, name+", "+cut(ended, max(a.W()-len(name)-24, 8)), "esc goes back")
	phases := phasesOf(r, fr.s.Now, running)
	worst := worstLines(fr, trace, a.W())
	s := share{left: a.H() - 1}
	facts, plot, bars := s.take(1), s.take(4), s.take(1+len(phases))
	lines := 0
	if n := min(len(worst), s.left/2-1); n > 0 {
		lines = s.take(1 + n)
	}
	plot += s.take(min(s.left, 24))
	y := 1
	next := func(rows int) chart.Area {
		b := a.Sub(0, y, a.W(), rows)
		y += rows
		return b
	}
	drawParts(next(facts), requestFacts(fr, r, trace), -1)
	drawPhases(next(bars), phases)
	drawGaps(next(plot), fr, trace)
	if b := next(lines); b.H() > 0 {
		heading(b, "its longest gaps", "")
		for i := range b.H() - 1 {
			b.Text(0, 1+i, fitWords(worst[i], b.W()), chart.Plain)
		}
	}
}

func requestFacts(fr *frame, r *stats.Request, trace *stats.Trace) []part {
	out := []part{{text: "sent " + fr.clock(r.Sent), role: chart.Dim, rank: 4}}
	add := func(rank int, role chart.Role, text string) {
		out = append(out, part{text: text, role: role, rank: rank})
	}
	for _, f := range [...]struct {
		rank int
		name string
		ns   int64
	}{{0, "ttft", r.TTFT}, {2, "tpot", r.TPOT}, {1, "e2e", r.E2E}} {
		if f.ns > 0 {
			add(f.rank, chart.Strong, f.name+" "+format.Dur(f.ns))
		}
	}
	if r.MaxGap > 0 {
		add(0, fr.lim.Column(r.MaxGap), "max gap "+format.Dur(r.MaxGap))
	}
	tok := format.Count(uint64(max(r.N, 0))) + " tok"
	if r.Asked > 0 {
		tok += " of " + strconv.Itoa(r.Asked)
	}
	if r.Events != r.N {
		tok += " in " + strconv.Itoa(r.Events) + " events"
	}
	add(1, chart.Plain, tok)
	if r.Stalls > 0 {
		add(3, chart.Bad, several(uint64(max(r.Stalls, 0)), "stall"))
	}
	if r.Merged > 0 {
		add(3, chart.Ours, "□ "+format.Dur(r.Merged)+" ours")
	}
	if r.Transport > 0 {
		add(3, chart.Ours, "□ "+format.Dur(r.Transport)+" transport")
	}
	add(5, chart.Dim, "stream "+strconv.Itoa(int(r.Slot)))
	if r.Prompt > 0 {
		add(6, chart.Dim, "prompt "+strconv.Itoa(r.Prompt))
	}
	if trace != nil && trace.Lost > 0 {
		add(2, chart.Warn, format.Count(uint64(trace.Lost))+" later events not kept")
	}
	return out
}

// phase is a span of a request's time.
type phase struct {
	name     string
	from, to int64
	shade    rune
	role     chart.Role
}

// phasesOf are the spans of a request, from its connection to its end, those
// that took no time left out.
func phasesOf(r *stats.Request, now int64, running bool) []phase {
	at, end := r.Sent-max(r.DNS, 0)-max(r.TCP, 0)-max(r.TLS, 0), r.End
	if running {
		end = now
	}
	var out []phase
	add := func(name string, to int64, shade rune, role chart.Role) {
		if to > at {
			out = append(out, phase{name, at, to, shade, role})
			at = to
		}
	}
	add("dns", at+r.DNS, '░', chart.Dim)
	add("tcp", at+r.TCP, '░', chart.Dim)
	add("tls", at+r.TLS, '░', chart.Dim)
	at = r.Sent
	add("send", at+r.Wrote, '░', chart.Dim)
	switch {
	case r.Headers == 0 && r.First == 0:
		add("wait", end, '█', chart.Warn)
		return out
	case r.First == 0:
		add("wait", r.Headers, '█', chart.Dot)
		add("no token", end, '█', chart.Warn)
		return out
	}
	add("wait", r.Headers, '█', chart.Dot)
	add("1st", r.First, '▒', chart.Speed)
	add("tokens", r.Last, '█', chart.Bar)
	add("end", end, '░', chart.Dim)
	return out
}

// drawPhases draws the spans below each other on one scale.
func drawPhases(a chart.Area, phases []phase) {
	if a.H() < 2 || len(phases) == 0 {
		return
	}
	heading(a, "where its time went", "")
	const nameW, timeW = 9, 8
	bar := a.Sub(nameW+timeW+1, 1, a.W()-nameW-timeW-1, a.H()-1)
	from, span := phases[0].from, max(phases[len(phases)-1].to-phases[0].from, 1)
	col := func(at int64) int { return int(float64(at-from) / float64(span) * float64(bar.W())) }
	for i, p := range phases {
		a.Text(0, 1+i, p.name, chart.Head)
		a.Right(nameW+timeW, 1+i, format.Dur(p.to-p.from), chart.Strong)
		x := min(col(p.from), bar.W()-1)
		for to := max(col(p.to), x+1); x < to; x++ {
			bar.Set(x, i, p.shade, p.role)
		}
	}
}
