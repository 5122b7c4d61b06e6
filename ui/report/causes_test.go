package report

import (
	"strings"
	"testing"

	"teapot/stats"
)

// causes is a run with spikes of several causes and a server that tells of
// itself.
func causes() *stats.Snapshot {
	s := article()
	t := s.Targets[0]
	stall := stats.Spike{
		At: 12.1e9, Length: 480e6, Request: 88, Slot: 3, Token: 41, Peers: 7, Of: 8, ID: 9, Usual: 14e6, Phase: stats.PhaseReasoning,
		Why: &stats.Why{Verdict: stats.Likely, Cause: stats.CausePrefill, Rule: "prompt tokens", Settled: true, Revised: 1, Advice: "Turn on chunked prefill.",
			Evidence: []string{"the server worked on 7000 prompt tokens of others in the 1.00 s of the looks around it", "8 of the 8 streams that were receiving stood still and went on together"}},
	}
	outage := stats.Spike{At: 30e9, Length: 3.2e9, Phase: stats.PhaseOutage, ID: 11,
		Why: &stats.Why{Verdict: stats.Proven, Cause: stats.CauseRestart, Rule: "restarted", Evidence: []string{"the server's counters began anew during it"}}}
	first := stats.Spike{At: 20e9, Length: 900e6, Request: 120, Token: 1, First: true, Phase: stats.PhaseFirst, ID: 10,
		Why: &stats.Why{Evidence: []string{"the server shows no counters"}, Rule: "nothing seen"}}
	t.Worst = []stats.Spike{stall, first}
	t.Spikes = []stats.Spike{stall, first, outage}
	t.Causes = []stats.CauseRow{
		{Cause: stats.CauseRestart, Count: 1, Total: 3.2e9, By: [5]uint64{stats.Proven: 1}, Worst: outage, Advice: "See the server's log."},
		{Cause: stats.CausePrefill, Count: 4, Total: 1.3e9, By: [5]uint64{stats.Likely: 4}, Worst: stall, Advice: stall.Why.Advice},
		{Count: 1, Total: 900e6, By: [5]uint64{stats.Unexplained: 1}, Worst: first},
	}
	t.Unlisted = 3
	t.Server = &stats.Server{
		Restarts: 1, RestartAt: 30e9,
		TTFT:    stats.ServerFigure{At: 39e9, Span: 1e9, N: 7, P50: 12e6, P99: 30e6, Mean: 14e6, MinuteN: 250, MinuteMean: 13.5e6},
		ITL:     stats.ServerFigure{N: 900, Mean: 3.4e6, MinuteN: 60000, MinuteMean: 3.41e6},
		Values:  []stats.ServerValue{{Name: "gpu.util", Of: "0", Source: "gpu", Value: 0.93, At: 39.8e9, Age: 100e6}, {Name: "running", Source: "metrics", Value: 8, At: 39e9}},
		Missing: []string{"queue", "prefix_hits"},
		Sources: []stats.ServerSource{{Name: "metrics", At: 39e9, Every: 1e9, Looks: 40, Bytes: 360000, TookSum: 80e6}},
	}
	return s
}

func TestCausesAreTold(t *testing.T) {
	for name, out := range all(t, causes(), fixedReading) {
		if name == "table" {
			continue
		}
		for _, must := range []string{"prefill interference", "480", "7000 prompt tokens of others", "Turn on chunked prefill", "restart", "proven", "unexplained", "prompt tokens"} {
			if !strings.Contains(out, must) {
				t.Errorf("%s does not say %q:\n%s", name, must, out)
			}
		}
	}
	for name, out := range all(t, article(), fixedReading) {
		if strings.Contains(out, "Why it spiked") {
			t.Errorf("%s has a table of causes without any", name)
		}
	}
}
