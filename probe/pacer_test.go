package probe

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestConstantArrivals(t *testing.T) {
	for _, c := range []struct {
		name string
		rate float64
		i    uint64
		prev time.Duration
		want time.Duration
	}{
		{"the first comes at once", 2, 0, 0, 0},
		{"two a second", 2, 1, 0, 500 * time.Millisecond},
		{"no drift after many", 3, 3_000_000, 0, 1_000_000 * time.Second},
		{"slower than one a second", 0.25, 1, 0, 4 * time.Second},
		{"never goes back", 2, 1, time.Second, time.Second},
		{"zero rate", 0, 0, 0, never},
		{"negative rate", -1, 5, 0, never},
		{"not a number", math.NaN(), 5, 0, never},
		{"infinite rate", math.Inf(1), 5, 0, never},
		{"beyond the range", 1e-9, math.MaxUint64, 0, never},
		{"tiny rate overflows", 5e-324, 1, 0, never},
		{"most hits at a high rate", 1e9, 1e18, 0, 1e18},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Constant{Rate: c.rate}).Arrival(c.i, c.prev); got != c.want {
				t.Errorf("arrival %d at rate %v: %v, want %v", c.i, c.rate, got, c.want)
			}
		})
	}
}

func TestPoissonArrivals(t *testing.T) {
	p := Poisson{Rate: 50, Seed: 7}
	var prev time.Duration
	var sum, squares float64
	const n = 20_000
	for i := uint64(0); i < n; i++ {
		at := p.Arrival(i, prev)
		gap := (at - prev).Seconds()
		sum += gap
		squares += gap * gap
		if again := p.Arrival(i, prev); again != at {
			t.Fatalf("arrival %d is not a function of its arguments: %v and %v", i, at, again)
		}
		prev = at
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-0.02) > 0.0008 || math.Abs(deviation-0.02) > 0.0012 {
		t.Errorf("mean %v and deviation %v, want 0.02 each", mean, deviation)
	}
	if a, b := p.Arrival(0, 0), (Poisson{Rate: 50, Seed: 8}).Arrival(0, 0); a == b {
		t.Errorf("two seeds gave the same first arrival %v", a)
	}
	if got := p.Arrival(3, never-1); got != never {
		t.Errorf("overflow: %v", got)
	}
	if got := (Poisson{}).Arrival(0, 0); got != never {
		t.Errorf("rate 0: %v", got)
	}
}

func TestArrivalsNeverGoBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64().Draw(t, "rate")
		i := rapid.Uint64().Draw(t, "i")
		prev := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "prev"))
		for _, p := range []Pacer{Constant{Rate: rate}, Poisson{Rate: rate, Seed: i}} {
			if at := p.Arrival(i, prev); at < prev {
				t.Fatalf("%T went from %d to %d", p, prev, at)
			}
		}
	})
}

func TestReady(t *testing.T) {
	for _, c := range []struct {
		name  string
		ended int64
		pause time.Duration
		want  int64
	}{
		{"no pause", 5, 0, 5},
		{"negative pause", 5, -3, 5},
		{"a pause", 5, 250, 255},
		{"overflow", math.MaxInt64 - 1, 2, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ready(c.ended, c.pause); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestStagger(t *testing.T) {
	for _, c := range []struct {
		slot, n int
		want    time.Duration
	}{
		{0, 1, 0}, {0, 8, 0}, {7, 8, 140 * time.Millisecond}, {63, 64, 63 * (time.Second / 64)}, {-1, 4, 0}, {9, 1, 0},
	} {
		if got := stagger(c.slot, c.n); got != c.want {
			t.Errorf("slot %d of %d starts after %v, want %v", c.slot, c.n, got, c.want)
		}
	}
}

func TestScheduleKeepsLateArrivalsAndSkipsBeyondTheBacklog(t *testing.T) {
	s := newSchedule(Constant{Rate: 1000}, 1_000_000)
	if n := s.advance(999_999); n != 0 || len(s.queue) != 0 {
		t.Fatalf("due before the start: %d skipped, %d queued", n, len(s.queue))
	}
	if n := s.advance(3_000_000); n != 0 {
		t.Fatalf("%d skipped with room", n)
	}
	for i, want := range []int64{1_000_000, 2_000_000, 3_000_000} {
		if at, ok := s.take(); !ok || at != want {
			t.Fatalf("arrival %d: %d %v, want %d", i, at, ok, want)
		}
	}
	if _, ok := s.take(); ok {
		t.Fatal("an arrival that was not due")
	}
	// Nobody takes for one second: 1000 fall due, the oldest wait.
	if n := s.advance(1_003_000_000); n != 1000-maxBacklog {
		t.Errorf("%d skipped, want %d", n, 1000-maxBacklog)
	}
	if at, _ := s.take(); at != 4_000_000 {
		t.Errorf("oldest waiting is %d, want 4000000", at)
	}
	if n := s.clear(); n != maxBacklog-1 || len(s.queue) != 0 {
		t.Errorf("cleared %d, left %d", n, len(s.queue))
	}
	if s.next != 1_004_000_000 {
		t.Errorf("the schedule moved: next is %d", s.next)
	}
}

func TestScheduleThatNeverComes(t *testing.T) {
	for _, p := range []Pacer{Constant{}, Constant{Rate: 1e-12}, Poisson{}} {
		s := newSchedule(p, math.MaxInt64/2)
		s.advance(math.MaxInt64/2 + 10)
		s.clear()
		if n := s.advance(math.MaxInt64); n != 0 || len(s.queue) != 0 {
			t.Errorf("%+v: %d skipped, %d queued", p, n, len(s.queue))
		}
	}
}
