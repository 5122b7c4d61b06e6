package stats

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func TestSeqGrowsWithChangeOnly(t *testing.T) {
	s := newScript(Config{})
	a := s.a.Snapshot()
	if s.a.Snapshot() != a {
		t.Error("a new snapshot of nothing new")
	}
	s.a.Add(&event.Floor{At: -1})
	if s.a.Snapshot() != a {
		t.Error("an event out of all time changed something")
	}
	s.a.Add(&event.Floor{At: 5})
	if b := s.a.Snapshot(); b.Seq <= a.Seq || b.Now != 5 {
		t.Errorf("seq %d after %d", b.Seq, a.Seq)
	}
}

// A window shows a spike within a second and forgets it when it has passed; the
// session keeps it.
func TestWindowForgetsSessionKeeps(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	at := int64(0)
	play := func(until, gap int64) {
		for at < until {
			at += gap
			s.tok(1, at, 1)
		}
	}
	play(3_600_000, 15)
	play(3_603_000, 500)
	f := s.target()
	if q := f.Windows[0].Gap; q.Max != 500*ms || q.Q[P99].Value < 499*ms {
		t.Errorf("10 s: P99 %d", q.Q[P99].Value)
	}
	if q := f.Session.Gap.Q[P99].Value; q > 16*ms {
		t.Errorf("session: P99 %d", q)
	}
	play(3_620_000, 15)
	f = s.target()
	if f.Windows[0].Gap.Max != 15*ms || f.Windows[1].Gap.Max != 500*ms || f.Session.Gap.Max != 500*ms {
		t.Errorf("%d %d %d", f.Windows[0].Gap.Max, f.Windows[1].Gap.Max, f.Session.Gap.Max)
	}
	if r := f.Windows[0].OutputRate; r < 66 || r > 67 {
		t.Errorf("%v tok/s", r)
	}
	if f.Windows[0].Span > 10*second || f.Windows[0].Span < 9*second || f.Session.Span != s.a.now {
		t.Errorf("spans %d %d", f.Windows[0].Span, f.Session.Span)
	}
}

// What is older than every window counts in the session alone, and takes the
// place of nothing newer.
func TestEventsFromLongAgo(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Skip{At: 1900 * second, Target: 1, Count: 1})
	s.a.Add(&event.Skip{At: 1000 * second, Target: 1, Count: 10})
	s.a.Add(&event.Skip{At: 1899 * second, Target: 1, Count: 100})
	tg := s.target()
	if tg.Session.Requests.Skipped != 111 || tg.Windows[3].Requests.Skipped != 101 || tg.Windows[0].Requests.Skipped != 101 {
		t.Errorf("%d and %d", tg.Session.Requests.Skipped, tg.Windows[3].Requests.Skipped)
	}
}

func TestResets(t *testing.T) {
	s := newScript(Config{})
	var req uint64
	at := constant(s, &req, 0, 20_000, 100, 20)
	s.a.ResetWindow()
	tg := s.target()
	if tg.Windows[3].Gap.N != 0 || tg.Windows[3].Requests.OK != 0 || tg.Windows[3].Span != 0 || tg.Session.Gap.N == 0 {
		t.Errorf("window reset: %+v", tg.Windows[3])
	}
	at = constant(s, &req, at, at+1000, 100, 30)
	tg = s.target()
	if tg.Windows[3].Gap.Min != 30*ms || tg.Session.Gap.Min != 20*ms {
		t.Errorf("after it: %d %d", tg.Windows[3].Gap.Min, tg.Session.Gap.Min)
	}
	s.a.ResetSession()
	tg = s.target()
	if tg.Session.Gap.N != 0 || tg.Session.Requests.OK != 0 || len(tg.Recent) == 0 || tg.Session.Span != 0 {
		t.Errorf("session reset: %+v", tg.Session)
	}
	constant(s, &req, at, at+1000, 100, 40)
	if got := s.target().Session; got.Gap.Min != 40*ms || got.OutputTokens == 0 {
		t.Errorf("after it: %+v", got.Gap)
	}
}

func TestUnknownAndRepeatedEvents(t *testing.T) {
	s := newScript(Config{})
	s.tok(7, 100, 1) // never started
	s.a.Add(&event.Text{At: 100 * ms, Request: 7, Text: "x"})
	s.a.Add(&event.Headers{At: 100 * ms, Request: 7})
	s.start(1, 100)
	s.start(1, 150)
	s.tok(1, 200, 1)
	s.end(1, 300, 1, event.OKFull)
	s.end(1, 300, 1, event.OKFull)
	s.tok(1, 400, 1)
	s.start(1, 500)
	s.end(9, 600, 5, event.ErrReset) // its start was dropped
	s.end(9, 600, 5, event.ErrReset)
	tg := s.target()
	f := tg.Session
	if f.Requests.OK != 1 || f.Requests.Failed != 1 || f.TTFT.N != 1 || f.TTFT.Max != 100*ms || tg.InFlight != 0 || f.OutputTokens != 1 {
		t.Errorf("%+v in flight %d ttft %+v", f.Requests, tg.InFlight, f.TTFT)
	}
}

func TestDroppedEventsTaintWhatIsInFlight(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	s.tok(1, 100, 1)
	s.tok(1, 120, 1)
	s.a.Add(&event.Dropped{At: 300 * ms, Events: 10})
	s.tok(1, 400, 1)
	s.tok(1, 420, 1)
	s.end(1, 430, 14, event.OKFull)
	f := s.target().Session
	if f.Gap.N != 2 || f.Gap.Max != 20*ms || f.Merged != 1 || f.TPOT.N != 0 || f.E2E.N != 0 || f.OutputTokens != 14 {
		t.Errorf("gap %+v, %d merged, tpot n %d", f.Gap, f.Merged, f.TPOT.N)
	}
}

func TestLostEndFreesItsSlot(t *testing.T) {
	s := newScript(Config{})
	s.start(4, 0)
	s.start(8, 1000) // the same slot
	if tg := s.target(); tg.InFlight != 1 || len(s.a.lives) != 1 || tg.Streams[0].Request != 8 {
		t.Errorf("in flight %d, lives %d", tg.InFlight, len(s.a.lives))
	}
}

func TestStreamsShowTextAndState(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	for i := range int64(600) {
		s.tok(1, 100+i*20, 2)
		s.a.Add(&event.Text{At: 100 * ms, Request: 1, Text: string(rune('a' + i%26))})
	}
	st := s.target().Streams[0]
	if len(st.Cells) != keptCells || st.Cells[keptCells-1].Text != string(rune('a'+599%26)) || st.Events != 600 || st.Tokens != 1200 {
		t.Errorf("%d cells, %d events, %d tokens", len(st.Cells), st.Events, st.Tokens)
	}
	if st.Median != 20*ms || st.TPOT != 10*ms || st.FirstAt != 100*ms || st.EndAt != 0 {
		t.Errorf("%+v", st)
	}
	s.end(1, 13_000, 1200, event.OKFull)
	if st := s.target().Streams[0]; st.EndAt != 13_000*ms || st.Class != event.OKFull || s.target().InFlight != 0 {
		t.Errorf("%+v", st)
	}
}

// Where events do not say how many tokens they hold, tok/s learns it from the
// requests that have ended, and the end makes good what was missed.
func TestThroughputOfUnknownK(t *testing.T) {
	s := newScript(Config{})
	for req := range uint64(20) {
		at := int64(req) * 1000
		s.start(req+1, at)
		for i := range int64(10) {
			s.tok(req+1, at+100+i*80, 0)
		}
		s.end(req+1, at+900, 28, event.OKFull)
	}
	if f := s.target().Session; f.OutputTokens != 560 || f.TokensPerEvent != 3 {
		t.Errorf("%d tokens, %v an event", f.OutputTokens, f.TokensPerEvent)
	}
	cols := s.target().Series.Columns(19_999*ms, 500*ms, 10)
	for _, c := range cols {
		if c.Tokens < 12 || c.Tokens > 16 {
			t.Errorf("%d tokens in half a second, want about 14", c.Tokens)
		}
	}
}

// Whatever comes, nothing panics and nothing is infinite.
func TestAnyEvents(t *testing.T) {
	classes := []event.Class{"", event.OKFull, event.OKShort, event.Aborted, event.ErrFirst, event.ErrIdle, event.ErrTotal, event.ErrStream, "new"}
	rapid.Check(t, func(t *rapid.T) {
		a := NewAggregator(Config{MaxErrorRate: 0.5, Retention: 20 * time.Second, SLO: []SLO{
			{Metric: "gap", Limit: -1, Goal: 0.9}, {Metric: "itl", Limit: ms, Goal: 2}, {Metric: "e2e", Limit: 0}, {Metric: "err", Limit: -5}}})
		at := func() int64 {
			return rapid.OneOf(rapid.Int64Range(0, 3*second), rapid.Int64Range(-5, maxTime), rapid.Int64()).Draw(t, "at")
		}
		u := func(max int) int { return rapid.IntRange(0, max).Draw(t, "u") }
		anyInt := func() int {
			return int(rapid.OneOf(rapid.Int64Range(-3, 40), rapid.Int64Range(-1<<40, 1<<40)).Draw(t, "int"))
		}
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			req, slot, target := uint64(u(5)), uint32(u(3)), uint32(u(2))
			var ev event.Event
			switch u(11) {
			case 0, 1:
				ev = &event.Start{At: at(), Target: target, Request: req, Slot: slot, Scheduled: at(), Warmup: u(3) == 0, DNS: at(), Wrote: at()}
			case 2, 3, 4:
				ev = &event.Token{At: at(), Target: target, Request: req, Slot: slot, K: uint32(anyInt()), Late: at(), Burst: uint32(u(2)), Merged: u(3) == 0, Channel: event.Channel(u(6))}
			case 5, 6:
				ev = &event.End{At: at(), Target: target, Request: req, Class: classes[u(8)], N: anyInt(), Reasoning: anyInt(), HiddenReasoning: u(1) == 0, Prompt: anyInt(), Limit: at()}
			case 7:
				ev = &event.Headers{At: at(), Request: req, Status: 200}
			case 8:
				ev = &event.Floor{At: at(), Overshoot: at(), Late: []int64{1, 2, at()}[:u(3)], Lag: at()}
			case 9:
				ev = &event.Dropped{At: at(), Events: uint64(u(1))}
			case 10:
				ev = &event.Setting{At: at(), Name: "rate", To: []string{"NaN", "Inf", "-1", "1e300", "2"}[u(4)]}
			case 11:
				ev = &event.Text{At: at(), Request: req, Text: rapid.String().Draw(t, "text")}
			}
			a.Add(ev)
			switch u(20) {
			case 0:
				a.ResetWindow()
			case 1:
				a.ResetSession()
			case 2:
				finite(t, a.Snapshot())
			}
		}
		s := a.Snapshot()
		finite(t, s)
		for _, tg := range s.Targets {
			Read(tg, &tg.Session)
			tg.Series.Columns(s.Now, second, 20)
		}
	})
}
