package stats

import (
	"slices"
	"strings"
	"testing"

	"teapot/probe/event"
)

// stage plays streams in lock-step, a token each 20 ms, and one stop among them.
type stage struct {
	*script
	streams int
	at      int64 // ms
	beat    int64 // ms
	signals []*event.Signal
}

func newStage(streams int) *stage {
	s := &stage{script: newScript(Config{}), streams: streams, at: 100}
	for i := range streams {
		s.begin(uint64(i+1), 0, 100)
	}
	return s
}

func (s *stage) begin(req uint64, at int64, prompt int) {
	s.a.Add(&event.Start{At: at * ms, Target: 1, Request: req, Slot: uint32(req), Prompt: prompt, Reused: true})
	s.a.Add(&event.Headers{At: (at + 1) * ms, Target: 1, Request: req, Status: 200})
}

// tokens gives one token to each stream but those that are left out.
func (s *stage) tokens(but ...int) {
	s.idle(s.at)
	for i := range s.streams {
		if !slices.Contains(but, i) {
			s.a.Add(&event.Token{At: s.at*ms + int64(i)*100_000, Target: 1, Request: uint64(i + 1), Slot: uint32(i + 1), K: 1})
		}
	}
}

// idle writes the heartbeats and signals up to a time.
func (s *stage) idle(to int64) {
	for s.beat+100 <= to {
		s.beat += 100
		for len(s.signals) > 0 && s.signals[0].At <= s.beat*ms {
			s.a.Add(s.signals[0])
			s.signals = s.signals[1:]
		}
		s.a.Add(&event.Floor{At: s.beat * ms, Overshoot: 200_000, Late: []int64{1, 2, 3}})
	}
}

// play goes on for n steps.
func (s *stage) play(n int, but ...int) {
	for range n {
		s.at += 20
		s.tokens(but...)
	}
}

// look is a page of metrics: pairs of a name and its growth, "name=" for a state
// in hundredths.
func (s *stage) look(at int64, pairs ...any) {
	sig := &event.Signal{At: at * ms, Target: 1, Source: event.SignalMetrics, Took: ms, Age: ms, Span: second}
	for i := 0; i < len(pairs); i += 2 {
		name, v := pairs[i].(string), float64(pairs[i+1].(int))
		if state, ok := strings.CutSuffix(name, "="); ok {
			sig.Values = append(sig.Values, event.Sample{Name: state, Value: v / 100})
		} else {
			sig.Values = append(sig.Values, event.Sample{Name: name, Value: 1e6, Delta: v})
		}
	}
	s.signals = append(s.signals, sig)
}

// spike plays a stop of 400 ms in all streams, or in some, from 6.1 s on, and
// returns the longest spike.
func (s *stage) spike(t *testing.T, only ...int) Spike {
	t.Helper()
	s.play(300)
	if len(only) > 0 {
		s.play(19, only...)
	} else {
		s.at += 380
	}
	s.play(200)
	return s.longest(t)
}

func (s *stage) longest(t *testing.T) Spike {
	t.Helper()
	s.idle(s.at + 40_000)
	var best Spike
	for _, x := range s.target().Spikes {
		if x.Length > best.Length {
			best = x
		}
	}
	if best.Why == nil || len(best.Why.Evidence) == 0 {
		t.Fatalf("no verdict with evidence: %+v", s.target().Spikes)
	}
	return best
}

func wantWhy(t *testing.T, s Spike, v Verdict, c Cause, says string) {
	t.Helper()
	if s.Why.Verdict != v || s.Why.Cause != c || !strings.Contains(strings.Join(s.Why.Evidence, "; "), says) {
		t.Errorf("%v %q, want %v %q with %q: rule %s, %q", s.Why.Verdict, s.Why.Cause, v, c, says, s.Why.Rule, s.Why.Evidence)
	}
	if !s.Why.Settled {
		t.Error("it is not settled after 40 s")
	}
}

// usual is a page on which nothing happens.
var usual = []any{"preemptions", 0, "prefill_tokens", 0, "step_tokens_sum", 400, "step_tokens_count", 50, "gen_tokens", 400,
	"python_gc", 0, "waiting=", 0, "kv_used=", 30, "evicted", 0}

// but is the same page with one thing in it.
func but(name string, v int) []any {
	out := slices.Clone(usual)
	for i := 0; i < len(out); i += 2 {
		if out[i] == name {
			out[i+1] = v
			return out
		}
	}
	return append(out, name, v)
}

func TestRulesOfTheServersCounters(t *testing.T) {
	for _, c := range []struct {
		name    string
		streams int
		only    []int // who stops; nobody: all
		before  []any // the look before, 700 ms ahead of the stop
		after   []any
		afterAt int64 // ms; 0: 600 ms after it
		verdict Verdict
		cause   Cause
		says    string
	}{
		{"preempted", 4, []int{2}, usual, but("preemptions", 1), 0, Likely, CausePreemption, "preempted 1 request"},
		{"preempted, and the cache was full", 4, []int{2}, but("kv_used=", 97), but("preemptions", 2), 0, Likely, CausePreemption, "97.0 % full"},
		{"preempted, heard late", 4, []int{2}, usual, but("preemptions", 1), 15_000, Likely, CausePreemption, "preempted 1 request"},
		{"one preempted, but all stopped", 4, nil, usual, but("preemptions", 1), 0, Likely, CauseEngine, "4 of the 4"},
		{"preempted without other streams", 1, nil, usual, but("preemptions", 1), 0, Likely, CausePreemption, "no other stream"},
		{"swapped out", 4, []int{1}, usual, but("swapped=", 100), 0, Likely, CausePreemption, "stood aside"},
		{"no preemption", 4, []int{2}, usual, usual, 0, Unexplained, CauseUnknown, "no preemption"},
		{"prompts of others", 4, nil, usual, but("step_tokens_sum", 7400), 0, Likely, CausePrefill, "7000 prompt tokens"},
		{"prompts of others, one stream", 1, nil, usual, but("step_tokens_sum", 7400), 0, Likely, CausePrefill, "7000 prompt tokens"},
		{"prompts of others, but one stopped alone", 4, []int{0}, usual, but("step_tokens_sum", 7400), 0, Unexplained, CauseUnknown, "went on meanwhile"},
		{"few prompt tokens", 1, nil, usual, but("step_tokens_sum", 600), 0, Unexplained, CauseUnknown, "no prompt of others"},
		{"as many prompts as ever", 1, nil, but("step_tokens_sum", 7000), but("step_tokens_sum", 7400), 0, Unexplained, CauseUnknown, "no other stream"},
		{"prompts by the counter alone", 2, nil, []any{"prefill_tokens", 0}, []any{"prefill_tokens", 3000}, 0, Likely, CausePrefill, "3000 prompt tokens"},
		{"prompts that were in the cache", 2, nil, []any{"prefill_tokens", 0}, []any{"prefill_tokens", 3000, "prefix_queries", 3000, "prefix_hits", 2990}, 0, Likely, CauseEngine, "2 of the 2"},
		{"collector", 4, nil, usual, but("python_gc", 1), 0, Likely, CauseServerGC, "oldest generation once"},
		{"collector, but one stopped alone", 4, []int{3}, usual, but("python_gc", 1), 0, Unexplained, CauseUnknown, "went on meanwhile"},
		{"collector that always runs, one stream", 1, nil, but("python_gc", 1), but("python_gc", 1), 0, Unexplained, CauseUnknown, "no preemption"},
		{"cache traffic", 2, nil, usual, but("evicted", 512), 0, Likely, CauseKVTraffic, "512 units"},
		{"cache traffic as ever", 1, nil, but("evicted", 500), but("evicted", 512), 0, Unexplained, CauseUnknown, ""},
		{"all stopped and no counter moved", 4, nil, usual, usual, 0, Likely, CauseEngine, "4 of the 4"},
		{"no counters, all", 4, nil, nil, nil, 0, Likely, CauseEngine, "shows no counters"},
		{"no counters, one", 4, []int{1}, nil, nil, 0, Unexplained, CauseUnknown, "3 of the 3 other streams went on"},
		{"no counters, one stream", 1, nil, nil, nil, 0, Unexplained, CauseUnknown, "cannot be told apart"},
		{"growth over far too long", 4, []int{1}, usual, but("preemptions", 1), 40_000, Unexplained, CauseUnknown, "no look at the server's counters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(c.streams)
			if c.before != nil {
				s.look(5400, c.before...)
				at := c.afterAt
				if at == 0 {
					at = 600
				}
				s.look(6500+at, c.after...)
			}
			wantWhy(t, s.spike(t, c.only...), c.verdict, c.cause, c.says)
		})
	}
}

// What is heard later revises the verdict, and the table of causes with it.
func TestALateLookRevisesTheVerdict(t *testing.T) {
	s := newStage(1)
	s.look(5400, usual...)
	s.look(9000, but("python_gc", 1)...)
	s.play(300)
	s.at += 380
	s.play(20)
	tg := s.target()
	if w := tg.Spikes[0].Why; w.Cause != CauseUnknown || w.Settled || len(tg.Causes) != 1 || tg.Causes[0].Cause != CauseUnknown {
		t.Fatalf("before: %+v, %+v", w, tg.Causes)
	}
	early := tg.Spikes[0]
	s.play(200)
	x := s.longest(t)
	wantWhy(t, x, Likely, CauseServerGC, "oldest generation")
	tg = s.target()
	if x.Why.Revised != 1 || len(tg.Causes) != 1 || tg.Causes[0].Cause != CauseServerGC || tg.Causes[0].Count != 1 || tg.Causes[0].Total != x.Length {
		t.Errorf("%+v, %+v", x.Why, tg.Causes)
	}
	if tg.Causes[0].Worst.ID != x.ID || tg.Causes[0].Advice == "" || tg.Worst[0].Why.Cause != CauseServerGC {
		t.Errorf("%+v, worst %+v", tg.Causes[0], tg.Worst[0])
	}
	if early.Why.Cause != CauseUnknown || len(early.Around.Looks) != 1 {
		t.Error("a snapshot that was shown has changed")
	}
}

func TestBatchesOfAPrefillAreCounted(t *testing.T) {
	for _, c := range []struct {
		name    string
		streams int
		gaps    []int64
		cause   Cause
		batches int
	}{
		{"eight batches", 3, []int64{980, 1200, 1500, 1800, 2200, 2600, 3000, 3480}, CausePrefill, 8},
		{"two", 3, []int64{4520, 8860}, CausePrefill, 2},
		{"the last one short", 3, []int64{400, 410, 420, 90}, CausePrefill, 4},
		{"one", 3, []int64{4050}, CauseEngine, 1},
		{"a lone stream tells nothing", 1, []int64{980, 1200, 1500}, CauseUnknown, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(c.streams)
			s.play(300)
			for _, g := range c.gaps {
				s.at += g - 20
				s.play(1)
			}
			s.play(100)
			s.longest(t)
			for _, o := range s.target().Spikes { // all of the run say the same
				if o.Around.Gaps != c.batches || o.Why.Cause != c.cause {
					t.Errorf("%v: %q of %d batches, want %q of %d: %q", o.Length, o.Why.Cause, o.Around.Gaps, c.cause, c.batches, o.Why.Evidence)
				}
			}
		})
	}
}
