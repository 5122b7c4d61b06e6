package ui

import (
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

const (
	causeRows = 4  // of the table of causes at least, with its heading and what follows
	causeMost = 9  // and at most
	causeWide = 70 // the width from which on there is one
)

// Where the columns of the table of causes end, and the last begins.
const (
	causeName    = 30
	causeVerdict = 31
	causeCount   = 47
	causeTotal   = 55
	causeShare   = 61
	causeWorst   = 69
	causeWhy     = 71
)

// drawCauses sums the session's spikes up by cause, the costliest first, with
// the evidence of the worst of each, and what follows from the costliest.
func drawCauses(a chart.Area, fr *frame) {
	list := fr.t.Causes
	heading(a, "causes of the spikes", "")
	b := below(a)
	if len(list) == 0 {
		b.Text(0, 0, "no spike yet", chart.Dim)
		return
	}
	for _, h := range [...]struct {
		x    int
		name string
	}{{causeCount, "count"}, {causeTotal, "in all"}, {causeShare, "share"}, {causeWorst, "worst"}} {
		a.Right(h.x+1, 0, " "+h.name+" ", chart.Dim)
	}
	rows := b.H()
	advice := topAdvice(list)
	if advice != "" && rows > 1 {
		rows--
	}
	shown, rest := min(len(list), rows), ""
	if n := len(list) - shown; n > 0 {
		rest = " +" + strconv.Itoa(n) + " more "
	}
	if a.W() > causeWhy+20 {
		rest = " its evidence " + strings.TrimPrefix(rest, " ")
	}
	if x := causeWhy - 1; x+chart.Width(rest) <= a.W() {
		a.Text(x, 0, rest, chart.Dim)
	}
	all := int64(0)
	for i := range list {
		all += max(list[i].Total, 0)
	}
	for y := range shown {
		drawCause(b.Row(y), fr, &list[y], all)
	}
	if advice != "" && shown < b.H() {
		for y, l := range wrapAtMost("→ "+advice, b.W(), b.H()-shown) {
			b.Text(0, shown+y, l, chart.Info)
		}
	}
}

// wrapAtMost breaks a text into at most n rows; the last one may end in an
// ellipsis.
func wrapAtMost(text string, w, n int) []string {
	rows := wrap(text, w)
	if len(rows) > n && n > 0 {
		rows[n-1] = fitWords(strings.Join(rows[n-1:], " "), w)
		rows = rows[:n]
	}
	return rows
}

func drawCause(a chart.Area, fr *frame, row *stats.CauseRow, all int64) {
	role := chart.Plain
	if v := row.Verdict(); v == stats.Ours || v == stats.Transport {
		role = chart.Ours
	}
	a.Text(0, 0, fitWords(label(row.Cause.String()), causeName), role|chart.Bold)
	if v := row.Verdict(); row.Cause != stats.CauseUnknown {
		a.Text(causeVerdict, 0, v.String(), chart.Dim)
	}
	a.Right(causeCount, 0, format.Count(row.Count), chart.Strong)
	a.Right(causeTotal, 0, format.Dur(row.Total), chart.Plain)
	if all > 0 {
		a.Right(causeShare, 0, format.Percent(float64(max(row.Total, 0))/float64(all)), chart.Plain)
	}
	a.Right(causeWorst, 0, format.Dur(row.Worst.Length), chart.Plain)
	rest := fr.clock(row.Worst.At)
	if w := row.Worst.Why; w != nil && len(w.Evidence) > 0 {
		rest += "  " + labelURL(w.Evidence[0])
	}
	if a.W() >= causeWhy+9 {
		a.Text(causeWhy, 0, fitWords(rest, a.W()-causeWhy), chart.Dim)
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

// whyShort is the verdict on a spike in few columns: its cause, then what the
// server was at, then how many streams it struck.
func whyShort(s *stats.Spike, w int) string {
	var parts []string
	if word := whyWord(s); word != "" {
		parts = append(parts, word)
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

// whyWord is the word of the cause that a spike likely had; "" for none.
func whyWord(s *stats.Spike) string {
	if s.Why == nil || s.Why.Verdict != stats.Likely && s.Why.Verdict != stats.Proven {
		return ""
	}
	return shortCause(s.Why.Cause)
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
