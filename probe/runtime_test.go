package probe

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestLongest(t *testing.T) {
	buckets := []float64{math.Inf(-1), 0, 1e-6, 1e-3, math.Inf(1)}
	for _, c := range []struct {
		name        string
		before, now []uint64
		want        int64
	}{
		{"nothing before", nil, []uint64{0, 1, 2, 3}, 0},
		{"nothing new", []uint64{0, 1, 2, 3}, []uint64{0, 1, 2, 3}, 0},
		{"the highest that grew", []uint64{0, 1, 2, 3}, []uint64{0, 2, 3, 3}, 1e6},
		{"without an upper end", []uint64{0, 1, 2, 3}, []uint64{0, 1, 2, 4}, 1e6},
		{"below zero", []uint64{0, 1, 2, 3}, []uint64{1, 1, 2, 3}, 0},
	} {
		if got := longest(&metrics.Float64Histogram{Counts: c.now, Buckets: buckets}, c.before); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A collection that happened is seen once.
func TestPausesOfTheCollector(t *testing.T) {
	d := newDelays()
	runtime.GC()
	if pause, _ := d.read(); pause <= 0 {
		t.Errorf("a collection stopped the world for %d ns", pause)
	}
	if n := testing.AllocsPerRun(20, func() { d.read() }); n > 0 {
		t.Errorf("a reading allocates %v times", n)
	}
}
