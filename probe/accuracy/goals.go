package accuracy

import (
	"fmt"
	"strings"
)

// verdict is a goal beside what was measured.
type verdict struct {
	goal     string
	has      bool // it was measured
	met      bool
	measured string
	why      string // what stands in the way of one that is missed
}

// outcome finds a client's results in a scenario.
func (r *report) outcome(title, client string) (outcome, bool) {
	for i := range r.main {
		if r.main[i].title == title {
			return r.main[i].row(client)
		}
	}
	return outcome{}, false
}

// verdicts are all of the goals.
func (r *report) verdicts() []verdict {
	list := []verdict{
		r.bounds("8 streams of 625 tok/s, screen drawing: e99 ≤ 50 µs, e99.9 ≤ 100 µs", title8, screenName, 50, 100),
		r.ratio("… and at least twice as exact (e99) as the C client that stamps in user space and has no screen", title8, nameCUser, 2),
		r.bounds("64 streams of the article's law, screen drawing: e99 ≤ 50 µs", titleLaw, screenName, 50, 0),
		r.ratio("… and at least 20 times as exact as the client made as `vllm bench serve`", titleLaw, nameParsed, 20),
		r.bounds("64 streams in lock-step, screen drawing: e99 ≤ 70 µs", titleLock, screenName, 70, 0),
	}
	o, ok := r.outcome(titleOnce, probeName)
	v := verdict{goal: "64 requests at once: error of the TTFT, P50 ≤ 200 µs", has: ok, met: o.first(0.5) <= 200, measured: fmt.Sprintf("%.0f µs", o.first(0.5))}
	if c, ok := r.outcome(titleOnce, nameCKernel); ok {
		v.why = fmt.Sprintf("C with kernel stamps: %.0f µs", c.first(0.5))
	}
	list = append(list, v)
	list = append(list, r.costs()...)
	return append(list, r.agreement(), r.lateness(), r.bursts())
}

// bounds is a goal of the error of the gaps. e999 0: none.
func (r *report) bounds(goal, title, client string, e99, e999 float64) verdict {
	o, ok := r.outcome(title, client)
	v := verdict{goal: goal, has: ok, met: o.error(0.99) <= e99, measured: fmt.Sprintf("%.0f µs", o.error(0.99))}
	if e999 > 0 {
		v.met = v.met && o.error(0.999) <= e999
		v.measured = fmt.Sprintf("%.0f and %.0f µs", o.error(0.99), o.error(0.999))
	}
	if c, ok := r.outcome(title, nameCKernel); ok {
		v.why = fmt.Sprintf("C with kernel stamps and without a screen: %.0f and %.0f µs", c.error(0.99), c.error(0.999))
	}
	return v
}

// ratio is a goal of how much more exact teapot with its screen is than another.
func (r *report) ratio(goal, title, other string, times float64) verdict {
	o, ok := r.outcome(title, screenName)
	c, okC := r.outcome(title, other)
	got := c.error(0.99) / max(o.error(0.99), 1e-3)
	return verdict{
		goal: goal, has: ok && okC, met: got >= times,
		measured: fmt.Sprintf("%.1f times (%.0f against %.0f µs)", got, o.error(0.99), c.error(0.99)),
		why:      "the other is that good on this machine",
	}
}

// coreRate is the goal of the rate that one core sustains: the highest one of
// the sweep that was kept up with, as was every lower one. That a higher one
// happened to go well says nothing where a lower one did not.
func (r *report) coreRate() verdict {
	const want = 80_000
	v := verdict{
		goal: "one core sustains 80 000 tok/s, and every lower rate of the sweep (64 streams, e99 and e99.9 ≤ 1 ms, at most 1 % disowned)",
		has:  len(r.sweep) > 0, measured: "none of them",
	}
	for i, rate := range sweepRates()[:min(len(r.sweep), len(sweepRates()))] {
		o, ok := r.sweep[i].row(probeName)
		if !ok {
			v.why = fmt.Sprintf("at %d tok/s it failed", rate)
			break
		}
		if !sustained(o) {
			v.why = fmt.Sprintf("at %d tok/s e99 is %.0f and e99.9 %.0f µs, and %s of the gaps are disowned",
				rate, o.error(0.99), o.error(0.999), percent(o.share((*Result).disowned)))
			if c, ok := r.sweep[i].row(nameCKernel); ok {
				v.why += fmt.Sprintf("; C with kernel stamps: e99 %.0f, e99.9 %.0f µs", c.error(0.99), c.error(0.999))
			}
			break
		}
		v.met, v.measured = rate >= want, fmt.Sprintf("%d tok/s", rate)
	}
	return v
}

// costs are the goals of what measuring costs.
func (r *report) costs() []verdict {
	rate := r.coreRate()
	o, ok := r.outcome(title8, probeName)
	cpu := verdict{goal: "CPU of the probe ≤ 30 µs a token at 5 000 tok/s", has: ok, met: o.cpu() <= 30, measured: fmt.Sprintf("%.0f µs", o.cpu())}
	if one, ok := r.outcome(title1, probeName); ok {
		token, second := split(one, o, r.o.For.Seconds()+spread.Seconds())
		cpu.why = fmt.Sprintf("by 1 and 8 streams, a token costs %.0f µs, and everything else (start, heartbeat) %.0f ms a second", token, second)
	}
	if c, ok := r.outcome(title8, nameCKernel); ok {
		cpu.why += fmt.Sprintf("; the bare C client needs %.0f µs", c.cpu())
	}
	o, ok = r.outcome(titleLaw, probeName)
	memory := verdict{goal: "memory of the probe at 64 streams ≤ 16 MB (RssAnon)", has: ok, met: o.memory() <= 16, measured: fmt.Sprintf("%.1f MB", o.memory())}
	return []verdict{rate, cpu, memory}
}

// split tells what a token costs, in µs, and what a second costs besides, in ms,
// from two loads of that many seconds.
func split(few, many outcome, seconds float64) (token, second float64) {
	cost := func(o outcome) (cpu, tokens float64) {
		n := o.median(func(r *Result) float64 { return float64(r.Tokens) })
		return o.cpu() * n, n
	}
	a, n := cost(few)
	b, m := cost(many)
	token = (b - a) / max(m-n, 1)
	return token, (a - token*n) / seconds / 1e3
}

// agreement is how far the screen moves the percentiles.
func (r *report) agreement() verdict {
	v := verdict{goal: "screen on and off agree within 1 % at every percentile up to P99.99, each against the server's own"}
	v.met = true
	for _, title := range []string{title8, titleLaw, titleLock} {
		on, okOn := r.outcome(title, screenName)
		off, okOff := r.outcome(title, probeName)
		if !okOn || !okOff {
			continue
		}
		worst, at := apart(off, on)
		if !v.has || worst > 0.01 {
			v.measured = fmt.Sprintf("%.2f %% (%s, %s)", 100*worst, at, title)
		}
		v.has, v.met = true, v.met && worst <= 0.01
		if worst > 0.01 {
			v.why = fmt.Sprintf("%s of the gaps are disowned with the screen and %s without",
				percent(on.share((*Result).disowned)), percent(off.share((*Result).disowned)))
		}
	}
	return v
}

// apart is the largest relative difference, over the percentiles, between how
// the client's percentile stands to the server's with and without a screen, the
// median of the rounds.
func apart(off, on outcome) (worst float64, at string) {
	for _, p := range []float64{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999} {
		ratio := func(r *Result) float64 { return float64(rank(r.Client, p)) / float64(max(rank(r.Server, p), 1)) }
		a, b := off.median(ratio), on.median(ratio)
		if d := max(a, b)/max(min(a, b), 1e-9) - 1; d > worst || at == "" {
			worst, at = d, fmt.Sprintf("P%g", 100*p)
		}
	}
	return worst, at
}

// lateness is how well the probe knows how late it read, for reads of one event.
func (r *report) lateness() verdict {
	v := verdict{goal: "lateness is told within 20 µs of what the log shows, for reads of one event (P99)", met: true}
	for _, title := range []string{title8, titleLaw, titleLock} {
		if o, ok := r.outcome(title, screenName); ok {
			p99 := o.lateness(0.99)
			v.has, v.met = true, v.met && p99 <= 20
			v.measured += fmt.Sprintf("%.0f, ", p99)
		}
	}
	v.measured = strings.TrimSuffix(v.measured, ", ") + " µs (8 streams, article, lock-step)"
	v.why = "stamps are the kernel's"
	return v
}

// bursts is whether what the probe takes for a burst of the server's is one, as
// far as its heartbeat of a millisecond can tell.
func (r *report) bursts() verdict {
	v := verdict{goal: "tokens of one read that teapot takes for a burst were written within its heartbeat of 1 ms, or a twentieth of the gap before them"}
	beyond, tokens, most := 0, 0, int64(0)
	for _, title := range []string{title8, titleLaw, titleLock} {
		for _, client := range []string{probeName, screenName} {
			if o, ok := r.outcome(title, client); ok {
				v.has = true
				for i := range o.rounds {
					beyond, tokens = beyond+o.rounds[i].Beyond, tokens+o.rounds[i].Tokens
					most = max(most, rank(o.rounds[i].Joined, 1))
				}
			}
		}
	}
	v.met = beyond == 0
	v.measured = fmt.Sprintf("%d of %d tokens were not; the widest: %.0f µs", beyond, tokens, micros(most))
	v.why = "a reader waited for a core while the heartbeat, on the other one, did not"
	return v
}
