package stats

import (
	"testing"

	"teapot/probe/event"
)

// signal hands over one look now, or so many ms off.
func (s *stage) signal(off int64, source string, target uint32, values ...event.Sample) {
	s.a.Add(&event.Signal{At: (s.at + off) * ms, Target: target, Source: source, Values: values})
}

// asleep lets the stop pass without a heartbeat but the one that ends it.
func (s *stage) asleep(f event.Floor) {
	s.beat += 400
	s.at += 380
	f.At = s.beat*ms + 90*ms
	s.a.Add(&f)
}

// burst gives one stream n tokens in one read after 400 ms.
func (s *stage) burst(n int) {
	s.at += 400
	for i := range n {
		s.a.Add(&event.Token{At: s.at * ms, Target: 1, Request: 1, Slot: 1, K: 1, Burst: uint32(i)})
	}
}

func one(name string, v float64) event.Sample { return event.Sample{Name: name, Value: v} }

// What this client did itself, what its machine and the server's other places
// show, and what a request's own end says: of one stream alone.
func TestRulesOfThisClientAndTheRequest(t *testing.T) {
	quiet := func(s *stage) { s.at += 380 }
	end := func(sv event.ServerTimings) func(*stage) {
		return func(s *stage) {
			s.a.Add(&event.End{At: s.at*ms + 5*ms, Target: 1, Request: 1, Slot: 1, Class: event.OKFull, N: 500, Count: event.CountUsage, Server: &sv})
		}
	}
	for _, c := range []struct {
		name    string
		stop    func(*stage)
		after   func(*stage)
		verdict Verdict
		cause   Cause
		says    string
	}{
		{"overslept for as long", func(s *stage) { s.asleep(event.Floor{Overshoot: 390 * ms}) }, nil, Ours, CauseOurs, "overslept"},
		{"overslept a little", func(s *stage) { s.asleep(event.Floor{Overshoot: 30 * ms}) }, nil, Unexplained, CauseUnknown, ""},
		{"read late, and joined", func(s *stage) {
			s.at += 400
			s.a.Add(&event.Token{At: s.at * ms, Target: 1, Request: 1, Slot: 1, K: 1, Late: ms, Merged: true})
		}, nil, Ours, CauseOurs, "read late"},
		{"the collector ran", func(s *stage) {
			s.asleep(event.Floor{Overshoot: 390 * ms, GC: 3, GCPause: 200 * ms, Sched: 250 * ms, Steal: 90 * ms})
		}, nil, Ours, CauseOurs, "collector ran 3 times, the longest stop 200 ms; what could run waited up to 250 ms"},
		{"events were dropped", func(s *stage) {
			s.at += 380
			s.a.Add(&event.Dropped{At: s.at * ms, Events: 12})
		}, nil, Ours, CauseOurs, "12 events were dropped"},
		{"stopped for seconds", func(s *stage) {
			s.beat += 5000
			s.at += 5000
			s.a.Add(&event.Token{At: s.at * ms, Target: 1, Request: 1, Slot: 1, K: 1, Late: ms})
			s.a.Add(&event.Floor{At: s.at*ms + ms, Overshoot: 5000 * ms})
			s.beat = s.at
		}, nil, Ours, CauseOurs, "was not running"},
		{"taken out of the batch", quiet, end(event.ServerTimings{Retracted: 2}), Proven, CausePreemption, "2 times"},
		{"never taken out", quiet, end(event.ServerTimings{Queue: second}), Unexplained, CauseUnknown, ""},
		{"the server was faster", quiet, end(event.ServerTimings{Decode: 10_020 * ms, DecodeN: 500}), Proven, CausePath, "by its own clock"},
		{"the server took as long", quiet, end(event.ServerTimings{Decode: 10_380 * ms, DecodeN: 500}), Unexplained, CauseUnknown, ""},
		{"held back", func(s *stage) { s.burst(20) }, nil, Likely, CausePath, "20 tokens came at once"},
		{"held back, in one event", func(s *stage) {
			s.at += 400
			s.a.Add(&event.Token{At: s.at * ms, Target: 1, Request: 1, Slot: 1, K: 19})
		}, nil, Likely, CausePath, "19 tokens came at once"},
		{"two tokens at once are no such thing", func(s *stage) { s.burst(2) }, nil, Unexplained, CauseUnknown, ""},
		{"the page was slow too, and tokens were held back", func(s *stage) {
			s.a.Add(&event.Signal{At: s.at*ms - 200*ms, Target: 1, Source: event.SignalMetrics, Took: 2 * ms, Values: []event.Sample{one("waiting", 0)}})
			s.burst(20)
			s.a.Add(&event.Signal{At: s.at*ms + ms, Target: 1, Source: event.SignalMetrics, Took: 350 * ms, Values: []event.Sample{one("waiting", 0)}})
		}, nil, Likely, CauseBlocked, "page of metrics took 350 ms"},
		{"the target went down", func(s *stage) {
			s.at += 380
			s.a.Add(&event.Target{At: s.at*ms - 100*ms, ID: 1, State: event.StateDown, Detail: "connection refused"})
		}, nil, Likely, CauseRestart, "connection refused"},
		{"it loads its model", func(s *stage) {
			s.at += 380
			s.a.Add(&event.Target{At: s.at*ms - 100*ms, ID: 1, State: event.StateLoading})
		}, nil, Proven, CauseRestart, "being loaded"},
		{"its counters began anew", func(s *stage) {
			s.at += 380
			s.a.Add(&event.Signal{At: s.at*ms + 90*ms, Target: 1, Source: event.SignalMetrics, Restart: true})
		}, nil, Proven, CauseRestart, "began anew"},
		{"it went away only seconds later", func(s *stage) { s.at += 380 }, func(s *stage) {
			s.a.Add(&event.Target{At: s.at * ms, ID: 1, State: event.StateDown, Detail: "connection refused"})
			s.a.Add(&event.Signal{At: s.at*ms + 500*ms, Target: 1, Source: event.SignalMetrics, Restart: true})
		}, Unexplained, CauseUnknown, ""},
		{"a slot works on a prompt", func(s *stage) {
			s.at += 380
			s.signal(-90, event.SignalSlots, 1, one("prefilling", 1), one("prefill_left", 3100))
		}, nil, Likely, CausePrefill, "3100 tokens of it"},
		{"no slot works on a prompt", func(s *stage) {
			s.at += 380
			s.signal(-90, event.SignalSlots, 1, one("prefilling", 0))
		}, nil, Unexplained, CauseUnknown, ""},
		{"the longest step", func(s *stage) {
			s.at += 380
			s.signal(90, event.SignalIterations, 1, one("step_max", .39), one("step_max_prefill", 4000))
		}, nil, Proven, CausePrefill, "held 4000 prompt tokens"},
		{"a far shorter step", func(s *stage) {
			s.at += 380
			s.signal(90, event.SignalIterations, 1, one("step_max", .06), one("step_max_prefill", 4000))
		}, nil, Unexplained, CauseUnknown, ""},
		{"a GPU slows down", func(s *stage) {
			s.signal(-90, event.SignalGPU, 0, one("gpu.throttle", 0))
			s.at += 380
			s.signal(-90, event.SignalGPU, 0, one("gpu.throttle", 0x40))
		}, nil, Likely, CauseThrottle, "heat"},
		{"a GPU that is slow all the time", func(s *stage) {
			s.signal(-90, event.SignalGPU, 0, one("gpu.throttle", 4))
			s.at += 380
			s.signal(-90, event.SignalGPU, 0, one("gpu.throttle", 4))
		}, nil, Unexplained, CauseUnknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(1)
			s.play(300)
			c.stop(s)
			s.play(200)
			if c.after != nil {
				c.after(s)
			}
			wantWhy(t, s.longest(t), c.verdict, c.cause, c.says)
		})
	}
}

// ask is one request of one token.
func (s *stage) ask(req uint64, at, wait, headers int64, prompt int, e event.End) {
	s.idle(at)
	s.a.Add(&event.Start{At: at * ms, Target: 1, Request: req, Slot: 1, Prompt: prompt, Reused: true})
	s.a.Add(&event.Headers{At: (at + headers) * ms, Target: 1, Request: req, Status: 200})
	s.idle(at + wait)
	s.a.Add(&event.Token{At: (at + wait) * ms, Target: 1, Request: req, Slot: 1, K: 1})
	e.At, e.Target, e.Request, e.Slot, e.Class, e.N, e.Prompt = (at+wait+100)*ms, 1, req, 1, event.OKFull, 1, prompt
	s.a.Add(&e)
}

// The waits for a first token.
func TestRulesOfFirstTokens(t *testing.T) {
	said := func(sv event.ServerTimings) event.End { return event.End{Server: &sv} }
	for _, c := range []struct {
		name    string
		prompt  int
		look    []any
		headers int64 // ms after sent
		engine  string
		end     event.End
		verdict Verdict
		cause   Cause
		says    string
	}{
		{name: "somebody was waiting", look: but("waiting=", 300), verdict: Likely, cause: CauseQueue, says: "3 requests were waiting"},
		{name: "nobody was waiting", look: usual, verdict: Unexplained, says: "nobody waiting"},
		{name: "the queue's own figures", look: append(but("queue_count", 2), "queue_sum", 3), verdict: Likely, cause: CauseQueue, says: "queued for 1.50 s"},
		{name: "a short queue", look: append(but("queue_count", 100), "queue_sum", 1), verdict: Unexplained, says: "nobody waiting"},
		{name: "the reply names its queue", end: said(event.ServerTimings{Queue: 800 * ms}), verdict: Proven, cause: CauseQueue, says: "queued for 800 ms"},
		{name: "the reply names its prefill", end: said(event.ServerTimings{Prompt: 800 * ms, PromptN: 4000}), verdict: Proven, cause: CausePrompt, says: "4000 tokens"},
		{name: "the reply names the load", end: said(event.ServerTimings{Load: 800 * ms}), verdict: Proven, cause: CauseLoad, says: "loading the model took 800 ms"},
		{name: "a short load", end: said(event.ServerTimings{Load: 20 * ms}), verdict: Unexplained},
		{name: "a longer prompt", prompt: 4000, verdict: Likely, cause: CausePrompt, says: "4000 tokens"},
		{name: "a prompt as ever", prompt: 120, verdict: Unexplained},
		{name: "a slot was taken late", headers: 900, engine: "llama.cpp", verdict: Likely, cause: CauseQueue, says: "900 ms of the 1.00 s"},
		{name: "another engine's headers", headers: 900, engine: "vLLM", verdict: Unexplained, says: "900 ms of the 1.00 s"},
		{name: "another provider", end: event.End{Provider: "B"}, verdict: Likely, cause: CauseRouted, says: "B served it, and A the one before"},
		{name: "the same provider", end: event.End{Provider: "A"}, verdict: Unexplained},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(0)
			s.a.Add(&event.Target{ID: 1, State: event.StateLive, Engine: c.engine})
			for i := range int64(20) {
				s.ask(uint64(i+1), i*500, 100, 1, 100, event.End{Provider: "A"})
			}
			if c.look != nil {
				s.look(10_300, c.look...)
				s.look(12_000, usual...)
			}
			s.ask(21, 10_000, 1000, max(c.headers, 1), max(c.prompt, 100), c.end)
			s.at = 11_200
			x := s.longest(t)
			if !x.First || x.Phase != PhaseFirst || x.Usual < 100*ms || x.Usual > 101*ms {
				t.Errorf("%+v", x)
			}
			wantWhy(t, x, c.verdict, c.cause, c.says)
		})
	}
}

func TestTheModelWasNotInMemory(t *testing.T) {
	for _, c := range []struct {
		loaded float64
		cause  Cause
	}{{0, CauseLoad}, {1, CauseUnknown}} {
		s := newStage(0)
		for i := range int64(20) {
			s.ask(uint64(i+1), i*500, 100, 1, 100, event.End{})
		}
		s.at = 9900
		s.signal(0, event.SignalLoaded, 1, one("loaded", c.loaded))
		s.ask(21, 10_000, 1000, 1, 100, event.End{})
		if x := s.longest(t); x.Why.Cause != c.cause {
			t.Errorf("%v loaded: %+v", c.loaded, x.Why)
		}
	}
}

// An endpoint that was away is one spike of its own, whatever it struck.
func TestAnOutageIsASpike(t *testing.T) {
	for _, c := range []struct {
		name  string
		then  event.State
		cause Cause
	}{{"refused, then loading", event.StateLoading, CauseRestart}, {"refused", "", CauseOutage}} {
		s := newStage(1)
		s.play(100)
		s.a.Add(&event.Target{At: 3000 * ms, ID: 1, State: event.StateDown, Detail: "connection refused"})
		if c.then != "" {
			s.a.Add(&event.Target{At: 4000 * ms, ID: 1, State: c.then})
		}
		s.a.Add(&event.Target{At: 6000 * ms, ID: 1, State: event.StateLive})
		s.at = 6000
		x := s.longest(t)
		if x.Phase != PhaseOutage || x.Length != 3*second || x.Why.Cause != c.cause || len(s.target().Worst) != 0 {
			t.Errorf("%s: %+v %+v", c.name, x, x.Why)
		}
	}
	a := NewAggregator(Config{})
	a.Add(&event.Target{ID: 1, State: event.StateLoading})
	a.Add(&event.Target{At: second, ID: 1, State: event.StateLive})
	if n := a.Snapshot().Targets[0].Spikes; len(n) != 0 {
		t.Errorf("nobody missed it before it had answered: %+v", n)
	}
}
