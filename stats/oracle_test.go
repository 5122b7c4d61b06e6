package stats

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// The oracle keeps every sample of a run and computes every figure anew from
// its definition, by sorting and by playing token after token.

// told is one token event of a plan.
type told struct {
	at     int64
	k      int64
	merged bool
	read   bool // it opens a read
	ch     event.Channel
}

// plan is one request as it will be told to the aggregator.
type plan struct {
	id          uint64
	sent, sched int64
	reused      bool
	toks        []told
	end, limit  int64
	class       event.Class
	n           int64
}

const (
	oracleTTFT = 700 * ms
	oracleGap  = 90 * ms
)

func oracleLevels() []SLO {
	return []SLO{
		{Metric: "ttft", Limit: oracleTTFT, Goal: 0.9}, {Metric: "gap", Limit: oracleGap, Goal: 0.8},
		{Metric: "tpot", Limit: 60 * ms, Goal: 0.5}, {Metric: "e2e", Limit: 4 * second, Goal: 0.5},
	}
}

func genPlan(t *rapid.T, id uint64, from int64) plan {
	p := plan{id: id, sent: from, reused: rapid.Bool().Draw(t, "reused"), class: event.OKFull}
	if rapid.Bool().Draw(t, "open loop") {
		p.sched = max(from-int64(rapid.IntRange(0, 3000).Draw(t, "lag"))*ms, 1)
	}
	gap := rapid.OneOf(rapid.Int64Range(0, 200*ms), rapid.SampledFrom([]int64{
		1, 999, oracleGap, oracleGap + 1, 41_699_999, 41_700_000, 100 * ms, 3 * second, 65 * second,
	}))
	at := from + rapid.SampledFrom([]int64{1, 5 * ms, 200 * ms, oracleTTFT, oracleTTFT + 1, 2 * second}).Draw(t, "ttft")
	for i := range rapid.IntRange(0, 40).Draw(t, "events") {
		k := int64(rapid.IntRange(1, 4).Draw(t, "k"))
		tok := told{k: k, read: true, merged: rapid.IntRange(0, 9).Draw(t, "merged") == 0, ch: event.Channel(rapid.IntRange(0, 1).Draw(t, "channel"))}
		switch {
		case i == 1: // it streams: no reply of these is buffered
			at += 60*ms + gap.Draw(t, "gap")
		case i > 1 && rapid.IntRange(0, 4).Draw(t, "shares") == 0:
			tok.read, tok.merged = false, p.toks[i-1].merged
		case i > 1:
			at += gap.Draw(t, "gap")
		}
		if i == 0 {
			tok.k = 1
		}
		tok.at = at
		p.n += tok.k
		p.toks = append(p.toks, tok)
	}
	p.end = at + int64(rapid.IntRange(0, 50).Draw(t, "closing"))*ms
	switch class := rapid.IntRange(0, 9).Draw(t, "class"); {
	case len(p.toks) == 0 && class < 5:
		p.class, p.limit, p.end = event.ErrFirst, 5*second, from+5*second
	case len(p.toks) == 0:
		p.class = event.ErrEmpty
	case class == 0:
		p.class, p.limit, p.end = event.ErrIdle, 9*second, at+9*second
	case class == 1:
		p.class = event.ErrStream
	case class == 2:
		p.class = event.Aborted
	}
	return p
}

// tell adds the plans' events to the aggregator in the order of their times.
func tell(a *Aggregator, plans []plan) (last int64) {
	var all []event.Event
	for _, p := range plans {
		slot := uint32(p.id)
		all = append(all, &event.Start{At: p.sent, Target: 1, Request: p.id, Slot: slot, Scheduled: p.sched, Reused: p.reused})
		burst := uint32(0)
		for _, k := range p.toks {
			burst++
			if k.read {
				burst = 0
			}
			all = append(all, &event.Token{At: k.at, Target: 1, Request: p.id, Slot: slot, K: uint32(k.k), Burst: burst, Merged: k.merged, Channel: k.ch})
		}
		all = append(all, &event.End{At: p.end, Target: 1, Request: p.id, Slot: slot, Class: p.class, Limit: p.limit, N: int(p.n), Count: event.CountRunning})
	}
	slices.SortStableFunc(all, func(x, y event.Event) int { return cmp.Compare(x.Time(), y.Time()) })
	for _, ev := range all {
		a.Add(ev)
		last = max(last, ev.Time())
	}
	return last
}

// truth is what the oracle found over one horizon.
type truth struct {
	from                                                     int64
	ttft, ttfo, gap, itl, tpot, e2e, late, sTTFT, sE2E, cold []sample
	merged, mergedTTFT, ok, failed, aborted, good, out       uint64
	mergedSum                                                int64
	starved, played, behind, whole                           [2]float64
	met, missed                                              uint64
	jitter                                                   float64
	jitters                                                  uint64
}

func (o *truth) put(to *[]sample, at, v int64, censored bool) {
	if at >= o.from {
		*to = append(*to, sample{at, v, censored})
	}
}

// requests adds the figures that each request has once.
func (o *truth) request(p *plan) {
	at := p.end
	if n := len(p.toks); n > 0 {
		at = max(at, p.toks[n-1].at)
	}
	if p.sched > 0 {
		o.put(&o.late, p.sent, p.sent-p.sched, false)
	}
	if p.class == event.ErrFirst {
		o.put(&o.ttft, at, p.limit, true)
		if p.sched > 0 {
			o.put(&o.sTTFT, at, p.limit+p.sent-p.sched, true)
		}
	}
	ttft, tpot, e2e := int64(-1), int64(-1), int64(-1)
	if len(p.toks) > 0 {
		first, last := p.toks[0], p.toks[len(p.toks)-1]
		ttft = first.at - p.sent
		o.first(p, first)
		if p.class.OK() {
			e2e = last.at - p.sent
			o.put(&o.e2e, at, e2e, false)
			if p.sched > 0 {
				o.put(&o.sE2E, at, last.at-p.sched, false)
			}
			if more := p.n - first.k; more > 0 && last.at > first.at {
				tpot = int64(math.Round(float64(last.at-first.at) / float64(more)))
				o.put(&o.tpot, at, tpot, false)
			}
		}
	}
	if at < o.from {
		return
	}
	switch {
	case p.class.OK():
		o.ok++
		if ttft <= oracleTTFT && tpot <= 60*ms && e2e <= 4*second && p.smooth() {
			o.good++
		}
	case p.class == event.Aborted:
		o.aborted++
	default:
		o.failed++
	}
}

func (o *truth) first(p *plan, first told) {
	if first.at >= o.from && first.merged {
		o.mergedTTFT++
	}
	if !first.merged {
		o.put(&o.ttft, first.at, first.at-p.sent, false)
		if p.sched > 0 {
			o.put(&o.sTTFT, first.at, first.at-p.sched, false)
		}
		if !p.reused {
			o.put(&o.cold, first.at, first.at-p.sent, false)
		}
	}
	for _, k := range p.toks {
		if k.ch == event.Answer {
			if !k.merged {
				o.put(&o.ttfo, k.at, k.at-p.sent, false)
			}
			break
		}
	}
}

// smooth tells whether enough of the request's own gaps meet their level.
func (p *plan) smooth() bool {
	n, met := 0, 0
	for i := 1; i < len(p.toks); i++ {
		if g := p.toks[i].at - p.toks[i-1].at; !p.toks[i].merged {
			n++
			if g <= oracleGap {
				met++
			}
		}
	}
	return n == 0 || 10*met >= 8*n
}

// stream adds the gaps and the token-by-token figures of one request.
func (o *truth) stream(p *plan) {
	slack, j, prev, has := int64(0), 0.0, int64(0), false
	deadline := func(in bool, gap, d int64) {
		if gap <= d+slack {
			slack += d - gap
			if in {
				o.met++
			}
			return
		}
		if in {
			o.missed += uint64((gap - slack) / d)
		}
		slack = 0
	}
	for i, k := range p.toks {
		in := k.at >= o.from
		if in {
			o.out += uint64(k.k)
		}
		judged := k.k // tokens of this event that have a deadline of their own
		if i == 0 && !k.merged {
			deadline(in, k.at-p.sent, oracleTTFT)
		}
		if i == 0 {
			judged--
		} else if gap := k.at - p.toks[i-1].at; k.merged {
			if in {
				o.merged++
				o.mergedSum += gap
			}
			has = false
		} else {
			o.put(&o.gap, k.at, gap, false)
			for range k.k {
				o.put(&o.itl, k.at, gap/k.k, false)
			}
			deadline(in, gap, oracleGap)
			judged--
			if has {
				j += (math.Abs(float64(gap-prev)) - j) / 16
				if in {
					o.jitter += j
					o.jitters++
				}
			}
			prev, has = gap, true
		}
		for range judged {
			deadline(in, 0, oracleGap)
		}
	}
	if n := len(p.toks); p.class == event.ErrIdle {
		o.put(&o.gap, p.end, p.limit, true)
		deadline(p.end >= o.from, p.limit, oracleGap)
		_ = n
	}
	for r, pace := range readers {
		o.play(p, r, pace)
	}
}

// play shows the tokens one by one to a reader. What is this client's own
// moves the clock of the reader and of the ideal alike.
func (o *truth) play(p *plan, r int, pace int64) {
	var shown, ideal, start int64
	for i, k := range p.toks {
		for c := range k.k {
			wait := int64(0)
			switch {
			case i == 0 && c == 0:
				shown, ideal, start = k.at, k.at, p.sent
				if !k.merged && k.at-p.sent > oracleTTFT {
					ideal = p.sent + oracleTTFT
				}
			default:
				wait = max(k.at-(shown+pace), 0)
				shown = max(k.at, shown+pace)
				ideal += pace
				if k.merged {
					ideal, start, wait = ideal+wait, start+wait, 0
				}
			}
			if k.at >= o.from {
				o.starved[r] += float64(wait)
				o.played[r] += float64(wait + pace)
				o.behind[r] += float64(shown - ideal)
				o.whole[r] += float64(shown - start)
			}
		}
	}
	if p.class == event.ErrIdle && p.end >= o.from {
		wait := float64(max(p.end-(shown+pace), 0))
		o.starved[r] += wait
		o.played[r] += wait
	}
}

// Every figure over every horizon, of random streams that overlap.
func TestFiguresAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(Config{SLO: oracleLevels()})
		var plans []plan
		at := int64(rapid.IntRange(1, 1_100_000).Draw(t, "begin")) * ms
		for id := range uint64(rapid.IntRange(1, 8).Draw(t, "requests")) {
			plans = append(plans, genPlan(t, id+1, at))
			at += rapid.SampledFrom([]int64{0, 300 * ms, 5 * second, 70 * second, 400 * second}).Draw(t, "apart")
		}
		now := tell(s.a, plans)
		tg := s.target()
		for h := range horizons {
			f, o := &tg.Session, truth{from: math.MinInt64}
			if h < len(Windows) {
				f, o.from = &tg.Windows[h], (now/second+1)*second-int64(Windows[h])
			}
			for i := range plans {
				o.request(&plans[i])
				o.stream(&plans[i])
			}
			verify(t, f, &o)
		}
		for _, r := range tg.Recent {
			if r.E2E > 0 && r.E2E != r.TTFT+r.Gaps {
				t.Errorf("E2E %d is not TTFT %d and gaps %d", r.E2E, r.TTFT, r.Gaps)
			}
		}
	})
}
