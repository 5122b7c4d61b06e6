package stats

import (
	"testing"

	"teapot/probe/event"
)

// step is one token event: ms since sent, tokens, channel, position in its read.
type step struct {
	at    int64
	k     uint32
	ch    event.Channel
	burst uint32
}

// reply plays one request, sent at 0, and returns the target and the request.
func reply(t *testing.T, steps []step, end event.End) (*Target, Request) {
	t.Helper()
	s := newScript(Config{})
	s.start(1, 0)
	for _, e := range steps {
		s.a.Add(&event.Token{At: e.at * ms, Target: 1, Request: 1, Slot: 1, K: e.k, Channel: e.ch, Burst: e.burst})
	}
	end.At, end.Target, end.Request, end.Slot = end.At*ms, 1, 1, 1
	if end.Count == "" {
		end.Count = event.CountUsage
	}
	s.a.Add(&end)
	snap := s.a.Snapshot()
	finite(t, snap)
	tg := snap.Targets[0]
	if len(tg.Recent) != 1 {
		t.Fatalf("%d finished requests", len(tg.Recent))
	}
	return tg, tg.Recent[0]
}

// near compares as exactly as the histogram keeps a value: 0.1 %.
func near(got, want int64) bool {
	d := got - want
	return d <= want/1000+1 && d >= -want/1000-1
}

func wantFigure(t *testing.T, name string, f Figure, n uint64, mean float64, p50, p99, top int64) {
	t.Helper()
	if f.N != n {
		t.Errorf("%s: n %d, want %d", name, f.N, n)
	}
	if n == 0 {
		return
	}
	if d := f.Mean/1e6 - mean; d > 0.05 || d < -0.05 {
		t.Errorf("%s: mean %.2f ms, want %.2f", name, f.Mean/1e6, mean)
	}
	for _, c := range []struct {
		what      string
		got, want int64
	}{{"p50", f.Q[P50].Value, p50 * ms}, {"p99", f.Q[P99].Value, p99 * ms}, {"max", f.Max, top * ms}} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %s %d, want %d", name, c.what, c.got, c.want)
		}
	}
}

// One stream that other tools give twelve different answers for.
func TestOneStreamOurAnswers(t *testing.T) {
	tg, r := reply(t, []step{
		{400, 1, event.Reasoning, 0}, {420, 3, event.Reasoning, 0}, {440, 2, event.Answer, 0},
		{900, 4, event.Answer, 0}, {920, 2, event.Answer, 0},
	}, event.End{At: 960, N: 12, Class: event.OKShort})
	f := tg.Session
	wantFigure(t, "ttft", f.TTFT, 1, 400, 400, 400, 400)
	wantFigure(t, "ttfo", f.TTFO, 1, 440, 440, 440, 440)
	wantFigure(t, "gap", f.Gap, 4, 130, 20, 460, 460)
	wantFigure(t, "itl", f.ITL, 11, 47.3, 10, 115, 115)
	wantFigure(t, "e2e", f.E2E, 1, 920, 920, 920, 920)
	if f.TPOT.N != 1 || f.TPOT.Max/1e5 != 472 { // 520 ms over the 11 tokens after the first event
		t.Errorf("TPOT %d ns", f.TPOT.Max)
	}
	if f.ITLWhy != "" {
		t.Errorf("ITL withheld: %s", f.ITLWhy)
	}
	if f.Gap.Q[P99].Mark != MarkNone || f.Gap.Q[P50].Mark != MarkApprox {
		t.Errorf("marks %d %d", f.Gap.Q[P99].Mark, f.Gap.Q[P50].Mark)
	}
	if f.Stalls.Count != 1 || f.Stalls.Longest != 460*ms || r.Stalls != 1 {
		t.Errorf("stalls %+v", f.Stalls)
	}
	if f.OutputTokens != 12 || f.Requests.OK != 1 || f.Requests.Short != 1 {
		t.Errorf("%d tokens, %+v", f.OutputTokens, f.Requests)
	}
	if len(tg.Worst) != 1 || tg.Worst[0].Token != 4 || tg.Worst[0].Length != 460*ms {
		t.Errorf("worst %+v", tg.Worst)
	}
}

func TestReplies(t *testing.T) {
	ok := event.OKFull
	many := func(n int, at, gap int64, burst bool) (out []step) {
		for i := range int64(n) {
			e := step{at: at + i*gap, k: 1}
			if burst && i > 0 {
				e.burst = uint32(i)
			}
			out = append(out, e)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		steps []step
		end   event.End
		check func(t *testing.T, tg *Target, r Request)
	}{
		{"role and finish do not count", []step{{450, 0, 0, 0}, {650, 0, 0, 0}},
			event.End{At: 910, N: 2, Class: event.OKShort},
			func(t *testing.T, tg *Target, r Request) {
				if r.TTFT != 450*ms || r.TPOT != 200*ms || r.E2E != 650*ms || r.N != 2 || tg.Session.Gap.N != 1 || tg.Session.Gap.Max != 200*ms {
					t.Errorf("%+v", r)
				}
				if tg.Session.ITL.N != 0 || tg.Session.ITLWhy == "" {
					t.Errorf("ITL is shown where k is unknown")
				}
			}},
		{"reasoning, then capped", []step{{400, 1, event.Reasoning, 0}, {450, 1, event.Reasoning, 0}},
			event.End{At: 500, N: 2, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				if r.TTFT != 400*ms || tg.Session.TTFO.N != 0 || tg.Session.Requests.OK != 1 {
					t.Errorf("%+v ttfo n %d", r, tg.Session.TTFO.N)
				}
			}},
		{"three events in one read", []step{{300, 1, 0, 0}, {300, 1, 0, 1}, {300, 1, 0, 2}},
			event.End{At: 310, N: 3, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if f.Gap.N != 2 || f.Gap.Max != 0 || r.TPOT != 0 || f.TPOT.N != 0 || f.SpeedMedian != 0 {
					t.Errorf("%+v gap %+v", r, f.Gap)
				}
				if f.Bursts != 2 || f.BurstShare != 1 {
					t.Errorf("%d bursts, %v of the events", f.Bursts, f.BurstShare)
				}
				if c := tg.Streams[0].Cells; !c[1].Burst || !c[2].Burst || c[0].Burst {
					t.Errorf("burst marks %+v", c)
				}
			}},
		{"several tokens in an event", []step{{100, 5, 0, 0}, {120, 1, 0, 0}, {140, 3, 0, 0}, {160, 4, 0, 0}, {180, 4, 0, 0}},
			event.End{At: 190, N: 17, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if r.TPOT != (80*ms+6)/12 || f.TokensPerEvent != 3 {
					t.Errorf("TPOT %d, %v tokens an event", r.TPOT, f.TokensPerEvent)
				}
				if f.ITL.N != 12 || f.ITL.Max != 20*ms || f.ITL.Min != 5*ms {
					t.Errorf("ITL %+v", f.ITL)
				}
			}},
		{"nothing at all", nil, event.End{At: 100, Class: event.ErrEmpty},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if f.TTFT.N+f.Gap.N+f.TPOT.N+f.E2E.N != 0 || f.Requests.Failed != 1 || f.ErrorRate != 1 {
					t.Errorf("%+v", f.Requests)
				}
			}},
		{"one token", []step{{100, 1, 0, 0}}, event.End{At: 110, N: 1, Class: event.OKShort},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if f.TTFT.N != 1 || f.TPOT.N != 0 || f.E2E.Max != 100*ms || f.TTFT.Q[P50].Mark != MarkNone || f.TTFT.Q[P50].Value != 100*ms {
					t.Errorf("%+v", f.TTFT)
				}
			}},
		{"fifty tokens in one read", many(50, 200, 0, true), event.End{At: 210, N: 50, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if f.Gap.N != 0 || f.ITL.N != 0 || f.TPOT.N != 0 || !r.Buffered || f.Buffered != 1 || tg.Buffered != 1 {
					t.Errorf("%+v", r)
				}
				if f.TTFT.N != 1 || f.E2E.N != 1 || f.OutputTokens != 50 {
					t.Errorf("ttft n %d, e2e n %d, %d tokens", f.TTFT.N, f.E2E.N, f.OutputTokens)
				}
			}},
		{"fifty tokens in one event", []step{{200, 50, 0, 0}}, event.End{At: 210, N: 50, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				if tg.Session.TPOT.N != 0 || !r.Buffered {
					t.Errorf("%+v", r)
				}
			}},
		{"a quick honest stream", many(40, 20, 1, false), event.End{At: 62, N: 40, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				if r.Buffered || tg.Session.Gap.N != 39 || r.TPOT != ms {
					t.Errorf("%+v", r)
				}
			}},
		{"reasoning that is not on the wire", []step{{100, 0, 0, 0}, {300, 0, 0, 0}},
			event.End{At: 310, N: 102, Reasoning: 100, HiddenReasoning: true, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				if r.N != 2 || r.TPOT != 200*ms {
					t.Errorf("%+v", r)
				}
			}},
		{"an error after three tokens", []step{{100, 1, 0, 0}, {120, 1, 0, 0}, {140, 1, 0, 0}},
			event.End{At: 150, Class: event.ErrStream, Status: 200, Message: "boom\x1b[31m\n!"},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if f.Gap.N != 2 || f.TTFT.N != 1 || f.TPOT.N != 0 || f.E2E.N != 0 || f.Goodput != 0 || f.Requests.Failed != 1 {
					t.Errorf("%+v", f)
				}
				if tg.LastError != "boom[31m !" {
					t.Errorf("last error %q", tg.LastError)
				}
			}},
		{"counted from events", []step{{100, 0, 0, 0}, {120, 0, 0, 0}}, event.End{At: 130, N: 2, Count: event.CountEvents, Class: event.OKUnknownReason},
			func(t *testing.T, tg *Target, r Request) {
				if !tg.Session.Approx || tg.Session.TokensPerEvent != 0 {
					t.Errorf("%+v", tg.Session)
				}
			}},
		{"times that run backwards", []step{{100, 1, 0, 0}, {150, 1, 0, 0}, {90, 1, 0, 0}}, event.End{At: 120, N: 3, Class: ok},
			func(t *testing.T, tg *Target, r Request) {
				if r.E2E != 150*ms || r.TTFT+r.Gaps != r.E2E || tg.Session.Gap.Min != 0 {
					t.Errorf("%+v", r)
				}
			}},
		{"our end, not theirs", []step{{100, 1, 0, 0}, {120, 1, 0, 0}}, event.End{At: 130, Class: event.Aborted},
			func(t *testing.T, tg *Target, r Request) {
				f := tg.Session
				if f.Requests.Aborted != 1 || f.Requests.OK+f.Requests.Failed != 0 || f.Gap.N != 1 || f.E2E.N != 0 || f.ErrorRate != 0 {
					t.Errorf("%+v", f.Requests)
				}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg, r := reply(t, c.steps, c.end)
			c.check(t, tg, r)
		})
	}
}
