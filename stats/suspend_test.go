package stats

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
)

// run is a stream of events in which the clocks can be played with.
type run struct {
	*script
	at     int64 // ns
	wall   int64 // added to the wall clock
	beat   int64
	asleep int64
}

func newRun(c Config) *run {
	r := &run{script: newScript(c)}
	r.a.Add(&event.Start{At: 0, Target: 1, Request: 1, Slot: 1})
	return r
}

// play runs until an instant: a token every 20 ms, a heartbeat every 100 ms.
func (r *run) play(until int64) {
	for r.at += 20 * ms; r.at < until; r.at += 20 * ms {
		if r.at-r.beat >= 100*ms {
			r.beat = r.at
			r.a.Add(&event.Floor{At: r.at, Wall: 1_700_000_000e9 + r.at + r.wall, Overshoot: 90e3, Asleep: r.asleep})
			r.asleep = 0
		}
		r.a.Add(&event.Token{At: r.at, Late: 15e3, Target: 1, Request: 1, Slot: 1, K: 1})
	}
}

func (r *run) lane(k LaneKind) (out []string) {
	for _, e := range r.a.Snapshot().Lane {
		if e.Kind == k {
			out = append(out, e.Text)
		}
	}
	return out
}

// A stopped probe, a machine asleep: a hole in time, an event on the lane, and
// in no figure a latency.
func TestSuspendIsAGapInTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		sleep func(r *run)
		text  string
	}{
		{"stopped; the token is read before the next heartbeat", func(r *run) {
			r.at += 12 * second
			r.a.Add(&event.Token{At: r.at, Late: 3 * ms, Target: 1, Request: 1, Slot: 1, K: 1})
			r.a.Add(&event.Floor{At: r.at + ms, Overshoot: 12 * second, Wall: 1_700_000_000e9 + r.at + ms})
			r.beat = r.at + ms
		}, "suspended 12 s"},
		{"stopped; the token came while it was, and is read after", func(r *run) {
			r.a.Add(&event.Token{At: r.at + 6*second, Late: 6 * second, Target: 1, Request: 1, Slot: 1, K: 1})
			r.at += 12 * second
			r.a.Add(&event.Floor{At: r.at, Overshoot: 12 * second, Wall: 1_700_000_000e9 + r.at})
			r.beat = r.at
		}, "suspended 12 s"},
		{"stopped; the heartbeat is first", func(r *run) {
			r.at += 12 * second
			r.a.Add(&event.Floor{At: r.at, Overshoot: 12 * second, Wall: 1_700_000_000e9 + r.at})
			r.beat = r.at
		}, "suspended 12 s"},
		{"asleep, and the clock stood still", func(r *run) {
			r.at += 400 * ms
			r.wall += 3600 * second
			r.a.Add(&event.Floor{At: r.at, Asleep: 3600 * second, Wall: 1_700_000_000e9 + r.at + r.wall})
			r.beat = r.at
		}, "suspended 1 h 0 min"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(Config{SLO: []SLO{{Metric: "gap", Limit: 50 * ms, Goal: 1}}})
			r.play(10 * second)
			c.sleep(r)
			r.play(r.at + 10*second)
			r.a.Add(&event.End{At: r.at, Target: 1, Request: 1, Slot: 1, N: 1000, Class: event.OKFull, Count: event.CountUsage})
			tg := r.target()
			f := tg.Session
			if f.Gap.Max != 20*ms || f.Stalls.Count != 0 || len(tg.Worst) != 0 || !f.SLO[0].OK || f.Smooth.Stalled10 != 0 {
				t.Errorf("gap max %v, %+v, %+v", time.Duration(f.Gap.Max), f.Stalls, tg.Worst)
			}
			if f.E2E.N != 0 || f.TPOT.N != 0 || f.Requests.OK != 1 || f.Goodput != 1 {
				t.Errorf("e2e %d, tpot %d, %+v, goodput %v", f.E2E.N, f.TPOT.N, f.Requests, f.Goodput)
			}
			if f.Paused == 0 || f.Merged != f.Paused || f.MergedSum < 400*ms {
				t.Errorf("%d paused, %d merged of %d", f.Paused, f.Merged, f.MergedSum)
			}
			if got := r.lane(LaneSuspended); len(got) != 1 || got[0] != c.text {
				t.Errorf("lane %q", got)
			}
			if h := r.lane(LaneHostStall); len(h) != 0 {
				t.Errorf("also a host stall: %q", h)
			}
			if fl := r.a.Snapshot().Floor; fl.Suspensions != 1 || fl.Word != "ok" || fl.Suspended < 12*second || fl.ClockSteps != 0 {
				t.Errorf("%+v", fl)
			}
			for _, col := range tg.Series.Columns(r.at, second, 60) {
				if max(col.Gap.Max, col.Ours.Max, col.HostStall) > 100*ms {
					t.Errorf("column %+v", col)
				}
			}
		})
	}
}

// A request that times out because nobody was there to read it says nothing of
// the server, and neither does a first token over a pause.
func TestNoCensoredSampleOverAPause(t *testing.T) {
	r := newRun(Config{})
	r.play(5 * second)
	r.a.Add(&event.Start{At: r.at, Target: 1, Request: 2, Slot: 2})
	r.a.Add(&event.Start{At: r.at, Target: 1, Request: 3, Slot: 3})
	r.at += 60 * second
	r.a.Add(&event.End{At: r.at, Target: 1, Request: 2, Slot: 2, Class: event.ErrFirst, Limit: 30 * second})
	r.a.Add(&event.Floor{At: r.at + ms, Overshoot: 60 * second})
	r.beat = r.at + ms
	r.a.Add(&event.Token{At: r.at + 2*ms, Target: 1, Request: 3, Slot: 3, K: 1})
	r.a.Add(&event.End{At: r.at + 3*ms, Target: 1, Request: 1, Slot: 1, Class: event.ErrIdle, Limit: 30 * second})
	f := r.target().Session
	if f.TTFT.N != 1 || f.TTFT.Censored != 0 || f.Gap.Censored != 0 || f.MergedTTFT != 1 || f.Requests.Failed != 2 {
		t.Errorf("ttft %+v, gap %+v, %+v", f.TTFT, f.Gap, f.Requests)
	}
}

// Heartbeats that were dropped, or were never regular, are no pause.
func TestMissingHeartbeatsAreNoPause(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(r *run)
	}{
		{"dropped", func(r *run) {
			r.play(5 * second)
			r.a.Add(&event.Dropped{At: r.at + 10*second, Texts: 1, Events: 100})
			r.at += 10 * second
		}},
		{"never regular", func(r *run) { r.at = 10 * second }},
		{"only slow", func(r *run) { r.play(5 * second); r.at += 1700 * ms }},
	} {
		r := newRun(Config{})
		c.play(r)
		r.play(r.at + second)
		if f := r.target().Session; f.Paused != 0 || len(r.lane(LaneSuspended)) != 0 {
			t.Errorf("%s: %d paused, %q", c.name, f.Paused, r.lane(LaneSuspended))
		}
	}
}

// The wall clock may be set at any time, and whatever it says at the start: no
// figure, window or chart moves; only the lane tells.
func TestClockStepsChangeNothing(t *testing.T) {
	play := func(first int64, steps ...int64) (*run, Snapshot) {
		r := newRun(Config{SLO: []SLO{{Metric: "gap", Limit: 15 * ms, Goal: 0.5}}})
		r.a.Add(&event.Session{Wall: first, Source: event.SourceKernel})
		for _, by := range append(steps, 0) {
			r.play(r.at + 20*second)
			r.wall += by
		}
		s := *r.a.Snapshot()
		return r, s
	}
	_, want := play(1_700_000_000e9, 0, 0)
	for _, c := range []struct {
		name  string
		first int64
		steps []int64
		lane  string
	}{
		{"an hour back and forward", 1_700_000_000e9, []int64{-3600 * second, 3600 * second}, "wall clock set back 1 h 0 min, wall clock set forward 1 h 0 min"},
		{"slewed", 1_700_000_000e9, []int64{3 * ms, -40 * ms}, ""},
		{"another century", -1e18, []int64{0, 0}, ""},
	} {
		r, got := play(c.first, c.steps...)
		if l := strings.Join(r.lane(LaneClock), ", "); l != c.lane {
			t.Errorf("%s: lane %q", c.name, l)
		}
		x, y := *got.Targets[0], *want.Targets[0]
		cx, cy := x.Series.Columns(got.Now, second, 90), y.Series.Columns(want.Now, second, 90)
		x.Series, y.Series, x.Floor, y.Floor = nil, nil, nil, nil
		if !reflect.DeepEqual(x, y) || !reflect.DeepEqual(cx, cy) || got.Now != want.Now {
			t.Errorf("%s: the figures moved", c.name)
		}
		fx, fy := got.Floor, want.Floor
		fx.ClockSteps = fy.ClockSteps
		if fx != fy || fx.Suspensions != 0 {
			t.Errorf("%s: the floor moved: %+v, %+v", c.name, fx, fy)
		}
	}
}
