package probe

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// firstOf are the first n of a schedule.
func firstOf(s *schedule, n int) []int64 {
	var out []int64
	for len(out) < n {
		at := s.next
		s.advance(at)
		for range s.queue {
			v, _ := s.take()
			out = append(out, v)
		}
	}
	return out[:n]
}

// Every arrival goes to both targets within a millisecond; they take turns in
// going first, and each keeps the spacing that was asked for.
func TestTargetsTakeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 2000).Draw(t, "rate")
		start := rapid.Int64Range(0, 1e12).Draw(t, "start")
		var p Pacer = Constant{Rate: rate}
		if rapid.Bool().Draw(t, "poisson") {
			p = Poisson{Rate: rate, Seed: 7}
		}
		a := firstOf(newTurns(p, start, start, turns(0, 2, rate)), 40)
		b := firstOf(newTurns(p, start, start, turns(1, 2, rate)), 40)
		first := 0
		for i := range a {
			d := b[i] - a[i]
			if d == 0 || max(d, -d) > apart {
				t.Fatalf("arrival %d: %d and %d", i, a[i], b[i])
			}
			if d > 0 {
				first++
			}
			if (d > 0) != (i%2 == 0) {
				t.Fatalf("arrival %d: it is the other one's turn", i)
			}
		}
		if first != 20 {
			t.Fatalf("the first target goes first %d times of 40", first)
		}
		// Whoever comes late goes on where the others are.
		late := newTurns(p, start, a[20]-apart, turns(0, 2, rate))
		if got := firstOf(late, 1)[0]; got > a[20] {
			t.Fatalf("a late one goes on at %d and not at %d", got, a[20])
		}
		found := false
		for _, v := range a {
			found = found || v == arrivalAfter(p, start, a[20]-apart, rate)
		}
		if !found {
			t.Fatal("a late one keeps another schedule")
		}
	})
}

func arrivalAfter(p Pacer, start, now int64, rate float64) int64 {
	return newTurns(p, start, now, turns(0, 2, rate)).next
}

func TestTheScheduleBeginsOnce(t *testing.T) {
	var a abreast
	if x, y := a.since(2, 100), a.since(2, 500); x != 100 || y != 100 {
		t.Errorf("%d, %d", x, y)
	}
	if x, y := a.since(3, 700), a.since(3, 900); x != 700 || y != 700 {
		t.Errorf("another rate: %d, %d", x, y)
	}
}

// Two servers get the same prompts, but for the words that keep one from being
// the other's cached prefix, at the same instants of the schedule.
func TestTwoTargetsGetTheSame(t *testing.T) {
	var mu sync.Mutex
	prompts := map[string][]string{}
	body := func(r *http.Request) string {
		b, _ := io.ReadAll(r.Body)
		return string(b)
	}
	hear := func(name string) func(int, net.Conn, *http.Request) bool {
		return func(_ int, c net.Conn, r *http.Request) bool {
			mu.Lock()
			prompts[name] = append(prompts[name], body(r))
			mu.Unlock()
			return full(c)
		}
	}
	a, b := serve(t, hear("a")), serve(t, hear("b"))
	cfg := config(a.url, 10)
	cfg.Targets = append(cfg.Targets, event.TargetConfig{URL: b.url})
	cfg.Targets[1].Model, cfg.Targets[1].API = cfg.Targets[0].Model, cfg.Targets[0].API
	cfg.Load.Rate, cfg.Load.Arrival, cfg.Load.Concurrency, cfg.Load.Cold, cfg.Load.PromptTokens = 50, "constant", 8, true, 40
	all := watch(t, cfg, nil)
	started, base := [3]int{}, int64(0)
	for _, e := range of[*event.Start](all) {
		if base == 0 {
			base = e.Scheduled
		}
		started[e.Target]++
		if off := ((e.Scheduled-base)%20e6 + 20e6 + 10e6) % 20e6; off < 10e6-apart || off > 10e6+apart {
			t.Errorf("target %d: a request is scheduled %v off the common instants", e.Target, time.Duration(off-10e6))
		}
	}
	if started != [3]int{0, 10, 10} {
		t.Errorf("requests: %v", started)
	}
	words := func(body string) []string {
		_, text, _ := strings.Cut(body, `"content":"`)
		text, _, _ = strings.Cut(text, `"`)
		return strings.Fields(text)
	}
	n := min(len(prompts["a"]), len(prompts["b"]))
	if n < 10 {
		t.Fatalf("%d and %d prompts", len(prompts["a"]), len(prompts["b"]))
	}
	for i, p := range prompts["a"][:n] {
		x, y := words(p), words(prompts["b"][i])
		if len(x) != 40 || len(y) != 40 {
			t.Fatalf("prompts of %d and %d words: %s", len(x), len(y), p)
		}
		if strings.Join(x[nonceWords:], " ") != strings.Join(y[nonceWords:], " ") {
			t.Errorf("prompt %d:\n%v\n%v", i, x, y)
		}
		if strings.Join(x[:nonceWords], " ") == strings.Join(y[:nonceWords], " ") {
			t.Errorf("prompt %d begins alike for both: a cache that they share would help the second", i)
		}
	}
}
