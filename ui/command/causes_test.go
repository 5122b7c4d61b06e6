package command

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"teapot/stats"
	"teapot/stats/confusion"
)

// ways are the ways in which metrics may come.
var ways = []struct {
	name       string
	look, late time.Duration
}{{"off", 0, 0}, {"on", time.Second, 0}, {"late", 4 * time.Second, 1500 * time.Millisecond}}

// plights are what the built-in engine suffers: by profile, fault and pace.
var plights = []struct {
	profile string
	faults  []string
	every   time.Duration
	overlap bool
}{
	{"prefill", []string{"prefill"}, 0, false},
	{"prefill-whole", []string{"prefill"}, 0, false},
	{"preemption", []string{"preemption"}, 0, false},
	{"gc", []string{"gc"}, 0, false},
	{"burst", []string{"burst"}, 0, false},
	{"slow-client", []string{"slow-client"}, 0, false},
	{"stall", []string{"stall"}, 0, false},
	{"error", []string{"error"}, 0, false},
	{"truncate", []string{"truncate"}, 0, false},
	{"overload", []string{"overload"}, 0, false},
	{"restart", []string{"restart"}, 0, false},
	{"tour", []string{"prefill", "gc", "stall", "burst", "preemption", "slow-client"}, 600 * time.Millisecond, true},
}

// wholeMatrix has the measurement made at length.
const wholeMatrix = "TEAPOT_WHOLE_MATRIX"

// The built-in engine suffers, the program's own watcher reads its page, and
// what is said of every spike is held against the engine's truth log.
func TestCausesAgainstTheEnginesTruth(t *testing.T) {
	rounds := 2 // faults of each kind in each of nine settings
	switch {
	case os.Getenv(wholeMatrix) != "":
		rounds = 30
	case testing.Short():
		rounds = 1
	}
	var mu sync.Mutex
	all := map[bool]*confusion.Matrix{false: {}, true: {Reach: int64(300 * time.Millisecond)}}
	struck := map[bool]int{}
	t.Run("runs", func(t *testing.T) {
		for i, plight := range plights {
			for _, streams := range []int{1, 2, 8} {
				for j, way := range ways {
					if testing.Short() && (i+streams+j)%6 != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s%s/%d/%s", plight.profile, map[bool]string{true: "-overlapping"}[plight.overlap], streams, way.name), func(t *testing.T) {
						t.Parallel()
						every := plight.every
						if way.late > 0 && every == 0 { // no two of them between the same looks
							every = 14 * time.Second
						}
						tr := trial{
							profile: plight.profile, faults: plight.faults, every: every, seed: uint64(1000*i + 10*streams + j),
							streams: streams, look: way.look, late: way.late,
						}
						tr.long = 4*time.Second + time.Duration(rounds)*max(every*6/5, 5*time.Second, plight.every*6)
						if strings.Contains("overload restart", plight.profile) {
							tr.long += time.Duration(rounds) * 10 * time.Second
						}
						snap, faults := tr.run(t)
						mu.Lock()
						defer mu.Unlock()
						struck[plight.overlap] += len(faults)
						all[plight.overlap].Add(snap.Targets[0].Spikes, faults, confusion.Setting{
							Streams: streams, Metrics: way.look > 0, Look: int64(way.look + way.late),
						})
					})
				}
			}
		}
	})
	for overlap, m := range all {
		t.Logf("overlapping %v, %d faults:\n%v", overlap, struck[overlap], m)
		for _, line := range m.Wrongs {
			t.Log(line)
		}
		if m.Share() < 0.95 {
			t.Errorf("overlapping %v: %.1f %% of the spikes of faults are called right", overlap, 100*m.Share())
		}
		t.Logf("by its own fault: %.1f %%", 100*float64(m.Right-m.Shared)/float64(max(m.Right+m.Wrong, 1)))
		if n := m.Right + m.Wrong; n < 3*rounds {
			t.Errorf("overlapping %v: only %d spikes of faults", overlap, n)
		}
	}
	if n := struck[false] + struck[true]; n < 200 && !testing.Short() {
		t.Errorf("only %d faults", n)
	}
}

// A tail that is the engine's own nature is accused of nothing.
func TestTheArticlesTailIsAccusedOfNothing(t *testing.T) {
	long := time.Minute
	switch {
	case os.Getenv(wholeMatrix) != "":
		long = 5 * time.Minute
	case testing.Short():
		long = 6 * time.Second
	}
	var mu sync.Mutex
	found, accused := 0, 0
	t.Run("runs", func(t *testing.T) {
		for _, streams := range []int{1, 2, 8} {
			for _, way := range ways {
				t.Run(fmt.Sprintf("%d/%s", streams, way.name), func(t *testing.T) {
					t.Parallel()
					tr := trial{profile: "article", seed: uint64(streams), streams: streams, look: way.look, late: way.late, long: long}
					snap, _ := tr.run(t)
					mu.Lock()
					defer mu.Unlock()
					for _, s := range snap.Targets[0].Spikes {
						found++
						if s.Why == nil || len(s.Why.Evidence) == 0 {
							t.Fatalf("a spike without a verdict and its evidence: %+v", s)
						}
						if s.Why.Verdict != stats.Unexplained {
							accused++
							t.Logf("accused: %+v of %v at %v: %q", s.Why.Cause, time.Duration(s.Length), time.Duration(s.At), s.Why.Evidence)
						}
					}
				})
			}
		}
	})
	t.Logf("%d spikes, %d accused", found, accused)
	if found == 0 || accused*100 > found {
		t.Errorf("%d of %d spikes are accused", accused, found)
	}
}
