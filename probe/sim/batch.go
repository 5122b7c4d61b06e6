package sim

import (
	"fmt"
	"time"
)

// drift is how far a step may begin after its schedule before the schedule
// moves: below it steps follow each other on absolute time.
const drift = 5 * time.Millisecond

// batch is the mode of a real engine: one decode loop, whose every step serves
// all running requests, and the faults of the profile.
type batch struct {
	e       *Engine
	s       *scheduler
	streams []*stream // alive, by arrival
	cur     *step     // the step in hand
	busy    bool
	end     int64 // of the step in hand
	steps   uint64
	plan    *timeline
	open    []*trouble
	held    int64  // until when something sent is held back; 0: nothing is
	holding []*out // what is held back
	net     *trouble
}

func newBatch(e *Engine) *batch {
	return &batch{
		e: e, s: newScheduler(e.profile.pace, e.opt.Seed), plan: newTimeline(e.profile, e.opt.Seed),
	}
}

func (b *batch) admit(s *stream, now int64) {
	s.seq = &seq{prompt: s.q.prompt, limit: s.limit, stream: s}
	b.s.add(s.seq)
	b.streams = append(b.streams, s)
	b.plan.start(now)
	if b.held > 0 && b.net.kind == faultBurst { // the network holds back newcomers too
		b.hold(s)
	}
	if !b.busy {
		b.begin(now)
	}
	b.gauges()
}

func (b *batch) drop(s *stream, now int64) {
	b.remove(s, now)
	b.gauges()
}

// remove takes a stream out of the batch and closes what waits for it.
func (b *batch) remove(s *stream, now int64) {
	b.s.drop(s.seq)
	for i, x := range b.streams {
		if x == s {
			b.streams = append(b.streams[:i], b.streams[i+1:]...)
			break
		}
	}
	b.settle(now, func(x *trouble) bool { return x.victim == s })
}

func (b *batch) due() (int64, bool) {
	switch {
	case b.busy && b.held > 0:
		return min(b.end, b.held), true
	case b.busy:
		return b.end, true
	case b.held > 0:
		return b.held, true
	}
	return 0, false
}

func (b *batch) fire(now int64) {
	if b.held > 0 && now >= b.held {
		b.release(now)
	}
	if !b.busy || now < b.end {
		return
	}
	at := b.end
	b.deliver(at)
	start := at
	if now-at > int64(drift) {
		start = now
	}
	start += int64(b.strike(start))
	b.busy = false
	if !b.s.idle() {
		b.begin(start)
	}
	b.gauges()
}

// begin plans the step that starts at now.
func (b *batch) begin(now int64) {
	b.cur = b.s.plan(now)
	b.end = now + int64(b.cur.length)
	b.busy = true
	b.steps++
	m := b.e.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps.observe(float64(b.cur.decodes + b.cur.prefill))
	for _, q := range b.cur.preempted {
		m.preemptions++
		if q.stream != nil {
			b.preempted(q, now)
		}
	}
	for _, q := range b.cur.admitted {
		b.started(q, now)
	}
	if b.e.profile.gc {
		b.young(&m.counts)
	}
}

// started notes that a sequence enters the batch. The metrics are locked.
func (b *batch) started(q *seq, now int64) {
	m := b.e.metrics
	if q.preempts > 0 {
		m.recomputed += uint64(q.prompt + q.made)
		return
	}
	m.prompt += uint64(q.prompt)
	m.queries += uint64(q.prompt)
	m.hits += uint64(q.cached)
	if q.stream != nil {
		q.stream.admitted = now
		m.queue.seconds(now - q.stream.received)
	}
	for _, x := range b.open {
		if x.seq == q && x.start == 0 {
			x.start, x.reqs = now, b.ids()
		}
	}
}

// preempted opens the trouble of a request that lost its blocks.
func (b *batch) preempted(q *seq, now int64) {
	b.open = append(b.open, &trouble{
		kind: faultPreempt, start: now, reqs: []string{q.stream.id}, victim: q.stream,
		cause: fmt.Sprintf("all %d KV blocks in use: the youngest request is put back after %d tokens and computed again",
			b.s.blocks, q.made),
	})
}

// young counts the collections of the young generations, which cost nothing.
func (b *batch) young(c *counts) {
	if b.steps%40 == 0 {
		c.gc[0]++
	}
	if b.steps%400 == 0 {
		c.gc[1]++
	}
}

// deliver hands out the tokens of the step that ended at the time at.
func (b *batch) deliver(at int64) {
	for _, g := range b.cur.grants {
		q := g.seq
		if q.stream == nil {
			b.tenant(q, g.k, at)
			continue
		}
		s := q.stream
		if s.ended {
			continue
		}
		b.observe(s, g.k, at)
		stuck := s.stuck
		s.emit(g.k, at)
		b.backlog(s, stuck, at)
		b.settle(at, func(x *trouble) bool { return x.victim == s && x.end <= at })
		if s.made == s.limit {
			b.remove(s, at)
			b.e.retire(s, at, s.finish)
		}
	}
	b.cur.grants = b.cur.grants[:0]
}

// tenant follows a sequence that belongs to a fault.
func (b *batch) tenant(q *seq, k int, at int64) {
	b.e.metrics.mu.Lock()
	b.e.metrics.generated += uint64(k)
	b.e.metrics.mu.Unlock()
	if q.made >= 1 {
		b.settle(at, func(x *trouble) bool { return x.seq == q })
	}
	if q.made >= q.limit {
		b.s.drop(q)
	}
}

// backlog opens and closes the trouble of a client that does not read.
func (b *batch) backlog(s *stream, before, at int64) {
	switch {
	case before == 0 && s.stuck != 0:
		b.open = append(b.open, &trouble{kind: faultBacklog, start: at, end: 1<<63 - 1, reqs: []string{s.id},
			victim: s, cause: "the client does not read: tokens are kept back"})
	case before != 0 && s.kept == 0:
		s.stuck = 0
		b.settle(at, func(x *trouble) bool { return x.victim == s && x.kind == faultBacklog })
	}
}

func (b *batch) observe(s *stream, k int, at int64) {
	m := b.e.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generated += uint64(k)
	if s.first == 0 {
		m.ttft.seconds(at - s.received)
		m.prefill.seconds(at - s.admitted)
	} else {
		m.itl.seconds(at - s.latest)
	}
	if b.s.spec > 1 && s.first != 0 {
		m.drafts++
		m.drafted += uint64(b.s.spec - 1)
		m.accepted += uint64(k - 1)
	}
}

// gauges publishes the state of the scheduler.
func (b *batch) gauges() {
	m := b.e.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running, m.waiting, m.usage = len(b.s.running), len(b.s.waiting), b.s.usage()
}

func (b *batch) ids() []string {
	ids := make([]string, 0, len(b.streams))
	for _, s := range b.streams {
		ids = append(ids, s.id)
	}
	return ids
}

// settle logs and forgets the open troubles that match.
func (b *batch) settle(at int64, match func(*trouble) bool) {
	kept := b.open[:0]
	for _, x := range b.open {
		if !match(x) {
			kept = append(kept, x)
			continue
		}
		x.end = at
		b.e.truth.fault(x)
	}
	clear(b.open[len(kept):])
	b.open = kept
}

func (b *batch) stop(now int64) {
	b.crash(now, endCut, "abort")
}

// crash ends every stream at once and empties the engine.
func (b *batch) crash(now int64, how ending, why string) {
	for _, s := range b.streams {
		s.cut(how)
		b.e.retire(s, now, why)
	}
	b.streams = nil
	for _, x := range b.open {
		x.overdue = true
	}
	b.settle(now, func(*trouble) bool { return true })
	b.s = newScheduler(b.e.profile.pace, b.e.opt.Seed+b.steps)
	b.release(now)
	b.busy = false
}
