package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// playAll plays gaps of one token each after a first token at 0.
func playAll(d int64, gaps ...int64) Smooth {
	y := &tally{}
	to := [2]*tally{y, {}}
	p := playout{}
	p.first(0, 0, 0, d, 1, false, to)
	at := int64(0)
	for _, g := range gaps {
		at += g * ms
		p.next(at, g*ms, d, 1, false, to)
	}
	return y.smooth()
}

func repeat(n int, gap int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = gap
	}
	return out
}

func TestFluidity(t *testing.T) {
	for _, c := range []struct {
		name string
		gaps []int64
		want float64
		n    uint64
	}{
		{"a freeze after twenty fast tokens misses nothing", append(repeat(20, 2), 460), 1, 21},
		{"a freeze with no slack misses four deadlines", []int64{100, 460}, 1.0 / 5, 5},
		{"one deadline just missed", []int64{101}, 0, 1},
		{"on time", repeat(10, 100), 1, 10},
		{"twice too slow", repeat(10, 200), 0, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := playAll(100*ms, c.gaps...)
			if math.Abs(s.Fluidity-c.want) > 1e-9 || s.FluidityN != c.n {
				t.Errorf("%v of %d, want %v of %d", s.Fluidity, s.FluidityN, c.want, c.n)
			}
		})
	}
}

func TestFirstTokenHasItsOwnDeadline(t *testing.T) {
	y := &tally{}
	to := [2]*tally{y, {}}
	p := playout{}
	p.first(0, 1200*ms, 500*ms, 100*ms, 3, false, to)
	if y.missed != 2 || y.met != 2 { // ⌊1200/500⌋ missed; two tokens came with it
		t.Errorf("%d missed, %d met", y.missed, y.met)
	}
}

func TestReaders(t *testing.T) {
	for _, c := range []struct {
		name        string
		gaps        []int64
		five, tenth float64
	}{
		{"faster than both", repeat(50, 10), 0, 0},
		{"between them", repeat(100, 150), 0, 100 * 50.0 / (100*150 + 100)},
		{"twice too slow for five a second", repeat(100, 400), 100 * 200.0 / (100*400 + 200), 100 * 300.0 / (100*400 + 100)},
		{"a stop that the buffer covers", append(repeat(50, 10), 2000), 0, 0},
		{"a stop beyond the buffer", []int64{2000}, 1800.0 / 2200, 1900.0 / 2100},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := playAll(100*ms, c.gaps...)
			if math.Abs(s.Stalled5-c.five) > 1e-9 || math.Abs(s.Stalled10-c.tenth) > 1e-9 {
				t.Errorf("%v and %v, want %v and %v", s.Stalled5, s.Stalled10, c.five, c.tenth)
			}
		})
	}
}

// A gap of this client's own making starves nobody, though time goes on.
func TestOwnGapsStarveNobody(t *testing.T) {
	y := &tally{}
	to := [2]*tally{y, {}}
	p := playout{}
	p.first(0, 0, 0, 100*ms, 1, false, to)
	p.next(1000*ms, 1000*ms, 100*ms, 1, true, to)
	p.next(1010*ms, 10*ms, 100*ms, 1, false, to)
	if s := y.smooth(); s.Stalled5 != 0 || s.Stalled10 != 0 || s.Fluidity != 1 || s.Jitter != 0 || s.CV != 0 {
		t.Errorf("%+v", s)
	}
}

func TestJitterAndVariation(t *testing.T) {
	if s := playAll(100*ms, repeat(20, 30)...); s.Jitter != 0 || s.CV != 0 {
		t.Errorf("a steady stream: jitter %v, cv %v", s.Jitter, s.CV)
	}
	s := playAll(100*ms, 10, 26) // one change of 16 ms: J = 1 ms
	if math.Abs(s.Jitter-float64(ms)) > 1 {
		t.Errorf("jitter %v", s.Jitter)
	}
	if want := 8.0 / 18; math.Abs(s.CV-want) > 1e-9 {
		t.Errorf("cv %v, want %v", s.CV, want)
	}
}

// The play-out against playing each token by itself: play = max(arrival, the
// one before it + pace).
func TestPlayoutTokenByToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := &tally{}
		to := [2]*tally{y, {}}
		p := playout{}
		var arrivals []int64
		at := int64(0)
		for i := range rapid.IntRange(1, 30).Draw(t, "events") {
			k := int64(rapid.IntRange(1, 4).Draw(t, "k"))
			gap := int64(rapid.IntRange(0, 900).Draw(t, "gap")) * ms
			if i == 0 {
				p.first(at, 0, 0, 100*ms, k, false, to)
			} else {
				at += gap
				p.next(at, gap, 100*ms, k, false, to)
			}
			for range k {
				arrivals = append(arrivals, at)
			}
		}
		for r, pace := range readers {
			play, starved := arrivals[0], int64(0)
			for _, a := range arrivals[1:] {
				starved += max(a-(play+pace), 0)
				play = max(a, play+pace)
			}
			if whole := play + pace - arrivals[0]; y.starved[r] != starved || y.played[r] != whole {
				t.Fatalf("pace %d: %d of %d, want %d of %d", pace, y.starved[r], y.played[r], starved, whole)
			}
		}
	})
}

// A stream that hangs leaves its reader with nothing to read until it is given up.
func TestAHungStreamStarvesItsReader(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 0)
	for i := range int64(5) {
		s.tok(1, 100+10*i, 1)
	}
	s.a.Add(&event.End{At: 10_140 * ms, Target: 1, Request: 1, Slot: 1, Class: event.ErrIdle, Limit: 10_000 * ms})
	f := s.target().Session.Smooth
	// Five tokens last a reader at 10 tok/s until 600 ms; then 9.54 s are empty.
	if want := 9540.0 / (9540 + 500); math.Abs(f.Stalled10-want) > 0.001 {
		t.Errorf("stalled %.4f, want %.4f", f.Stalled10, want)
	}
	if f.Fluidity > 0.1 {
		t.Errorf("fluidity %.3f though a hundred deadlines passed", f.Fluidity)
	}
}

// Connecting, loading and warming up are no time of measuring.
func TestRatesCountFromTheFirstMeasuredRequest(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Start{At: 1000 * ms, Target: 1, Request: 1, Slot: 1, Warmup: true})
	s.tok(1, 2000, 1)
	s.a.Add(&event.End{At: 8000 * ms, Target: 1, Request: 1, Slot: 1, Warmup: true, Class: event.OKFull, N: 1})
	if sp := s.target().Session.Span; sp != 0 {
		t.Errorf("span %d before anything was measured", sp)
	}
	s.a.Add(&event.Start{At: 8000 * ms, Target: 1, Request: 2, Slot: 1})
	for i := range int64(20) {
		s.tok(2, 8100+100*i, 1)
	}
	s.a.Add(&event.End{At: 10_000 * ms, Target: 1, Request: 2, Slot: 1, Class: event.OKFull, N: 20, Count: event.CountUsage})
	if f := s.target().Session; f.Span != 2000*ms || math.Abs(f.OutputRate-10) > 0.01 || math.Abs(f.RequestRate-0.5) > 0.01 {
		t.Errorf("span %d, %.2f tok/s, %.2f requests/s", f.Span, f.OutputRate, f.RequestRate)
	}
}
