package ui

import (
	"slices"
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// noSpike stands where there is no entry. Gaps there are: none of them passed the
// stall rule.
const noSpike = "no stall, no slow first token yet"

// drawWorst draws the session's worst stalls and slow first tokens as a list:
// the longest gaps alone would be mostly first tokens. Under the chosen one, and
// where there is room under the worst of all, stands what is known of it.
func drawWorst(a chart.Area, fr *frame) {
	title := "stalls and slow first tokens, worst first"
	if a.W() < 50 {
		title = "stalls, slow first tokens"
	}
	heading(a, title, "↑↓ enter")
	list, room := fr.t.Worst, a.H()-1
	if len(list) == 0 {
		below(a).Text(0, 0, cut(noSpike, a.W()), chart.Dim)
		return
	}
	chosen := 0
	if fr.spike != nil {
		chosen = max(slices.IndexFunc(list, func(s stats.Spike) bool { return keyOf(&s) == keyOf(fr.spike) }), 0)
	}
	var lines []string
	if room >= 8 || fr.spike != nil && room >= 3 {
		for _, e := range evidence(fr, &list[chosen]) {
			if a.W() >= spikeWide && e == struck(&list[chosen]) {
				continue // stands in its row
			}
			lines = append(lines, wrap(e, a.W()-spikeIndent)...)
		}
		lines = lines[:min(len(lines), room/2)]
	}
	rows := room - len(lines)
	y := 1
	for i := max(min(chosen-rows/2, len(list)-rows), 0); i < len(list) && y < a.H(); i++ {
		drawSpike(a.Row(y), fr, &list[i])
		if y++; i != chosen {
			continue
		}
		if fr.spike != nil {
			a.Set(0, y-1, '›', chart.Key)
		}
		for _, l := range lines {
			a.Text(spikeIndent, y, l, chart.Dim)
			y++
		}
	}
}

// spikeIndent is where the evidence of a spike begins. From spikeWide columns on
// its row says what it struck.
const (
	spikeIndent = 9
	spikeWide   = 100
)

func drawSpike(a chart.Area, fr *frame, s *stats.Spike) {
	role := fr.lim.Column(s.Length)
	if s.First || role == chart.Bar {
		role = chart.Plain
	}
	if oursBy(s) || s.Transport {
		role = chart.Ours
	}
	a.Right(spikeIndent-1, 0, format.Dur(s.Length), role|chart.Bold)
	x := spikeIndent
	if s.Request != 0 {
		x = a.Text(x, 0, requestName(s.Request, 8), chart.Plain)
	}
	x = a.Text(max(x+1, 16), 0, spikePlace(s), chart.Plain)
	x = a.Text(max(x+1, 25), 0, fr.clock(s.At), chart.Dim)
	x = max(x+1, 34)
	note := ""
	switch {
	case a.W() >= spikeWide:
		note = struck(s)
	case s.Late:
		note = "◇ read late"
	case oursBy(s):
		note = "□ ours"
	case s.Transport:
		note = "□ transport"
	default:
		note = whyShort(s, a.W()-x)
	}
	if x+min(chart.Width(note), 12) <= a.W() {
		a.Text(x, 0, fitWords(note, a.W()-x), chart.Info)
	}
}

// spikePlace says where in a reply a spike was.
func spikePlace(s *stats.Spike) string {
	switch {
	case s.Phase == stats.PhaseOutage:
		return "outage"
	case s.First:
		return "ttft"
	}
	return "tok " + strconv.Itoa(s.Token)
}

// drawWorstLine is the small layout's row: the newest error, then the worst
// stalls.
func drawWorstLine(a chart.Area, fr *frame) {
	x := 0
	if e := recentError(fr); e != "" {
		x = a.Text(x, 0, cut(e, a.W()/2), chart.Bad)
		if x < a.W() {
			x = a.Text(x, 0, " │ ", chart.Rule)
		}
	}
	if len(fr.t.Worst) == 0 {
		a.Text(x, 0, cut(noSpike, a.W()-x), chart.Dim)
		return
	}
	x = a.Text(x, 0, "spikes ", chart.Head) // a slow first token is named so
	for i := range fr.t.Worst {
		s := &fr.t.Worst[i]
		text := spikeText(s)
		if at := fr.clock(s.At); at != "" && i == 0 && a.W()-x >= 70 {
			text += " " + at
		}
		if why := whyWord(s); why != "" && !oursBy(s) && !s.Transport {
			text += " " + why
		}
		if i > 0 {
			text = " │ " + text
		}
		if x+chart.Width(text) > a.W() {
			return
		}
		role := chart.Plain
		if i == 0 {
			role = chart.Strong
		}
		x = a.Text(x, 0, text, role)
	}
}

// spikeText is a spike in the small layout's row: "932ms #1047 tok 12".
func spikeText(s *stats.Spike) string {
	text := format.Dur(s.Length)
	if s.Request != 0 {
		text += " #" + strconv.FormatUint(s.Request, 10)
	}
	text += " " + spikePlace(s)
	switch {
	case oursBy(s):
		text += " ours"
	case s.Transport:
		text += " transport"
	}
	return text
}

// errorFresh is how long an error stays in the small layout's row, ns.
const errorFresh = int64(60e9)

func recentError(fr *frame) string {
	t := fr.t
	if t.LastError == "" || fr.s.Now-t.LastErrorAt > errorFresh {
		return ""
	}
	return "× " + format.Dur(max(fr.s.Now-t.LastErrorAt, 0)/1e9*1e9) + " ago: " + labelURL(t.LastError)
}
