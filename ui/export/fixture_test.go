package export

import (
	"io"
	"math/rand/v2"
	"slices"

	"teapot/probe/event"
	"teapot/stats"
)

const ms = int64(1e6)

// session are the events of a made-up session of two endpoints: gaps with a
// tail, a timeout, a warm-up, a mark, signals, a prompt in somebody else's way.
func session(requests, tokens int) []event.Event {
	r := rand.New(rand.NewPCG(7, 7))
	out := []event.Event{
		&event.Session{At: 1, Wall: 1_780_000_000_000_000_000, Source: event.SourceKernel, Load: event.Load{Concurrency: 2, MaxTokens: tokens}},
		&event.Target{At: 2, ID: 1, URL: "http://user:canary@gpu07:8000/v1?key=canary", Model: "tea", Engine: "vLLM", API: "chat", State: event.StateLive},
		&event.Target{At: 3, ID: 2, URL: "http://gpu08:8000", Model: "=tea", State: event.StateLive},
	}
	now := ms
	id := uint64(0)
	for i := range requests {
		for _, target := range []uint32{1, 2} {
			id++
			now += ms
			start := &event.Start{At: now, Target: target, Request: id, Warmup: i == 0, Asked: tokens, Prompt: 128, Reused: true}
			out = append(out, start, &event.Headers{At: now + ms, Target: target, Request: id, Status: 200, Source: event.SourceKernel})
			at := now + 20*ms
			if i == requests/2 && target == 1 {
				for beat := range int64(49) {
					out = append(out, &event.Floor{At: now + (beat+1)*100*ms, Overshoot: ms})
				}
				out = append(out, &event.End{
					At: now + 5000*ms, Target: target, Request: id, Class: event.ErrFirst, Limit: 5000 * ms, Message: "=no token: see http://user:canary@gpu07/?key=canary",
				})
				now += 5000 * ms
				continue
			}
			for range tokens {
				out = append(out, &event.Token{At: at, Target: target, Request: id, K: 1, Late: 1000})
				gap := 10*ms + r.Int64N(5*ms)
				switch r.IntN(100) {
				case 0:
					gap = 300 * ms
				case 1:
					gap = 60 * ms
				}
				at += gap
			}
			now = at
			out = append(out, &event.End{At: now, Target: target, Request: id, Class: event.OKFull, Status: 200, N: tokens, Prompt: 130, Count: event.CountUsage})
			out = append(out, &event.Signal{At: now, Target: target, Source: event.SignalMetrics, Span: 1e9, Values: []event.Sample{
				{Name: "running", Value: 3}, {Name: "preemptions", Value: float64(i), Delta: 1}, {Name: "gpu.util", Of: "0", Value: .5},
			}}, &event.Floor{At: now, Overshoot: ms})
		}
	}
	return append(out, &event.Mark{At: now, Label: "changed"}, &event.Finished{At: now, Complete: true, Reason: "count"})
}

// feeder gives events one by one.
func feeder(events []event.Event) Next {
	i := 0
	return func() (event.Event, error) {
		if i >= len(events) {
			return nil, io.EOF
		}
		i++
		return events[i-1], nil
	}
}

// still is a session that stands still.
type still struct{ a *stats.Aggregator }

// Do calls fn.
func (s still) Do(fn func(*stats.Aggregator)) { fn(s.a) }

func taken(c stats.Config, events []event.Event) still {
	a := stats.NewAggregator(c)
	for _, ev := range events {
		a.Add(ev)
	}
	return still{a}
}

// gapsOf are the gaps of the events of a target, sorted, ns: those of requests
// that are measured.
func gapsOf(events []event.Event, target uint32) []int64 {
	last, warm := map[uint64]int64{}, map[uint64]bool{}
	var out []int64
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.Start:
			warm[ev.Request] = ev.Warmup
		case *event.Token:
			if before, ok := last[ev.Request]; ok && ev.Target == target && !warm[ev.Request] {
				out = append(out, ev.At-before)
			}
			last[ev.Request] = ev.At
		}
	}
	slices.Sort(out)
	return out
}
