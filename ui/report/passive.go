package report

import (
	"fmt"
	"strings"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// This file reports a run in which no request was made: nothing but what the
// server says of itself.

// passiveHead is the head of the table of the server's own figures.
var passiveHead = [...]string{"ms", "mean", "p50", "p99", "n"}

// passiveRows are the server's own figures of the run, those it has.
func passiveRows(v *stats.Server) (rows [][len(passiveHead)]string) {
	if v == nil {
		return nil
	}
	for _, x := range []struct {
		name string
		f    *stats.ServerFigure
	}{{"ttft", &v.TTFT}, {"itl", &v.ITL}, {"tpot", &v.TPOT}, {"queue", &v.Queue}, {"prefill", &v.Prefill}, {"e2e", &v.E2E}} {
		if x.f.AllN <= 0 {
			continue
		}
		row := [...]string{x.name, format.MSFine(x.f.AllMean), format.None, format.None, format.Full(uint64(x.f.AllN))}
		row[2], row[3] = format.Edge(x.f.AllP50, format.MSFine), format.Edge(x.f.AllP99, format.MSFine)
		rows = append(rows, row)
	}
	return rows
}

// passiveLines are the rows under their head, in columns.
func passiveLines(rows [][len(passiveHead)]string) []string {
	var lines []string
	for _, r := range append([][len(passiveHead)]string{passiveHead}, rows...) {
		line := format.Left(r[0], rowLabel)
		for _, c := range r[1:] {
			line += format.Right(c, 10)
		}
		lines = append(lines, line)
	}
	return lines
}

// passiveNote says what the figures are, under the table.
const passiveNote = "the server's own figures, of all its clients, by what its histograms grew while this run looked; of a percentile only the bucket is known"

// passiveFacts are what stands under the table.
func passiveFacts(s *stats.Snapshot, t *stats.Target) []fact {
	var out []fact
	if x, ok := stateFact(t.Server); ok {
		out = append(out, x)
	}
	if detail := clean(t.Info.Detail); detail != "" && t.Info.State != event.StateLive && t.Info.State != event.StateDone {
		out = append(out, fact{"State", []string{clean(string(t.Info.State)) + ": " + detail}})
	}
	if x, ok := serverFact(t); ok {
		out = append(out, x)
	}
	return append(out, floorFact(s, t))
}

// stateFact is what the server does now, and did in the run.
func stateFact(v *stats.Server) (fact, bool) {
	var lines []string
	whole := func(x float64) string { return format.Full(uint64(max(x, 0))) }
	for _, x := range []struct {
		name, word string
		write      func(float64) string
	}{{"running", "running", whole}, {"waiting", "waiting", whole}, {"kv_used", "KV cache", format.Percent}} {
		if g, ok := v.Value(x.name); ok {
			lines = append(lines, fmt.Sprintf("%s %s, at most %s", x.word, x.write(g.Value), x.write(g.Max)))
		}
	}
	for _, x := range []struct{ name, word string }{{"preemptions", "preemptions"}, {"gen_tokens", "tokens out"}, {"prefill_tokens", "prompt tokens"}} {
		if c, ok := v.Value(x.name); ok {
			lines = append(lines, whole(c.Grown)+" "+x.word+" in the run")
		}
	}
	return fact{"Server", lines}, len(lines) > 0
}

// noGrowth says why there is no figure of the server's.
func noGrowth(v *stats.Server) string {
	if v == nil || len(v.Sources) == 0 {
		return "no page of metrics was looked at: the server was not recognised, or has none; --server-metrics URL names one"
	}
	return "no histogram of the server has grown: nobody asked it for anything, or it shows none"
}

// textPassive writes it for a terminal.
func textPassive(b *strings.Builder, s *stats.Snapshot, t *stats.Target) {
	rows := passiveRows(t.Server)
	if len(rows) == 0 {
		b.WriteString(noGrowth(t.Server) + "\n")
	} else {
		for _, line := range passiveLines(rows) {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		b.WriteString(strings.Join(wrap(passiveNote, textWidth), "\n") + "\n")
	}
	b.WriteString("\n")
	for _, x := range passiveFacts(s, t) {
		writeFact(b, x)
	}
	textCauses(b, t)
}

// passiveTable is what a screen that only looked leaves behind: the server's own
// figures of each endpoint.
func passiveTable(s *stats.Snapshot) string {
	var lines []string
	for _, t := range s.Targets {
		lines = append(lines, name(t)+"  "+elapsed(s)+"  no request was made")
		rows := passiveRows(t.Server)
		if len(rows) == 0 {
			lines = append(lines, noGrowth(t.Server))
			continue
		}
		lines = append(lines, passiveLines(rows)...)
	}
	lines = lines[:min(len(lines), maxTableLines)]
	for i, l := range lines {
		lines[i] = strings.TrimRight(format.Cut(l, textWidth), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// markdownPassive writes it as Markdown.
func markdownPassive(b *strings.Builder, s *stats.Snapshot, t *stats.Target) {
	if rows := passiveRows(t.Server); len(rows) > 0 {
		b.WriteString("| " + strings.Join(passiveHead[:], " | ") + " |\n|---|---:|---:|---:|---:|\n")
		for _, r := range rows {
			b.WriteString("| " + strings.Join(r[:], " | ") + " |\n")
		}
		b.WriteString("\n" + escape(passiveNote) + "\n\n")
	}
	markdownFacts(b, passiveFacts(s, t))
	markdownCauses(b, t)
}
