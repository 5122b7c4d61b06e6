package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// kept is one gap as the oracle of stalls keeps it.
type kept struct{ began, at, v int64 }

// stallsBetween counts the stalls by their definition, from all gaps kept and
// sorted anew for each. Thresholds lie within the histogram's 0.1 %, so the
// count may only lie between two.
func stallsBetween(all []kept) (least, most uint64) {
	for i, g := range all {
		if g.v < stallFrame {
			continue
		}
		sec := g.began / second
		var past, own []int64
		for _, o := range all[:i] {
			own = append(own, o.v)
			if s := o.at / second; s >= sec-60 && s <= sec-1 {
				past = append(past, o.v)
			}
		}
		slices.Sort(past)
		own = own[max(0, len(own)-(keptCells-1)):]
		limit := 3 * float64(0)
		switch n := uint64(len(past)); {
		case n >= 100:
			limit = 3 * float64(past[nearestRank(990_000, n)-1])
		case len(own) > 0:
			limit = 8 * float64(median(slices.Clone(own)))
		case n > 0:
			limit = 8 * float64(past[nearestRank(500_000, n)-1])
		default:
			continue
		}
		if limit == 0 {
			continue
		}
		if float64(g.v) >= limit*1.0015+3 {
			least++
		}
		if float64(g.v) >= limit*0.9985-3 {
			most++
		}
	}
	return least, most
}

func TestStallsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(Config{})
		s.a.Add(&event.Start{At: 0, Target: 1, Request: 1, Slot: 1})
		base := rapid.SampledFrom([]int64{2 * ms, 15 * ms, 200 * ms}).Draw(t, "base")
		r := uint64(rapid.Uint64().Draw(t, "seed"))
		bad := rapid.IntRange(5, 300).Draw(t, "one bad in")
		at := 60 * ms
		var all []kept
		s.tokNs(1, at, 1)
		for i := range rapid.IntRange(1, 700).Draw(t, "gaps") {
			r = r*6364136223846793005 + 1442695040888963407
			g := base/2 + int64(r>>33)%base
			switch {
			case i == 0:
				g = 60 * ms // past what is held back
			case int(r>>20)%bad == 0:
				g = int64(float64(base) * math.Pow(10, float64(r>>44)/float64(1<<20)*3))
			}
			g = min(g, 70*second)
			all = append(all, kept{at, at + g, g})
			at += g
			s.tokNs(1, at, 1)
		}
		f := s.target().Session.Stalls
		least, most := stallsBetween(all)
		if f.Count < least || f.Count > most {
			t.Fatalf("%d stalls, want %d to %d", f.Count, least, most)
		}
		total := int64(0)
		for _, c := range s.target().Streams[0].Cells {
			if c.Stall {
				total += c.Gap
			}
		}
		if total > f.Total || len(all) < keptCells && total != f.Total {
			t.Fatalf("cells mark %d ns of %d", total, f.Total)
		}
	})
}
