package export

import (
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

// An endpoint is up while it serves, and in one state at a time; how a request
// ended has a result beside its class.
func TestStateAndResults(t *testing.T) {
	for state, up := range map[event.State]float64{
		event.StateLive: 1, event.StateWarmup: 1, event.StateBusy: 1, event.StateDone: 1, event.StateLoading: 0, event.StateDown: 0, event.StateConnecting: 0,
	} {
		_, f := scrape(t, taken(stats.Config{}, []event.Event{
			&event.Session{}, &event.Target{ID: 1, URL: "http://x", State: state},
			&event.Start{At: ms, Target: 1, Request: 1}, &event.End{At: 2 * ms, Target: 1, Request: 1, Class: event.ErrReset},
		}), "text/plain")
		if got := f["teapot_up"].GetMetric()[0].GetGauge().GetValue(); got != up {
			t.Errorf("%s: up is %v", state, got)
		}
		in := 0.0
		for _, m := range f["teapot_state"].GetMetric() {
			v := m.GetGauge().GetValue()
			if in += v; v == 1 != (label(m, "state") == string(state)) {
				t.Errorf("%s: %s is %v", state, label(m, "state"), v)
			}
		}
		if m := f["teapot_requests_total"].GetMetric(); in != 1 || len(m) != 1 || label(m[0], "result") != "failed" || label(m[0], "class") != "reset" {
			t.Errorf("%s: in %v states, requests %v", state, in, m)
		}
		if f["teapot_client_late_reads_total"] == nil || f["teapot_client_added_p99_seconds"] == nil {
			t.Error("what this client added is not there")
		}
	}
}
