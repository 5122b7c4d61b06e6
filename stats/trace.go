package stats

import (
	"encoding/binary"
	"slices"

	"teapot/probe/event"
)

const (
	maxTrace   = 4096 // token events of one request that are kept
	maxFlags   = 512  // stalls and the like among them
	keptTraces = 200  // finished requests, beside those of the worst spikes
)

// traceFlag says what became of a gap once it was judged.
type traceFlag uint8

const (
	traceStall traceFlag = iota + 1
	traceTransport
	traceLate
)

// flagged is one event of a trace that was judged.
type flagged struct {
	event int
	what  traceFlag
}

// trace is what is kept of every token event of one request: how long after the
// one before it came, how many tokens it held, and what it was. Some four bytes
// an event. What is written is never written again, so that a view of it may be
// read while more is added.
type trace struct {
	packed []byte
	events int // in packed
	lost   int // beyond maxTrace
	flags  []flagged
	last   int64 // ns from sent to the last event in packed
	whole  bool  // keep every event, however many there are
}

// The low bits of an event's first number.
const (
	traceOurs   = 1 << iota // the gap is this client's
	traceBurst              // it shared its read with the event before
	traceMore               // the number of tokens follows, and the channel
	traceShift  = iota
	traceSimple = 1 // tokens of an event that says no more
)

// add takes the event that came at ns after the request was sent.
func (r *trace) add(at int64, a arrival, ev *event.Token) {
	if r.events >= maxTrace && !r.whole {
		r.lost++
		return
	}
	bits := uint64(0)
	if a.ours {
		bits |= traceOurs
	}
	if ev.Burst > 0 {
		bits |= traceBurst
	}
	more := ev.K != traceSimple || ev.Channel != event.Answer
	if more {
		bits |= traceMore
	}
	r.packed = binary.AppendUvarint(r.packed, uint64(at-r.last)<<traceShift|bits)
	if more {
		r.packed = binary.AppendUvarint(r.packed, uint64(ev.K))
		r.packed = append(r.packed, byte(ev.Channel))
	}
	r.last = at
	r.events++
}

// flag notes what an event, from 1, turned out to be.
func (r *trace) flag(ev int, what traceFlag) {
	if r.whole || ev <= maxTrace && len(r.flags) < maxFlags {
		r.flags = append(r.flags, flagged{ev, what})
	}
}

func (r *trace) view(q Request, running bool) Trace {
	return Trace{Request: q, Running: running, Lost: r.lost, packed: r.packed, events: r.events, flags: r.flags}
}

// Trace is one request with all its gaps.
type Trace struct {
	Request      // as far as it has come, while it is Running
	Running bool // it has not ended
	Lost    int  // token events beyond those that are kept
	packed  []byte
	events  int
	flags   []flagged
}

// NewTrace returns the trace of a request with these token events, the first of
// which has its time to first token for a gap. Text is not kept.
func NewTrace(r Request, running bool, cells []Cell) Trace {
	var x trace
	for i := range cells {
		c := &cells[i]
		ev := event.Token{K: c.K, Channel: c.Channel}
		if c.Burst {
			ev.Burst = 1
		}
		x.add(max(c.At-r.Sent, x.last), arrival{ours: c.Merged}, &ev)
		if c.Stall {
			x.flag(i+1, traceStall)
		}
		if c.Transport {
			x.flag(i+1, traceTransport)
		}
		if c.Late {
			x.flag(i+1, traceLate)
		}
	}
	return x.view(r, running)
}

// Events is the number of token events that are kept.
func (t *Trace) Events() int { return t.events }

// Equal tells whether two traces hold the same.
func (t Trace) Equal(o Trace) bool {
	return t.Request == o.Request && t.Running == o.Running && t.Lost == o.Lost && t.events == o.events &&
		slices.Equal(t.packed, o.packed) && slices.Equal(t.flags, o.flags)
}

// Cells unpacks the token events, oldest first, without their text.
func (t *Trace) Cells() []Cell {
	out := make([]Cell, 0, t.events)
	at, p := t.Sent, t.packed
	for len(out) < t.events {
		v, n := binary.Uvarint(p)
		p = p[n:]
		gap := int64(v >> traceShift)
		at += gap
		c := Cell{At: at, Gap: gap, K: traceSimple, Merged: v&traceOurs != 0, Burst: v&traceBurst != 0}
		if v&traceMore != 0 {
			k, n := binary.Uvarint(p)
			c.K, c.Channel = uint32(k), event.Channel(p[n])
			p = p[n+1:]
		}
		out = append(out, c)
	}
	for _, f := range t.flags {
		if f.event < 1 || f.event > len(out) {
			continue
		}
		switch c := &out[f.event-1]; f.what {
		case traceStall:
			c.Stall = true
		case traceLate:
			c.Late = true
		default:
			c.Transport = true
		}
	}
	return out
}

// Traces are the requests that can be looked into.
type Traces struct {
	Running  []Trace // in flight, by slot
	Finished []Trace // the newest last, at most 200
	Worst    []Trace // older ones that are in Target.Worst
}

// Find looks a request up; nil when its gaps are not kept.
func (s *Traces) Find(request uint64) *Trace {
	if s == nil {
		return nil
	}
	for _, list := range [...][]Trace{s.Running, s.Finished, s.Worst} {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].ID == request {
				return &list[i]
			}
		}
	}
	return nil
}

// traces keeps the traces of the requests that have ended.
type traces struct {
	done  log[Trace]
	worst []Trace // written anew whenever it changes
}

// add keeps a request that has ended. One that falls off the list stays while
// one of the worst spikes is its own.
func (s *traces) add(l *life, r Request) {
	s.done.keep = keptTraces
	if len(s.done.items) >= keptTraces {
		s.spare(s.done.items[0], func(t Trace) bool { return l.t.spikes.worst(t.ID) })
	}
	l.trace.packed = slices.Clone(l.trace.packed)
	s.done.add(l.trace.view(r, false))
}

// spare keeps those apart that fell off the list and are still wanted.
func (s *traces) spare(old Trace, wanted func(Trace) bool) {
	if !wanted(old) && !slices.ContainsFunc(s.worst, func(t Trace) bool { return !wanted(t) }) {
		return
	}
	kept := make([]Trace, 0, len(s.worst)+1)
	for _, t := range append(slices.Clip(s.worst), old) {
		if wanted(t) {
			kept = append(kept, t)
		}
	}
	s.worst = kept
}

// worst tells whether one of the worst spikes is the request's.
func (s *spikes) worst(request uint64) bool {
	is := func(n *spike) bool { return n.Request == request }
	return slices.ContainsFunc(s.stalls, is) || slices.ContainsFunc(s.firsts, is)
}

func (s *traces) view(t *target) *Traces {
	v := &Traces{Finished: s.done.view(), Worst: s.worst}
	for _, l := range t.slots {
		if !l.ended {
			v.Running = append(v.Running, l.trace.view(l.request(), true))
		}
	}
	slices.SortFunc(v.Running, func(a, b Trace) int { return int(int64(a.Slot) - int64(b.Slot)) })
	return v
}
