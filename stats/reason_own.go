package stats

import (
	"fmt"

	"teapot/probe/event"
)

// This file holds the rules that rest on this client, and on what a request and
// its server say of themselves.

func ruleOurs(c *scene) (Verdict, []string) {
	s, f := c.s, &c.a.Floor
	if s.Phase == PhaseOutage {
		return 0, nil
	}
	var lines []string
	switch {
	case f.Paused:
		lines = append(lines, "this client was not running for a part of it: stopped, or asleep with its machine")
	case 2*f.Overshoot >= s.Length:
		lines = append(lines, fmt.Sprintf("this client overslept by %s of the %s", span(f.Overshoot), span(s.Length)))
	case 2*f.Late >= s.Length && s.Merged:
		lines = append(lines, fmt.Sprintf("this client read it %s late", span(f.Late)))
	case s.Merged && f.Dropped > 0:
		lines = append(lines, fmt.Sprintf("%s were dropped inside this client", count(f.Dropped, "event")))
	case s.Merged:
		lines = append(lines, "this client read late, and the read may join what came apart")
	default:
		return 0, nil
	}
	if f.GC > 0 {
		lines = append(lines, fmt.Sprintf("its garbage collector ran %s, the longest stop %s", timesRun(f.GC), span(f.GCPause)))
	}
	if f.Sched > 0 {
		lines = append(lines, "what could run waited up to "+span(f.Sched)+" for a processor")
	}
	if f.Steal > 0 {
		lines = append(lines, "the hypervisor gave "+span(f.Steal)+" of processor time to others")
	}
	return Ours, lines
}

func timesRun(n uint64) string {
	if n == 1 {
		return "once"
	}
	return count(n, "time")
}

func ruleTransport(c *scene) (Verdict, []string) {
	if !c.s.Transport {
		return 0, nil
	}
	return Transport, []string{"on a new connection the first window was full: the server waited one round trip for the acknowledgement"}
}

// said is what the server said at the request's end, of a spike that is the
// request's longest.
func (c *scene) said() *event.ServerTimings {
	if c.end == nil || c.end.Server == nil || c.s.Phase == PhaseOutage {
		return nil
	}
	if !c.s.First && c.s.Length < c.l.maxGap {
		return nil
	}
	return c.end.Server
}

func ruleRetracted(c *scene) (Verdict, []string) {
	v := c.said()
	if v == nil || v.Retracted <= 0 || c.s.First || c.held() {
		return 0, nil
	}
	return Proven, with([]string{fmt.Sprintf("the reply says that this request was taken out of the batch %s, and this is its longest gap", timesRun(uint64(v.Retracted)))}, c.streams())
}

func ruleLoaded(c *scene) (Verdict, []string) {
	v := c.said()
	if v == nil || !c.s.First || v.Load < max(c.s.Length/2, 50e6) {
		return 0, nil
	}
	return Proven, []string{fmt.Sprintf("the reply says that loading the model took %s of the %s", span(v.Load), span(c.s.Length))}
}

// ruleServerFast: by its own clock the server did not stop.
func ruleServerFast(c *scene) (Verdict, []string) {
	v := c.said()
	if v == nil || c.s.First || v.Decode <= 0 || v.DecodeN < 2 || c.l.broken() {
		return 0, nil
	}
	here := c.l.last - c.l.first
	if here-v.Decode < c.s.Length/10*6 {
		return 0, nil
	}
	return Proven, with([]string{fmt.Sprintf("by its own clock the server took %s from its first token to its last, here they came over %s", span(v.Decode), span(here))}, c.streams())
}

func ruleOwnQueue(c *scene) (Verdict, []string) {
	v := c.said()
	if v == nil || !c.s.First || v.Queue < max(c.s.Length/2, 1) {
		return 0, nil
	}
	return Proven, []string{fmt.Sprintf("the reply says that the request was queued for %s of the %s", span(v.Queue), span(c.s.Length))}
}

func ruleOwnPrefill(c *scene) (Verdict, []string) {
	v := c.said()
	if v == nil || !c.s.First || v.Prompt < max(c.s.Length/2, 1) {
		return 0, nil
	}
	line := fmt.Sprintf("the reply says that its own prompt took %s of the %s", span(v.Prompt), span(c.s.Length))
	if v.PromptN > 0 {
		line += fmt.Sprintf(", for %s", count(uint64(v.PromptN), "token"))
	}
	return Proven, []string{line}
}

func ruleRouted(c *scene) (Verdict, []string) {
	if c.end == nil || !c.s.First || c.end.Provider == "" || c.l.provider == "" || c.l.provider == c.end.Provider {
		return 0, nil
	}
	return Likely, []string{fmt.Sprintf("%s served it, and %s the one before", oneLine(c.end.Provider), oneLine(c.l.provider))}
}

func ruleRestart(c *scene) (Verdict, []string) {
	for i := range c.s.pair {
		if at, ok := c.s.pair[i].restarted(); ok && c.restartMet(at) {
			return Proven, with([]string{fmt.Sprintf("the server's counters began anew %s", c.when(at))}, c.gone())
		}
	}
	for i := len(c.t.gone.items) - 1; i >= 0; i-- {
		g := &c.t.gone.items[i]
		cold := c.s.First && g.to > c.s.began-freshServer
		switch {
		case g.from > c.a.To+leftSlack || g.to != 0 && g.to < c.a.From-second && !cold:
			continue
		case g.loading:
			return Proven, []string{"it answered that its model is being loaded: " + c.gone()}
		case c.s.Phase == PhaseOutage:
		case g.to != 0 && g.to < c.a.From:
			return Likely, []string{"it had come back only " + span(c.s.began-g.to) + " before: " + c.gone()}
		default:
			return Likely, []string{c.gone()}
		}
	}
	return 0, nil
}

// restartMet tells whether the restart that a look saw can have to do with the
// spike: where the server was seen to be away before that look, the spike lies
// in that time or soon after it.
func (c *scene) restartMet(look int64) bool {
	for i := len(c.t.gone.items) - 1; i >= 0; i-- {
		g := &c.t.gone.items[i]
		if g.from > look {
			continue
		}
		return g.from <= c.a.To+leftSlack && (g.to == 0 || c.a.From <= g.to+freshServer)
	}
	return true
}

func ruleOutage(c *scene) (Verdict, []string) {
	if c.s.Phase != PhaseOutage {
		return 0, nil
	}
	return Likely, []string{c.gone()}
}

// gone says when the target was away.
func (c *scene) gone() string {
	for i := len(c.t.gone.items) - 1; i >= 0; i-- {
		g := &c.t.gone.items[i]
		if g.from > c.a.To+lookAge {
			continue
		}
		line := "it was away"
		if g.to > 0 {
			line += " for " + span(g.to-g.from)
		}
		if g.detail != "" {
			line += " (" + g.detail + ")"
		}
		return line
	}
	return ""
}

// when says how far an instant is from the spike.
func (c *scene) when(at int64) string {
	switch {
	case at < c.s.began:
		return span(c.s.began-at) + " before it"
	case at > c.s.At:
		return "by " + span(at-c.s.At) + " after it"
	}
	return "during it"
}

func ruleNotLoaded(c *scene) (Verdict, []string) {
	p := &c.s.pair[fromLoaded]
	if !c.s.First || !p.before {
		return 0, nil
	}
	v, ok := sampleOf(&p.looks[0], "loaded", "")
	if !ok || v.Value != 0 {
		return 0, nil
	}
	return Likely, []string{fmt.Sprintf("the model was not in memory %s", c.when(p.looks[0].At))}
}
