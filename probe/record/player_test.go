package record

import (
	"errors"
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"teapot/probe/event"
)

// at gives marks at the times ats, in ns, and then the end.
func at(ats ...int64) func() (event.Event, error) {
	return func() (event.Event, error) {
		if len(ats) == 0 {
			return nil, io.EOF
		}
		ev := &event.Mark{At: ats[0]}
		ats = ats[1:]
		return ev, nil
	}
}

func TestPlayerPaces(t *testing.T) {
	const s = int64(time.Second)
	tests := []struct {
		name  string
		speed float64
		sleep func(time.Duration)
		ats   []int64
		want  []time.Duration // when each comes, since the first
	}{
		{"real time", 1, nil, []int64{5 * s, 6 * s, 8 * s}, []time.Duration{0, time.Second, 3 * time.Second}},
		{"twice as fast", 2, nil, []int64{5 * s, 6 * s, 8 * s}, []time.Duration{0, time.Second / 2, 3 * time.Second / 2}},
		{"slow motion", 0.1, nil, []int64{0, s}, []time.Duration{0, 10 * time.Second}},
		{"as fast as possible", 0, nil, []int64{0, s, 100 * s}, []time.Duration{0, 0, 0}},
		{"a negative speed", -1, nil, []int64{0, s}, []time.Duration{0, 0}},
		{"a speed that is none", math.NaN(), nil, []int64{0, s}, []time.Duration{0, 0}},
		{"an infinite speed", math.Inf(1), nil, []int64{0, s}, []time.Duration{0, 0}},
		{"older than the one before", 1, nil, []int64{0, s, s / 2, 2 * s}, []time.Duration{0, time.Second, time.Second, 2 * time.Second}},
		{"older than the first", 1, nil, []int64{5 * s, 0, 6 * s}, []time.Duration{0, 0, time.Second}},
		{
			"sleeps that last too long", 1, func(d time.Duration) { time.Sleep(d + 10*time.Millisecond) },
			[]int64{0, s, 2 * s, 3 * s},
			[]time.Duration{0, 1010 * time.Millisecond, 2010 * time.Millisecond, 3010 * time.Millisecond},
		},
		{"less than a millisecond ahead", 1, nil, []int64{0, 900e3, 1800e3}, []time.Duration{0, 0, 1800 * time.Microsecond}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewPlayer(at(tt.ats...), tt.speed, tt.sleep)
				var start time.Time
				for i, want := range tt.want {
					ev, err := p.Next()
					if err != nil || ev.Time() != tt.ats[i] {
						t.Fatalf("event %d: %v, %v", i, ev, err)
					}
					if i == 0 {
						start = time.Now()
					}
					if got := time.Since(start); got != want {
						t.Errorf("event %d came after %v, want %v", i, got, want)
					}
				}
				if _, err := p.Next(); !errors.Is(err, io.EOF) {
					t.Errorf("end: %v", err)
				}
			})
		})
	}
}

func TestPlayerDoesNotDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := int64(0)
		next := func() (event.Event, error) { n++; return &event.Mark{At: n * 7e6}, nil }
		p := NewPlayer(next, 1, func(d time.Duration) { time.Sleep(d + 3*time.Millisecond) })
		var start time.Time
		for i := range 10000 {
			ev, _ := p.Next()
			if i == 0 {
				start = time.Now()
			}
			if late := time.Since(start) - time.Duration(ev.Time()-7e6); late < -early || late > 3*time.Millisecond {
				t.Fatalf("event %d is %v late", i, late)
			}
		}
	})
}

func TestPlayerSurvivesAnyTime(t *testing.T) {
	var slept []time.Duration
	p := NewPlayer(at(math.MinInt64, math.MaxInt64, 0, math.MinInt64), 0.001, func(d time.Duration) { slept = append(slept, d) })
	for range 4 {
		if _, err := p.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range slept {
		if d <= 0 {
			t.Errorf("slept %v", d)
		}
	}
	if len(slept) != 2 {
		t.Errorf("slept %d times", len(slept))
	}
}

func TestPlayerUsesItsClock(t *testing.T) {
	now := time.Unix(100, 0)
	var slept time.Duration
	p := NewPlayer(at(0, 5e9), 1, func(d time.Duration) { slept += d })
	p.Now = func() time.Time { return now }
	if _, err := p.Next(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(3 * time.Second)
	if _, err := p.Next(); err != nil || slept != 2*time.Second {
		t.Errorf("slept %v, %v", slept, err)
	}
}
