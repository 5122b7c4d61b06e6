package command

import (
	"math"
	"testing"
	"time"

	"teapot/stats"
)

// Runs of the built-in engine, in the time of a bubble: two equal ones show no
// change, and one whose steps take a tenth longer is found.
func TestCompareFindsASlowerEngine(t *testing.T) {
	pairs := 5
	if testing.Short() {
		pairs = 1
	}
	run := func(seed uint64, slow float64) *stats.Target {
		tr := trial{profile: "smooth", long: 40 * time.Second, seed: seed, streams: 4, slow: slow}
		snap, _ := tr.run(t)
		return snap.Targets[0]
	}
	equal := 0
	for seed := range uint64(pairs) {
		a, b := run(2*seed+1, 1), run(2*seed+2, 1)
		up, down := stats.Hold(a, b).Changed()
		if len(up)+len(down) == 0 {
			equal++
		} else {
			t.Logf("seed %d: %v %v", seed, up, down)
		}
		slow := stats.Hold(a, run(2*seed+2, 1.1))
		for _, of := range []string{"p50", "p90"} {
			m := slow.Find("gap", of)
			if m.Change != stats.ChangeUp || math.Abs(m.B/m.A-1.1) > 0.04 {
				t.Errorf("seed %d: gap %s %v: %.2f → %.2f ms", seed, of, m.Change, m.A/1e6, m.B/1e6)
			}
		}
	}
	t.Logf("no change in %d of %d pairs of equal runs", equal, pairs)
	if equal < pairs-1 {
		t.Errorf("%d of %d pairs of equal runs differ", pairs-equal, pairs)
	}
}
