package command

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/record"
	"teapot/stats"
)

// disturbances are what can be done to a probe so that it is late.
var disturbances = []struct {
	name    string
	env     []string
	args    func(t *testing.T) []string
	disturb func(pid int, r *rand.Rand)
	least   int // spikes of our own that this makes in a run, at least
}{
	{name: "stopped", least: 1, disturb: func(pid int, r *rand.Rand) {
		pause(pid, time.Duration(100+r.IntN(900))*time.Millisecond)
		time.Sleep(time.Duration(300+r.IntN(400)) * time.Millisecond)
	}},
	{name: "starved", least: 1, disturb: func(pid int, r *rand.Rand) { // a processor for a tenth of the time
		for range 15 {
			pause(pid, time.Duration(40+r.IntN(60))*time.Millisecond)
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
	}},
	// Its collector stops everything for the whole of its work, and has much of it.
	{name: "collecting", env: []string{"GODEBUG=gcstoptheworld=2"}, args: hugePage, disturb: func(int, *rand.Rand) { time.Sleep(100 * time.Millisecond) }},
}

// hugePage is a page of metrics of some MiB, so that reading it makes garbage.
func hugePage(t *testing.T) []string {
	page := strings.Repeat("vllm:num_requests_running{engine=\"0\",model_name=\"a name that is rather long\"} 1\n", 60_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }))
	t.Cleanup(s.Close)
	return []string{"--server-metrics", s.URL + "/metrics"}
}

// What this client makes of its own is called so: every spike that was none at
// the engine, while the probe is stopped, starved, or collecting garbage.
func TestOursIsCalledOurs(t *testing.T) {
	long := 7 * time.Second
	switch {
	case os.Getenv(wholeMatrix) != "":
		long = 3 * time.Minute
	case testing.Short():
		long = 4 * time.Second
	}
	var ours, called atomic.Int64
	t.Run("runs", func(t *testing.T) {
		for i, d := range disturbances {
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				url, truth := engine(t, "smooth")
				file := filepath.Join(t.TempDir(), "run.teapot")
				args := []string{"report", url, "-c", "4", "-d", long.String(), "--record", file, "--output-format", "none"}
				if d.args != nil {
					args = append(args, d.args(t)...)
				}
				cmd := teapot(args...)
				cmd.Env = append(os.Environ(), d.env...)
				cmd.Stderr = os.Stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				time.Sleep(2500 * time.Millisecond) // what is usual is known by then
				r := rand.New(rand.NewPCG(uint64(i), 9))
				pids := children(t, cmd.Process.Pid, "probe")
				if len(pids) != 1 {
					t.Fatalf("%d probes", len(pids))
				}
				for going := true; going; {
					d.disturb(pids[0], r)
					select {
					case err := <-ended:
						if err != nil {
							t.Fatalf("report: %v", err)
						}
						going = false
					default:
					}
				}
				n, ok, lines := judgeOurs(t, file, truth)
				ours.Add(int64(n))
				called.Add(int64(ok))
				t.Logf("%d spikes were none at the engine, %d of them are called this client's own", n, ok)
				for _, line := range lines {
					t.Log(line)
				}
				if n < d.least {
					t.Errorf("only %d spikes of our own", n)
				}
			})
		}
	})
	if 100*called.Load() < 99*ours.Load() {
		t.Errorf("%d of %d spikes that this client made are called its own", called.Load(), ours.Load())
	}
}

// judgeOurs counts the spikes that were none at the engine, and those of them
// that are called ours.
func judgeOurs(t *testing.T, file, truth string) (n, called int, lines []string) {
	t.Helper()
	tokens, _, _ := readRecording(t, file)
	want := map[uint64]int{}
	for id, toks := range tokens {
		want[id] = len(toks)
	}
	true_ := truthGaps(t, truth, want)
	for _, s := range aggregated(t, file).Targets[0].Spikes {
		gap, ok := true_[[2]uint64{s.Request, uint64(s.Token - 1)}]
		if s.First || !ok || 2*gap >= s.Length {
			continue // it was long at the engine, too
		}
		n++
		if s.Why != nil && s.Why.Cause == stats.CauseOurs {
			called++
			continue
		}
		lines = append(lines, fmt.Sprintf("%v, of which %v at the engine, request %d token %d, merged %v: %v %+v",
			time.Duration(s.Length), time.Duration(gap), s.Request, s.Token, s.Merged, s.Why, s.Around.Floor))
	}
	return n, called, lines
}

// aggregated is what a recording comes to.
func aggregated(t *testing.T, file string) *stats.Snapshot {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	a := stats.NewAggregator(stats.Config{MaxErrorRate: -1})
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return a.Snapshot()
		}
		if err != nil {
			t.Fatal(err)
		}
		a.Add(ev)
	}
}
