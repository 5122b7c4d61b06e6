package ui

import (
	"math"
	"slices"

	"teapot/probe/event"
	"teapot/stats"
)

// heard is a busy screen with a server that says something of itself, the GPUs
// of this machine, and spikes with their causes.
func heard() *stats.Snapshot {
	s := busy()
	a := stats.NewAggregator(stats.Config{})
	a.Add(&event.Target{At: 1, ID: 1, State: event.StateLive, URL: "http://gpu07:8000"})
	prompts, preempted := 0.0, 0.0
	for at := int64(1e9); at < s.Now; at += 1e9 {
		t := float64(at) / 1e9
		page := &event.Signal{
			At: at, Target: 1, Source: event.SignalMetrics, Took: 3e6, Age: 2e6, Bytes: 18_400,
			Effect: "the page is made by the process that streams",
		}
		if at > 1e9 {
			page.Span = 1e9
		}
		busyAt := 4 + 3*math.Sin(t/9)
		fell := 0.0
		if int(t)%40 == 39 {
			fell = 3
			preempted += fell
		}
		prompts += 100 * busyAt
		page.Values = []event.Sample{
			{Name: "running", Value: math.Round(10 + busyAt)}, {Name: "waiting", Value: max(math.Round(busyAt-4), 0)},
			{Name: "kv_used", Value: .6 + busyAt/20}, {Name: "preemptions", Value: preempted, Delta: fell},
			{Name: "gen_tokens", Value: 900 * t, Delta: 900}, {Name: "prefix_queries", Value: prompts, Delta: 100 * busyAt},
			{Name: "prefix_hits", Value: prompts / 2, Delta: 30 * busyAt},
			{Name: "ttft_count", Value: 3 * t, Delta: 3}, {Name: "ttft_sum", Value: t, Delta: .12 * busyAt},
			{Name: "ttft_p50", Value: .09}, {Name: "ttft_p99", Value: .8}, {Name: "ttft_p50_all", Value: .12}, {Name: "ttft_p99_all", Value: .78},
			{Name: "itl_count", Value: 900 * t, Delta: 900}, {Name: "itl_sum", Value: 14 * t, Delta: 12.6},
			{Name: "queue_count", Value: 3 * t, Delta: 3}, {Name: "queue_sum", Value: t, Delta: .02 * busyAt},
		}
		a.Add(page)
		a.Add(&event.Signal{At: at, Source: event.SignalGPU, Took: 1e6, Bytes: 120, Values: []event.Sample{
			{Name: "gpu.util", Of: "0", Value: .93}, {Name: "gpu.mem_used", Of: "0", Value: 71 << 30}, {Name: "gpu.mem_total", Of: "0", Value: 80 << 30},
			{Name: "gpu.power", Of: "0", Value: 640}, {Name: "gpu.power_limit", Of: "0", Value: 700}, {Name: "gpu.temp", Of: "0", Value: 68},
			{Name: "gpu.clock", Of: "0", Value: 1755e6}, {Name: "gpu.throttle", Of: "0", Value: 4},
			{Name: "gpu.util", Of: "1", Value: .41}, {Name: "gpu.temp", Of: "1", Value: 51}, {Name: "gpu.throttle", Of: "1", Value: 1},
		}})
	}
	got := a.Snapshot()
	t := s.Targets[0]
	t.Server, s.Machine = got.Targets[0].Server, got.Machine
	for _, e := range got.Lane {
		if e.Kind == stats.LanePreempted {
			e.Target = t.Info.ID
			s.Lane = append(s.Lane, e)
		}
	}
	explain(t)
	return s
}

// explain gives the worst spikes a verdict each, and sums them up.
func explain(t *stats.Target) {
	for i := range t.Worst {
		w := &t.Worst[i]
		w.Token++ // the world counts the events before it
		w.Why = &stats.Why{
			Verdict: stats.Likely, Cause: stats.CausePreemption, Rule: "preempted", Settled: true,
			Evidence: []string{"the server preempted 3 requests in the 1.02 s of the looks around it", "its KV cache was 94 % full"},
			Advice:   "Lower the concurrency or the length of the context, or give the KV cache more memory.",
		}
		w.Around = &stats.Around{Looks: []stats.Look{look(-1_100e6, 15, 5, .93, 0), look(-3e8, 12, 8, .95, 3), look(2e8, 14, 6, .88, 0)}}
		if i%3 == 2 {
			w.Why = &stats.Why{Verdict: stats.Unexplained, Settled: true, Evidence: []string{"nothing was seen that could be its cause"}}
		}
	}
	if len(t.Worst) < 3 {
		return
	}
	prompt := t.Worst[1]
	prompt.Why = &stats.Why{Verdict: stats.Proven, Cause: stats.CausePrefill, Settled: true, Evidence: []string{"3 of 4 streams stood still and went on together, in 2 steps of one length"}}
	t.Causes = []stats.CauseRow{
		{Cause: stats.CausePreemption, Count: 12, Total: 7_400e6, By: [5]uint64{stats.Likely: 12}, Worst: t.Worst[0], Advice: t.Worst[0].Why.Advice},
		{Cause: stats.CauseOurs, Count: 2, Total: 61e6, By: [5]uint64{stats.Ours: 2}, Worst: prompt},
		{Cause: stats.CausePrefill, Count: 3, Total: 60e6, By: [5]uint64{stats.Likely: 2, stats.Proven: 1}, Worst: prompt},
		{Cause: stats.CauseQueue, Count: 1, Total: 40e6, By: [5]uint64{stats.Likely: 1}, Worst: prompt},
		{Count: 4, Total: 900e6, By: [5]uint64{stats.Unexplained: 4}, Worst: t.Worst[2]},
	}
}

// look is a page of metrics near a spike.
func look(apart int64, running, waiting, kv, preempted float64) stats.Look {
	return stats.Look{Source: event.SignalMetrics, Apart: apart, Values: []event.Sample{
		{Name: "running", Value: running}, {Name: "waiting", Value: waiting}, {Name: "kv_used", Value: kv}, {Name: "preemptions", Value: 9, Delta: preempted},
	}}
}

// onlyLooked is a screen where nothing is asked for tokens.
func onlyLooked() *stats.Snapshot {
	s := heard()
	t := s.Targets[0]
	a := stats.NewAggregator(stats.Config{})
	a.Add(&event.Target{At: 1, ID: 1, State: event.StateLive})
	only := a.Snapshot() // no token, no gap
	s.Load = event.Load{Passive: true}
	s.Targets[0] = &stats.Target{Info: t.Info, Server: t.Server, Series: only.Targets[0].Series}
	s.Lane = slices.DeleteFunc(s.Lane, func(e stats.LaneEvent) bool { return e.Kind != stats.LanePreempted })
	return s
}
