package ui

import (
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

const (
	causeRows = 5  // of the table of causes, with its heading
	causeWide = 70 // the width from which on there is one
)

// drawCauses sums the session's spikes up by cause, the costliest first, with
// what follows from the first.
func drawCauses(a chart.Area, fr *frame) {
	list := fr.t.Causes
	heading(a, "causes of the session's spikes", "count, time stalled in all, worst")
	b := below(a)
	if len(list) == 0 {
		b.Text(0, 0, "no spike yet", chart.Dim)
		return
	}
	rows := min(len(list), b.H())
	for y := range rows {
		row := &list[y]
		if y == b.H()-1 && len(list) > b.H() {
			b.Text(0, y, cut("and "+strconv.Itoa(len(list)-y)+" more causes", b.W()), chart.Dim)
			return
		}
		drawCause(b.Row(y), fr, row)
	}
	if a := topAdvice(list); a != "" && rows < b.H() {
		b.Text(0, rows, fitWords("→ "+a, b.W()), chart.Info)
	}
}

func drawCause(a chart.Area, fr *frame, row *stats.CauseRow) {
	role := chart.Plain
	if v := row.Verdict(); v == stats.Ours || v == stats.Transport {
		role = chart.Ours
	}
	a.Text(0, 0, cut(label(row.Cause.String()), 32), role|chart.Bold)
	if v := row.Verdict(); row.Cause != stats.CauseUnknown {
		a.Text(33, 0, v.String(), chart.Dim)
	}
	a.Right(50, 0, format.Count(row.Count), chart.Strong)
	a.Right(60, 0, format.Dur(row.Total), chart.Plain)
	a.Right(69, 0, format.Dur(row.Worst.Length), chart.Plain)
	rest := fr.clock(row.Worst.At)
	if w := row.Worst.Why; w != nil && len(w.Evidence) > 0 {
		rest += "  " + labelURL(w.Evidence[0])
	}
	if a.W() >= 80 {
		a.Text(71, 0, fitWords(rest, a.W()-71), chart.Dim)
	}
}

// topAdvice is what follows from the costliest cause that has an advice.
func topAdvice(list []stats.CauseRow) string {
	for i := range list {
		if a := list[i].Advice; a != "" {
			return label(list[i].Cause.String()) + ": " + a
		}
	}
	return ""
}

// shortCauses are the causes where there is room for a word.
var shortCauses = [...]struct {
	cause stats.Cause
	word  string
}{
	{stats.CauseOurs, "ours"}, {stats.CauseTransport, "window"}, {stats.CauseRestart, "restart"}, {stats.CauseOutage, "outage"},
	{stats.CauseLoad, "load"}, {stats.CausePreemption, "preempted"}, {stats.CauseQueue, "queued"}, {stats.CausePrompt, "prompt"},
	{stats.CausePrefill, "prefill"}, {stats.CauseServerGC, "gc"}, {stats.CauseKVTraffic, "kv moves"}, {stats.CausePath, "path"},
	{stats.CauseBlocked, "blocked"}, {stats.CauseThrottle, "throttle"}, {stats.CauseRouted, "routed"}, {stats.CauseEngine, "engine"},
}

func shortCause(c stats.Cause) string {
	for _, s := range shortCauses {
		if s.cause == c {
			return s.word
		}
	}
	return ""
}

// whyShort is the verdict on a spike in few columns: its cause, then what the
// server was at, then how many streams it struck.
func whyShort(s *stats.Spike, w int) string {
	var parts []string
	if s.Why != nil && (s.Why.Verdict == stats.Likely || s.Why.Verdict == stats.Proven) {
		if word := shortCause(s.Why.Cause); word != "" {
			parts = append(parts, word)
		}
	}
	parts = append(parts, atThatTime(s)...)
	if s.Peers > 0 {
		parts = append(parts, "+"+strconv.Itoa(s.Peers)+" streams")
	}
	for len(parts) > 1 && chart.Width(strings.Join(parts, " ")) > w {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, " ")
}

// atThatTime is what the look nearest to a spike said of the server's load.
func atThatTime(s *stats.Spike) []string {
	if s.Around == nil {
		return nil
	}
	var out []string
	for _, x := range [...][2]string{{"running", "run"}, {"waiting", "wait"}} {
		nearest, text := int64(-1), ""
		for i := range s.Around.Looks {
			look := &s.Around.Looks[i]
			apart := max(look.Apart, -look.Apart)
			for _, v := range look.Values {
				if v.Name == x[0] && (nearest < 0 || apart < nearest) && v.Value >= 0 && v.Value < 1e6 {
					nearest, text = apart, x[1]+strconv.FormatFloat(v.Value, 'f', 0, 64)
				}
			}
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// signed are the lines that say why, for under a spike: the evidence, what the
// server was at, and what follows.
func signed(s *stats.Spike) []string {
	var out []string
	for _, e := range s.Why.Evidence {
		out = append(out, "  "+labelURL(e))
	}
	if at := atThatTime(s); len(at) > 0 {
		out = append(out, "  the server then: "+strings.Join(at, ", "))
	}
	if s.Why.Advice != "" {
		out = append(out, "  → "+s.Why.Advice)
	}
	return out
}
