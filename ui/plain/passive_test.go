package plain

import (
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

func TestLineOfAPassiveRun(t *testing.T) {
	a := stats.NewAggregator(stats.Config{MaxErrorRate: -1})
	a.Add(&event.Session{Load: event.Load{Passive: true}})
	a.Add(&event.Target{ID: 1, URL: "http://h:1", Model: "tiny", State: event.StateLive})
	if got, want := Line(a.Snapshot(), a.Snapshot().Targets[0], Options{}),
		"t=0 time=- target=http://h:1 model=tiny state=live running=- waiting=- kv=- preemptions=- ttft=- itl=- queue=-"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	a.Add(&event.Signal{At: 2e9, Target: 1, Source: event.SignalMetrics, Span: 1e9, Values: []event.Sample{
		{Name: "running", Value: 3}, {Name: "waiting"}, {Name: "kv_used", Value: .5}, {Name: "preemptions", Value: 9, Delta: 2},
		{Name: "ttft_sum", Delta: 2}, {Name: "ttft_count", Delta: 10},
	}})
	if got, want := Line(a.Snapshot(), a.Snapshot().Targets[0], Options{}),
		"t=2 time=- target=http://h:1 model=tiny state=live running=3 waiting=0 kv=50% preemptions=2 ttft=200 itl=- queue=-"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
