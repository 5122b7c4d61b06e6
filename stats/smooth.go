package stats

import "math"

// readers are the paces of silent reading, in ns per token: 5 and 10 tok/s.
var readers = [2]int64{200e6, 100e6}

// defaultDeadline is the deadline of one token, in ns, when no service level
// for gaps gives another: what still feels instant.
const defaultDeadline = int64(100e6)

// playout plays one stream's tokens to the readers and against the deadlines.
// All instants are ns of the session's clock.
type playout struct {
	until [len(readers)]int64 // when the reader is through with what it has
	start [len(readers)]int64 // when the request was sent, later by what was not the server's
	lag   [len(readers)]int64 // by how much a reader is behind the ideal
	slack int64
	last  int64 // the gap before
	has   bool  // there was one
	j     float64
}

// first starts the stream: its first event, of k tokens, came at the instant at,
// ttft after it was sent. limit is the deadline for that, 0 when there is none;
// d is the deadline of every other token. Without a deadline of its own, or when
// ours, the first token is where the ideal begins.
func (p *playout) first(at, ttft, limit, d, k int64, ours bool, to [2]*tally) {
	for i, v := range readers {
		p.start[i], p.until[i] = at-ttft, at+k*v
		if limit > 0 && !ours {
			p.lag[i] = max(ttft-limit, 0)
		}
		p.quality(i, at, k, to)
		for _, t := range to {
			t.played[i] += k * v
		}
	}
	if limit > 0 {
		p.deadline(ttft, limit, to)
	}
	p.together(k-1, d, to)
}

// next takes an event of k tokens that came gap after the one before it. A gap
// that is this client's own starves nobody and misses no deadline.
func (p *playout) next(at, gap, d, k int64, ours bool, to [2]*tally) {
	for i, v := range readers {
		wait := max(at-p.until[i], 0)
		p.until[i] += wait + k*v
		if ours {
			p.start[i] += wait
			wait = 0
		}
		p.lag[i] += wait
		p.quality(i, p.until[i]-k*v, k, to)
		for _, t := range to {
			t.starved[i] += wait
			t.played[i] += wait + k*v
		}
	}
	if ours {
		p.has = false
		p.together(k, d, to)
		return
	}
	p.deadline(gap, d, to)
	p.together(k-1, d, to)
	if p.has {
		p.j += (math.Abs(float64(gap-p.last)) - p.j) / 16
		for _, t := range to {
			t.jitter += p.j
			t.jitters++
		}
	}
	p.last, p.has = gap, true
	ms := float64(gap) / 1e6
	for _, t := range to {
		t.sum += ms
		t.square += ms * ms
		t.spread++
	}
}

// quality adds k tokens, the first of them shown to reader i at the instant
// play and the rest at its pace, to the quality of experience as Andes has it:
// all of them are late by the same, since both timelines go on at one pace.
func (p *playout) quality(i int, play, k int64, to [2]*tally) {
	n := float64(k)
	behind := n * float64(p.lag[i])
	whole := n*float64(play-p.start[i]) + float64(readers[i])*n*(n-1)/2
	for _, t := range to {
		t.behind[i] += behind
		t.whole[i] += whole
	}
}

// hung ends a stream whose next token was not waited for any longer: length is
// how long it had been waited for, until the instant at.
func (p *playout) hung(at, length, d int64, to [2]*tally) {
	for i := range readers {
		wait := max(at-p.until[i], 0)
		for _, t := range to {
			t.starved[i] += wait
			t.played[i] += wait
		}
	}
	p.deadline(length, d, to)
}

// deadline judges one token that came gap after the one before it. Slack that
// early tokens left carries over, so a reader with a buffer misses nothing
// while it lasts (the fluidity index of Etalon).
func (p *playout) deadline(gap, d int64, to [2]*tally) {
	if gap <= d+p.slack {
		p.slack += d - gap
		for _, t := range to {
			t.met++
		}
		return
	}
	missed := uint64((gap - p.slack) / d)
	p.slack = 0
	for _, t := range to {
		t.missed += missed
	}
}

// together takes n tokens that came with the one before them: each meets its
// deadline with all of it left.
func (p *playout) together(n, d int64, to [2]*tally) {
	if n <= 0 {
		return
	}
	p.slack += n * d
	for _, t := range to {
		t.met += uint64(n)
	}
}

// smooth sums up what a reader felt. Jitter is the mean of the streams' running
// RFC 3550 estimates over the horizon's gaps.
func (t *tally) smooth() Smooth {
	s := Smooth{FluidityN: t.met + t.missed}
	s.Stalled5 = share(float64(t.starved[0]), float64(t.played[0]))
	s.Stalled10 = share(float64(t.starved[1]), float64(t.played[1]))
	s.Fluidity = share(float64(t.met), float64(s.FluidityN))
	s.QoE5 = quality(t.behind[0], t.whole[0])
	s.QoE10 = quality(t.behind[1], t.whole[1])
	s.Jitter = share(t.jitter, float64(t.jitters))
	mean := share(t.sum, float64(t.spread))
	s.CV = share(math.Sqrt(max(share(t.square, float64(t.spread))-mean*mean, 0)), mean)
	return s
}

// quality is 1 − behind/whole, and 0 where nothing was shown.
func quality(behind, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return 1 - behind/whole
}

// share is a/b, and 0 where there is nothing to divide by.
func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
