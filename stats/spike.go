package stats

import (
	"cmp"
	"slices"

	"teapot/probe/event"
)

const (
	worstKept  = 25  // of stalls, and again of first tokens
	newestKept = 500 // spikes of all kinds
	recentKept = 32  // spikes that another stream's stall may still join

	// Streams of one engine that stop together go on together: ends no further
	// apart than this, or than a quarter of the stop, are one instant.
	sameInstant = int64(20e6)

	// A first token is slow from so many times the session's median on, once
	// so many were seen. Without this, ordinary first tokens, long as they are,
	// would crowd out every stall.
	slowFirst     = 2
	slowFirstMinN = 5

	// A gap over its service level is a spike when it is out of the ordinary too,
	// by so many medians: a level below the median makes none each time. What is
	// no stall is looked at no more often than this a second.
	overLevel  = 2
	listedRate = 32
)

// spike is a Spike with the streams that share it, and what its verdict needs.
type spike struct {
	Spike
	began int64
	slots []uint32
	life  *life // of its stream
	minor bool  // no stall, and over no level: never among the worst
	whole bool  // all signs that can be hoped for were in at the last look

	rate    float64 // gaps nearly as long, per ns of stream time, before it
	pair    [nSources]lookPair
	counted counted // how it stands in the table of causes
}

// spikes keeps the worst stalls and slow first tokens of one target, and the
// newest of all. Bounded.
type spikes struct {
	stalls, firsts []*spike   // worst first
	recent         []*spike   // newest last
	open           []*spike   // whose verdict may change, oldest first
	newest         log[Spike] // by ID without a hole
	ids            uint64     // of the newest
	causes         causes

	sec, listed, unlisted uint64 // the second, spikes of it that are no stall, and those left out of all
}

// add takes one spike. A stall of another stream over the same instant has the
// same cause: the longest stands for all, and the others are counted as its
// peers.
func (s *spikes) add(n *spike) *spike {
	n.slots = []uint32{n.Slot}
	if !n.First {
		for _, r := range s.recent {
			if r.joins(n) {
				r.join(n)
				s.place(r)
				return r
			}
		}
	}
	s.ids++
	n.ID = s.ids
	s.recent = append(s.recent, n)
	if len(s.recent) > recentKept {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.newest.keep = newestKept
	s.newest.add(n.Spike)
	s.place(n)
	return n
}

// join makes n a part of the spike that it belongs to.
func (r *spike) join(n *spike) {
	r.slots = append(r.slots, n.Slot)
	peers, merged, of := r.Peers+1, r.Merged || n.Merged, max(r.Of, n.Of)
	transport := r.Transport && n.Transport // one that is not tells of the server
	if n.Length > r.Length {
		id, why := r.ID, r.Why
		r.Spike, r.began, r.life, r.rate = n.Spike, n.began, n.life, n.rate
		r.ID, r.Why = id, why
	}
	r.Peers, r.Merged, r.Of, r.Transport = peers, merged, of, transport
	r.minor = r.minor && n.minor
}

// joins tells whether n is the same stop of another stream.
func (r *spike) joins(n *spike) bool {
	if r.First || r.Phase == PhaseOutage || n.Phase == PhaseOutage || slices.Contains(r.slots, n.Slot) || len(r.slots) > 4096 {
		return false
	}
	return n.began < r.At && r.began < n.At && abs(r.At-n.At) <= together(r.Length, n.Length)
}

// together is by how many ns the ends of two stops may differ that are one.
func together(a, b int64) int64 { return max(sameInstant, min(a, b)/4) }

func abs(v int64) int64 { return max(v, -v) }

// place puts a spike where its length belongs among the worst.
func (s *spikes) place(n *spike) {
	if n.minor {
		return
	}
	list := &s.stalls
	if n.First {
		list = &s.firsts
	}
	*list = slices.DeleteFunc(*list, func(o *spike) bool { return o == n })
	i, _ := slices.BinarySearchFunc(*list, n, worse)
	*list = slices.Insert(*list, i, n)
	if len(*list) > worstKept {
		clear((*list)[worstKept:])
		*list = (*list)[:worstKept]
	}
}

// worse orders the longer spike first, and of equals the earlier.
func worse(a, b *spike) int {
	return cmp.Or(cmp.Compare(b.Length, a.Length), cmp.Compare(a.At, b.At), cmp.Compare(a.Request, b.Request))
}

// ours marks the spikes that ended within from..to, while this client itself
// overslept by at least half of their length.
func (s *spikes) ours(from, to, overslept int64) {
	for _, r := range s.recent {
		if r.At > from && r.At <= to && r.Phase != PhaseOutage && 2*min(overslept, r.At-max(r.began, from)) >= r.Length {
			r.Merged = true
			s.causes.shown = nil // it may stand there as the worst of its cause
			s.show(r)
		}
	}
}

// show writes a spike as it is now into the list of the newest.
func (s *spikes) show(n *spike) {
	if i := len(s.newest.items) - 1 - int(s.ids-n.ID); i >= 0 && i < len(s.newest.items) {
		*s.newest.edit(i) = n.Spike
	}
}

// view returns copies of the worst, worst first.
func (s *spikes) view() []Spike {
	all := slices.Concat(s.stalls, s.firsts)
	slices.SortFunc(all, worse)
	out := make([]Spike, len(all))
	for i, n := range all {
		out[i] = n.Spike
	}
	return out
}

// full counts one spike that is no stall and tells whether it is one too many
// for its second.
func (s *spikes) full(at int64) bool {
	if sec := uint64(max(at, 0) / second); sec != s.sec {
		s.sec, s.listed = sec, 0
	}
	if s.listed++; s.listed > listedRate {
		s.unlisted++
		return true
	}
	return false
}

// phaseOf is the part of its reply that the event after a gap stands in.
func (l *life) phaseOf(ev int) Phase {
	i := l.cell(min(ev, l.events))
	if i < 0 || l.events == 0 {
		return PhaseAnswer
	}
	switch l.cells.items[i].Channel {
	case event.Reasoning:
		return PhaseReasoning
	case event.ToolCall:
		return PhaseToolCall
	}
	return PhaseAnswer
}
