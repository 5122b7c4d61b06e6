package report

import (
	"fmt"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// This file says why it spiked, and what the server says of itself.

// causeHead is the head of the table of causes.
var causeHead = [...]string{"cause", "spikes", "in all", "worst", "verdict"}

// causeRow is one row of it.
func causeRow(c *stats.CauseRow) [len(causeHead)]string {
	return [...]string{
		clean(c.Cause.String()), format.Full(c.Count), format.Dur(c.Total), format.Dur(c.Worst.Length), c.Verdict().String(),
	}
}

// worstOf says which spike was the worst of a cause, and why that is believed.
func worstOf(c *stats.CauseRow) []string {
	w := &c.Worst
	line := "worst: " + format.Dur(w.Length) + " at " + format.Age(time.Duration(w.At))
	switch {
	case w.Phase == stats.PhaseOutage:
		line += ", the endpoint was away"
	case w.First:
		line += fmt.Sprintf(", first token of request %d", w.Request)
	default:
		line += fmt.Sprintf(", request %d token %d (%s)", w.Request, w.Token, w.Phase)
	}
	lines := []string{line}
	if w.Why != nil {
		for _, e := range w.Why.Evidence {
			lines = append(lines, clean(e))
		}
		if w.Why.Rule != "" {
			lines[len(lines)-1] += " [rule: " + clean(w.Why.Rule) + "]"
		}
	}
	return lines
}

// textCauses writes the table of causes, each with the evidence of its worst and
// the advice that follows.
func textCauses(b *strings.Builder, t *stats.Target) {
	if len(t.Causes) == 0 {
		return
	}
	b.WriteString("\nWhy it spiked\n")
	writeCause(b, causeHead)
	for i := range t.Causes {
		c := &t.Causes[i]
		writeCause(b, causeRow(c))
		for _, line := range worstOf(c) {
			b.WriteString("    " + strings.Join(wrap("- "+line, textWidth-6), "\n      ") + "\n")
		}
		if c.Advice != "" {
			b.WriteString("    " + strings.Join(wrap("advice: "+clean(c.Advice), textWidth-6), "\n      ") + "\n")
		}
	}
	if t.Unlisted > 0 {
		b.WriteString("  " + unlisted(t) + "\n")
	}
}

// unlisted says how many spikes nobody judged.
func unlisted(t *stats.Target) string {
	return plural(t.Unlisted, "spike") + " more came too fast to be looked at one by one"
}

func writeCause(b *strings.Builder, r [len(causeHead)]string) {
	line := "  " + format.Left(r[0], 34)
	for i, width := range []int{8, 10, 10} {
		line += format.Right(r[i+1], width)
	}
	b.WriteString(line + "  " + r[4] + "\n")
}

func markdownCauses(b *strings.Builder, t *stats.Target) {
	if len(t.Causes) == 0 {
		return
	}
	b.WriteString("\n### Why it spiked\n\n| " + strings.Join(causeHead[:], " | ") + " | evidence of the worst | advice |\n|---|---:|---:|---:|---|---|---|\n")
	for i := range t.Causes {
		c := &t.Causes[i]
		b.WriteString("|")
		for _, cell := range causeRow(c) {
			b.WriteString(" " + escape(cell) + " |")
		}
		lines := worstOf(c)
		for j := range lines {
			lines[j] = escape(lines[j])
		}
		fmt.Fprintf(b, " %s | %s |\n", strings.Join(lines, "<br>"), escape(clean(c.Advice)))
	}
	if t.Unlisted > 0 {
		b.WriteString("\n" + unlisted(t) + ".\n")
	}
}

// serverFact sets the server's own figures beside ours and says what watching
// it has cost.
func serverFact(t *stats.Target) (fact, bool) {
	v := t.Server
	if v == nil {
		return fact{}, false
	}
	var parts, lines []string
	for _, x := range []struct {
		name string
		f    *stats.ServerFigure
	}{{"ttft", &v.TTFT}, {"itl", &v.ITL}, {"queue", &v.Queue}, {"prefill", &v.Prefill}} {
		if x.f.MinuteN > 0 {
			parts = append(parts, fmt.Sprintf("%s %s ms", x.name, format.MSFine(x.f.MinuteMean)))
		}
	}
	if len(parts) > 0 {
		lines = append(lines, "on its metrics page, mean of the last minute, all clients: "+strings.Join(parts, ", "))
	}
	if v.Restarts > 0 {
		lines = append(lines, plural(uint64(v.Restarts), "restart")+" of its counters")
	}
	if len(v.Missing) > 0 {
		lines = append(lines, "not exported: "+clean(strings.Join(v.Missing, ", ")))
	}
	for i := range v.Sources {
		src := &v.Sources[i]
		line := fmt.Sprintf("%s: %s, %s, %s of its time", clean(src.Name), plural(src.Looks, "look"), plural(src.Bytes, "byte"), format.Dur(src.TookSum))
		if src.MinuteLooks > 0 {
			line += fmt.Sprintf("; in the last minute %s, %s", format.Full(src.MinuteLooks), plural(src.MinuteBytes, "byte"))
		}
		if e := clean(src.Effect); e != "" {
			line += "; asking " + e
		}
		if d := clean(src.Detail); d != "" && src.Name != event.SignalGPU {
			line += "; " + d
		}
		lines = append(lines, line)
	}
	return fact{"Metrics", lines}, true
}
