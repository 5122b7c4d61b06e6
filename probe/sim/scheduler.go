package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// pace is the cost model of a batch engine and the size of its memory.
type pace struct {
	base     time.Duration // a decode step without sequences
	perSeq   time.Duration // added by every sequence that decodes
	perToken time.Duration // added by every prompt token computed in the step
	sigma    float64       // spread of the log-normal noise on a step
	hiccup   float64       // share of steps that take hiccupMax longer at most
	hiccupTo time.Duration

	blocks  int // KV blocks of blockSize tokens
	maxSeqs int // sequences in one batch
	budget  int // tokens a step may compute; 0: whole prompts (unchunked prefill)
	spec    int // most tokens a step gives one sequence; 0 and 1: no speculation
}

// slowed is a pace whose every step takes by times as long.
func (p pace) slowed(by float64) pace {
	for _, d := range []*time.Duration{&p.base, &p.perSeq, &p.perToken, &p.hiccupTo} {
		*d = time.Duration(float64(*d) * by)
	}
	return p
}

// seq is one sequence in the engine: a request, or a tenant that a fault
// brought in.
type seq struct {
	order  uint64 // by arrival
	tenant bool   // served before, and preempted after, every request
	prompt int    // tokens
	limit  int    // tokens it will produce
	cached int    // prompt tokens that the prefix cache spares it

	made     int // tokens produced
	computed int // tokens whose keys and values are in its blocks
	blocks   int
	until    int64 // not served before this time (a stall)
	preempts int
	stream   *stream // nil for a tenant
}

// need is the number of tokens to compute before the next one comes out.
func (q *seq) need() int { return q.prompt + q.made - q.computed }

// grant is the outcome of a step for one sequence.
type grant struct {
	seq *seq
	k   int // tokens it gets
}

// step is what the engine does between two instants.
type step struct {
	length    time.Duration
	grants    []grant
	preempted []*seq
	prefill   int // prompt tokens computed
	decodes   int // sequences that decoded
	admitted  []*seq
}

// scheduler is the decode loop's brain: continuous batching over a fixed
// number of KV blocks. It is pure: it knows no clock, no stream and no fault,
// and two schedulers of the same seed, given the same calls, agree in
// everything.
type scheduler struct {
	pace
	rng     *rand.Rand
	waiting []*seq // first come first served; preempted ones at the front
	running []*seq // tenants first, then by arrival: the last is the first victim
	free    int    // KV blocks
	arrived uint64
	cur     step // reused by every plan
}

func newScheduler(p pace, seed uint64) *scheduler {
	return &scheduler{pace: p, free: p.blocks, rng: rand.New(rand.NewPCG(seed, 0x5c4ed))}
}

// add puts a sequence into the queue, a tenant at its front. Prompt and limit
// together must fit into the engine's blocks.
func (s *scheduler) add(q *seq) {
	s.arrived++
	q.order = s.arrived
	if q.tenant {
		s.pushFront(q)
		return
	}
	s.waiting = append(s.waiting, q)
}

func (s *scheduler) pushFront(q *seq) {
	s.waiting = append(s.waiting, nil)
	copy(s.waiting[1:], s.waiting)
	s.waiting[0] = q
}

// growth is how many blocks the sequences that decode will take in the step
// that begins at now, when each gets one token.
func (s *scheduler) growth(now int64) int {
	n := 0
	for _, q := range s.running {
		if q.need() == 1 && q.made > 0 && q.until <= now {
			n += max(0, blocksFor(q.computed+1)-q.blocks)
		}
	}
	return n
}

// drop takes a sequence out, finished or not, and frees its blocks.
func (s *scheduler) drop(q *seq) {
	s.release(q)
	s.running = without(s.running, q)
	s.waiting = without(s.waiting, q)
}

// idle tells that there is nothing to do.
func (s *scheduler) idle() bool { return len(s.running) == 0 && len(s.waiting) == 0 }

// plan makes the step that begins at now. The result is valid until the next
// call. Tokens are granted at its end.
func (s *scheduler) plan(now int64) *step {
	s.cur = step{grants: s.cur.grants[:0], preempted: s.cur.preempted[:0], admitted: s.cur.admitted[:0]}
	budget := s.budget
	if budget == 0 {
		budget = math.MaxInt
	}
	budget = s.decode(now, budget)
	budget = s.prefillRunning(now, budget)
	if len(s.cur.preempted) == 0 {
		s.admit(now, budget)
	}
	s.cur.length = s.cost()
	return &s.cur
}

// decode serves the sequences whose prompt is done. It may preempt.
func (s *scheduler) decode(now int64, budget int) int {
	for i := 0; i < len(s.running); i++ {
		q := s.running[i]
		if q.need() != 1 || q.made == 0 || q.until > now || budget <= 0 {
			continue
		}
		k := s.accepted(q)
		if !s.grow(q, q.computed+k) {
			continue // it was preempted itself
		}
		budget -= k
		s.cur.decodes++
		s.give(q, k)
	}
	return budget
}

// accepted is how many tokens a decode step yields for q.
func (s *scheduler) accepted(q *seq) int {
	k := 1
	if s.spec > 1 {
		for k < s.spec && s.rng.Float64() < 0.6 { // each draft token is accepted or ends the run
			k++
		}
	}
	return min(k, q.limit-q.made)
}

// grow makes room for tokens in q's blocks, preempting the last of the running
// sequences while there is none. It returns false when that was q itself.
func (s *scheduler) grow(q *seq, tokens int) bool {
	for more := blocksFor(tokens) - q.blocks; more > 0; more = blocksFor(tokens) - q.blocks {
		if s.free >= more {
			s.free -= more
			q.blocks += more
			return true
		}
		victim := s.running[len(s.running)-1]
		s.preempt(victim)
		if victim == q {
			return false
		}
	}
	return true
}

// preempt takes the blocks of a running sequence away. It goes to the front of
// the queue and will have to compute everything again.
func (s *scheduler) preempt(q *seq) {
	s.running = without(s.running, q)
	s.release(q)
	q.computed = 0
	q.cached = 0
	q.preempts++
	s.pushFront(q)
	s.cur.preempted = append(s.cur.preempted, q)
}

// prefillRunning goes on with prompts that earlier steps left unfinished.
func (s *scheduler) prefillRunning(now int64, budget int) int {
	for _, q := range s.running {
		if budget <= 0 {
			break
		}
		if need := q.need(); need > 1 || q.made == 0 {
			if q.until > now {
				continue
			}
			budget -= s.chunk(q, min(need, budget))
		}
	}
	return budget
}

// admit moves sequences from the queue into the batch while there are seats,
// budget and blocks for the whole of what is known of them.
func (s *scheduler) admit(now int64, budget int) {
	for i := 0; i < len(s.waiting) && len(s.running) < s.maxSeqs && budget > 0; {
		q := s.waiting[i]
		if q.until > now {
			i++ // it was held back before it lost its blocks
			continue
		}
		blocks := blocksFor(q.prompt + q.made)
		reserve := 0
		if len(s.running) > 0 && !q.tenant { // so that a newcomer is not the next victim
			reserve = max(1, s.blocks/100)
		}
		if blocks+reserve > s.free {
			return
		}
		s.waiting = without(s.waiting, q)
		s.free -= blocks
		q.blocks = blocks
		q.computed = min(q.cached, q.prompt-1)
		s.insert(q)
		s.cur.admitted = append(s.cur.admitted, q)
		budget -= s.chunk(q, min(q.need(), budget))
	}
}

// chunk computes n tokens of q, and gives it a token when those were the last.
func (s *scheduler) chunk(q *seq, n int) int {
	s.cur.prefill += n
	q.computed += n
	if q.need() == 0 {
		q.computed-- // give counts the last one
		s.give(q, 1)
	}
	return n
}

// give grants k tokens. Their keys and values are computed, save the last's.
func (s *scheduler) give(q *seq, k int) {
	q.computed += k
	q.made += k
	s.cur.grants = append(s.cur.grants, grant{q, k})
}

// cost is the length of the step in hand.
func (s *scheduler) cost() time.Duration {
	d := float64(s.base) + float64(s.perSeq)*float64(s.cur.decodes)
	if s.sigma > 0 {
		d *= math.Exp(s.sigma * s.rng.NormFloat64())
	}
	if s.hiccup > 0 && s.rng.Float64() < s.hiccup {
		d += s.rng.Float64() * float64(s.hiccupTo)
	}
	d += float64(s.perToken) * float64(s.cur.prefill)
	return max(time.Duration(d), 50*time.Microsecond)
}
