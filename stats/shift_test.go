package stats

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"teapot/probe/event"
)

// found plays the law until it is known well and then, by a factor, until a
// shift is found, from many seeds. It returns the sorted delays in gaps.
func found(t *testing.T, l law, seeds uint64, known int, factor float64) (delays []int, ratios []float64) {
	t.Helper()
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 77))
		var d detector
		early := false
		for range known {
			_, ok := d.add(0, l.at(r.Float64()))
			early = early || ok
		}
		if early {
			continue // its level is a new one
		}
		for i := range 20_000 {
			if s, ok := d.add(int64(i), int64(factor*float64(l.at(r.Float64())))); ok {
				delays, ratios = append(delays, i+1), append(ratios, s.Ratio)
				break
			}
		}
	}
	slices.Sort(delays)
	slices.Sort(ratios)
	return delays, ratios
}

func TestShiftDelays(t *testing.T) {
	for _, c := range []struct {
		name           string
		law            law
		factor         float64
		within         int     // the median delay, gaps
		ratioLo, ratio float64 // of the median
		seeds          uint64
	}{
		{"an eighth slower", article, 1.11, 722, 1.05, 1.25, 90},
		{"a fifth slower", article, 1.22, 405, 1.1, 1.35, 40},
		{"twice as slow", article, 2, 38, 1.6, 2.4, 40},
		{"twice as fast", article, 0.5, 38, 0.4, 0.65, 40},
		{"a metronome, a tenth slower", steady(20), 1.11, 20, 1.09, 1.13, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			delays, ratios := found(t, c.law, c.seeds, 20_000, c.factor)
			if uint64(len(delays)) < c.seeds/2 {
				t.Fatalf("found by %d seeds", len(delays))
			}
			if m := delays[len(delays)/2]; m > c.within {
				t.Errorf("found after %d gaps, want %d", m, c.within)
			}
			if m := ratios[len(ratios)/2]; m < c.ratioLo || m > c.ratio {
				t.Errorf("told as ×%.2f", m)
			}
		})
	}
}

func TestFewFalseShifts(t *testing.T) {
	prefill := law{{0, 9.8}, {0.915, 10.2}, {0.917, 79}, {1, 81}}
	heavy := law{{0, 1}, {0.5, 20}, {0.9, 72}, {0.99, 205}, {0.9999, 825}, {1, 1000}}
	for _, c := range []struct {
		name string
		law  law
	}{{"the article", article}, {"a metronome", steady(20)}, {"others' prefill", prefill}, {"a heavy tail", heavy}} {
		t.Run(c.name, func(t *testing.T) {
			const seeds, each = 10, 50_000
			alarms := 0
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, 9))
				var d detector
				for i := range int64(each) {
					if _, ok := d.add(i, c.law.at(r.Float64())); ok {
						alarms++
					}
				}
			}
			if alarms*18_000 >= seeds*each {
				t.Errorf("%d in %d gaps", alarms, seeds*each)
			}
		})
	}
}

// One freeze is no shift, however long, and neither are a few of them.
func TestAFreezeIsNoShift(t *testing.T) {
	var d detector
	for i := range int64(5000) {
		gap := 20 * ms
		if i > 2000 && i%500 == 0 {
			gap = 30 * second
		}
		if s, ok := d.add(i, gap); ok {
			t.Fatalf("at %d: %+v", i, s)
		}
	}
}

// A shift stands on the lane and in the target's list; streams in lock-step
// are one voice.
func TestShiftOnTheLane(t *testing.T) {
	for _, streams := range []uint64{1, 8} {
		s := newScript(Config{})
		r := rand.New(rand.NewPCG(3, 4))
		at := int64(0)
		play := func(req uint64, n int, factor float64) {
			for i := range streams {
				s.a.Add(&event.Start{At: at, Target: 1, Request: req*100 + i, Slot: uint32(i)})
			}
			for range n {
				at += int64(factor * float64(article.at(r.Float64())))
				for i := range streams {
					s.a.Add(&event.Token{At: at, Target: 1, Request: req*100 + i, Slot: uint32(i), K: 1})
				}
			}
			for i := range streams {
				s.a.Add(&event.End{At: at, Target: 1, Request: req*100 + i, Slot: uint32(i), N: n, Class: event.OKFull, Count: event.CountUsage})
			}
		}
		for req := range uint64(20) {
			play(req+1, 257, 1)
		}
		began := at
		for req := range uint64(6) {
			play(req+50, 257, 2)
		}
		snap := s.a.Snapshot()
		shifts := snap.Targets[0].Shifts
		if len(shifts) != 1 || shifts[0].Ratio < 1.5 || shifts[0].Ratio > 2.6 || shifts[0].Since < began-500*ms || shifts[0].At > began+second || shifts[0].From >= shifts[0].To {
			t.Errorf("%d streams: %+v, it began at %d", streams, shifts, began)
		}
		var lane []LaneEvent
		for _, e := range snap.Lane {
			if e.Kind == LaneShift {
				lane = append(lane, e)
			}
		}
		if len(lane) != 1 || !strings.HasPrefix(lane[0].Text, "gaps ") || lane[0].Target != 1 || lane[0].At != shifts[0].At {
			t.Errorf("%d streams: lane %+v", streams, lane)
		}
	}
}
