package stamp

import (
	"testing"
	"time"
)

func TestClockNeverGoesBack(t *testing.T) {
	k := NewClock()
	prev := k.Now()
	if prev < 0 {
		t.Fatalf("starts at %d", prev)
	}
	for range 10_000 {
		now := k.Now()
		if now < prev {
			t.Fatalf("%d after %d", now, prev)
		}
		mono, _ := k.Pair()
		if mono < now {
			t.Fatalf("pair at %d after %d", mono, now)
		}
		prev = mono
	}
}

func TestClockPairIsOneInstant(t *testing.T) {
	before := time.Now().UnixNano()
	k := NewClock()
	mono, wall := k.Pair()
	after := time.Now().UnixNano()
	if k.Wall() < before || k.Wall() > after || wall < before || wall > after {
		t.Errorf("wall %d, pair %d; between %d and %d was expected", k.Wall(), wall, before, after)
	}
	// Both clocks ran for the same time between the start and the pair.
	if d := (wall - k.Wall()) - mono; d > int64(time.Millisecond) || d < -int64(time.Millisecond) {
		t.Errorf("halves of a pair are %d ns apart", d)
	}
}

func BenchmarkPair(b *testing.B) {
	k := NewClock()
	for b.Loop() {
		k.Pair()
	}
}
