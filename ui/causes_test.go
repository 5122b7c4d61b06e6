package ui

import (
	"math"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

var allCauses = []stats.Cause{
	stats.CauseUnknown, stats.CauseOurs, stats.CauseTransport, stats.CauseRestart, stats.CauseOutage, stats.CauseLoad, stats.CausePreemption,
	stats.CauseQueue, stats.CausePrompt, stats.CausePrefill, stats.CauseServerGC, stats.CauseKVTraffic, stats.CausePath, stats.CauseBlocked,
	stats.CauseThrottle, stats.CauseRouted, stats.CauseEngine,
}

// Every cause has a sign and a word, one of its own but for what is ours, and the
// help names it.
func TestEveryCauseHasASign(t *testing.T) {
	help := ""
	for _, l := range signHelp {
		help += l[0] + " "
	}
	seen := map[rune]stats.Cause{}
	for _, c := range allCauses {
		w := &stats.Why{Verdict: stats.Likely, Cause: c, Settled: true}
		if c == stats.CauseUnknown {
			w.Verdict = stats.Unexplained
		}
		r, _ := signOf(&stats.Spike{Why: w})
		if !strings.ContainsRune(help, r) || r <= ' ' {
			t.Errorf("%s: the help does not name %q", c, r)
		}
		if other, both := seen[r]; both && r != '□' {
			t.Errorf("%s and %s share the sign %c", c, other, r)
		}
		if seen[r] = c; c != stats.CauseUnknown && shortCause(c) == "" {
			t.Errorf("%s has no word", c)
		}
		for kind := range stats.LanePreempted {
			if lane, _ := chart.LaneGlyph(&stats.LaneEvent{Kind: kind, Letter: 'A'}); lane == r {
				t.Errorf("%s has the sign %c of an event", c, r)
			}
		}
	}
}

func TestSignOfAVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		s    stats.Spike
		want rune
	}{
		{"not judged", stats.Spike{}, 0},
		{"not explained so far", stats.Spike{Why: &stats.Why{}}, 0},
		{"not explained", stats.Spike{Why: &stats.Why{Settled: true}}, '?'},
		{"ours", stats.Spike{Why: &stats.Why{Verdict: stats.Ours, Cause: stats.CauseOurs}}, '□'},
		{"merged", stats.Spike{Merged: true}, '□'},
		{"transport", stats.Spike{Transport: true}, '□'},
		{"proven", stats.Spike{Why: &stats.Why{Verdict: stats.Proven, Cause: stats.CauseQueue}}, 'q'},
		{"a cause of tomorrow", stats.Spike{Why: &stats.Why{Verdict: stats.Likely, Cause: "moon"}}, 0},
	} {
		if got, _ := signOf(&c.s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Of the spikes of one column the worst one's cause stands beneath it, and what
// happened there stands over that, but for a stall of this host.
func TestCausesStandBeneathTheirSpikes(t *testing.T) {
	s := busy()
	s.Lane = []stats.LaneEvent{{At: 93e9, Kind: stats.LaneHostStall}, {At: 95e9, Kind: stats.LaneHostStall}, {At: 96e9, Kind: stats.LaneClock}}
	why := func(c stats.Cause) *stats.Why {
		return &stats.Why{Verdict: stats.Likely, Cause: c, Evidence: []string{"seen"}}
	}
	s.Targets[0].Worst = nil
	s.Targets[0].Spikes = []stats.Spike{
		{At: 90.1e9, Length: 300e6, Request: 1, Token: 4, Why: why(stats.CauseQueue)},
		{At: 90.2e9, Length: 500e6, Request: 2, Token: 4, Why: why(stats.CausePrefill)},
		{At: 90.3e9, Length: 400e6, Request: 3, Token: 4, Why: why(stats.CauseThrottle)},
		{At: 95.3e9, Length: 400e6, Request: 3, Token: 9, Why: why(stats.CauseThrottle)},
		{At: 96.3e9, Length: 400e6, Request: 3, Token: 10, Why: why(stats.CauseThrottle)},
		{At: 97.3e9, Length: 400e6, Request: 3, Token: 12, Why: why(stats.CauseEngine)},
	}
	lane := ""
	for _, l := range strings.Split(stripSGR(screenOf(still(s, Config{Theme: "mono"}), 80, 24, overview)), "\n") {
		if strings.HasPrefix(l, "event") {
			lane = l
		}
	}
	if !strings.HasSuffix(strings.TrimRight(lane, " "), "f  ▼ tch") {
		t.Errorf("the lane is %q", lane)
	}
}

// What is told of a spike's surroundings: the last look before it, the first
// within it, the first after it, and no number that is none.
func TestServerAroundASpike(t *testing.T) {
	at := func(apart int64, running float64) stats.Look {
		return stats.Look{Source: event.SignalMetrics, Apart: apart, Values: []event.Sample{{Name: "running", Value: running}}}
	}
	s := &stats.Spike{Length: 500e6, Why: &stats.Why{Evidence: []string{"seen"}, Advice: "do"}, Around: &stats.Around{Looks: []stats.Look{
		at(-2e9, 1), at(-6e8, 2), at(-4e8, 3), at(-1e8, 4), at(3e8, 5), at(9e8, 6), at(1e8, math.NaN()), at(2e8, math.Inf(1)),
		{Source: event.SignalGPU, Apart: 1, Values: []event.Sample{{Name: "running", Value: 7}}},
	}}}
	want := "seen|server 600ms before its end: run 2|server 400ms before its end: run 3|server 300ms after its end: run 5|→ do"
	if got := strings.Join(signed(s), "|"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// stalledRequest is a request with a stall that is the server's, and its number from 0.
func stalledRequest(t *stats.Target) (*stats.Trace, int) {
	for i := range t.Traces.Finished {
		for n, c := range t.Traces.Finished[i].Cells() {
			if n > 0 && c.Stall && !c.Merged {
				return &t.Traces.Finished[i], n
			}
		}
	}
	return nil, 0
}

// A request whose first token came late says why, and evidence that two of its
// spikes share stands there once.
func TestARequestTellsWhyItsTokensWereLate(t *testing.T) {
	s := busy()
	tg := s.Targets[0]
	trace, worst := stalledRequest(tg)
	if trace == nil {
		t.Fatal("no request has a stall")
	}
	cells := trace.Cells()
	why := &stats.Why{Verdict: stats.Likely, Cause: stats.CauseQueue, Settled: true, Evidence: []string{"7 requests were waiting"}}
	tg.Worst = []stats.Spike{
		{At: cells[0].At, Length: 700e6, Request: trace.ID, Token: 1, First: true, Why: why},
		{At: cells[worst].At, Length: cells[worst].Gap, Request: trace.ID, Token: worst + 1, Why: why},
	}
	m := still(s, Config{Theme: "mono"})
	m.openRequest(trace.ID)
	out := stripSGR(screenOf(m, 120, 40, requests))
	for _, want := range []string{"700ms before the first token", "likely: queueing", "  7 requests were waiting", "  for the same reasons"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Count(out, "7 requests were waiting") != 1 {
		t.Errorf("the evidence stands there twice\n%s", out)
	}
}

// The table of causes: shares of the time, what follows, and how many are left
// out.
func TestTheTableOfCauses(t *testing.T) {
	s := heard()
	row := func(w, h int) string { return stripSGR(screenOf(still(s, Config{Theme: "mono"}), w, h, tail)) }
	wide := row(160, 50)
	for _, want := range []string{"count", "87.5%", "10.6%", "unexplained", "its evidence", "→ preemption: Lower the concurrency", "3 of 4 streams"} {
		if !strings.Contains(wide, want) {
			t.Errorf("%q is not in\n%s", want, wide)
		}
	}
	if low := row(80, 24); !strings.Contains(low, "+3 more") || !strings.Contains(low, "→ preemption") {
		t.Errorf("with little room:\n%s", low)
	}
	s.Targets[0].Causes = nil
	if none := row(80, 24); !strings.Contains(none, "no spike yet") {
		t.Errorf("without a spike:\n%s", none)
	}
}
