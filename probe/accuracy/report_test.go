package accuracy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// found is a report in which every client has the given error, in µs, and the
// screen's is one of its own.
func found(others, screen int64) *report {
	o := Options{Rounds: 2, For: time.Second, Version: "9.9"}
	r := &report{o: o, machine: []string{"a machine"}, began: time.Unix(0, 0)}
	result := func(client string) Result {
		e := others
		if client == screenName {
			e = screen
		}
		res := Result{Streams: 8, Tokens: 1000, Errors: []int64{e * 1000}, Client: []int64{1e6}, Server: []int64{1e6}, Delays: []int64{5000},
			First: []int64{e * 1000}, Behind: []int64{2000}, CPU: e * 1e6, RSS: e << 20, Realtime: true, Pinned: true}
		if client == probeName || client == screenName {
			res.Probe = &probed{source: "kernel", rtt: 40e6, transport: 8, nice: -10, slice: 1e5}
			res.LateError = []int64{e * 1000}
		}
		return res
	}
	names := []string{probeName, screenName, nameCKernel, nameCUser, nameParsed, nameArrival}
	fill := func(list []scenario) (out []table) {
		for _, s := range list {
			t := table{scenario: s}
			for _, c := range names {
				if s.clients == nil || slices.Contains(s.clients, c) {
					t.rows = append(t.rows, outcome{client: c, rounds: []Result{result(c), result(c)}})
				}
			}
			out = append(out, t)
		}
		return out
	}
	r.main, r.sweep = fill(scenarios(time.Second)), fill(sweep(time.Second))
	return r
}

// wellFormed checks that each row of a table has as many cells as its head.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(text) {
		n := strings.Count(line, "|")
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		if cells == 0 {
			cells = n
		}
		if n != cells {
			t.Errorf("%d cells instead of %d: %s", n-1, cells-1, line)
		}
	}
}

func TestGoals(t *testing.T) {
	good := found(1000, 10)
	good.main[1].rows[0].rounds = good.main[1].rows[1].rounds // the probe without a screen as good as with it
	good.main[2].rows[0].rounds = good.main[2].rows[1].rounds
	good.main[5].rows[0].rounds = good.main[5].rows[1].rounds
	for i := range good.sweep {
		good.sweep[i].rows[0].rounds = good.main[1].rows[0].rounds
	}
	for _, v := range good.verdicts() {
		if !v.has || !v.met {
			t.Errorf("%s: %s, measured %v, met %v", v.goal, v.measured, v.has, v.met)
		}
	}
	bad := found(2000, 2000)
	on := &bad.main[1].rows[1]
	for i := range on.rounds {
		on.rounds[i].Client = []int64{2e6}
		on.rounds[i].Joined, on.rounds[i].Beyond = []int64{3e6}, 1
	}
	for _, v := range bad.verdicts() {
		if !v.has || v.met || v.why == "" && !strings.HasPrefix(v.goal, "memory") {
			t.Errorf("%s: %s, measured %v, met %v, why %q", v.goal, v.measured, v.has, v.met, v.why)
		}
	}
	for _, v := range (&report{}).verdicts() {
		if v.has {
			t.Errorf("%s was measured by nobody", v.goal)
		}
	}
}

func TestReport(t *testing.T) {
	text := found(20, 10).markdown()
	wellFormed(t, text)
	for _, want := range []string{
		"| 8 streams of 625 tok/s, screen drawing: e99 ≤ 50 µs, e99.9 ≤ 100 µs | 10 and 10 µs | met | |",
		"| **missed** | the other is that good on this machine |",
		"| teapot, screen drawing | 10 | 10 | 10 | 10 | 5 | 5 | 0.00 % | 0.00 % | 10 | 10.0 |",
		"version 9.9", "had nice -10 and slices of 0.1 ms", "nothing else was running", "* a machine\n", "had a real-time thread with a core to keep to", "its report lays 8 gaps of 8 streams to the transport",
		"| teapot, no screen | **yes**: 20, 20; 20; 0.0 % |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	hollow := found(20, 10)
	hollow.others = 1.5
	for i := range hollow.main {
		hollow.main[i].rows[1] = outcome{client: screenName, why: "it failed"}
	}
	hollow.main[9].why, hollow.missing = "operation not permitted", []string{"the C clients: there is no C compiler"}
	hollow.sweep[0].rows[0].rounds = nil
	text = hollow.markdown()
	wellFormed(t, text)
	for _, want := range []string{"not measured here | | |", "it failed", "other programs took 1.50 cores", "Not measured here: operation not permitted.", "Not measured here: the C clients", " failed |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range append(scenarios(time.Second), sweep(time.Second)...) {
		if seen[s.title] {
			t.Errorf("two scenarios are called %q", s.title)
		}
		seen[s.title] = true
		if _, err := newSchedule(s.load.Model, 1e9, 1); err != nil {
			t.Errorf("%s: %v", s.title, err)
		}
		if s.load.Tokens <= settle || s.load.lasts() > 2*time.Second {
			t.Errorf("%s: %d tokens, %v", s.title, s.load.Tokens, s.load.lasts())
		}
	}
	for _, title := range []string{title8, titleLaw, titleLock, titleOnce, titleFar} {
		if !seen[title] {
			t.Errorf("there is no scenario %q", title)
		}
	}
	clients := []client{bare(), inC("", nameCUser, "user")}
	one, three := takes(scenarios(time.Second), clients, 1), takes(scenarios(time.Second), clients, 3)
	if three != 3*one || one < 10*time.Second || one > time.Minute {
		t.Errorf("one round takes %v, three %v", one, three)
	}
}

// The clients' sources are within the program, and what a machine has to build
// them accepts them.
func TestSources(t *testing.T) {
	for what, has := range map[string]string{sourceC: "SO_TIMESTAMPNS", sourcePython: "iter_any"} {
		if !strings.Contains(what, has) {
			t.Errorf("a source has no %s in it", has)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return // nothing to check it with
	}
	file := filepath.Join(t.TempDir(), "client.py")
	if err := os.WriteFile(file, []byte(sourcePython), 0o600); err != nil {
		t.Fatal(err)
	}
	check := "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')"
	if out, err := exec.CommandContext(context.Background(), python, "-c", check, file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSplitOfTheCost(t *testing.T) {
	cost := func(tokens int) outcome {
		return outcome{rounds: []Result{{Tokens: tokens, CPU: int64(100e6) + int64(tokens)*25e3}}}
	}
	if token, second := split(cost(1250), cost(10000), 2); token < 24.9 || token > 25.1 || second < 49.9 || second > 50.1 {
		t.Errorf("%g µs a token, %g ms a second", token, second)
	}
}

// Of what the machine does, this process does a part.
func TestBusy(t *testing.T) {
	all, ours := busy()
	for until := time.Now().Add(30 * time.Millisecond); time.Now().Before(until); {
	}
	allNow, oursNow := busy()
	if runtime.GOOS == "linux" && (all <= 0 || ours <= 0 || allNow < all || oursNow <= ours) {
		t.Errorf("%d and %d became %d and %d", all, ours, allNow, oursNow)
	}
}

// A rate counts as sustained only with every lower one: that the client kept up
// with 80 000 tok/s in one cell of a table is no proof where it did not at half
// of that.
func TestARateIsSustainedWithAllBelow(t *testing.T) {
	rates := sweepRates()
	for _, c := range []struct {
		name     string
		slow     []int // indices of the rates that were not kept up with
		met      bool
		measured string
	}{
		{"all", nil, true, "100000 tok/s"},
		{"all but the highest", []int{len(rates) - 1}, true, "80000 tok/s"},
		{"the goal alone", []int{0, 1, 2, 4}, false, "none of them"},
		{"not one below", []int{1}, false, "20000 tok/s"},
		{"none", []int{0, 1, 2, 3, 4}, false, "none of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			good, bad := found(20, 10), found(2000, 2000)
			for _, i := range c.slow {
				good.sweep[i] = bad.sweep[i]
			}
			v := good.coreRate()
			if v.met != c.met || v.measured != c.measured || !v.met && v.why == "" {
				t.Errorf("met %v, measured %s, why %q; want %v, %s", v.met, v.measured, v.why, c.met, c.measured)
			}
		})
	}
}
