package stats

import (
	"slices"
	"testing"

	"teapot/probe/event"
)

// replies writes n requests one after the other, with gaps of a length, from an
// instant on, all in ms, and returns when the last one ended.
func (s *script) replies(first uint64, n int, at, gap int64) int64 {
	for r := first; r < first+uint64(n); r++ {
		s.start(r, at)
		at += 10 * gap
		for range 60 {
			s.tok(r, at, 1)
			at += gap
		}
		s.end(r, at, 60, event.OKFull)
	}
	return at
}

func (s *script) mark(at int64, label string) { s.a.Add(&event.Mark{At: at * ms, Label: label}) }

func TestAMarkStartsAComparison(t *testing.T) {
	s := newScript(Config{})
	at := s.replies(1, 10, 0, 15)
	if s.target().Marked != nil {
		t.Fatal("there is a comparison without a mark")
	}
	// A request that is under way at the mark belongs to neither side.
	s.start(50, at)
	s.tok(50, at+900, 1)
	s.mark(at+901, "a flag\x1b[31m\nof the server")
	s.tok(50, at+5000, 1)
	s.end(50, at+5000, 2, event.OKFull)
	m := s.target().Marked
	if m == nil || m.Letter != 'A' || m.Label != "a flag[31m of the server" || m.At != (at+901)*ms {
		t.Fatalf("mark %+v", m)
	}
	if m.After.Gap.N != 0 || m.After.TTFT.N != 0 || m.After.Requests.OK != 0 || m.After.Span != 0 {
		t.Errorf("what was under way counts: %+v", m.After.Gap)
	}
	if m.Before.Gap.N != 590 || m.Before.TTFT.N != 11 || m.Before.Requests.OK != 10 {
		t.Errorf("before: %d gaps, %d first tokens, %d requests", m.Before.Gap.N, m.Before.TTFT.N, m.Before.Requests.OK)
	}
	at = s.replies(60, 10, at+6000, 30)
	m = s.target().Marked
	if m.After.Gap.N != 590 || m.After.TTFT.N != 10 || m.After.TPOT.N != 10 || m.After.E2E.N != 10 || m.After.Requests.OK != 10 || m.After.OutputTokens != 600 {
		t.Errorf("after: %+v", m.After)
	}
	if m.After.Gap.Min != 30*ms || m.After.Gap.Max != 30*ms || m.Before.Gap.N != 590 {
		t.Errorf("gaps from %d to %d, before it %d", m.After.Gap.Min, m.After.Gap.Max, m.Before.Gap.N)
	}
	for i, name := range []string{"p50", "p90"} {
		if c := Compare(m.Before.Gap.Q[i], m.After.Gap.Q[i]); c != ChangeUp {
			t.Errorf("gap %s: %v", name, c)
		}
	}
	// The next mark compares with the time since this one; one that follows at
	// once leaves it at that.
	s.mark(at+1, "next")
	s.mark(at+2, "and next")
	m = s.target().Marked
	if m.Letter != 'C' || m.Before.Gap.N != 590 || m.Before.Gap.Min != 30*ms || m.After.Gap.N != 0 {
		t.Errorf("mark %c: before %d gaps from %d, after %d", m.Letter, m.Before.Gap.N, m.Before.Gap.Min, m.After.Gap.N)
	}
	s.a.ResetSession()
	if s.target().Marked != nil {
		t.Error("the comparison outlives the session")
	}
	finite(t, s.a.Snapshot())
}

// An operator restarts the server under a running probe: it is down, comes back
// cold, is warmed up, and what follows is held against what was before.
// A change that comes in steps is one mark, which holds the time before the
// first step against the time after the last.
func TestABurstOfChangesIsOneMark(t *testing.T) {
	s := newScript(Config{})
	at := s.replies(1, 10, 0, 15)
	s.mark(at+1, "A by hand")
	s.a.Add(&event.Mark{At: (at + 2) * ms, Label: "concurrency 4 → 5", Auto: true})
	seen := s.a.Snapshot().Lane
	half := s.replies(20, 6, at+3, 40)
	s.a.Add(&event.Mark{At: half * ms, Label: "concurrency 4 → 6", Auto: true, Amends: true})
	s.replies(30, 6, half+1, 30)
	m := s.target().Marked
	if m.Letter != 'B' || m.Label != "concurrency 4 → 6" || m.At != half*ms {
		t.Errorf("mark %+v", m)
	}
	if m.Before.Gap.Max != 15*ms || m.After.Gap.Min != 30*ms || m.After.Gap.Max != 30*ms || m.After.TTFT.N != 6 {
		t.Errorf("before up to %d, after from %d to %d", m.Before.Gap.Max, m.After.Gap.Min, m.After.Gap.Max)
	}
	lane := s.a.Snapshot().Lane
	if len(lane) < 2 || lane[1].Letter != 'B' || lane[1].At != half*ms || lane[1].Text != "concurrency 4 → 6" {
		t.Errorf("lane %+v", lane)
	}
	if len(seen) != 2 || seen[1].Text != "concurrency 4 → 5" {
		t.Errorf("a view changed: %+v", seen)
	}
}

func TestARestartIsComparedWithoutItsWarmup(t *testing.T) {
	s := newScript(Config{})
	state := func(at int64, st event.State) {
		s.a.Add(&event.Target{At: at * ms, ID: 1, URL: "http://x", State: st, Detail: "connection refused"})
	}
	at := s.replies(1, 8, 0, 15)
	s.start(20, at)
	s.end(20, at+5, 0, event.ErrRefused)
	state(at+5, event.StateDown)
	if got := s.target(); got.Info.State != event.StateDown || got.Since != (at+5)*ms {
		t.Errorf("state %q since %d", got.Info.State, got.Since)
	}
	at += 7000
	state(at, event.StateLoading)
	state(at+1, event.StateWarmup)
	s.a.Add(&event.Start{At: (at + 2) * ms, Target: 1, Request: 30, Warmup: true})
	s.tok(30, at+4000, 1)
	s.tok(30, at+9000, 1)
	s.end(30, at+9001, 2, event.OKFull)
	state(at+9002, event.StateLive)
	s.replies(31, 8, at+9100, 12)
	m := s.target().Marked
	if m == nil || m.At != at*ms || m.Letter != 0 {
		t.Fatalf("coming back starts no comparison: %+v", m)
	}
	if m.After.Gap.N != 472 || m.After.Gap.Max != 12*ms || m.After.TTFT.N != 8 || m.After.TTFT.Max != 120*ms {
		t.Errorf("the warm-up is among what followed: %d gaps up to %d, %d first tokens", m.After.Gap.N, m.After.Gap.Max, m.After.TTFT.N)
	}
	if c := Compare(m.Before.Gap.Q[P50], m.After.Gap.Q[P50]); c != ChangeDown {
		t.Errorf("a faster server compares as %v", c)
	}
	var kinds []LaneKind
	for _, e := range s.a.Snapshot().Lane {
		kinds = append(kinds, e.Kind)
	}
	if want := []LaneKind{LaneError, LaneDown, LaneRestart}; !slices.Equal(kinds, want) {
		t.Errorf("the lane has %v, want %v", kinds, want)
	}
}
