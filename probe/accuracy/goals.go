package accuracy

import "fmt"

// Titles of the scenarios that goals are about.
const (
	title8    = "8 streams, constant 1.6 ms"
	titleLaw  = "64 streams, the article's law"
	titleLock = "64 streams in lock-step, a beat of 10 ms"
	titleOnce = "64 requests at once, lock-step of 10 ms"
)

// goals says which of them are met.
func (r *report) goals(p printer) {
	find := func(title, client string) (outcome, bool) {
		for i := range r.main {
			if r.main[i].title == title {
				return r.main[i].row(client)
			}
		}
		return outcome{}, false
	}
	p("| goal | measured | |")
	p("|---|---|---|")
	line := func(goal string, has bool, met bool, format string, args ...any) {
		word := "met"
		switch {
		case !has:
			p("| %s | not measured here | |", goal)
			return
		case !met:
			word = "**missed**"
		}
		p("| %s | %s | %s |", goal, fmt.Sprintf(format, args...), word)
	}
	o, ok := find(title8, screenName)
	line("8 streams of 625 tok/s, screen drawing: e99 ≤ 50 µs, e99.9 ≤ 100 µs", ok, ok && o.error(0.99) <= 50 && o.error(0.999) <= 100,
		"%.0f and %.0f µs", o.error(0.99), o.error(0.999))
	c, okC := find(title8, nameCUser)
	line("… and twice as exact as the idle C client that stamps in user space", ok && okC, ok && okC && 2*o.error(0.99) <= c.error(0.99),
		"%.1f times (e99 %.0f against %.0f µs)", c.error(0.99)/max(o.error(0.99), 1e-3), o.error(0.99), c.error(0.99))
	o, ok = find(titleLaw, screenName)
	line("64 streams of the article's law, screen drawing: e99 ≤ 50 µs", ok, ok && o.error(0.99) <= 50, "%.0f µs", o.error(0.99))
	v, okV := find(titleLaw, nameParsed)
	line("… and 20 times as exact as stamping when an event is decoded, on aiohttp", ok && okV, ok && okV && 20*o.error(0.99) <= v.error(0.99),
		"%.0f times (e99 %.0f against %.0f µs)", v.error(0.99)/max(o.error(0.99), 1e-3), o.error(0.99), v.error(0.99))
	o, ok = find(titleLock, screenName)
	line("64 streams in lock-step: e99 ≤ 70 µs", ok, ok && o.error(0.99) <= 70, "%.0f µs", o.error(0.99))
	o, ok = find(titleOnce, probeName)
	line("64 requests at once: TTFT error P50 ≤ 200 µs", ok, ok && o.first(0.5) <= 200, "%.0f µs", o.first(0.5))
	r.costs(line, find)
	p("")
}

// costs are the goals of what measuring costs.
func (r *report) costs(line func(string, bool, bool, string, ...any), find func(string, string) (outcome, bool)) {
	best := 0.0
	for i := range r.sweep {
		if o, ok := r.sweep[i].row(probeName); ok && sustained(o) {
			var n int
			_, _ = fmt.Sscanf(r.sweep[i].title, "64 streams, %d tok/s", &n)
			best = max(best, float64(n))
		}
	}
	line("one probe sustains 80 000 tok/s", len(r.sweep) > 0, best >= 80_000, "%.0f tok/s", best)
	o, ok := find(title8, probeName)
	line("CPU of the probe ≤ 30 µs a token at 5 000 tok/s", ok, ok && o.cpu() <= 30, "%.0f µs", o.cpu())
	o, ok = find(titleLaw, probeName)
	line("memory of the probe at 64 streams ≤ 16 MB (RssAnon)", ok, ok && o.memory() <= 16, "%.1f MB", o.memory())
	worst, at := 0.0, ""
	on, okOn := find(titleLaw, screenName)
	off, okOff := find(titleLaw, probeName)
	if okOn && okOff {
		worst, at = apart(off, on)
	}
	line("screen on and off agree within 1 % at every percentile up to P99.99 of what each has of the server's gaps", okOn && okOff, worst <= 0.01,
		"%.2f %% at %s", 100*worst, at)
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
