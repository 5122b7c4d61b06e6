package stats

import "slices"

// The stall rule. A gap is a stall when it is at least one frame of film and
// far out of what its target did in the minute that ended before it began; as
// long as that minute holds too little, far out of what its own stream did.
const (
	stallFrame   = int64(41.7e6) // ns, 24 frames a second
	stallHistory = int64(60)     // seconds looked back
	stallSamples = 100
	stallP99     = 3 // times the target's P99
	stallMedian  = 8 // times the stream's median

	// A stutter is a gap that the rule lets pass only because such gaps are so
	// many that they make the P99: more than one in a hundred. Against the P90
	// they stand out up to one in ten. A heavy tail alone does not: it would
	// need a P99 of three times the P90, where the P99 rule is the stricter one.
	stutterP90     = 9
	stutterSamples = 500 // without which a P99 may be high by chance alone
)

// past is what the minute before one second held.
type past struct {
	sec, p50, p90, p99 int64
	n                  uint64
	known              bool
}

// history remembers the pasts of the last seconds: they are asked for by every
// long gap, and their walk over sixty seconds is worth doing once.
type history [64]past

func (h *history) of(began int64, gaps *dist) past {
	sec := began / second
	p := &h[sec%int64(len(h))]
	if !p.known || p.sec != sec {
		v, n := gaps.quantiles(sec-stallHistory, sec-1, 500_000, 900_000, 990_000)
		*p = past{sec: sec, p50: v[0], p90: v[1], p99: v[2], n: n, known: true}
	}
	return *p
}

// stalled tells whether a gap that began at the instant began is a stall.
// median gives the median of the stream's gaps before it, 0 when it has none.
// With no gap at all to compare with, nothing can be said, and it is none.
func (h *history) stalled(began, gap int64, gaps *dist, median func() int64) bool {
	if gap < stallFrame {
		return false
	}
	p := h.of(began, gaps)
	if p.n >= stallSamples {
		return gap >= stallP99*p.p99
	}
	m := median()
	if m == 0 {
		m = p.p50
	}
	return m > 0 && gap >= stallMedian*m
}

// stutters tells whether a gap that is no stall would be one if such gaps were
// rarer: it is at least a frame of film, and nine times the P90 of the minute.
func (h *history) stutters(began, gap int64, gaps *dist) bool {
	if gap < stallFrame {
		return false
	}
	p := h.of(began, gaps)
	return p.n >= stutterSamples && gap >= stutterP90*p.p90
}

// median is the lower median of the values, which it sorts; 0 for none.
func median(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}
