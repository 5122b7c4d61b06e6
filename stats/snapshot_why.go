package stats

import "teapot/probe/event"

// Verdict says how sure a cause is.
type Verdict uint8

// The verdicts. Each comes with its evidence.
const (
	Unexplained Verdict = iota // nothing points to one cause
	Likely                     // signs of the same instants point to it
	Proven                     // the request or the server itself says so
	Ours                       // this client's own stop, no latency of the server's
	Transport                  // TCP's first window on a new connection, see Figures.Transport
)

// String is the verdict's word on screens and in reports.
func (v Verdict) String() string {
	words := [...]string{"unexplained", "likely", "proven", "ours", "transport"}
	if int(v) < len(words) {
		return words[v]
	}
	return words[Unexplained]
}

// Cause names what made a spike, in words fit for a table.
type Cause string

// The causes. The empty one is that of nothing known.
const (
	CauseUnknown    Cause = ""
	CauseOurs       Cause = "this client"
	CauseTransport  Cause = "first window of a connection"
	CauseRestart    Cause = "restart"
	CauseOutage     Cause = "outage"
	CauseLoad       Cause = "model load"
	CausePreemption Cause = "preemption"
	CauseQueue      Cause = "queueing"
	CausePrompt     Cause = "own prompt"
	CausePrefill    Cause = "prefill interference"
	CauseServerGC   Cause = "garbage collection of the server"
	CauseKVTraffic  Cause = "traffic of the KV cache"
	CausePath       Cause = "held back on the way"
	CauseBlocked    Cause = "blocked API process"
	CauseThrottle   Cause = "throttled GPU"
	CauseRouted     Cause = "routed elsewhere"
	CauseEngine     Cause = "engine stood still"
)

// String is the cause's name; that of none is "unexplained".
func (c Cause) String() string {
	if c == CauseUnknown {
		return Unexplained.String()
	}
	return string(c)
}

// Phase is the part of a reply in which a spike fell.
type Phase uint8

// The phases.
const (
	PhaseAnswer    Phase = iota
	PhaseFirst           // the wait for the first token
	PhaseReasoning       // hidden or shown thinking
	PhaseToolCall
	PhaseOutage // no request was under way: the endpoint itself was gone
)

// String names the phase.
func (p Phase) String() string {
	names := [...]string{"answer", "first token", "reasoning", "tool call", "outage"}
	if int(p) < len(names) {
		return names[p]
	}
	return names[PhaseAnswer]
}

// Why is a verdict on one spike.
type Why struct {
	Verdict  Verdict
	Cause    Cause
	Rule     string   // the name of the rule that gave it
	Evidence []string // never empty: what was seen, or that nothing was
	Advice   string   // what follows from the rule; "" where nothing does
	At       int64    // when it was given
	Revised  int      // how often it changed since the first one
	Settled  bool     // every sign that was to be waited for is in
}

// Around is what was seen around a spike.
type Around struct {
	From, To int64 // of the run of long gaps that the spike is part of
	Gaps     int   // how many long gaps follow each other in that run, this one included
	// Other streams of the target that were receiving tokens: Silent had nothing
	// for most of the same time, Together of them went on with this one, Moving
	// went on meanwhile.
	Receiving, Silent, Together, Moving int
	// Chance is how probable it is that so many streams coincide by their own
	// tails alone; 1 where none did.
	Chance float64
	// Starting counts other requests of this client that were sent and had no
	// token yet, and got their first one with the end of the run, and
	// StartingPrompt is the sum of their prompts, tokens; 0 when not known.
	Starting, StartingPrompt int
	// Held tokens came at once at the end; Due would have come in the time.
	Held, Due   int
	Before      int     // token events of the stream before it
	After       int     // and after it, as far as was waited for
	Peers       []Peer  // the other streams, by slot, at most 32
	Floor       Stretch // this client at the same time
	Looks       []Look  // the signals around it: before, during, after
	TextBefore  string  // raw, untrusted; "" when text was not recorded
	TextAfter   string
	ToHeaders   int64 // of a first token: from sent to the headers, ns; 0 unknown
	PromptToken int   // of a first token: tokens of the prompt; 0 unknown
}

// Peer is another stream over the time of a spike.
type Peer struct {
	Slot    uint32
	Request uint64
	Gap     int64 // the gap of its own that covers most of that time, ns
	Over    int64 // and how much it covers, ns
	Apart   int64 // how far its end is from the spike's, ns; −1 while it is open
	Tokens  int   // token events that it got in between
	Under   int64 // for how much of that time it was under way, ns
}

// Stretch is what this client added over a span of time.
type Stretch struct {
	Overshoot             int64 // worst, as far as it can lie in the span, ns
	Late, Lag             int64 // worst, ns
	GCPause, Sched, Steal int64 // worst, worst and sum, ns
	GC                    uint64
	Dropped               uint64 // events
	Paused                bool   // the probe was not running at some time of it
	Known                 bool   // a heartbeat covers it
}

// Look is one signal near a spike.
type Look struct {
	Source  string
	At      int64
	Took    int64 // ns that the server took to answer
	Apart   int64 // ns from the spike's end, negative before it
	Restart bool
	Values  []event.Sample
}

// CauseRow is one cause over the session.
type CauseRow struct {
	Cause  Cause
	Count  uint64 // spikes; one that several streams share counts once
	Total  int64  // Σ of their lengths, ns
	By     [Transport + 1]uint64
	Worst  Spike  // the longest, with its evidence
	Advice string // that of Worst; "" where nothing follows
}

// Verdict is the surest one that the row's spikes got.
func (r *CauseRow) Verdict() Verdict {
	for _, v := range []Verdict{Proven, Likely, Ours, Transport} {
		if r.By[v] > 0 {
			return v
		}
	}
	return Unexplained
}

const (
	// coincide is how probable a coincidence of streams may be for it to be one
	// cause all the same: a heavy tail alone is accused no more often than that.
	coincide = 0.003
	// allTenths of the streams that were receiving make all of them.
	allTenths = 7.5
)

// All tells whether the stop struck what all streams have in common: most of
// those that were receiving stood still and went on together, and that is no
// coincidence.
func (a *Around) All() bool {
	return a != nil && a.Together > 0 && 10*float64(a.Together+1) >= allTenths*float64(a.Receiving+1) && a.Chance <= coincide
}

// Alone tells whether other streams went on meanwhile, so that the stop was the
// request's own, or its path's.
func (a *Around) Alone() bool {
	return a != nil && a.Moving > 0 && 2*a.Moving >= a.Receiving && !a.All()
}
