package stats

import (
	"cmp"
	"slices"
)

const (
	worstKept  = 25 // of stalls, and again of first tokens
	recentKept = 32 // spikes that another stream's stall may still join

	// Streams of one engine that stop together go on together: ends no further
	// apart than this, or than a quarter of the stop, are one instant.
	sameInstant = int64(20e6)

	// A first token is slow from so many times the session's median on, once
	// so many were seen. Without this, ordinary first tokens, long as they are,
	// would crowd out every stall.
	slowFirst     = 2
	slowFirstMinN = 5
)

// spike is a Spike with the streams that share it.
type spike struct {
	Spike
	began int64
	slots []uint32
}

// spikes keeps the worst stalls and slow first tokens of one target. Bounded.
type spikes struct {
	stalls, firsts []*spike // worst first
	recent         []*spike // newest last
}

// add takes one spike that began at the instant began. A stall of another
// stream over the same instant has the same cause: the longest stands for all,
// and the others are counted as its peers.
func (s *spikes) add(began int64, v Spike) {
	n := &spike{Spike: v, began: began, slots: []uint32{v.Slot}}
	if !v.First {
		for _, r := range s.recent {
			if r.joins(n) {
				r.slots = append(r.slots, v.Slot)
				peers, merged, of := r.Peers+1, r.Merged || v.Merged, max(r.Of, v.Of)
				transport := r.Transport && v.Transport // one that is not tells of the server
				if v.Length > r.Length {
					r.Spike, r.began = v, began
				}
				r.Peers, r.Merged, r.Of, r.Transport = peers, merged, of, transport
				s.place(r)
				return
			}
		}
	}
	s.recent = append(s.recent, n)
	if len(s.recent) > recentKept {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	s.place(n)
}

// joins tells whether n is the same stop of another stream.
func (r *spike) joins(n *spike) bool {
	if r.First || slices.Contains(r.slots, n.Slot) || len(r.slots) > 4096 {
		return false
	}
	apart := r.At - n.At
	if apart < 0 {
		apart = -apart
	}
	return n.began < r.At && r.began < n.At && apart <= max(sameInstant, min(r.Length, n.Length)/4)
}

// place puts a spike where its length belongs among the worst.
func (s *spikes) place(n *spike) {
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
		if r.At > from && r.At <= to && overslept >= r.Length/2 {
			r.Merged = true
		}
	}
}

// view returns copies of all, worst first.
func (s *spikes) view() []Spike {
	all := slices.Concat(s.stalls, s.firsts)
	slices.SortFunc(all, worse)
	out := make([]Spike, len(all))
	for i, n := range all {
		out[i] = n.Spike
	}
	return out
}
