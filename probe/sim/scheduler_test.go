package sim

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// play drives a scheduler through a drawn scenario and checks it at every step.
type play struct {
	t     rapid.TB
	s     *scheduler
	alive map[*seq]bool
	done  map[*seq]int // tokens when it finished
	gone  map[*seq]bool
	all   []*seq
}

func (p *play) check() {
	used := 0
	for _, q := range p.s.running {
		used += q.blocks
		if q.blocks < blocksFor(q.computed) {
			p.t.Fatalf("sequence %d has %d tokens in %d blocks", q.order, q.computed, q.blocks)
		}
	}
	for _, q := range p.s.waiting {
		if q.blocks != 0 {
			p.t.Fatalf("sequence %d waits and holds %d blocks", q.order, q.blocks)
		}
	}
	if used+p.s.free != p.s.blocks || p.s.free < 0 {
		p.t.Fatalf("%d blocks used + %d free, %d in all", used, p.s.free, p.s.blocks)
	}
	if len(p.s.running) > p.s.maxSeqs {
		p.t.Fatalf("%d sequences in a batch of %d", len(p.s.running), p.s.maxSeqs)
	}
	if len(p.s.running)+len(p.s.waiting) != len(p.alive) {
		p.t.Fatalf("%d running + %d waiting, %d alive", len(p.s.running), len(p.s.waiting), len(p.alive))
	}
}

func (p *play) step(now int64) time.Duration {
	before := map[*seq]int{}
	for q := range p.alive {
		before[q] = q.made
	}
	st := p.s.plan(now)
	if st.length <= 0 {
		p.t.Fatalf("a step of %v", st.length)
	}
	if p.s.budget > 0 && st.prefill > p.s.budget {
		p.t.Fatalf("%d prompt tokens in a step of at most %d", st.prefill, p.s.budget)
	}
	granted := map[*seq]bool{}
	for _, g := range st.grants {
		if granted[g.seq] {
			p.t.Fatalf("sequence %d was granted twice in a step", g.seq.order)
		}
		granted[g.seq] = true
		if g.k < 1 || g.seq.made != before[g.seq]+g.k || g.seq.made > g.seq.limit {
			p.t.Fatalf("sequence %d: %d tokens before, %d granted, %d after, limit %d",
				g.seq.order, before[g.seq], g.k, g.seq.made, g.seq.limit)
		}
		if g.seq.until > now {
			p.t.Fatalf("sequence %d was served while it is held", g.seq.order)
		}
	}
	for q := range p.alive {
		if !granted[q] && q.made != before[q] {
			p.t.Fatalf("sequence %d grew without a grant", q.order)
		}
	}
	p.check()
	for q := range granted {
		if q.made == q.limit {
			p.s.drop(q)
			delete(p.alive, q)
			p.done[q] = q.made
		}
	}
	p.check()
	return st.length
}

// TestSchedulerKeepsItsPromises: no token is lost or given twice, blocks are
// conserved, and every request finishes, however often it was preempted.
func TestSchedulerKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := pace{
			base: time.Millisecond, perSeq: 10 * time.Microsecond, perToken: time.Microsecond, sigma: 0.1,
			blocks:  rapid.IntRange(20, 80).Draw(t, "blocks"),
			maxSeqs: rapid.IntRange(1, 12).Draw(t, "maxSeqs"),
			budget:  rapid.SampledFrom([]int{0, 16, 64, 300}).Draw(t, "budget"),
			spec:    rapid.SampledFrom([]int{0, 4}).Draw(t, "spec"),
		}
		p := &play{t: t, s: newScheduler(c, 1), alive: map[*seq]bool{}, done: map[*seq]int{}, gone: map[*seq]bool{}}
		now := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "acts") {
			switch rapid.IntRange(0, 5).Draw(t, "act") {
			case 0, 1:
				q := &seq{prompt: rapid.IntRange(1, 150).Draw(t, "prompt"), limit: rapid.IntRange(1, 150).Draw(t, "limit")}
				q.tenant = rapid.IntRange(0, 4).Draw(t, "tenant") == 0
				if q.tenant {
					q.cached = rapid.IntRange(0, 200).Draw(t, "cached")
				}
				p.s.add(q)
				p.alive[q] = true
				p.all = append(p.all, q)
			case 2:
				if len(p.all) > 0 {
					q := rapid.SampledFrom(p.all).Draw(t, "gone")
					if p.alive[q] {
						p.s.drop(q)
						delete(p.alive, q)
						p.gone[q] = true
					}
				}
			case 3:
				if len(p.s.running) > 0 {
					q := rapid.SampledFrom(p.s.running).Draw(t, "held")
					q.until = now + int64(rapid.IntRange(0, 20).Draw(t, "ms"))*int64(time.Millisecond)
				}
			}
			p.check()
			for range rapid.IntRange(0, 20).Draw(t, "steps") {
				now += int64(p.step(now))
			}
		}
		p.finish(now)
	})
}

// TestSchedulerKeepsItsPromisesInACrowd: the same, where memory is sure to be
// too small for all who run.
func TestSchedulerKeepsItsPromisesInACrowd(t *testing.T) {
	c := pace{base: time.Millisecond, blocks: 40, maxSeqs: 6, budget: 300}
	p := &play{t: t, s: newScheduler(c, 1), alive: map[*seq]bool{}, done: map[*seq]int{}, gone: map[*seq]bool{}}
	for range 12 {
		q := &seq{prompt: 60, limit: 150}
		p.s.add(q)
		p.alive[q] = true
		p.all = append(p.all, q)
	}
	if p.finish(0) == 0 {
		t.Error("nobody was preempted")
	}
}

// finish runs what is left to its end and says how often a sequence was
// preempted.
func (p *play) finish(now int64) (preempted int) {
	for n := 0; len(p.alive) > 0; n++ {
		if n > 100_000 {
			p.t.Fatalf("%d sequences never finish", len(p.alive))
		}
		now += int64(p.step(now))
	}
	for _, q := range p.all {
		preempted += q.preempts
		if !p.gone[q] && p.done[q] != q.limit {
			p.t.Fatalf("sequence %d finished with %d of %d tokens", q.order, p.done[q], q.limit)
		}
	}
	if p.s.free != p.s.blocks || !p.s.idle() {
		p.t.Fatalf("at the end %d of %d blocks are free", p.s.free, p.s.blocks)
	}
	return preempted
}

// script runs a fixed set of arrivals and writes down what came out when.
func script(seed uint64) (log []int64, preempted int) {
	c := small()
	c.blocks, c.maxSeqs, c.spec = 60, 6, 3
	s := newScheduler(c, seed)
	now := int64(0)
	for i := range 3000 {
		if i%10 == 0 && i < 300 {
			s.add(&seq{prompt: 50 + i%130, limit: 120})
		}
		if s.idle() {
			continue
		}
		st := s.plan(now)
		now += int64(st.length)
		preempted += len(st.preempted)
		for _, g := range append([]grant(nil), st.grants...) {
			log = append(log, now, int64(g.seq.order), int64(g.k))
			if g.seq.made == g.seq.limit {
				s.drop(g.seq)
			}
		}
	}
	return log, preempted
}

func TestSameSeedSameSchedule(t *testing.T) {
	a, n := script(5)
	b, _ := script(5)
	c, _ := script(6)
	if n == 0 {
		t.Error("the script preempts nothing")
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives two schedules")
	}
	if reflect.DeepEqual(a, c) {
		t.Error("two seeds give one schedule")
	}
}

func TestPrefillStretchesSteps(t *testing.T) {
	c := pace{base: 10 * time.Millisecond, perToken: 50 * time.Microsecond, blocks: 1000, maxSeqs: 8}
	for _, tc := range []struct {
		name   string
		budget int
		want   []time.Duration // of the steps from the arrival on
	}{
		{"whole", 0, []time.Duration{60 * time.Millisecond, 10 * time.Millisecond}},
		// The one that decodes takes one token of each step's budget.
		{"chunked", 401, []time.Duration{30 * time.Millisecond, 30 * time.Millisecond, 20 * time.Millisecond, 10 * time.Millisecond}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := c
			c.budget = tc.budget
			s := newScheduler(c, 1)
			first := &seq{prompt: 10, limit: 50}
			s.add(first)
			s.plan(0)
			s.add(&seq{prompt: 1000, limit: 50})
			for i, want := range tc.want {
				made := first.made
				if st := s.plan(0); st.length != want {
					t.Errorf("step %d takes %v, want %v", i, st.length, want)
				}
				if first.made != made+1 {
					t.Errorf("step %d: the request that decodes got %d tokens", i, first.made-made)
				}
			}
		})
	}
}

func TestYoungestIsPreemptedAndComesBack(t *testing.T) {
	s := newScheduler(pace{base: time.Millisecond, blocks: 6, maxSeqs: 4}, 1)
	old, young := &seq{prompt: 32, limit: 40}, &seq{prompt: 32, limit: 20}
	s.add(old)
	s.plan(0)
	s.add(young)
	s.plan(0)
	for young.preempts == 0 && old.made < old.limit {
		s.plan(0)
	}
	if young.preempts != 1 || old.preempts != 0 {
		t.Fatalf("preempted: old %d times, young %d times", old.preempts, young.preempts)
	}
	if made := young.made; young.blocks != 0 || young.computed != 0 || made == 0 {
		t.Fatalf("put back with %d blocks, %d tokens computed, %d made", young.blocks, young.computed, made)
	}
	for old.made < old.limit {
		s.plan(0)
	}
	s.drop(old)
	was := young.made
	if st := s.plan(0); st.prefill != young.prompt+was || young.made != was+1 {
		t.Errorf("computed %d tokens again, want %d; made %d, want %d", st.prefill, young.prompt+was, young.made, was+1)
	}
}
