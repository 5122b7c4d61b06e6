package stats

import "fmt"

// This file holds the rules that rest on what the streams show, and the last
// one, which says that nothing was found.

const (
	delayedAck = int64(40e6) // the least delay of an acknowledgement on Linux
	ackSlack   = int64(4e6)
)

func (c *scene) heldLine() string {
	return fmt.Sprintf("%d tokens came at once at its end, %d were due in the time: the engine had gone on", c.a.Held, c.a.Due)
}

// ruleSameStop: a first token that came when a stop ended which struck streams
// under way was held up by that.
func ruleSameStop(c *scene) (Verdict, []string) {
	if !c.s.First {
		return 0, nil
	}
	over := c.s.Length - c.s.Usual
	for _, o := range c.t.spikes.recent {
		if o.First || o.Phase == PhaseOutage || o.Why == nil || o.Why.Verdict == Unexplained || o.Around.Alone() ||
			abs(o.At-c.s.At) > together(o.Length, over) || 2*min(o.Length, c.s.Length) < over {
			continue
		}
		c.cause = o.Why.Cause
		verdict := Likely
		if o.Why.Verdict == Ours {
			verdict = Ours
		}
		return verdict, append([]string{fmt.Sprintf("it ended together with a stop of %s in a stream under way (request %d)", span(o.Length), o.Request)},
			o.Why.Evidence...)
	}
	return 0, nil
}

func ruleBlocked(c *scene) (Verdict, []string) {
	p := c.metrics()
	took := p.slowest(c.s.began, c.s.At)
	if !c.held() || c.alone() || took < max(c.s.Length/2, 100e6) || !p.before || p.looks[0].Took > took/3 {
		return 0, nil
	}
	return Likely, with([]string{c.heldLine(), fmt.Sprintf("its page of metrics took %s at the same time, %s before", span(took), span(p.looks[0].Took))}, c.streams())
}

func ruleDelayedAck(c *scene) (Verdict, []string) {
	if c.a.Held < 2 || c.s.First || abs(c.s.Length-delayedAck) > ackSlack || c.all() {
		return 0, nil
	}
	return Likely, with([]string{
		fmt.Sprintf("%d tokens came together after %s: the delay of an acknowledgement is 40 ms", c.a.Held, span(c.s.Length)),
	}, c.streams())
}

func ruleHeld(c *scene) (Verdict, []string) {
	if !c.held() {
		return 0, nil
	}
	lines := with([]string{c.heldLine()}, c.streams())
	if c.t.info.Gateway != "" {
		lines = append(lines, oneLine(c.t.info.Gateway)+" stands between the engine and here")
	}
	return Likely, with(lines, c.host())
}

func ruleBatches(c *scene) (Verdict, []string) {
	line := c.batches()
	if line == "" || c.s.First {
		return 0, nil
	}
	return Likely, with([]string{line}, c.streams(), c.host())
}

func ruleStarting(c *scene) (Verdict, []string) {
	if c.s.First || c.held() || !c.all() && c.a.Receiving > 0 || c.a.Starting == 0 || c.a.StartingPrompt < ownLeast {
		return 0, nil
	}
	return Likely, with([]string{fmt.Sprintf(
		"%s of this client with %d prompt tokens began with it and got the first token at its end", count(uint64(c.a.Starting), "request"), c.a.StartingPrompt)},
		c.streams(), c.host())
}

func ruleEngine(c *scene) (Verdict, []string) {
	if c.s.First || !c.all() {
		return 0, nil
	}
	return Likely, with([]string{c.streams()}, c.quiet(), c.host())
}

func ruleNothing(c *scene) (Verdict, []string) {
	lines := with(nil, c.streams(), c.quiet(), c.headers(), c.host())
	if len(lines) == 0 {
		lines = []string{"nothing was seen that could be its cause"}
	}
	return Unexplained, lines
}

// quiet says what the server's counters did not show.
func (c *scene) quiet() string {
	p := c.metrics()
	if len(p.newer()) == 0 {
		if c.t.watch != nil && len(c.t.watch.sources) > 0 {
			return "no look at the server's counters covers it yet"
		}
		return "the server shows no counters"
	}
	var none []string
	if n, _, ok := p.grew("preemptions"); ok && n <= 0 {
		none = append(none, "no preemption")
	}
	if n, _, ok := p.most("waiting", c.s.began, c.s.At); ok && n <= 0 {
		none = append(none, "nobody waiting")
	}
	if n, _, ok := c.others(); ok && n < promptLeast {
		none = append(none, "no prompt of others to speak of")
	}
	if len(none) == 0 {
		return ""
	}
	return "the server's counters around it: " + list(none)
}
