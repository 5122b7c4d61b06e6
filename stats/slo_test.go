package stats

import (
	"testing"

	"teapot/probe/event"
)

// constant plays replies with one TTFT and one gap, back to back, until ms.
func constant(s *script, req *uint64, from, until, ttft, gap int64) int64 {
	at := from
	for at < until {
		*req++
		s.start(*req, at)
		at += ttft
		s.tok(*req, at, 1)
		for range 9 {
			at += gap
			s.tok(*req, at, 1)
		}
		s.end(*req, at, 10, event.OKFull)
	}
	return at
}

func TestLevels(t *testing.T) {
	slo := []SLO{
		{Expr: "ttft<=500ms:99%", Metric: "ttft", Limit: 500 * ms, Goal: 0.99},
		{Expr: "gap<=50ms:99%", Metric: "gap", Limit: 50 * ms, Goal: 0.99},
		{Expr: "tpot<=30ms:90%", Metric: "tpot", Limit: 30 * ms, Goal: 0.9},
		{Expr: "err<=1%", Metric: "err", Limit: 10_000},
		{Expr: "nonsense", Metric: "nonsense", Limit: 1, Goal: 1},
	}
	s := newScript(Config{SLO: slo})
	var req uint64
	at := constant(s, &req, 0, 20_000, 100, 20)
	for range 3 {
		req++
		s.start(req, at)
		s.end(req, at+1, 0, event.ErrOverload)
	}
	f := s.target().Session
	for i, want := range []SLOResult{
		{N: f.TTFT.N, Met: f.TTFT.N, Attained: 1, OK: true},
		{N: f.Gap.N, Met: f.Gap.N, Attained: 1, OK: true},
		{N: f.TPOT.N, Met: f.TPOT.N, Attained: 1, OK: true},
		{N: req, Met: req - 3, Attained: float64(req-3) / float64(req)},
		{NoData: true},
	} {
		got := f.SLO[i]
		if got.Expr != slo[i].Expr || got.N != want.N || got.Met != want.Met || got.Attained != want.Attained || got.OK != want.OK || got.NoData != want.NoData {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if want := float64(req-3) / float64(req); f.Goodput != want {
		t.Errorf("goodput %v, want %v", f.Goodput, want)
	}
}

func TestMaxErrorRateIsALevel(t *testing.T) {
	for _, c := range []struct {
		name    string
		fail    int
		ok, has bool
		max     float64
	}{
		{"at the limit", 1, true, true, 0.01}, {"over it", 2, false, true, 0.01},
		{"none allowed, none seen", 0, true, true, 0}, {"not asked", 5, false, false, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := NewAggregator(Config{MaxErrorRate: c.max})
			for i := range uint64(100) {
				class := event.OKFull
				if i < uint64(c.fail) {
					class = event.ErrHTTP
				}
				a.Add(&event.Start{At: int64(i) * ms, Request: i + 1})
				a.Add(&event.End{At: int64(i) * ms, Request: i + 1, Class: class})
			}
			got := a.Snapshot().Targets[0].Session.SLO
			if len(got) > 0 != c.has || c.has && (got[0].OK != c.ok || got[0].Metric != "err") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestGoodputOfGapsIsPerRequest(t *testing.T) {
	s := newScript(Config{SLO: []SLO{{Metric: "gap", Limit: 50 * ms, Goal: 0.9}}})
	for req, slow := range []int64{0, 1, 2} { // slow gaps of ten
		id := uint64(req + 1)
		at := int64(req) * 5000
		s.start(id, at)
		at += 100
		s.tok(id, at, 1)
		for i := range int64(10) {
			at += 20
			if i < slow {
				at += 100
			}
			s.tok(id, at, 1)
		}
		s.end(id, at, 11, event.OKFull)
	}
	if f := s.target().Session; f.Goodput != 2.0/3 {
		t.Errorf("goodput %v", f.Goodput)
	}
}

func TestTimeoutMeetsNoLevel(t *testing.T) {
	s := newScript(Config{SLO: []SLO{{Metric: "ttft", Limit: 500 * ms, Goal: 0.5}}})
	s.start(1, 0)
	s.a.Add(&event.End{At: 100 * ms, Target: 1, Request: 1, Slot: 1, Class: event.ErrFirst, Limit: 100 * ms})
	if r := s.target().Session.SLO[0]; r.N != 1 || r.Met != 0 || r.OK {
		t.Errorf("%+v", r)
	}
}

// For counts from the second in which a level turned, in event time alone.
func TestForSurvivesSnapshotsOfAnyPace(t *testing.T) {
	play := func(every int64) (met, missed SLOResult) {
		s := newScript(Config{SLO: []SLO{{Metric: "gap", Limit: 50 * ms, Goal: 0.99}}})
		var req uint64
		next := every
		look := func(until int64) {
			for ; every > 0 && next <= until; next += every {
				s.a.Snapshot()
			}
		}
		at := constant(s, &req, 0, 30_000, 100, 20)
		look(at)
		met = s.target().Windows[0].SLO[0]
		at = constant(s, &req, at, at+20_000, 100, 80)
		look(at)
		return met, s.target().Windows[0].SLO[0]
	}
	met, missed := play(0)
	if !met.OK || met.For < 28*second || met.For > 31*second {
		t.Errorf("%+v", met)
	}
	if missed.OK || missed.For < 18*second || missed.For > 21*second {
		t.Errorf("%+v", missed)
	}
	if a, b := play(100); a != met || b != missed {
		t.Errorf("with snapshots %+v %+v, without %+v %+v", a, b, met, missed)
	}
}
