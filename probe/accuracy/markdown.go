package accuracy

import (
	"fmt"
	"slices"
	"strings"
)

// median is the lower median over the rounds of what of gives.
func (o outcome) median(of func(*Result) float64) float64 {
	var v []float64
	for i := range o.rounds {
		v = append(v, of(&o.rounds[i]))
	}
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

func (o outcome) error(p float64) float64 {
	return o.median(func(r *Result) float64 { return micros(rank(r.Errors, p)) })
}

func (o outcome) first(p float64) float64 {
	return o.median(func(r *Result) float64 { return micros(rank(r.First, p)) })
}

// cpu is µs a token.
func (o outcome) cpu() float64 {
	return o.median(func(r *Result) float64 { return micros(r.CPU) / float64(max(r.Tokens, 1)) })
}

func (o outcome) memory() float64 {
	return o.median(func(r *Result) float64 { return float64(r.RSS) / (1 << 20) })
}

// row finds a client's outcome.
func (t *table) row(client string) (outcome, bool) {
	for _, o := range t.rows {
		if o.client == client && len(o.rounds) > 0 {
			return o, true
		}
	}
	return outcome{}, false
}

// markdown is the whole report.
func (r *report) markdown() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# How exact teapot is\n")
	p("Written by `teapot accuracy`, version %s, on this machine:\n", r.o.Version)
	for _, line := range r.machine {
		p("* %s", line)
	}
	p("\nA server in a process of its own writes tokens on a schedule and notes when each left, on the machine's")
	p("monotonic clock. Each client reads the same loads, in turn, in %d rounds; a figure is the median of its rounds.", r.o.Rounds)
	p("The error is |the client's gap − the server's gap|, token by token, in microseconds, over the gaps that the client")
	p("stands for. *Disowned* are gaps that the client itself says are not the server's, because it took two tokens late in")
	p("one read; *together* are tokens with the very time of the one before. The first %d gaps of a stream are left out.", settle)
	p("The whole run took %.0f s. Timings on a shared machine are to be compared within a table, not between machines.\n", r.lasted.Seconds())
	for _, m := range r.missing {
		p("Not measured here: %s.\n", m)
	}
	if r.netem != "" {
		p("A round trip of 40 ms: not measured here (the kernel says: %s). The rule for it is tested on made-up round trips and stamps.\n", r.netem)
	}
	p("## Goals\n")
	r.goals(p)
	for i := range r.main {
		r.main[i].markdown(p)
	}
	p("## The rate that one client sustains\n")
	p("64 streams; sustained means that the 99th and the 99.9th percentile of the error stay within 1 ms and no token is missing.\n")
	r.rates(p)
	return b.String()
}

type printer func(format string, args ...any)

func (t *table) markdown(p printer) {
	p("## %s\n", t.title)
	if t.burst {
		p("What counts is the error of the time to first token.\n")
		p("| client | TTFT e50 | TTFT e99 | max |")
		p("|---|---|---|---|")
		for _, o := range t.rows {
			if len(o.rounds) == 0 {
				p("| %s | %s | | |", o.client, o.why)
				continue
			}
			p("| %s | %.0f | %.0f | %.0f |", o.client, o.first(0.5), o.first(0.99), o.first(1))
		}
		p("")
		return
	}
	p("| client | e50 | e99 | e99.9 | max | delay P50 | disowned | together | CPU µs/token | RssAnon MB |")
	p("|---|---|---|---|---|---|---|---|---|---|")
	for _, o := range t.rows {
		if len(o.rounds) == 0 {
			p("| %s | %s | | | | | | | | |", o.client, o.why)
			continue
		}
		share := func(of func(*Result) int) string {
			return fmt.Sprintf("%.2f %%", 100*o.median(func(r *Result) float64 { return float64(of(r)) / float64(max(r.Tokens, 1)) }))
		}
		p("| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %s | %s | %.0f | %.1f |", o.client,
			o.error(0.5), o.error(0.99), o.error(0.999), o.error(1),
			o.median(func(r *Result) float64 { return micros(rank(r.Delays, 0.5)) }),
			share(func(r *Result) int { return r.Disowned }), share(func(r *Result) int { return r.Together }), o.cpu(), o.memory())
	}
	p("")
	if o, ok := t.row(probeName); ok {
		p("The lateness that teapot tells of reads of one token differs from the log's by %.0f µs (P50) and %.0f µs (P99).\n",
			o.median(func(r *Result) float64 { return micros(rank(r.LateError, 0.5)) }),
			o.median(func(r *Result) float64 { return micros(rank(r.LateError, 0.99)) }))
	}
}

// sustained tells whether a client kept up.
func sustained(o outcome) bool {
	return len(o.rounds) > 0 && o.error(0.99) <= 1000 && o.error(0.999) <= 1000 &&
		o.median(func(r *Result) float64 { return float64(r.Missing) }) == 0
}

func (r *report) rates(p printer) {
	if len(r.sweep) == 0 {
		return
	}
	head, rule := "| client |", "|---|"
	for _, t := range r.sweep {
		_, rate, _ := strings.Cut(t.title, ", ")
		head, rule = head+" "+rate+" |", rule+"---|"
	}
	p("%s", head+"\n"+rule)
	for _, o := range r.sweep[0].rows {
		line := "| " + o.client + " |"
		for i := range r.sweep {
			got, ok := r.sweep[i].row(o.client)
			switch {
			case !ok:
				line += " failed |"
			default:
				word := "no"
				if sustained(got) {
					word = "yes"
				}
				disowned := 100 * got.median(func(r *Result) float64 { return float64(r.Disowned) / float64(max(r.Tokens, 1)) })
				line += fmt.Sprintf(" %s: e99 %.0f, e99.9 %.0f, %.0f µs/token, %.1f %% disowned |", word, got.error(0.99), got.error(0.999), got.cpu(), disowned)
			}
		}
		p("%s", line)
	}
	p("")
}
