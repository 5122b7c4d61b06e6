package ui

import (
	"slices"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

// Each key changes one thing about the load, by one step, and says so.
func TestTuningByHand(t *testing.T) {
	for _, c := range []struct {
		key  string
		load event.Load
		want event.Control // Do "": the key asks for nothing
		says string
	}{
		{"]", event.Load{}, event.Control{Do: event.DoRate, Value: 2}, "requests/s 0 → 2"}, // the closed loop comes to 1.5
		{"]", event.Load{Rate: 2}, event.Control{Do: event.DoRate, Value: 5}, "requests/s 2 → 5"},
		{"]", event.Load{Rate: 3}, event.Control{Do: event.DoRate, Value: 5}, "requests/s 3 → 5"},
		{"]", event.Load{Rate: 5000}, event.Control{}, "requests/s stays at 5000"},
		{"[", event.Load{Rate: 2}, event.Control{Do: event.DoRate, Value: 1}, "2 → 1, from the next request on"},
		{"[", event.Load{Rate: 0.1}, event.Control{Do: event.DoRate, Value: 0}, "→ 0"},
		{"[", event.Load{}, event.Control{}, "requests/s stays at 0"},
		{"}", event.Load{Concurrency: 4}, event.Control{Do: event.DoConcurrency, Value: 5}, "streams in flight 4 → 5"},
		{"{", event.Load{Concurrency: 4}, event.Control{Do: event.DoConcurrency, Value: 3}, "streams in flight 4 → 3"},
		{"{", event.Load{Concurrency: 1}, event.Control{}, "streams in flight stays at 1"},
		{"}", event.Load{Concurrency: 4096}, event.Control{}, "stays at 4096"},
		{">", event.Load{MaxTokens: 256}, event.Control{Do: event.DoMaxTokens, Value: 512}, "output tokens 256 → 512"},
		{"<", event.Load{MaxTokens: 256}, event.Control{Do: event.DoMaxTokens, Value: 128}, "output tokens 256 → 128"},
		{"<", event.Load{MaxTokens: 1}, event.Control{}, "output tokens stays at 1"},
		{".", event.Load{PromptTokens: 128}, event.Control{Do: event.DoPromptTokens, Value: 256}, "prompt tokens 128 → 256"},
		{",", event.Load{PromptTokens: 128}, event.Control{Do: event.DoPromptTokens, Value: 64}, "prompt tokens 128 → 64"},
	} {
		s := busy()
		s.Load = c.load
		m := still(s, Config{Control: func(event.Control) {}})
		var did event.Control
		m.do = func(c event.Control) { did = c }
		press(m, c.key)
		if did != c.want || !strings.Contains(m.message, c.says) {
			t.Errorf("%q at %+v: asks for %+v and says %q", c.key, c.load, did, m.message)
		}
	}
	m := still(busy(), Config{})
	m.do = func(c event.Control) { t.Errorf("a replay is told %+v", c) }
	for _, k := range []string{"[", "]", "{", "}", "<", ">", ",", "."} {
		if press(m, k); !strings.Contains(m.message, "this is a replay") {
			t.Errorf("%q in a replay says %q", k, m.message)
		}
	}
}

// A press goes on from what the one before asked for, also when the probe has
// not said yet what became of it; when it never says, from what is.
func TestABurstOfPressesAddsUp(t *testing.T) {
	s := busy()
	s.Load = event.Load{Concurrency: 4, MaxTokens: 100}
	m := still(s, Config{Control: func(event.Control) {}})
	c := newClock()
	m.cfg.Now = c.now
	var did []float64
	m.do = func(c event.Control) { did = append(did, c.Value) }
	press(m, "}", "}", "{", "}", ">", ">")
	c.at = c.at.Add(askedFresh)
	press(m, "}")
	if want := []float64{5, 6, 5, 6, 200, 400, 5}; !slices.Equal(did, want) {
		t.Errorf("asked for %v, want %v", did, want)
	}
}

// A mark that came by itself is said on the bottom row, and stands beside the
// newest error as long as it is fresh.
func TestAMarkThatCameByItselfIsSaid(t *testing.T) {
	s := busy()
	s.Lane, s.Targets[0].LastError = nil, ""
	m := still(s, Config{Theme: "mono"})
	next := *s
	next.Seq++
	next.Lane = append(next.Lane, stats.LaneEvent{At: s.Now, Kind: stats.LaneMark, Letter: 'C', Text: "h:1 answers again"})
	m.cfg.Snapshot = func() *stats.Snapshot { return &next }
	m.Update(frameMsg(m.tick))
	if out := screenOf(m, 80, 24, overview); !strings.Contains(out, "C h:1 answers again: what is sent from now on") {
		t.Errorf("the bottom row does not say it:\n%s", out)
	}
	m.message = ""
	if out := screenOf(m, 120, 40, overview); !strings.Contains(out, "C 0s ago: h:1 answers again") {
		t.Errorf("the row above the keys does not say it:\n%s", out)
	}
	next.Targets[0].LastError, next.Targets[0].LastErrorAt = "connection refused", s.Now-1e9
	for _, w := range []int{110, 120, 200} {
		if out := screenOf(m, w, 40, overview); !strings.Contains(out, "C 0s ago: h:1 answers again  × 1s ago: connection refused") {
			t.Errorf("not beside the error:\n%s", out)
		}
	}
}
