package api

import "teapot/probe/event"

// chunk is what one event of a stream says, in any dialect and whichever way it
// was read: quickly or by encoding/json. The two ways must fill it alike.
type chunk struct {
	model    []byte
	provider []byte // who served it, behind a gateway that says so
	choices  int    // objects in choices
	indices  uint64 // bit i: choice i stood in the event; indices above 63 share the last bit
	finished uint64 // bit i: choice i has a finish reason
	finish   []byte // the first finish reason in the event
	channel  event.Channel
	text     []byte
	ids      int // token ids listed
	logprobs int // tokens with logprobs listed
	usage    usage
	work     work
	fail     *failure
	last     bool // the server owes nothing more: what comes after does not count
	totals   bool // usage is of the whole reply and says nothing of this event
	pieces   bool // the dialect is known to send each text once: none is looked for in the next
}

// reset empties the chunk for the next event.
func (c *chunk) reset() {
	*c = chunk{channel: event.Counted, usage: noUsage(), work: work{running: -1}}
}

// say adds text in a channel. The answer outranks everything else, and within
// one event the first text of the highest rank is the one that is kept.
func (c *chunk) say(ch event.Channel, text []byte) {
	if len(text) == 0 {
		return
	}
	if len(c.text) == 0 || rank(ch) > rank(c.channel) {
		c.channel, c.text = ch, text
	}
}

// rank orders the channels of one event by what a reader waits for.
func rank(ch event.Channel) int {
	switch ch {
	case event.Answer:
		return 4
	case event.ToolCall:
		return 3
	case event.Refusal:
		return 2
	case event.Reasoning:
		return 1
	}
	return 0
}

// end notes a finish reason of the choice with the given bit.
func (c *chunk) end(bit uint64, reason []byte) {
	if len(reason) == 0 {
		return
	}
	c.finished |= bit
	if len(c.finish) == 0 || (failing(string(reason)) && !failing(string(c.finish))) {
		c.finish = reason
	}
}

// bitOf is the bit of a choice.
func bitOf(index int) uint64 {
	if index < 0 || index > 63 {
		index = 63
	}
	return 1 << index
}

// usage is the server's count; -1 is "not said".
type usage struct {
	completion, prompt, cached, reasoning int
}

func noUsage() usage { return usage{-1, -1, -1, -1} }

// merge keeps the last figure that is not zero: some servers send zeros with
// every event and the truth once, anywhere.
func (u *usage) merge(v usage) {
	keep := func(have *int, n int) {
		if n > 0 || (n == 0 && *have < 0) {
			*have = n
		}
	}
	keep(&u.completion, v.completion)
	keep(&u.prompt, v.prompt)
	keep(&u.cached, v.cached)
	keep(&u.reasoning, v.reasoning)
}

// work is what the server says of its own time; ns, 0 when not said.
type work struct {
	set               bool
	running           int // tokens generated so far; -1 when not said
	cached            int
	promptN, decodeN  int
	prompt, decode    int64
	queue, load       int64
	total, perToken   int64
	drafted, accepted int
	retracted         int // times that the request lost its place among those being worked on
}

// merge keeps what v says and leaves the rest.
func (w *work) merge(v work) {
	if !v.set {
		return
	}
	w.set = true
	ints := [...]struct {
		have *int
		n    int
	}{{&w.cached, v.cached}, {&w.promptN, v.promptN}, {&w.decodeN, v.decodeN}, {&w.drafted, v.drafted}, {&w.accepted, v.accepted}, {&w.retracted, v.retracted}, {&w.running, v.running}}
	for _, f := range ints {
		if f.n > 0 {
			*f.have = f.n
		}
	}
	spans := [...]struct {
		have *int64
		n    int64
	}{{&w.prompt, v.prompt}, {&w.decode, v.decode}, {&w.queue, v.queue}, {&w.load, v.load}, {&w.total, v.total}, {&w.perToken, v.perToken}}
	for _, f := range spans {
		if f.n > 0 {
			*f.have = f.n
		}
	}
}
