package api

import (
	"bytes"
	"math/bits"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// badInRow is how many events in a row may make no sense before the reply has
// failed.
const badInRow = 3

// reader says in c what one event of a dialect holds. typ is the event's name,
// data its payload without blanks around it, never empty. It is false when the
// event makes no sense; c then means nothing. What it puts into c is valid
// until the next event.
//
// A dialect whose replies have one choice sets choices and indices to 1.
type reader interface {
	read(typ string, data []byte, c *chunk) bool
}

// stream decodes one reply: it counts tokens, keeps the first error and knows
// how the reply ended, whichever dialect its reader understands.
type stream struct {
	reader
	chunk chunk
	lines bool // the dialect is one of JSON lines: a single one is no foreign document
	mute  bool // the dialect has no mark of its end: that of the body is all there is

	model    string
	provider string
	finish   string
	seen     uint64 // choices that occurred
	finished uint64 // choices that have a finish reason
	done     bool   // the terminal marker came
	torn     bool   // the body ended inside an event
	fail     *failure
	format   sse.Format
	foreign  string // what came where the body is no stream at all, "" if it is one
	events   int    // events with data
	bad      int    // events in a row that made no sense
	hopeless bool   // too many of those

	tokenEvents int
	tokens      int // their tokens, 1 where the number is not known
	reasoned    bool

	usage      usage
	usageFinal bool // the count came with the end of the reply or after it
	work       work
	byUsage    counter
	byTimings  counter
	answer     cumulative
	thought    cumulative

	flags flagSet
}

// newStream decodes the dialects of OpenAI, with the habits of all the servers
// that imitate it.
func newStream() *stream { return newReply(&openai{pick: newPicker()}) }

// newReply decodes the replies that r can read.
func newReply(r reader) *stream {
	return &stream{reader: r, usage: noUsage(), work: work{running: -1}}
}

// newLines is newReply for a dialect of JSON lines.
func newLines(r reader) *stream {
	s := newReply(r)
	s.lines = true
	return s
}

// openai reads the chunks of chat and completions.
type openai struct{ pick *picker }

func (o *openai) read(_ string, data []byte, c *chunk) bool {
	if o.pick.pick(data, c) {
		return true
	}
	c.reset()
	return decode(data, c)
}

// Ended implements Decoder.
func (s *stream) Ended() bool { return s.done || s.fail != nil || s.foreign != "" || s.hopeless }

// Framed implements Decoder.
func (s *stream) Framed(f sse.Format) { s.format = f }

// Decode implements Decoder.
func (s *stream) Decode(ev *sse.Event, p *Part) {
	*p = Part{Channel: event.Counted}
	if ev.Flags&sse.NoTerminator != 0 {
		s.flags.add(event.FlagNoTerminator)
	}
	if ev.Flags&sse.NoBlankLine != 0 {
		s.flags.add(event.FlagNoBlankLine)
	}
	data := bytes.TrimSpace(ev.Data)
	if ev.Type != sse.TypeText {
		// A gateway that hands on the lines of another puts its own in front.
		data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("data:")))
	}
	switch {
	case ev.Type == sse.TypeComment:
		return
	case ev.Type == sse.TypeCut:
		s.torn = true
		return
	case ev.Type == sse.TypeText:
		s.foreign = describe(data)
		return
	case ev.Type == sse.TypeError:
		s.failed(failureIn(data))
		return
	case ev.Type == "done" || bytes.HasPrefix(data, []byte("[DONE]")):
		s.done = true
		return
	case len(data) == 0:
		return
	}
	s.events++
	c := &s.chunk
	c.reset()
	if !s.read(ev.Type, data, c) {
		s.undecodable()
		return
	}
	s.bad = 0
	s.take(c, p)
	s.done = s.done || c.last
}

// undecodable counts an event that is no JSON; a few in a row are the end.
func (s *stream) undecodable() {
	if s.done {
		return
	}
	s.flags.add(event.FlagUndecodable)
	s.bad++
	s.hopeless = s.hopeless || s.bad >= badInRow
}

// failed keeps the first error.
func (s *stream) failed(f *failure) {
	if s.fail == nil {
		s.fail = f
	}
}

// take accounts for a chunk and says what it brought.
func (s *stream) take(c *chunk, p *Part) {
	over := s.done || s.fail != nil
	if c.fail != nil {
		s.failed(c.fail)
	}
	if s.model == "" && len(c.model) > 0 {
		s.model = string(c.model)
	}
	if s.provider == "" && len(c.provider) > 0 {
		s.provider = string(c.provider)
	}
	before := s.terminal()
	s.seen |= c.indices
	if c.choices > 1 || bits.OnesCount64(s.seen) > 1 {
		s.flags.add(event.FlagSeveralChoice)
	}
	s.fresh(c)
	s.evidence(c, p, over, before)
	if over {
		// Nothing after the terminal marker counts but an error and usage.
		if p.Evidence {
			*p = Part{Channel: event.Counted}
			s.flags.add(event.FlagAfterEnd)
		}
	} else if p.Evidence {
		s.tokenEvents++
		s.tokens += max(int(p.K), 1)
		s.reasoned = s.reasoned || p.Channel == event.Reasoning
		if before {
			s.flags.add(event.FlagAfterEnd)
		}
	}
	if !over {
		s.finished |= c.finished
		if len(c.finish) > 0 && (s.finish == "" || (failing(string(c.finish)) && !failing(s.finish))) {
			s.finish = string(c.finish)
		}
	}
	s.counts(c)
}

// fresh leaves in the chunk only the text that is new, where a server repeats
// all of it with every event.
func (s *stream) fresh(c *chunk) {
	if c.choices != 1 || c.pieces {
		return
	}
	switch c.channel {
	case event.Answer:
		c.text = s.answer.step(c.text)
	case event.Reasoning:
		c.text = s.thought.step(c.text)
	}
}

// terminal tells whether every choice has been given a finish reason.
func (s *stream) terminal() bool { return s.seen != 0 && s.finished == s.seen }

// evidence decides whether the chunk brought tokens, and how many, by the
// first of these that can tell: ids, a counter that grew, logprobs, text.
func (s *stream) evidence(c *chunk, p *Part, over, ended bool) {
	visible := len(c.text) > 0 || c.ids > 0 || c.logprobs > 0
	closing := ended || len(c.finish) > 0
	first := s.tokenEvents == 0
	s.byUsage.covers, s.byTimings.covers = false, false

	grown, known := 0, false
	if c.choices > 0 && !over && !c.totals {
		if n := c.work.running; n >= 0 {
			grown, known = s.byTimings.step(n, closing, visible, first)
		}
		if n := c.usage.completion; n >= 0 {
			// With thinking that is not shown, a total says nothing of the
			// event it came with.
			if k, ok := s.byUsage.step(n, closing, visible, first && c.usage.reasoning <= 0); ok || !known {
				grown, known = k, ok
			}
		}
	}
	switch {
	case c.ids > 0:
		p.K = uint32(c.ids)
	case known && grown > 0:
		p.K = uint32(grown)
	case c.logprobs > 0:
		p.K = uint32(c.logprobs)
	case visible:
		// At least one, and nobody says how many.
	default:
		return
	}
	p.Evidence, p.Channel, p.Text = true, c.channel, c.text
	for _, by := range [...]*counter{&s.byUsage, &s.byTimings} {
		if !by.covers {
			by.missed(int(p.K))
		}
	}
}

// counts keeps what the chunk says of the whole reply.
func (s *stream) counts(c *chunk) {
	s.usage.merge(c.usage)
	s.work.merge(c.work)
	if c.usage.completion > 0 {
		s.usageFinal = c.choices == 0 || s.terminal()
	}
	if s.byUsage.back || s.byTimings.back {
		s.flags.add(event.FlagCounterBack)
	}
}

// flagSet is an ordered set of flags.
type flagSet []event.Flag

func (f *flagSet) add(flag event.Flag) {
	for _, have := range *f {
		if have == flag {
			return
		}
	}
	*f = append(*f, flag)
}
