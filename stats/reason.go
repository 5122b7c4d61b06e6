package stats

import (
	"fmt"

	"teapot/probe/event"
)

// Why a spike came is found by rules, in order: the first that speaks gives the
// verdict. What the request or the server says of itself comes first, then what
// the counters did, then what the streams show; where nothing speaks, it says
// what was looked at and stays unexplained.

const (
	heldLeast   = 3   // tokens at once that were held back
	promptLeast = 256 // prompt tokens that can be felt
	ownLeast    = 512 // of requests of this client that start
	standsOut   = 1.5 // times the rate before
	kvFull      = 0.9
)

// causeRule tells one cause. Its test gives the evidence, none where the rule
// does not speak.
type causeRule struct {
	name   string
	cause  Cause
	own    bool // it rests on what the request itself said at its end
	test   func(*scene) (Verdict, []string)
	advice string
}

// scene is all that is known of one spike.
type scene struct {
	s   *spike
	a   *Around
	t   *target
	end *event.End // nil while the request runs, or when it is forgotten
	l   *life      // likewise
	now int64
	// cause is set by a rule that found another one's.
	cause Cause
}

// judge gives the verdict. Once settled it changes only by what the request's
// own end says.
func (t *target) judge(s *spike, now int64) {
	c := &scene{s: s, a: s.Around, t: t, now: now, l: s.life}
	if c.a == nil {
		c.a = &Around{Chance: 1, Gaps: 1, From: s.began, To: s.At}
	}
	if c.l != nil && c.l.start.Request != s.Request {
		c.l = nil
	}
	if c.l != nil && c.l.ended {
		c.end = &c.l.end
	}
	settled := s.Why != nil && s.Why.Settled
	for i := range causeRules {
		r := &causeRules[i]
		if settled && !r.own {
			continue
		}
		v, evidence := r.test(c)
		if len(evidence) == 0 {
			continue
		}
		w := &Why{Verdict: v, Cause: r.cause, Rule: r.name, Evidence: evidence, Advice: r.advice, At: now, Settled: settled}
		if c.cause != CauseUnknown {
			w.Cause = c.cause
		}
		s.revise(w)
		return
	}
}

// revise replaces the verdict by a newer one.
func (s *spike) revise(w *Why) {
	if old := s.Why; old != nil {
		w.Revised = old.Revised
		if old.Cause != w.Cause || old.Verdict != w.Verdict {
			w.Revised++
		}
	}
	s.Why = w
}

func (c *scene) all() bool   { return c.a.All() }
func (c *scene) alone() bool { return c.a.Alone() }

// held tells whether the tokens that were due in the gap came at once after it:
// the engine went on, and something held them back.
func (c *scene) held() bool {
	return !c.s.First && c.a.Due >= heldLeast && c.a.Held >= max(heldLeast, c.a.Due/2)
}

// metrics is what the page around the spike says.
func (c *scene) metrics() *lookPair { return &c.s.pair[fromMetrics] }

// streams says in a line what the other streams did.
func (c *scene) streams() string {
	a := c.a
	switch {
	case c.s.First || c.s.Phase == PhaseOutage:
		return ""
	case a.Receiving == 0:
		return "no other stream was receiving, so that engine, request and path cannot be told apart"
	case c.all():
		return fmt.Sprintf("%d of the %d streams that were receiving stood still and went on together", a.Together+1, a.Receiving+1)
	case c.alone():
		return fmt.Sprintf("%d of the %s went on meanwhile: it struck this request or its path, not the engine", a.Moving, count(uint64(a.Receiving), "other stream"))
	case a.Together > 0:
		return fmt.Sprintf("%d of the %s stood still too, which chance alone may do", a.Together, count(uint64(a.Receiving), "other stream"))
	}
	return fmt.Sprintf("%s neither went on nor stood still over all of it", count(uint64(a.Receiving), "other stream"))
}

// host says in a line what this client did.
func (c *scene) host() string {
	f := &c.a.Floor
	if !f.Known {
		return ""
	}
	return fmt.Sprintf("this client was awake: it overslept by %s at most and read late by %s at most", span(f.Overshoot), span(f.Late))
}

// with adds the lines that say something.
func with(lines []string, more ...string) []string {
	for _, m := range more {
		if m != "" {
			lines = append(lines, m)
		}
	}
	return lines
}

// causeRules in the order in which they are asked.
var causeRules = [...]causeRule{
	{"stopped", CauseOurs, false, ruleOurs,
		"Give this client a processor that is free and memory enough, or run it elsewhere; the figures leave these out."},
	{"first window", CauseTransport, false, ruleTransport, "Nothing: connections that are kept warm do not have it."},
	{"retracted", CausePreemption, true, ruleRetracted, advicePreemption},
	{"loaded", CauseLoad, true, ruleLoaded, adviceLoad},
	{"server's own clock", CausePath, true, ruleServerFast, advicePath},
	{"server's own queue", CauseQueue, true, ruleOwnQueue, adviceQueue},
	{"server's own prefill", CausePrompt, true, ruleOwnPrefill, advicePrompt},
	{"another provider", CauseRouted, true, ruleRouted,
		"Pin the provider or the replica, if an even latency matters more than being answered at all."},
	{"restarted", CauseRestart, false, ruleRestart, "See the server's log for why it ended; a warm spare hides it."},
	{"unreachable", CauseOutage, false, ruleOutage, "See whether the server, its proxy or the network was gone."},
	{"not in memory", CauseLoad, false, ruleNotLoaded, adviceLoad},
	{"same stop", CauseEngine, false, ruleSameStop, "See what is said of the stop that it shared."},
	{"preempted", CausePreemption, false, rulePreempted, advicePreemption},
	{"queued", CauseQueue, false, ruleQueued, adviceQueue},
	{"longer prompt", CausePrompt, false, rulePrompt, advicePrompt},
	{"longest step", CausePrefill, false, ruleStep, advicePrefill},
	{"prompt tokens", CausePrefill, false, rulePrefill, advicePrefill},
	{"a slot's prompt", CausePrefill, false, ruleSlots, advicePrefill},
	{"collector", CauseServerGC, false, ruleServerGC,
		"Have the server freeze its heap after start-up, or collect less often; several API processes share the stops."},
	{"cache traffic", CauseKVTraffic, false, ruleKVTraffic,
		"Lower the concurrency or give the cache more memory, so that less of it has to move."},
	{"slow page", CauseBlocked, false, ruleBlocked,
		"Run more API processes, and tokenise large prompts and write logs outside of the one that streams."},
	{"delayed acknowledgement", CausePath, false, ruleDelayedAck, "Have the server or proxy set TCP_NODELAY."},
	{"held back", CausePath, false, ruleHeld, advicePath},
	{"throttled", CauseThrottle, false, ruleThrottle, "Mind the cooling and the power limit of the GPU."},
	{"batches", CausePrefill, false, ruleBatches, advicePrefill},
	{"own request starts", CausePrefill, false, ruleStarting, advicePrefill},
	{"all at once", CauseEngine, false, ruleEngine,
		"Look into the server's log at this instant; with its metrics on, a prefill, a collection and a preemption can be told apart."},
	{"nothing seen", CauseUnknown, false, ruleNothing, ""},
}

const (
	advicePreemption = "Lower the concurrency or the length of the context, or give the KV cache more memory."
	adviceLoad       = "Keep the model in memory for longer, or load it before it is asked."
	advicePath       = "Look at proxies that buffer, at the network, and at whatever else stands between the engine and here."
	adviceQueue      = "Ask for less at once, or give the server more slots or replicas."
	advicePrompt     = "Shorter prompts, or a prefix that the cache can keep."
	advicePrefill    = "Turn on chunked prefill, or allow fewer prompt tokens in one step."
)
