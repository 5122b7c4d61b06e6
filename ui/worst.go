package ui

import (
	"strconv"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// noSpike stands where there is no entry. Gaps there are: none of them passed the
// stall rule.
const noSpike = "no stall, no slow first token yet"

// drawWorst draws the session's worst stalls and slow first tokens as a list:
// the longest gaps alone would be mostly first tokens.
func drawWorst(a chart.Area, fr *frame) {
	heading(a, "stalls and slow first tokens, worst first", "")
	y := 1
	for i := range fr.t.Worst {
		if y >= a.H() {
			return
		}
		drawSpike(a.Row(y), fr, &fr.t.Worst[i])
		y++
	}
	if y == 1 && a.H() > 1 {
		a.Text(0, 1, noSpike, chart.Dim)
	}
}

func drawSpike(a chart.Area, fr *frame, s *stats.Spike) {
	role := fr.lim.Column(s.Length)
	if s.First || role == chart.Bar {
		role = chart.Plain
	}
	if s.Merged || s.Transport {
		role = chart.Ours
	}
	a.Right(7, 0, format.Dur(s.Length), role|chart.Bold)
	x := a.Text(8, 0, "#"+strconv.FormatUint(s.Request, 10), chart.Plain)
	what := "ttft"
	if !s.First {
		what = "tok " + strconv.Itoa(s.Token)
	}
	x = a.Text(max(x+1, 15), 0, what, chart.Plain)
	x = a.Text(max(x+1, 24), 0, fr.clock(s.At), chart.Dim)
	note := ""
	switch {
	case s.Merged:
		note = "□ ours"
	case s.Transport:
		note = "□ transport"
	case s.Peers > 0:
		note = "+" + strconv.Itoa(s.Peers) + " streams"
	}
	if note != "" && x+1+chart.Width(note) <= a.W() {
		a.Text(max(x+1, 33), 0, note, chart.Info)
	}
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
	text := format.Dur(s.Length) + " #" + strconv.FormatUint(s.Request, 10)
	if s.First {
		text += " ttft"
	} else {
		text += " tok " + strconv.Itoa(s.Token)
	}
	switch {
	case s.Merged:
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
