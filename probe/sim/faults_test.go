package sim

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowdOf keeps n clients busy for a while, and returns every reply.
func (w *world) crowdOf(n int, long time.Duration, fields string) []reply {
	var mu sync.Mutex
	var all []reply
	var wg sync.WaitGroup
	end := time.Now().Add(long)
	for range n {
		wg.Go(func() {
			for time.Now().Before(end) {
				r := w.ask(fields)
				mu.Lock()
				all = append(all, r)
				mu.Unlock()
				if r.err != nil || r.status != http.StatusOK {
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	return all
}

// longest is the longest gap between two events of one reply.
func longest(all []reply) (worst time.Duration) {
	for _, r := range all {
		for i := 1; i < len(r.events); i++ {
			worst = max(worst, r.events[i].at.Sub(r.events[i-1].at))
		}
	}
	return worst
}

func few(all []reply, is func(reply) bool) (n int) {
	for _, r := range all {
		if is(r) {
			n++
		}
	}
	return n
}

// TestEachProfileShowsItsFault: within ten seconds of load the fault is in the
// truth log with a cause and with the requests it struck, and on the wire.
func TestEachProfileShowsItsFault(t *testing.T) {
	ok := func(r reply) bool { return r.err == nil && r.done && r.reason == "length" && r.tokens == 200 }
	gapOf := func(least, most time.Duration) func(*testing.T, []reply) {
		return func(t *testing.T, all []reply) {
			if g := longest(all); g < least || g > most {
				t.Errorf("the longest gap is %v, want %v to %v", g, least, most)
			}
			if n := few(all, ok); n != len(all) {
				t.Errorf("%d of %d requests are complete", n, len(all))
			}
		}
	}
	someOf := func(what string, is func(reply) bool) func(*testing.T, []reply) {
		return func(t *testing.T, all []reply) {
			bad, good := few(all, is), few(all, ok)
			if bad == 0 || good == 0 {
				t.Errorf("%d of %d replies are %s, %d complete", bad, len(all), what, good)
			}
		}
	}
	const ms = time.Millisecond
	for _, c := range []struct {
		profile     string
		kind        faultKind
		least, most time.Duration // of the fault in the log
		wire        func(*testing.T, []reply)
	}{
		{"prefill", faultPrefill, 300 * ms, 700 * ms, gapOf(100*ms, 200*ms)},
		{"prefill-whole", faultPrefill, 300 * ms, 500 * ms, gapOf(300*ms, 500*ms)},
		{"preemption", faultPreempt, 40 * ms, 1000 * ms, gapOf(200*ms, 1000*ms)},
		{"gc", faultGC, 80 * ms, 300 * ms, gapOf(80*ms, 330*ms)},
		{"burst", faultBurst, 90 * ms, 220 * ms, gapOf(80*ms, 260*ms)},
		{"slow-client", faultClient, 300 * ms, 700 * ms, gapOf(280*ms, 760*ms)},
		{"stall", faultStall, 400 * ms, 1250 * ms, gapOf(400*ms, 1250*ms)},
		{"error", faultError, 0, 0, someOf("failed", func(r reply) bool { return r.failed && r.done && r.reason == "" })},
		{"truncate", faultTruncate, 0, 0, someOf("cut", func(r reply) bool { return r.err != nil && !r.done && r.tokens > 0 })},
		{"overload", faultOverload, 4000 * ms, 5000 * ms, someOf("refused", func(r reply) bool {
			return (r.status == 503 || r.status == 429) && r.header.Get("Retry-After") != "" &&
				strings.Contains(r.body, "overloaded")
		})},
	} {
		t.Run(c.profile, func(t *testing.T) {
			bubble(t, Options{Profile: c.profile, Seed: 3}, func(w *world) {
				all := w.crowdOf(3, 10*time.Second, usual+`,"max_tokens":200`)
				c.wire(w.T, all)
				_, faults, _ := w.facts()
				found := 0
				for _, f := range faults {
					if f.Fault != string(c.kind) {
						w.Errorf("a fault %q in the log", f.Fault)
						continue
					}
					found++
					if f.lasts() < c.least || f.lasts() > c.most {
						w.Errorf("it lasts %v, want %v to %v", f.lasts(), c.least, c.most)
					}
					if f.Cause == "" || len(f.Reqs) == 0 && c.kind != faultOverload {
						w.Errorf("cause %q, requests %v", f.Cause, f.Reqs)
					}
				}
				if found == 0 {
					w.Error("the truth log does not know it")
				}
			})
		})
	}
}

func TestPreemptionIsCounted(t *testing.T) {
	bubble(t, Options{Profile: "preemption", Seed: 3}, func(w *world) {
		w.crowdOf(2, 6*time.Second, usual+`,"max_tokens":200`)
		m := w.scrape()
		if m["vllm:num_preemptions_total"] < 1 || m["vllm:prompt_tokens_recomputed_total"] < 1 {
			w.Errorf("preemptions %v, recomputed %v", m["vllm:num_preemptions_total"], m["vllm:prompt_tokens_recomputed_total"])
		}
		_, faults, _ := w.facts()
		if float64(len(faults)) > m["vllm:num_preemptions_total"] {
			w.Errorf("%d in the truth log, %v counted", len(faults), m["vllm:num_preemptions_total"])
		}
	})
}

// TestBurstMergesWrites: what a burst held back leaves in one write.
func TestBurstMergesWrites(t *testing.T) {
	bubble(t, Options{Profile: "burst", Seed: 1}, func(w *world) {
		w.ask(usual + `,"max_tokens":400`)
		tokens, faults, _ := w.facts()
		if len(faults) == 0 {
			w.Fatal("no burst")
		}
		at := map[int64]int{}
		for _, f := range tokens {
			at[f.T]++
		}
		if n := at[faults[0].End]; n < 5 {
			w.Errorf("%d tokens left at the end of the burst, want several", n)
		}
	})
}

// What strikes one stream its neighbours do not feel.
func TestOneStreamIsStruck(t *testing.T) {
	for _, profile := range []string{"stall", "slow-client"} {
		t.Run(profile, func(t *testing.T) {
			bubble(t, Options{Profile: profile, Seed: 1}, func(w *world) {
				all := w.crowdOf(3, 4*time.Second, usual+`,"max_tokens":400`)
				struck := few(all, func(r reply) bool { return longest([]reply{r}) > 270*time.Millisecond })
				if struck != 1 {
					w.Errorf("%d of %d streams stalled, want 1", struck, len(all))
				}
			})
		})
	}
}

// TestFrozenProcessAnswersNothing: a collection stops HTTP as well.
func TestFrozenProcessAnswersNothing(t *testing.T) {
	bubble(t, Options{Profile: "gc", Seed: 1}, func(w *world) {
		var wg sync.WaitGroup
		wg.Go(func() { w.ask(usual + `,"max_tokens":400`) })
		var slow time.Duration
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			began := time.Now()
			w.scrape()
			slow = max(slow, time.Since(began))
		}
		wg.Wait()
		if slow < 60*time.Millisecond {
			w.Errorf("the slowest scrape took %v", slow)
		}
		if n := w.scrape()[`python_gc_collections_total{generation="2"}`]; n < 1 {
			w.Errorf("%v collections counted", n)
		}
	})
}

func TestRestart(t *testing.T) {
	bubble(t, Options{Profile: "restart", Seed: 1}, func(w *world) {
		var wg sync.WaitGroup
		var cut reply
		wg.Go(func() { cut = w.ask(usual + `,"max_tokens":2000`) })
		time.Sleep(2 * time.Second)
		before := w.scrape()["vllm:generation_tokens_total"]
		wg.Wait()
		if cut.err == nil || cut.done || cut.tokens == 0 {
			w.Errorf("the stream ends with %v after %d tokens", cut.err, cut.tokens)
		}
		var phases []string
		died := time.Now()
		for len(phases) == 0 || phases[len(phases)-1] != "ok" {
			phase := "ok"
			switch r := w.ask(usual + `,"max_tokens":5`); {
			case r.err != nil:
				phase = "refused"
			case r.status == http.StatusServiceUnavailable && strings.Contains(r.body, "Loading model"):
				phase = "loading"
			case r.status != http.StatusOK || r.tokens != 5:
				w.Fatalf("status %d, %d tokens, %q", r.status, r.tokens, r.body)
			}
			if len(phases) == 0 || phases[len(phases)-1] != phase {
				phases = append(phases, phase)
			}
			if time.Since(died) > 10*time.Second {
				w.Fatalf("not back after %v: %v", time.Since(died), phases)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if got := strings.Join(phases, " "); got != "refused loading ok" {
			w.Errorf("it went %q", got)
		}
		if after := w.scrape()["vllm:generation_tokens_total"]; before < 50 || after != 5 {
			w.Errorf("tokens counted: %v before, %v after", before, after)
		}
		_, faults, ends := w.facts()
		if len(faults) != 1 || faults[0].Fault != "restart" || len(faults[0].Reqs) != 1 || ends[0].Why != "restart" {
			w.Errorf("the truth log has %+v, %+v", faults, ends)
		}
	})
}

// TestTourIsWorthWatching: something within half a minute, each kind within
// two, and most requests fine.
func TestTourIsWorthWatching(t *testing.T) {
	bubble(t, Options{Profile: "tour", Seed: 1}, func(w *world) {
		all := w.crowdOf(1, 2*time.Minute, usual+`,"max_tokens":256`)
		if n := few(all, func(r reply) bool { return r.failed }); n == 0 || n > 2 {
			w.Errorf("%d of %d requests failed", n, len(all))
		}
		tokens, faults, _ := w.facts()
		kinds := map[string]bool{}
		last := tokens[0].T
		for _, f := range faults {
			kinds[f.Fault] = true
			if wait := time.Duration(f.Start - last); wait > 20*time.Second {
				w.Errorf("nothing happened for %v", wait)
			}
			last = f.Start
		}
		for _, k := range []faultKind{faultPrefill, faultGC, faultPreempt, faultBurst, faultStall, faultError} {
			if !kinds[string(k)] {
				w.Errorf("no %s", k)
			}
		}
		if n := len(tokens); n < 120*50 || n > 120*85 {
			w.Errorf("%d tokens in two minutes", n)
		}
	})
}

// TestSameSeedSameRun: the schedule of tokens and faults, seen from outside.
func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (at []int64) {
		bubble(t, Options{Profile: "tour", Seed: seed}, func(w *world) {
			w.ask(usual + `,"max_tokens":2000`)
			tokens, faults, _ := w.facts()
			for _, f := range tokens {
				at = append(at, f.Sched-tokens[0].Sched)
			}
			// What still goes on at the reply's end is cut by the end of the engine,
			// which races with the client's going.
			last := tokens[len(tokens)-1].Sched
			for _, f := range faults {
				if f.End < last {
					at = append(at, f.Start-tokens[0].Sched, f.End-tokens[0].Sched)
				}
			}
		})
		return at
	}
	a, b, c := run(1), run(1), run(2)
	if len(a) < 2000 || !equal(a, b) {
		t.Errorf("the same seed gives two runs (%d and %d instants)", len(a), len(b))
	}
	if equal(a, c) {
		t.Error("two seeds give one run")
	}
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestFaultsOfChoice(t *testing.T) {
	p, err := profileNamed("smooth")
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.with([]string{"gc", "stall"}, 700*time.Millisecond)
	if err != nil || len(q.faults) != 2 || q.faults[1].kind != faultStall || q.every != 700*time.Millisecond || q.first == 0 || len(p.faults) != 0 {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := p.with([]string{"rain"}, 0); !errors.Is(err, ErrProfile) {
		t.Errorf("a fault that is none: %v", err)
	}
	if _, err := New(Options{Profile: "smooth", Faults: []string{"rain"}}); !errors.Is(err, ErrProfile) {
		t.Errorf("a fault that is none: %v", err)
	}
}
