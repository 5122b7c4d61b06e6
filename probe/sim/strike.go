package sim

import (
	"fmt"
	"math"
	"time"
)

// strike applies the fault that is due, if any and if there is a request it
// can strike. It returns how long the whole engine stands still.
func (b *batch) strike(now int64) (pause time.Duration) {
	if s := b.e.newScene(); s != nil {
		b.plan.play(s, now)
	}
	f := b.plan.due(now)
	if f == nil {
		return 0
	}
	var victims []*stream
	for _, s := range b.streams {
		if ripe(s) {
			victims = append(victims, s)
		}
	}
	if len(victims) == 0 {
		return 0
	}
	b.plan.struck(now)
	long := b.plan.length(f)
	victim := victims[b.plan.rng.IntN(len(victims))]
	switch f.kind {
	case faultPrefill:
		b.neighbour(f.size)
	case faultPreempt:
		b.crowd(now, f.size)
	case faultGC:
		b.collect(now, long)
		return long
	case faultBurst:
		b.holdBack(now, long, faultBurst, "the network held the packets back and delivered them together", b.streams)
	case faultClient:
		b.holdBack(now, long, faultClient, "this client's window was closed: it took nothing, then all at once", []*stream{victim})
	case faultStall:
		b.stall(victim, now, long)
	case faultError:
		b.fail(victim, now)
	case faultTruncate:
		b.truncate(victim, now)
	case faultOverload:
		b.refuse(now, long)
	case faultRestart:
		b.restart(now, long, f.then)
	}
	return 0
}

// ripe tells whether a fault would be seen on the stream: it is under way, and
// has some way to go. Short replies are struck too.
func ripe(s *stream) bool {
	left := s.limit - s.made
	return s.made >= min(4, max(1, s.limit/4)) && left >= min(16, max(1, s.limit/3))
}

// neighbour brings in a tenant with a long prompt.
func (b *batch) neighbour(prompt int) {
	prompt = min(prompt, b.e.profile.context-64)
	q := &seq{tenant: true, prompt: prompt, limit: 4}
	b.s.add(q)
	how := "in one step"
	if b.s.budget > 0 {
		how = fmt.Sprintf("in chunks of up to %d tokens", b.s.budget)
	}
	b.open = append(b.open, &trouble{kind: faultPrefill, seq: q,
		cause: fmt.Sprintf("another client's prompt of %d tokens is computed %s", prompt, how)})
}

// crowd brings in tenants whose cached prompts take every free block, and who
// then grow: somebody has to go.
func (b *batch) crowd(now int64, size int) {
	free := b.s.free - b.s.growth(now)
	least := math.MaxInt // of the requests that may have to give way
	for _, q := range b.s.running {
		least = min(least, q.blocks)
	}
	n := max(1, min(8, least/2, free))
	for i := range n {
		blocks := free / (n - i) // the rest is shared evenly
		free -= blocks
		if blocks == 0 {
			continue
		}
		prompt := blocks * blockSize
		b.s.add(&seq{tenant: true, prompt: prompt, cached: prompt - 1, limit: size})
	}
}

// collect stops the world, HTTP included.
func (b *batch) collect(now int64, long time.Duration) {
	b.e.freeze(now + int64(long))
	b.e.metrics.mu.Lock()
	b.e.metrics.gc[2]++
	b.e.metrics.mu.Unlock()
	b.e.truth.fault(&trouble{kind: faultGC, start: now, end: now + int64(long), reqs: b.ids(),
		cause: "garbage collection of the oldest generation stops the whole process"})
}

// holdBack keeps what is sent to some streams from arriving for a while.
func (b *batch) holdBack(now int64, long time.Duration, kind faultKind, cause string, streams []*stream) {
	if b.held > 0 {
		return
	}
	b.held = now + int64(long)
	b.net = &trouble{kind: kind, start: now, cause: cause}
	for _, s := range streams {
		b.net.reqs = append(b.net.reqs, s.id)
		b.hold(s)
	}
}

// hold keeps back what a stream sends until release.
func (b *batch) hold(s *stream) {
	if s.out != nil {
		s.out.hold(true)
		b.holding = append(b.holding, s.out)
	}
}

// release ends what holdBack began.
func (b *batch) release(now int64) {
	if b.held == 0 {
		return
	}
	for _, o := range b.holding { // replies that have ended meanwhile are among them
		o.hold(false)
	}
	b.net.end = now
	b.e.truth.fault(b.net)
	b.held, b.holding, b.net = 0, nil, nil
}

// stall lets one stream stand still, while the others go on.
func (b *batch) stall(s *stream, now int64, long time.Duration) {
	s.seq.until = now + int64(long)
	b.open = append(b.open, &trouble{kind: faultStall, start: now, end: s.seq.until, victim: s, reqs: []string{s.id},
		cause: "this request alone was not served"})
}

func (b *batch) fail(s *stream, now int64) {
	s.fail("The engine met an internal error.")
	b.strikeOne(s, now, faultError, "the engine gave this request up with an error event")
}

func (b *batch) truncate(s *stream, now int64) {
	s.cut(endCut)
	b.strikeOne(s, now, faultTruncate, "the connection was closed before the reply's end")
}

func (b *batch) strikeOne(s *stream, now int64, kind faultKind, cause string) {
	b.remove(s, now)
	b.e.retire(s, now, string(kind))
	b.e.truth.fault(&trouble{kind: kind, start: now, end: now, reqs: []string{s.id}, cause: cause})
}

// refuse turns new requests away for a while, with 503 and 429 in turn.
func (b *batch) refuse(now int64, long time.Duration) {
	status := 503
	if b.plan.i%2 == 0 {
		status = 429
	}
	b.e.refuse(now+int64(long), status)
	b.e.truth.fault(&trouble{kind: faultOverload, start: now, end: now + int64(long),
		cause: fmt.Sprintf("the queue is full: new requests are answered %d", status)})
}

// restart kills the engine and lets it come back.
func (b *batch) restart(now int64, long, load time.Duration) {
	ids := b.ids()
	b.crash(now, endReset, "restart")
	b.e.crash(now+int64(long), now+int64(long+load))
	b.e.truth.fault(&trouble{kind: faultRestart, start: now, end: now + int64(long+load), reqs: ids,
		cause: fmt.Sprintf("the process died: connections refused for %v, then its model is loaded for %v", long.Round(time.Millisecond), load)})
}
