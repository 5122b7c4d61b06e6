package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"teapot/probe/event"
)

// ups and downs of four streams for a while: stops of all, of one, and looks.
func (s *stage) trouble(rounds int, each func()) {
	for i := range rounds {
		s.play(150)
		if i%3 == 0 {
			s.play(15, i%4)
		} else {
			s.at += 300 + int64(i%7)*40
		}
		s.signal(0, event.SignalMetrics, 1, one("waiting", 0), event.Sample{Name: "preemptions", Value: 5, Delta: float64(i % 2)})
		each()
	}
}

// What is kept is bounded; what is counted counts all.
func TestSpikesAreBounded(t *testing.T) {
	s := newStage(4)
	most := 0
	s.trouble(620, func() { most = max(most, len(s.a.targets[1].spikes.open)) })
	s.idle(s.at + 40_000)
	tg := s.target()
	if len(tg.Spikes) != newestKept || len(tg.Worst) > 2*worstKept || most > maxOpen || len(s.a.targets[1].spikes.open) != 0 {
		t.Errorf("%d spikes, %d worst, %d open at most", len(tg.Spikes), len(tg.Worst), most)
	}
	for i, x := range tg.Spikes {
		if x.ID != tg.Spikes[0].ID+uint64(i) || x.Why == nil || !x.Why.Settled {
			t.Fatalf("%d: %+v", i, x)
		}
	}
	n, total := uint64(0), int64(0)
	for _, c := range tg.Causes {
		n += c.Count
		total += c.Total
		by := uint64(0)
		for _, b := range c.By {
			by += b
		}
		if by != c.Count || c.Worst.Length == 0 || c.Worst.Why.Cause != c.Cause {
			t.Errorf("%+v", c)
		}
	}
	if n != tg.Spikes[newestKept-1].ID || n < 610 || total < 610*300*ms {
		t.Errorf("%d spikes of %d ns in the table", n, total)
	}
	for _, x := range s.a.targets[1].spikes.recent {
		if x.life != nil && x.life.ended || x.Why.Settled && x.pair[0].looks != nil && x.life == nil {
			t.Error("a settled spike holds on to what it needs no more")
		}
	}
}

// What is found does not depend on who looked at it meanwhile.
func TestSnapshotsChangeNoVerdict(t *testing.T) {
	quiet, watched := newStage(4), newStage(4)
	quiet.trouble(60, func() {})
	watched.trouble(60, func() { watched.a.Snapshot() })
	a, b := quiet.target(), watched.target()
	if diff := cmp.Diff(a.Spikes, b.Spikes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(a.Causes, b.Causes); diff != "" {
		t.Error(diff)
	}
}

// Looks at the server change no figure.
func TestSignalsEnterNoFigure(t *testing.T) {
	with, without := newStage(4), newStage(4)
	with.trouble(40, func() {})
	for i := range 40 {
		without.play(150)
		if i%3 == 0 {
			without.play(15, i%4)
		} else {
			without.at += 300 + int64(i%7)*40
		}
	}
	a, b := with.target(), without.target()
	if a.Server == nil || b.Server != nil {
		t.Fatal("no look was heard")
	}
	if diff := cmp.Diff(a, b, cmp.AllowUnexported(Series{}), cmpopts.IgnoreFields(Target{}, "Spikes", "Causes", "Worst", "Server", "Floor", "Series")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(a.Series.Columns(with.at*ms, second, 600), b.Series.Columns(with.at*ms, second, 600)); diff != "" {
		t.Error(diff)
	}
}

// A level that all gaps break makes no spikes of them; one that the odd gap
// breaks makes some, and no more than can be looked at.
func TestGapsOverTheirLevel(t *testing.T) {
	for _, c := range []struct {
		name        string
		limit       int64 // ms
		every       int   // one in so many gaps takes three times as long
		spikes      int
		minUnlisted uint64
	}{{"no level", 0, 5, 0, 0}, {"all break it", 10, 0, 0, 0}, {"the odd one breaks it", 50, 100, 6, 0}} {
		s := newStage(1)
		if c.limit > 0 {
			s.script = newScript(Config{SLO: []SLO{{Metric: "gap", Limit: c.limit * ms, Goal: .99}}})
			s.begin(1, 0, 100)
		}
		for i := range 600 {
			if c.every > 0 && i%c.every == c.every-1 {
				s.at += 40
			}
			s.play(1)
		}
		tg := s.target()
		if len(tg.Spikes) != c.spikes || tg.Unlisted < c.minUnlisted {
			t.Errorf("%s: %d spikes, %d unlisted, want %d", c.name, len(tg.Spikes), tg.Unlisted, c.spikes)
		}
	}
	var x spikes
	n := 0
	for i := range int64(1000) {
		if !x.full(i * ms) {
			n++
		}
	}
	if n != listedRate || x.unlisted != 1000-listedRate {
		t.Errorf("%d of a thousand in a second are looked at", n)
	}
}

// A spike knows its phase, its place and the words around it.
func TestWhereASpikeStands(t *testing.T) {
	s := newStage(1)
	say := func(c event.Channel, text string) {
		s.at += 20
		s.idle(s.at)
		s.a.Add(&event.Token{At: s.at * ms, Target: 1, Request: 1, Slot: 1, K: 1, Channel: c})
		s.a.Add(&event.Text{At: s.at * ms, Request: 1, Text: text, Channel: c})
	}
	for _, c := range []event.Channel{event.Reasoning, event.ToolCall, event.Answer} {
		for range 100 {
			say(c, "before ")
		}
		s.at += 400
		for range 100 {
			say(c, "after ")
		}
	}
	tg := s.target()
	if len(tg.Spikes) != 3 {
		t.Fatalf("%d spikes", len(tg.Spikes))
	}
	for i, want := range []Phase{PhaseReasoning, PhaseToolCall, PhaseAnswer} {
		x := tg.Spikes[i]
		if x.Phase != want || x.Usual != 20*ms || x.Token != 101+200*i || x.Around.Before != 100+200*i {
			t.Errorf("%v: %+v, %+v", x.Phase, x, x.Around)
		}
		if x.Around.TextBefore != "before before before before before before before before " || x.Around.TextAfter[:12] != "after after " {
			t.Errorf("%q, %q", x.Around.TextBefore, x.Around.TextAfter)
		}
	}
	if PhaseFirst.String() != "first token" || Phase(99).String() != "answer" || Verdict(99).String() != "unexplained" || Cause("").String() != "unexplained" {
		t.Error("names")
	}
}

func BenchmarkSnapshotWithSpikes(b *testing.B) {
	s := newStage(4)
	s.trouble(600, func() {})
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s.play(10)
		b.StartTimer()
		s.a.Snapshot()
	}
}

func BenchmarkSpike(b *testing.B) {
	s := newStage(8)
	s.trouble(20, func() {})
	t := s.a.targets[1]
	l := t.slots[1]
	b.ReportAllocs()
	for b.Loop() {
		t.spikes.recent = t.spikes.recent[:0]
		t.spiked(l, l.last-300*ms, Spike{At: l.last, Length: 300 * ms, Token: l.events}, false)
	}
}
