package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// patience is how late a write may be before the stream's schedule moves. Up
// to it the schedule is absolute: one late write makes one gap longer and the
// next one shorter, so that lateness has no bias. A longer delay is the
// machine's, and moving the schedule then keeps it one long gap, where several
// tokens would leave at once otherwise.
const patience = 700 * time.Microsecond

// article is the mode in which every stream has a clock of its own and all of
// them draw their gaps from one stratified sequence. There is no batch, no
// prefill and no fault in it.
type article struct {
	e    *Engine
	law  Law
	gaps *sequence
	rng  *rand.Rand
	heap byDue
}

func newArticle(e *Engine) *article {
	return &article{
		e: e, law: ArticleLaw(), gaps: newSequence(e.opt.Seed),
		rng: rand.New(rand.NewPCG(e.opt.Seed, 0xa271c1e)),
	}
}

func (a *article) admit(s *stream, now int64) {
	s.admitted = now
	wait := float64(a.e.profile.ttft) * (0.9 + 0.2*a.rng.Float64())
	s.due = s.received + int64(wait)
	heap.Push(&a.heap, s)
	a.count(func(c *counts) {
		c.prompt += uint64(s.q.prompt)
		c.queue.seconds(now - s.received)
	})
}

func (a *article) drop(s *stream, _ int64) {
	for i, x := range a.heap {
		if x == s {
			heap.Remove(&a.heap, i)
			break
		}
	}
	a.count(func(*counts) {})
}

func (a *article) due() (int64, bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].due, true
}

func (a *article) fire(now int64) {
	for len(a.heap) > 0 && a.heap[0].due <= now {
		s := a.heap[0]
		first, gap := s.first == 0, s.due-s.latest
		s.emit(1, s.due)
		a.observe(s, first, gap)
		if s.made == s.limit {
			heap.Pop(&a.heap)
			a.e.retire(s, s.due, s.finish)
			a.count(func(*counts) {})
			continue
		}
		if now-s.due > int64(patience) {
			s.due = now
		}
		s.due += int64(a.law.Quantile(a.gaps.next()))
		heap.Fix(&a.heap, 0)
		now = a.e.clock.Now()
	}
}

func (a *article) stop(now int64) {
	for _, s := range a.heap {
		s.cut(endCut)
		a.e.retire(s, now, "abort")
	}
	a.heap = nil
}

func (a *article) observe(s *stream, first bool, gap int64) {
	m := a.e.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generated++
	m.steps.observe(1)
	if first {
		m.ttft.seconds(s.due - s.received)
		m.prefill.seconds(s.due - s.admitted)
		return
	}
	m.itl.seconds(gap)
}

// count updates the counters and the number of streams.
func (a *article) count(f func(*counts)) {
	m := a.e.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.counts)
	m.running = len(a.heap)
	blocks := 0
	for _, s := range a.heap {
		blocks += blocksFor(s.q.prompt + s.limit)
	}
	m.usage = min(1, float64(blocks)/float64(m.blocks))
}

// byDue is a heap of streams by the time of their next token.
type byDue []*stream

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].due < h[j].due }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byDue) Push(x any)        { *h = append(*h, x.(*stream)) }
func (h *byDue) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return s
}
