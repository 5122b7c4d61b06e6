package accuracy

import (
	"fmt"

	"teapot/probe/event"
)

// markdown writes one scenario.
func (t *table) markdown(p printer) {
	p("## %s\n", title(t.title))
	if t.why != "" {
		p("Not measured here: %s.\n", t.why)
		return
	}
	if t.note != "" {
		p("The link is made of %s.\n", t.note)
	}
	if t.burst {
		t.firsts(p)
		return
	}
	p("| client | e50 | e99 | e99.9 | max | delay P50 | P99 | disowned | together | CPU | RssAnon |")
	p("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, o := range t.rows {
		if len(o.rounds) == 0 {
			p("| %s | %s | | | | | | | | | |", o.client, o.why)
			continue
		}
		p("| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %s | %s | %.0f | %.1f |", o.client,
			o.error(0.5), o.error(0.99), o.error(0.999), o.error(1), o.delay(0.5), o.delay(0.99),
			percent(o.share((*Result).disowned)), percent(o.share((*Result).together)), o.cpu(), o.memory())
	}
	p("")
	if t.Transport == Distant {
		t.distant(p)
		return
	}
	for _, name := range []string{probeName, screenName} {
		if o, ok := t.row(name); ok {
			p("%s: %s.\n", title(name), o.stamps())
		}
	}
}

// stamps says how right the probe is about its own lateness and its bursts.
func (o outcome) stamps() string {
	lateness := fmt.Sprintf("the lateness that it tells of reads of one token is off by %.0f µs (P50) and %.0f µs (P99) by the log", o.lateness(0.5), o.lateness(0.99))
	if k := o.rounds[0].Probe; k != nil && k.source != event.SourceKernel {
		lateness = fmt.Sprintf("there are no receive times here; its reads were %.0f µs (P50) and %.0f µs (P99) behind the writes", o.lateness(0.5), o.lateness(0.99))
	}
	most := o.median(func(r *Result) float64 { return micros(rank(r.Joined, 1)) })
	if most == 0 {
		return lateness + "; it took no two tokens for a burst"
	}
	return lateness + fmt.Sprintf("; tokens of one read that it takes for a burst were written at most %.0f µs apart", most)
}

// firsts is the table of a scenario where the first token counts.
func (t *table) firsts(p printer) {
	p("What counts here is |the client's TTFT − the server's|, in µs: from the request's arrival at the server's socket to")
	p("the first token's write.\n")
	p("| client | e50 | e90 | e99 | max |")
	p("|---|---|---|---|---|")
	for _, o := range t.rows {
		if len(o.rounds) == 0 {
			p("| %s | %s | | | |", o.client, o.why)
			continue
		}
		p("| %s | %.0f | %.0f | %.0f | %.0f |", o.client, o.first(0.5), o.first(0.9), o.first(0.99), o.first(1))
	}
	p("")
}

// distant says what a long way does.
func (t *table) distant(p printer) {
	for _, o := range t.rows {
		if len(o.rounds) == 0 {
			continue
		}
		last := &o.rounds[len(o.rounds)-1]
		p("* %s: the gap that is farthest from the server's is off by %.1f ms and ends with token %d.", title(o.client), micros(rank(last.Errors, 1))/1e3, last.WorstAt+1)
		if last.Probe != nil {
			p("  It knows of a round trip of %.1f ms%s.", micros(last.Probe.rtt)/1e3, last.Probe.blames(last.Streams))
		}
	}
	p("")
	p("A new connection may have ten segments on the way; then its sender waits for the first to be acknowledged, though the")
	p("engine does not. Such a gap is the network's, and teapot keeps it out of the percentiles, under that name.\n")
}

// blames says how many gaps the report laid to the network.
func (k *probed) blames(streams int) string {
	if k.transport < 0 {
		return ""
	}
	return fmt.Sprintf(", and its report lays %d gaps of %d streams to the transport", k.transport, streams)
}

// title begins a name with a capital letter.
func title(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
