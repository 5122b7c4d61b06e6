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

func (o outcome) delay(p float64) float64 {
	return o.median(func(r *Result) float64 { return micros(rank(r.Delays, p)) })
}

func (o outcome) lateness(p float64) float64 {
	return o.median(func(r *Result) float64 { return micros(rank(r.LateError, p)) })
}

// cpu is µs a token.
func (o outcome) cpu() float64 {
	return o.median(func(r *Result) float64 { return micros(r.CPU) / float64(max(r.Tokens, 1)) })
}

func (o outcome) memory() float64 {
	return o.median(func(r *Result) float64 { return float64(r.RSS) / (1 << 20) })
}

// share is the part of the tokens that of counts.
func (o outcome) share(of func(*Result) int) float64 {
	return o.median(func(r *Result) float64 { return float64(of(r)) / float64(max(r.Tokens, 1)) })
}

func (r *Result) disowned() int { return r.Disowned }
func (r *Result) together() int { return r.Together }

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// row finds a client's outcome.
func (t *table) row(client string) (outcome, bool) {
	for _, o := range t.rows {
		if o.client == client && len(o.rounds) > 0 {
			return o, true
		}
	}
	return outcome{}, false
}

type printer func(format string, args ...any)

// markdown is the whole report.
func (r *report) markdown() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# How exact teapot is\n")
	p("    teapot accuracy -o docs/accuracy.md\n")
	p("wrote this on %s, by version %s, in %.0f s on\n", r.began.UTC().Format("2006-01-02"), r.o.Version, r.lasted.Seconds())
	for _, line := range r.machine {
		p("* %s", line)
	}
	p("* %s", r.server())
	if o, ok := r.outcome(title8, probeName); ok && o.rounds[0].Probe != nil {
		p("* %s", o.rounds[0].Probe.rank())
	}
	p("* %s\n", r.neighbours())
	p("%s", method(r.o.Rounds, r.o.For.Seconds()))
	for _, m := range r.missing {
		p("Not measured here: %s.\n", m)
	}
	p("## Goals\n")
	p("| goal | measured | | if missed: beside it |")
	p("|---|---|---|---|")
	for _, v := range r.verdicts() {
		switch {
		case !v.has:
			p("| %s | not measured here | | |", v.goal)
		case v.met:
			p("| %s | %s | met | |", v.goal, v.measured)
		default:
			p("| %s | %s | **missed** | %s |", v.goal, v.measured, v.why)
		}
	}
	p("")
	for i := range r.main {
		r.main[i].markdown(p)
	}
	p("## The rate that one core sustains\n")
	p("64 streams, and every client on a single core that is not the server's. Sustained (yes) means that e99 and e99.9 stay")
	p("within 1 ms and at most 1 %% of the gaps are disowned. In each cell stand the two, in µs, then the CPU time of a token")
	p("in µs and the share disowned; in the last row how late the server was with 99 %% of its own tokens, in µs.\n")
	r.rates(p)
	return b.String()
}

// method is how it is measured, in words.
func method(rounds int, seconds float64) string {
	return fmt.Sprintf(`A server in a process of its own writes tokens on a schedule and notes when each left its socket, on the machine's
monotonic clock, with TLS and HTTP/2 too. The clients read the same loads, each in a process of its own and in turn,
for %[2]g s and round after round, %[1]d in all; a figure is the median of the rounds. *Screen drawing* is the whole program in a terminal of
120x40 that is read as fast as it draws. The C client is one thread on epoll; the Python ones are ours, on aiohttp, and
stamp in the ways of the tools they are named for. Their columns:

* **e50 … max**: |the client's gap − the server's gap| in µs, token by token, over the gaps that the client stands for.
  The first %[3]d gaps of a stream are left out.
* **delay**: from the server's write to the client's stamp, in µs.
* **disowned**: gaps that the client itself says are not the server's, since two tokens came late in one read.
* **together**: tokens with the very time of the one before, disowned or not.
* **CPU** in µs a token: of teapot's probe from its start to its end, of the others while they read; **RssAnon** in MB.

Figures of a shared machine are to be compared within a table, not between machines.
`, rounds, seconds, settle)
}

// rank says what the scheduler has given the probe.
func (k *probed) rank() string {
	s := fmt.Sprintf("the probe asked for a priority, as it always does, and had nice %d", k.nice)
	if k.slice > 0 {
		s += fmt.Sprintf(" and slices of %.1f ms", micros(k.slice)/1e3)
	}
	return s + "; the other clients had the usual one"
}

// neighbours says how much else was going on.
func (r *report) neighbours() string {
	if r.others <= 0.05 {
		return "nothing else was running"
	}
	return fmt.Sprintf("**other programs took %.2f cores meanwhile**: what is worst here, and the rates, are theirs as much as the clients'", r.others)
}

// server says what the scheduled server had, and how well it kept time.
func (r *report) server() string {
	realtime, pinned, any, behind := true, true, false, []float64{}
	for i := range r.main {
		for _, o := range r.main[i].rows {
			for j := range o.rounds {
				res := &o.rounds[j]
				any, realtime, pinned = true, realtime && res.Realtime, pinned && res.Pinned
				behind = append(behind, micros(rank(res.Behind, 0.99)))
			}
		}
	}
	if !any {
		return "the scheduled server could not be read by anybody"
	}
	word := func(have bool, what string) string {
		if have {
			return "a " + what
		}
		return "no " + what
	}
	slices.Sort(behind)
	return fmt.Sprintf("the scheduled server had %s with %s, and wrote 99 %% of its tokens within %.0f µs of their time (median of the runs)",
		word(realtime, "real-time thread"), word(pinned, "core to keep to"), behind[(len(behind)-1)/2])
}

// rates is the table of the sweep.
func (r *report) rates(p printer) {
	if len(r.sweep) == 0 {
		return
	}
	head, rule := "| client |", "|---|"
	for _, t := range r.sweep {
		head, rule = head+" "+t.title+" |", rule+"---|"
	}
	p("%s", head+"\n"+rule)
	for _, o := range r.sweep[0].rows {
		line := "| " + o.client + " |"
		for i := range r.sweep {
			got, ok := r.sweep[i].row(o.client)
			word := "no"
			switch {
			case !ok:
				line += " failed |"
				continue
			case sustained(got):
				word = "**yes**"
			}
			line += fmt.Sprintf(" %s: %.0f, %.0f; %.0f; %.1f %% |", word, got.error(0.99), got.error(0.999), got.cpu(), 100*got.share((*Result).disowned))
		}
		p("%s", line)
	}
	line := "| the server itself |"
	for i := range r.sweep {
		var late []float64
		for _, o := range r.sweep[i].rows {
			late = append(late, o.median(func(r *Result) float64 { return micros(rank(r.Behind, 0.99)) }))
		}
		slices.Sort(late)
		line += fmt.Sprintf(" %.0f |", late[(len(late)-1)/2])
	}
	p("%s", line)
}

// sustained tells whether a client kept up.
func sustained(o outcome) bool {
	return len(o.rounds) > 0 && o.error(0.99) <= 1000 && o.error(0.999) <= 1000 && o.share((*Result).disowned) <= 0.01
}
