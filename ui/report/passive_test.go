package report

import (
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

// passive is a run in which nothing was asked of a server that others used.
func passive() *stats.Snapshot {
	a := stats.NewAggregator(stats.Config{MaxErrorRate: -1})
	a.Add(&event.Session{Wall: 1.7e18, Source: event.SourceKernel, Load: event.Load{Passive: true, Concurrency: 1}})
	a.Add(&event.Target{ID: 1, URL: "http://gpu07:8000", Engine: "vLLM", Version: "0.11.0", Model: "tiny", State: event.StateLive})
	for i := range 10 {
		sig := &event.Signal{At: int64(i+1) * 1e9, Target: 1, Source: event.SignalMetrics, Took: 2e6, Bytes: 9000, Span: 1e9, Values: []event.Sample{
			{Name: "running", Value: float64(3 + i%2)}, {Name: "waiting", Value: 2}, {Name: "kv_used", Value: 0.93},
			{Name: "preemptions", Value: float64(50 + i), Delta: 1}, {Name: "gen_tokens", Value: 1e6, Delta: 200},
			{Name: "ttft_sum", Value: 9, Delta: 2}, {Name: "ttft_count", Value: 9, Delta: 10}, {Name: "ttft_p50", Value: .1}, {Name: "ttft_p99", Value: .4},
			{Name: "ttft_p50_all", Value: .125}, {Name: "ttft_p99_all", Value: .75},
			{Name: "itl_sum", Value: 9, Delta: 3}, {Name: "itl_count", Value: 9, Delta: 200},
			{Name: "queue_sum", Value: 9, Delta: .5}, {Name: "queue_count", Value: 9, Delta: 10},
		}}
		if i == 0 {
			sig.Span, sig.Effect = 0, "keeps it awake"
		}
		a.Add(sig)
	}
	a.Add(&event.Target{ID: 1, URL: "http://gpu07:8000", Engine: "vLLM", Version: "0.11.0", Model: "tiny", State: event.StateDone})
	a.Add(&event.Finished{At: 11e9, Complete: true, Reason: "duration"})
	return a.Snapshot()
}

func TestPassiveReport(t *testing.T) {
	s := passive()
	if code, why := Verdict(s); code != ExitOK {
		t.Errorf("exit code %d: %s", code, why)
	}
	for form, musts := range map[string][]string{
		"text": {"passive: no request is made", "ttft 200.0 ≤125.0 ≤750.0 90", "itl 15.00", "queue 50.00",
			"running 4, at most 4", "waiting 2", "KV cache 93%", "9 preemptions in the run", "in the last minute 10", "asking keeps it awake"},
		"markdown": {"passive: no request is made", "| ttft | 200.0 | ≤125.0 | ≤750.0 | 90 |", "KV cache 93%", "preemptions in the run"},
		"json":     {`"passive": true`, `"all_p99": 750`, `"all_mean": 200`, `"grown": 1800`, `"minute_looks": 10`, `"effect": "keeps it awake"`},
	} {
		out, err := Render(s, form, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, must := range musts {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), must) {
				t.Errorf("%s does not say %q:\n%s", form, must, out)
			}
		}
		for _, not := range []string{"0 ok", "closed loop", "Reading"} {
			if form != "json" && strings.Contains(out, not) {
				t.Errorf("%s says %q, and no request was made", form, not)
			}
		}
	}
}

// What a screen leaves behind has the server's figures, and no row of dashes.
func TestPassiveTable(t *testing.T) {
	s := article()
	s.Load.Passive = true
	s.Targets[0].Server = &stats.Server{
		Sources: []stats.ServerSource{{Name: "metrics"}},
		TTFT:    stats.ServerFigure{AllN: 90, AllMean: 200e6, AllP50: 125e6, AllP99: -750e6},
	}
	out := Table(s)
	for _, want := range []string{"no request was made", "ttft", "200.0", "≤125.0", ">750.0", "90"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "tok/s") {
		t.Errorf("figures of ours are in\n%s", out)
	}
}

// Without a histogram it says so.
func TestPassiveReportOfNothing(t *testing.T) {
	s := article()
	s.Load.Passive, s.Targets[0].Server = true, nil
	if out := Text(s, Options{}); !strings.Contains(out, "no page of metrics was looked at") || !strings.Contains(out, "--server-metrics URL") {
		t.Error(out)
	}
}
