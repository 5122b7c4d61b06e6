package stats

import (
	"testing"

	"teapot/probe/event"
)

func TestStallRule(t *testing.T) {
	// A minute with n gaps of the given length before the gap in question.
	minute := func(n int64, gap int64) *dist {
		d := newDist(fine)
		for i := range n {
			d.record(i*59*second/max(n, 1), gap, 1, gap)
		}
		return d
	}
	together := func(n int64, gap, at int64) *dist {
		d := newDist(fine)
		for range n {
			d.record(at, gap, 1, gap)
		}
		return d
	}
	for _, c := range []struct {
		name   string
		gaps   *dist
		began  int64
		gap    int64
		median int64
		want   bool
	}{
		{"below a frame", minute(200, ms), 60 * second, 41_699_999, 0, false},
		{"a frame, after fast ones", minute(200, ms), 60 * second, 41_700_000, 0, true},
		{"under three times P99", minute(200, 30*ms), 60 * second, 89 * ms, 0, false},
		{"three times P99", minute(200, 30*ms), 60 * second, 91 * ms, 0, true},
		{"the median does not matter then", minute(200, 30*ms), 60 * second, 91 * ms, 90 * ms, true},
		{"few samples, under eight medians", minute(50, 30*ms), 60 * second, 159 * ms, 20 * ms, false},
		{"few samples, eight medians", minute(50, 30*ms), 60 * second, 160 * ms, 20 * ms, true},
		{"few samples, no own gaps: the target's", minute(50, 30*ms), 60 * second, 239 * ms, 0, false},
		{"few samples, no own gaps: eight of the target's", minute(50, 30*ms), 60 * second, 241 * ms, 0, true},
		{"nothing to compare with", newDist(fine), 60 * second, 10 * second, 0, false},
		{"a minute that is too long ago", minute(200, 30*ms), 121 * second, 91 * ms, 20 * ms, false},
		{"the second it began in does not count", together(200, ms, 60*second), 60*second + 999*ms, 50 * ms, 20 * ms, false},
		{"the second before it does", together(200, ms, 59*second), 60 * second, 50 * ms, 20 * ms, true},
		{"the first of the sixty does", together(200, ms, 0), 60 * second, 50 * ms, 20 * ms, true},
		{"the one before that does not", together(200, ms, 0), 61 * second, 50 * ms, 20 * ms, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h history
			if got := h.stalled(c.began, c.gap, c.gaps, func() int64 { return c.median }); got != c.want {
				t.Errorf("stalled %v", got)
			}
		})
	}
}

// The long gap itself is no part of what it is compared with, however long.
func TestStallIsJudgedByWhatWasBefore(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	at := int64(100)
	for range 1000 {
		at += 10
		s.tok(1, at, 1)
	}
	for range 20 { // twenty freezes: by themselves they would be the P99
		at += 400
		s.tok(1, at, 1)
	}
	f := s.target().Session
	if f.Stalls.Count < 10 || f.Stalls.Longest != 400*ms {
		t.Errorf("%+v", f.Stalls)
	}
	if c := s.target().Streams[0].Cells; !c[len(c)-20].Stall || c[len(c)-21].Stall {
		t.Error("the cells do not show it")
	}
}

func TestStallsAtOnceAreOneSpike(t *testing.T) {
	s := newScript(Config{})
	for slot := range uint64(4) {
		s.a.Add(&event.Start{At: 0, Target: 1, Request: slot + 1, Slot: uint32(slot)})
	}
	each := func(at int64) {
		for slot := range int64(4) {
			s.a.Add(&event.Token{At: at*ms + slot*10_000, Target: 1, Request: uint64(slot + 1), Slot: uint32(slot), K: 1})
		}
	}
	for i := range int64(100) {
		each(100 + 20*i)
	}
	each(2080 + 700) // all of them
	for i := range int64(20) {
		each(2800 + 20*i)
	}
	s.a.Add(&event.Token{At: 3680 * ms, Target: 1, Request: 2, Slot: 1, K: 1}) // one alone
	tg := s.target()
	if len(tg.Worst) != 2 {
		t.Fatalf("%+v", tg.Worst)
	}
	if w := tg.Worst[0]; w.Peers != 3 || w.Of != 4 || !w.Shared() || w.Length < 690*ms {
		t.Errorf("together: %+v", w)
	}
	if w := tg.Worst[1]; w.Peers != 0 || w.Shared() || w.Request != 2 {
		t.Errorf("alone: %+v", w)
	}
	if n := tg.Session.Stalls.Count; n != 5 {
		t.Errorf("%d stalls", n)
	}
}

func TestSpikeUnderAHostStallIsOurs(t *testing.T) {
	for _, c := range []struct {
		name string
		over int64
		ours bool
	}{{"as long", 190 * ms, true}, {"far shorter", 15 * ms, false}} {
		s := newScript(Config{})
		s.start(1, 0)
		s.a.Add(&event.Floor{At: 0})
		for i := range int64(50) {
			s.tok(1, 100+10*i, 1)
		}
		s.a.Add(&event.Floor{At: 600 * ms})
		s.tok(1, 790, 1)
		s.a.Add(&event.Floor{At: 800 * ms, Overshoot: c.over})
		w := s.target().Worst
		if len(w) != 1 || w[0].Merged != c.ours {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func TestOrdinaryFirstTokensAreNoSpikes(t *testing.T) {
	s := newScript(Config{})
	for i := range int64(50) {
		s.start(uint64(i+1), i*2000)
		s.tok(uint64(i+1), i*2000+100+i, 1)
		s.end(uint64(i+1), i*2000+200, 1, event.OKFull)
	}
	if w := s.target().Worst; len(w) != 0 {
		t.Errorf("%+v", w)
	}
}

func TestSlowFirstTokensAreKeptBounded(t *testing.T) {
	s := newScript(Config{})
	for i := range int64(200) {
		wait := int64(100)
		if i%4 == 3 {
			wait = 400 + i
		}
		s.start(uint64(i+1), i*2000)
		s.tok(uint64(i+1), i*2000+wait, 1)
		s.end(uint64(i+1), i*2000+wait, 1, event.OKFull)
	}
	w := s.target().Worst
	if len(w) != worstKept || !w[0].First || w[0].Length != 599*ms || w[0].Token != 1 {
		t.Fatalf("%d kept, worst %+v", len(w), w[0])
	}
	for i := 1; i < len(w); i++ {
		if w[i].Length > w[i-1].Length {
			t.Errorf("out of order at %d", i)
		}
	}
}
