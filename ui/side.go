package ui

import (
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// drawSplit draws the phases of a request up to its first token: the median of
// each and a bar, or, with room, a row per phase with P50 and P90. The bar shows
// the share of those that the time to first token consists of, which begins on
// an established connection: without dns, tcp and tls.
func drawSplit(a chart.Area, fr *frame) {
	p := &fr.f.Phases
	phases := []struct {
		name string
		s    *stats.Span
	}{{"dns", &p.DNS}, {"tcp", &p.TCP}, {"tls", &p.TLS}, {"send", &p.Send}, {"wait", &p.Wait}, {"1st", &p.First}}
	if a.H() >= 7 {
		heading(a, "request phases, p50 and p90 of the window (ms)", "")
		for i, ph := range phases {
			a.Text(0, 1+i, ph.name, chart.Head)
			if ph.s.N == 0 {
				a.Right(14, 1+i, format.None, chart.Dim)
				continue
			}
			a.Right(14, 1+i, fitMS(ph.s.P50, "", "", 7), chart.Strong)
			a.Right(22, 1+i, fitMS(ph.s.P90, "", "", 7), chart.Plain)
			spanBar(a.Sub(24, 1+i, a.W()-24, 1), ph.s.P50, ph.s.P90, maxP90(p))
		}
		return
	}
	heading(a, "request phases, median of the window (ms)", "")
	// With too little room the earliest phases go: the last ones are the server's.
	shown, room := phases[len(phases):], a.W()+1
	for i := len(phases) - 1; i >= 0; i-- {
		if ph := phases[i]; ph.s.N > 0 {
			room -= chart.Width(ph.name) + chart.Width(format.MS(ph.s.P50)) + 2
		}
		if room < 0 {
			break
		}
		shown = phases[i:]
	}
	x := 0
	for _, ph := range shown {
		if ph.s.N > 0 { // else no request of the window had it: no TLS, no new connection
			x = a.Text(x, 1, ph.name+" ", chart.Dim)
			x = a.Text(x, 1, format.MS(ph.s.P50), chart.Strong) + 1
		}
	}
	if a.H() >= 3 {
		drawShares(a.Row(2), p)
	}
}

// drawShares draws what the time to first token consists of as one bar: send,
// wait and 1st, by their medians.
func drawShares(a chart.Area, p *stats.Phases) {
	parts := [...]struct {
		v     int64
		shade rune
		role  chart.Role
	}{{p.Send.P50, '░', chart.Dim}, {p.Wait.P50, '█', chart.Dot}, {p.First.P50, '▒', chart.Speed}}
	total := int64(0)
	for _, part := range parts {
		total += max(part.v, 0)
	}
	if total <= 0 {
		return
	}
	bar := a.Sub(5, 0, a.W()-5, 1)
	a.Text(0, 0, "ttft", chart.Dim)
	x, sum := 0, int64(0)
	for _, part := range parts {
		sum += max(part.v, 0)
		for end := int(float64(sum) / float64(total) * float64(bar.W())); x < end; x++ {
			bar.Set(x, 0, part.shade, part.role)
		}
	}
}

func maxP90(p *stats.Phases) int64 {
	m := int64(1)
	for _, s := range [...]*stats.Span{&p.DNS, &p.TCP, &p.TLS, &p.Send, &p.Wait, &p.First} {
		m = max(m, s.P50, s.P90)
	}
	return m
}

// spanBar draws a median as a full bar and the way on to P90 as a light one.
func spanBar(a chart.Area, p50, p90, most int64) {
	cols := func(v int64) int { return int(float64(v) / float64(most) * float64(a.W())) }
	for x := range cols(p90) {
		a.Set(x, 0, '▒', chart.Dim)
	}
	for x := range cols(p50) {
		a.Set(x, 0, '█', chart.Dot)
	}
}

// drawRecent lists the newest finished requests, newest first.
func drawRecent(a chart.Area, fr *frame) {
	heading(a, "requests, ms", "newest first")
	for _, h := range [...]struct {
		x    int
		name string
	}{{14, "ttft"}, {20, "tpot"}, {27, "e2e"}, {35, "max gap"}, {43, "tokens"}} {
		a.Right(h.x, 1, h.name, chart.Dim)
	}
	y := 2
	for i := len(fr.t.Recent) - 1; i >= 0 && y < a.H(); i-- {
		r := &fr.t.Recent[i]
		a.Text(0, y, "#"+strconv.FormatUint(r.ID, 10), chart.Plain)
		if r.Class.Failed() {
			msg := labelURL(string(r.Class) + " " + r.Message)
			a.Text(8, y, cut("× "+msg, a.W()-8), chart.Bad)
			y++
			continue
		}
		for _, c := range [...]struct {
			x  int
			ns int64
		}{{14, r.TTFT}, {20, r.TPOT}, {27, r.E2E}, {35, r.MaxGap}} {
			s := format.None
			if c.ns > 0 {
				s = fitMS(c.ns, "", "", 5)
			}
			a.Right(c.x, y, s, chart.Plain)
		}
		a.Right(43, y, strconv.Itoa(r.N), chart.Plain)
		y++
	}
	if y == 2 && a.H() > 2 {
		a.Text(0, 2, "none finished yet", chart.Dim)
	}
}

// drawHealth is the row above the keys in the wide layout: the chosen spike, the
// newest mark and error, or the newest note.
func drawHealth(a chart.Area, fr *frame) {
	if fr.spike != nil {
		drawChosen(a, fr)
		return
	}
	if drawHappened(a, fr) {
		return
	}
	if n := len(fr.s.Notes); n > 0 {
		note := &fr.s.Notes[n-1]
		role := chart.Plain
		if note.Level == "warn" || note.Level == "error" {
			role = chart.Warn
		}
		x := a.Text(0, 0, fr.clock(note.At), chart.Dim)
		a.Text(x+1, 0, cut(labelURL(note.Text), a.W()-x-1), role)
		return
	}
	if fr.s.Damaged != "" {
		a.Text(0, 0, cut(labelURL(fr.s.Damaged), a.W()), chart.Warn)
	}
}

// drawSmooth lists what a reader feels, over the window.
func drawSmooth(a chart.Area, fr *frame) {
	if a.H() < 2 {
		return // a heading alone says nothing
	}
	heading(a, "smoothness of the window", "")
	for i, p := range smoothParts(fr) {
		if 1+i >= a.H() {
			return
		}
		a.Text(0, 1+i, p[0], chart.Dim)
		a.Text(24, 1+i, cut(p[1], a.W()-24), chart.Plain)
	}
}

func smoothParts(fr *frame) [][2]string {
	f := fr.f
	out := [][2]string{
		{"stalls", stallText(&f.Stalls)},
		{"stalls per 1000 tokens", format.Rate(f.Stalls.PerKTok)},
		{"reader at 5 tok/s", "waits " + format.Percent(f.Smooth.Stalled5)},
		{"reader at 10 tok/s", "waits " + format.Percent(f.Smooth.Stalled10)},
	}
	if f.Smooth.FluidityN > 0 {
		out = append(out, [2]string{"fluidity", format.Percent(f.Smooth.Fluidity)})
	}
	if f.Gap.N > 1 {
		out = append(out, [2]string{"jitter, cv", format.MS(int64(max(f.Smooth.Jitter, 0))) + " ms, " + format.Rate(f.Smooth.CV)})
	}
	if f.TokensPerEvent > 0 {
		out = append(out, [2]string{"tokens per event", format.Rate(f.TokensPerEvent)})
	}
	if f.Bursts > 0 {
		out = append(out, [2]string{"came together", format.Percent(f.BurstShare) + " of events"})
	}
	if f.Merged > 0 {
		out = append(out, [2]string{"left out, ours", format.Count(f.Merged) + " gaps, " + format.Dur(f.MergedSum)})
	}
	return out
}

func stallText(s *stats.Stalls) string {
	if s.Count == 0 {
		return "none"
	}
	return format.Count(s.Count) + ", longest " + format.Dur(s.Longest) + ", total " + format.Dur(s.Total)
}
