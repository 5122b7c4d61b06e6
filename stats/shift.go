package stats

import "math"

// A shift of level is found on the logarithms of the gaps, in units of their
// own spread, by two charts at once: an exponentially weighted mean (Roberts),
// which is quick to see a large shift, and Page and Hinkley's sum, which sees a
// small one. A plain threshold would take a heavy tail for a shift.
const (
	shiftWeight = 0.02 // λ of the weighted mean
	shiftLimit  = 4.5  // its limit, in standard deviations of that mean
	shiftSlack  = 0.1  // δ of the sum: what a sample may lie off for nothing
	shiftSum    = 40   // λ of the sum: its limit

	shiftLearn  = 1000   // gaps that make a level, before anything is judged
	shiftMemory = 20_000 // gaps that a level remembers
	shiftClip   = 5      // one gap counts for so many spreads at most
	shiftSpread = 0.05   // the least spread: 5 % of a metronome are noise too
	shiftBack   = 1024   // gaps among which the beginning of a shift is sought
)

// heard is one gap that was listened to.
type heard struct {
	at   int64
	x, z float64 // its logarithm, and that in spreads off the level
}

// detector follows the level of one target's gaps.
//
// It listens to one stream at a time: the streams of one engine move in
// lock-step, and a slow step heard from each of them would look like a shift.
type detector struct {
	n        float64 // gaps in the level
	mean, m2 float64 // of their logarithms, and Σ of squared distances
	ewma     float64 // in spreads
	up, down float64 // Page and Hinkley's sums
	last     [shiftBack]heard
	count    int // of last, of all time

	leader  uint64 // the request listened to
	heardAt int64
}

// hears tells whether the gap of a request that ended at the instant at is one
// to listen to. Another stream takes over when the leader has been silent for
// longer than three gaps of the level, and at least a second.
func (d *detector) hears(request uint64, at int64) bool {
	if request != d.leader {
		silent := at - d.heardAt
		if d.leader != 0 && (silent < second || float64(silent) < 3*math.Exp(d.mean)) {
			return false
		}
		d.leader = request
	}
	d.heardAt = at
	return true
}

// over frees the lead when its request has ended.
func (d *detector) over(request uint64) {
	if request == d.leader {
		d.leader = 0
	}
}

// add takes one gap, in ns, and returns the shift that it completes, if any.
func (d *detector) add(at, gap int64) (Shift, bool) {
	x := math.Log(float64(max(gap, 1)))
	if d.n < shiftLearn {
		d.learn(x)
		return Shift{}, false
	}
	spread := max(math.Sqrt(d.m2/d.n), shiftSpread)
	z := min(max((x-d.mean)/spread, -shiftClip), shiftClip)
	d.ewma += shiftWeight * (z - d.ewma)
	d.up = max(d.up+z-shiftSlack, 0)
	d.down = max(d.down-z-shiftSlack, 0)
	d.last[d.count%shiftBack] = heard{at, x, z}
	d.count++
	limit := shiftLimit * math.Sqrt(shiftWeight/(2-shiftWeight))
	if math.Abs(d.ewma) < limit && max(d.up, d.down) < shiftSum {
		d.learn(x)
		return Shift{}, false
	}
	s := d.since()
	s.At = at
	*d = detector{leader: d.leader, heardAt: d.heardAt}
	return s, true
}

// since finds where the shift most likely began: where what follows lies
// farthest off the level for its number (the maximum of the likelihood).
func (d *detector) since() Shift {
	sum, logs, best := 0.0, 0.0, -1.0
	var s Shift
	for n := 1; n <= min(d.count, shiftBack); n++ {
		h := &d.last[(d.count-n)%shiftBack]
		sum, logs = sum+h.z, logs+h.x
		if l := sum * sum / float64(n); l > best {
			best = l
			to := logs / float64(n)
			s = Shift{Since: h.at, Gaps: uint64(n), To: int64(math.Exp(to)), Ratio: math.Exp(to - d.mean)}
		}
	}
	s.From = int64(math.Exp(d.mean))
	return s
}

// learn takes the logarithm of one gap into the level (Welford). A full memory
// forgets the share that comes in.
func (d *detector) learn(x float64) {
	if d.n >= shiftMemory {
		d.m2 -= d.m2 / d.n
		d.n--
	}
	d.n++
	by := x - d.mean
	d.mean += by / d.n
	d.m2 += by * (x - d.mean)
}
