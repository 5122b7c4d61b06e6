package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// This file says in words what a report says beside its table; text and
// Markdown share it.

// fact is one labelled thing, in one or more lines.
type fact struct {
	label string
	lines []string
}

// facts are what stands between the table and the reading.
func facts(s *stats.Snapshot, t *stats.Target) []fact {
	f := &t.Session
	out := []fact{requestFact(s, t)}
	if x, ok := sloFact(f, Complete(s)); ok {
		out = append(out, x)
	}
	if x, ok := scheduleFact(f); ok {
		out = append(out, x)
	}
	out = append(out, throughputFact(f))
	if f.Gap.N > 0 {
		out = append(out, stallFact(f), smoothFact(f))
	}
	if x, ok := levelFact(t); ok {
		out = append(out, x)
	}
	if x, ok := phaseFact(f); ok {
		out = append(out, x)
	}
	if x, ok := servedFact(f); ok {
		out = append(out, x)
	}
	if x, ok := serverFact(t); ok {
		out = append(out, x)
	}
	return append(out, floorFact(s, t))
}

func requestFact(s *stats.Snapshot, t *stats.Target) fact {
	r := &t.Session.Requests
	line := format.Full(r.OK) + " ok"
	if r.Short > 0 {
		line += fmt.Sprintf(" (%s ended before the length asked for)", format.Full(r.Short))
	}
	if n := r.ByClass[event.OKLong]; n > 0 {
		line += fmt.Sprintf(" (%s longer than asked for)", format.Full(n))
	}
	line += ", " + format.Full(r.Failed) + " failed"
	if c := classes(r.ByClass); c != "" {
		line += " (" + c + ")"
	}
	for _, x := range []struct {
		n    uint64
		word string
	}{{r.Warmup, "for warm-up (not counted)"}, {r.Aborted, "aborted at the end"}, {r.Skipped, "skipped"}} {
		if x.n > 0 {
			line += ", " + format.Full(x.n) + " " + x.word
		}
	}
	lines := []string{line}
	if b := t.Session.Buffered; b > 0 {
		lines = append(lines, plural(b, "reply")+" came whole, held back by something that buffers: no gaps, no speed")
	}
	if t.LastError != "" {
		lines = append(lines, "last error after "+format.Age(time.Duration(t.LastErrorAt))+": "+clean(t.LastError))
	}
	if detail := clean(t.Info.Detail); detail != "" && r.OK == 0 {
		lines = append(lines, clean(string(t.Info.State))+": "+detail)
	}
	return fact{"Requests", lines}
}

// classes lists the failures by class, the most frequent first.
func classes(by map[event.Class]uint64) string {
	var names []event.Class
	for c, n := range by {
		if c.Failed() && n > 0 {
			names = append(names, c)
		}
	}
	slices.SortFunc(names, func(a, b event.Class) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(names))
	for i, c := range names {
		parts[i] = clean(string(c)) + " " + format.Full(by[c])
	}
	return strings.Join(parts, ", ")
}

func sloFact(f *stats.Figures, complete bool) (fact, bool) {
	if len(f.SLO) == 0 {
		return fact{}, false
	}
	x := fact{label: "SLO"}
	for _, r := range f.SLO {
		verdict := "missed"
		switch {
		case r.NoData:
			verdict = "no data"
		case !complete:
			verdict = "not judged, the run is incomplete"
		case r.OK:
			verdict = "met"
		}
		x.lines = append(x.lines, sloShare(f, &r)+", "+verdict)
	}
	if attempts(f) > 0 {
		x.lines = append(x.lines, fmt.Sprintf("goodput: %s of the requests met all of them", format.Percent(f.Goodput)))
	}
	return x, true
}

// sloShare is a service level and how much of the samples met it; of the error
// rate how much failed.
func sloShare(f *stats.Figures, r *stats.SLOResult) string {
	switch {
	case r.NoData:
		return clean(r.Expr)
	case r.Metric == "err":
		return fmt.Sprintf("%s: %s of %s failed", clean(r.Expr), format.Percent(f.ErrorRate), format.Full(r.N))
	}
	return fmt.Sprintf("%s: %s of %s", clean(r.Expr), format.Percent(r.Attained), format.Full(r.N))
}

// scheduleFact sets what a user waited beside what the server took: the same
// requests from the instant that the schedule wanted, and from the one at which
// they were sent.
func scheduleFact(f *stats.Figures) (fact, bool) {
	x := fact{label: "Schedule"}
	for _, p := range []struct {
		name       string
		from, sent *stats.Figure
	}{{"ttft", &f.SchedTTFT, &f.TTFT}, {"e2e", &f.SchedE2E, &f.E2E}} {
		if p.from.N > 0 {
			x.lines = append(x.lines, p.name+" from schedule: "+spread(p.from), p.name+" from sent: "+spread(p.sent))
		}
	}
	if len(x.lines) == 0 {
		return fact{}, false
	}
	if f.Late.N > 0 {
		x.lines = append(x.lines, "requests left late by "+spread(&f.Late))
	}
	return x, true
}

// spread is a figure in a few words.
func spread(f *stats.Figure) string {
	unit := func(name, v string) string {
		if v == format.None {
			return name + " " + v
		}
		return name + " " + v + " ms"
	}
	return strings.Join([]string{
		unit("p50", format.Quantile(f.Q[stats.P50], format.MSFine)),
		unit("p99", format.Quantile(f.Q[stats.P99], format.MSFine)),
		unit("max", format.Max(f, format.MSFine)),
	}, ", ")
}

func throughputFact(f *stats.Figures) fact {
	about := ""
	if f.Approx {
		about = "≈"
	}
	ended := "requests/s"
	if f.Requests.OK == 0 && f.Requests.Failed > 0 {
		ended = "failed requests/s" // a server that refuses at once is no fast one
	}
	lines := []string{fmt.Sprintf("%s%s tok/s out, %s tok/s prompt, %s %s; %s%s out in all", about,
		format.Rate(f.OutputRate), format.Rate(f.PromptRate), format.Rate(f.RequestRate), ended, about, plural(f.OutputTokens, "token"))}
	if f.SpeedMedian > 0 {
		line := "per stream: median " + format.Rate(f.SpeedMedian) + " tok/s"
		if f.SpeedSlow10 > 0 && f.SpeedSlow10Mark != stats.MarkNone {
			line += ", slowest 10% at most " + format.Rate(f.SpeedSlow10)
			if f.SpeedSlow10Mark == stats.MarkApprox {
				line += "~"
			}
			line += " tok/s"
		}
		lines = append(lines, line)
	}
	if f.TokensPerEvent > 0 {
		lines = append(lines, format.Rate(f.TokensPerEvent)+" tokens per event")
	}
	if f.Bursts > 0 {
		lines = append(lines, format.Percent(f.BurstShare)+" of the events came together with the one before")
	}
	return fact{"Throughput", lines}
}

func stallFact(f *stats.Figures) fact {
	if f.Stalls.Count == 0 {
		return fact{"Stalls", []string{"none"}}
	}
	line := fmt.Sprintf("%s, the longest %s, %s in all", format.Full(f.Stalls.Count), format.Dur(f.Stalls.Longest), format.Dur(f.Stalls.Total))
	if f.OutputTokens > 0 {
		line += fmt.Sprintf(", %s per 1,000 tokens", format.Rate(f.Stalls.PerKTok))
	}
	return fact{"Stalls", []string{line}}
}

func smoothFact(f *stats.Figures) fact {
	m := &f.Smooth
	lines := []string{fmt.Sprintf("a reader at 5 tok/s waits %s of the time, at 10 tok/s %s", format.Percent(m.Stalled5), format.Percent(m.Stalled10))}
	var parts []string
	if m.FluidityN > 0 {
		parts = append(parts, fmt.Sprintf("fluidity %s of %s deadlines", format.Percent(m.Fluidity), format.Full(m.FluidityN)))
	}
	if f.Gap.N > 1 {
		parts = append(parts, "jitter "+format.MSFine(int64(m.Jitter))+" ms", "cv "+format.Rate(m.CV))
	}
	if len(parts) > 0 {
		lines = append(lines, strings.Join(parts, ", "))
	}
	return fact{"Smoothness", lines}
}

// phaseFact splits the time to the first token.
func phaseFact(f *stats.Figures) (fact, bool) {
	var parts []string
	for _, p := range []struct {
		name string
		s    stats.Span
	}{
		{"dns", f.Phases.DNS}, {"tcp", f.Phases.TCP}, {"tls", f.Phases.TLS}, {"send", f.Phases.Send},
		{"wait", f.Phases.Wait}, {"first token", f.Phases.First},
	} {
		if p.s.N > 0 {
			parts = append(parts, p.name+" "+format.MSFine(p.s.P50))
		}
	}
	if len(parts) == 0 {
		return fact{}, false
	}
	line := "median ms: " + strings.Join(parts, ", ")
	if attempts(f) > 0 {
		line += "; " + format.Percent(f.Phases.Reused) + " on a used connection"
	}
	lines := []string{line}
	if f.Cold > 0 && f.ColdTTFT.N > 0 {
		lines = append(lines, plural(f.Cold, "request")+" on a new connection: ttft "+spread(&f.ColdTTFT))
	}
	return fact{"Phases", lines}, true
}

// servedFact sets the server's own times beside what of ours they leave open.
func servedFact(f *stats.Figures) (fact, bool) {
	s := &f.Served
	if s.N() == 0 {
		return fact{}, false
	}
	var own, rest []string
	add := func(to *[]string, name string, v stats.Span) {
		if v.N > 0 {
			*to = append(*to, name+" "+format.MSFine(v.P50))
		}
	}
	add(&own, "queue", s.Queue)
	add(&own, "prefill", s.Prefill)
	add(&own, "decode", s.Decode)
	add(&rest, "of ttft", s.RestFirst)
	add(&rest, "of decoding", s.RestDecode)
	lines := []string{"by its own clock, median ms: " + strings.Join(own, ", ")}
	if len(rest) > 0 {
		lines = append(lines, "the rest, network and client: "+strings.Join(rest, ", "))
	}
	return fact{"Server", lines}, true
}
