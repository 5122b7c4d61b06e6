package confusion

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"teapot/probe/event"
	"teapot/stats"
)

const (
	ms     = int64(1e6)
	second = int64(1e9)
)

// world is an engine with continuous batching, the way to it, and a client,
// all on paper: it writes the events that a probe would, and knows what went
// wrong on purpose.
type world struct {
	r     *rand.Rand
	every int64 // ns between two looks at the metrics; 0 for none
	late  int64 // how much later they are heard
	agg   *stats.Aggregator

	now     int64
	slots   []slot
	request uint64
	queue   []timed
	faults  []Fault

	counts, said counts // now, and as of the last look
	saidAt, look int64
	full, frozen int64 // until when the cache is full, and the process stopped
	chunks       []int // of a neighbour's prompt, still to come
	prefilling   int   // which fault that is; -1 for none
	stopFrom     int64 // of this client
	stopTo       int64
	beat         int64
}

// slot is one stream of the closed loop.
type slot struct {
	request   uint64
	made      int
	until     int64 // not served before
	recompute bool
	fault     int   // the one that struck it, from 1
	held      int64 // nothing gets through before
	burst     int64 // the instant of the newest read,
	inBurst   uint32
}

type counts struct {
	preempted, prompt, made, steps, gc, queries, started float64
}

type timed struct {
	at int64
	ev event.Event
}

func newWorld(seed uint64, streams int, every, late int64) *world {
	w := &world{
		r: rand.New(rand.NewPCG(seed, 77)), every: every, late: late, prefilling: -1,
		agg: stats.NewAggregator(stats.Config{MaxErrorRate: -1}), slots: make([]slot, streams),
	}
	w.put(0, &event.Session{Wall: 1.7e18, Source: event.SourceKernel})
	w.put(0, &event.Target{ID: 1, URL: "http://x", State: event.StateLive, Engine: "vLLM"})
	return w
}

func (w *world) put(at int64, ev event.Event) { w.queue = append(w.queue, timed{at, ev}) }

// flush hands over what is no younger than upTo.
func (w *world) flush(upTo int64) {
	slices.SortStableFunc(w.queue, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for n < len(w.queue) && w.queue[n].at <= upTo {
		w.agg.Add(w.queue[n].ev)
		n++
	}
	w.queue = append(w.queue[:0], w.queue[n:]...)
}

// run goes on until the given time.
func (w *world) run(to int64) {
	for w.now < to {
		w.step()
	}
	w.flush(w.now - 5*second)
}

// away tells whether this client is stopped.
func (w *world) away() bool { return w.now >= w.stopFrom && w.now < w.stopTo }

// step is one step of the engine.
func (w *world) step() {
	prefill, decodes := 0, 0
	for i := range w.slots {
		s := &w.slots[i]
		switch {
		case s.request == 0 && w.away(): // nobody is there to send it
		case s.request == 0:
			w.begin(uint32(i))
			prefill += 128
			w.counts.prompt += 128
			w.counts.queries += 128
		case s.recompute && s.until <= w.now:
			prefill += 128 + s.made
			s.recompute = false
		case s.until <= w.now:
			decodes++
		}
	}
	if len(w.chunks) > 0 {
		prefill += w.chunks[0]
		if w.chunks = w.chunks[1:]; len(w.chunks) == 0 {
			w.counts.prompt += 7000 // counted when it is done
		}
	}
	length := (13.5e6 + 120e3*float64(decodes)) * math.Exp(0.05*w.r.NormFloat64())
	if w.r.Float64() < 0.01 {
		length += 8e6 * w.r.Float64()
	}
	length += 55e3 * float64(prefill)
	start := max(w.now, w.frozen)
	w.counts.steps++
	w.counts.made += float64(decodes)
	w.counts.started += float64(prefill)
	w.housekeeping(start + int64(length))
	if w.now = start + int64(length); prefill >= 512 && w.prefilling < 0 {
		w.faults = append(w.faults, Fault{Kind: Prefill, Start: start, End: w.now})
	}
	w.lasting()
	for i := range w.slots {
		if s := &w.slots[i]; s.request > 0 && s.until <= w.now-int64(length) && !s.recompute {
			w.token(uint32(i))
		}
	}
}

// lasting moves the ends of the faults that go on.
func (w *world) lasting() {
	if w.prefilling >= 0 {
		w.faults[w.prefilling].End = w.now
		if len(w.chunks) == 0 {
			w.prefilling = -1
		}
	}
	for i := range w.slots {
		s := &w.slots[i]
		if s.fault > 0 && s.fault <= len(w.faults) {
			w.faults[s.fault-1].End = w.now
		}
		if !s.recompute {
			s.fault = 0
		}
	}
}

func (w *world) begin(i uint32) {
	w.request++
	w.slots[i] = slot{request: w.request, held: w.slots[i].held}
	w.put(w.now, &event.Start{At: w.now, Target: 1, Request: w.request, Slot: i, Asked: 256, Prompt: 128, Reused: true})
	w.put(w.now+ms, &event.Headers{At: w.now + ms, Target: 1, Request: w.request, Status: 200, Source: event.SourceKernel})
}

func (w *world) end(i uint32, at int64) {
	w.put(at+1, &event.End{At: at + 1, Target: 1, Request: w.slots[i].request, Slot: i, Class: event.OKFull, Status: 200,
		N: 256, Prompt: 128, Count: event.CountUsage})
}

// token delivers one token of a stream.
func (w *world) token(i uint32) {
	s := &w.slots[i]
	s.made++
	at := w.now + int64(i)*20_000
	tok := &event.Token{At: max(at, s.held), Target: 1, Request: s.request, Slot: i, K: 1, Late: 20_000 + w.r.Int64N(40_000)}
	read := tok.At
	if tok.At >= w.stopFrom && tok.At < w.stopTo { // it lies in the socket
		read = w.stopTo
		tok.Late, tok.At, tok.Merged = ms, w.stopTo-ms, w.stopTo-w.stopFrom <= 2*second
	}
	if tok.At == s.burst {
		s.inBurst++
		tok.Burst = s.inBurst
	} else {
		s.burst, s.inBurst = tok.At, 0
	}
	w.put(read, tok)
	if s.made == 256 {
		w.end(i, read)
		s.request = 0
	}
}

// housekeeping writes the heartbeats and looks that are due before to.
func (w *world) housekeeping(to int64) {
	for ; w.beat <= to; w.beat += 100 * ms {
		over := 100_000 + w.r.Int64N(300_000)
		if w.beat > w.stopFrom && w.beat <= w.stopTo {
			continue
		}
		if w.stopTo > 0 && w.beat-100*ms <= w.stopTo && w.beat > w.stopTo {
			over = w.stopTo - w.stopFrom
		}
		w.put(w.beat, &event.Floor{At: w.beat, Wall: 1.7e18 + w.beat, Overshoot: over, Late: []int64{20_000, 60_000, 90_000}})
	}
	for ; w.every > 0 && w.look <= to; w.look += w.every {
		w.answer(max(w.look, w.frozen))
	}
}

// answer is the page of metrics as it was asked for at w.look.
func (w *world) answer(at int64) {
	c, was := w.counts, w.said
	kv := 0.3
	if w.full > at {
		kv = 0.98
	}
	took := 2*ms + w.late
	sig := &event.Signal{
		At: at + took, Target: 1, Source: event.SignalMetrics, Took: at - w.look + took, Age: took, Span: at - w.saidAt, Bytes: 9000,
		Values: []event.Sample{
			{Name: "running", Value: float64(len(w.slots))}, {Name: "waiting"}, {Name: "kv_used", Value: kv},
			{Name: "preemptions", Value: c.preempted, Delta: c.preempted - was.preempted},
			{Name: "prefill_tokens", Value: c.prompt, Delta: c.prompt - was.prompt},
			{Name: "prefix_queries", Value: c.queries, Delta: c.queries - was.queries}, {Name: "prefix_hits"},
			{Name: "step_tokens_sum", Value: c.made + c.started, Delta: c.made + c.started - was.made - was.started},
			{Name: "step_tokens_count", Value: c.steps, Delta: c.steps - was.steps},
			{Name: "gen_tokens", Value: c.made, Delta: c.made - was.made},
			{Name: "python_gc", Value: c.gc, Delta: c.gc - was.gc},
		},
	}
	if w.saidAt == 0 {
		sig.Span = 0
	}
	w.said, w.saidAt = c, at
	w.put(sig.At, sig)
}
