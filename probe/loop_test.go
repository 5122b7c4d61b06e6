package probe

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
)

func TestStreamsOfTheClosedLoop(t *testing.T) {
	const streams = 4
	var now, most atomic.Int64
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		return full(c)
	})
	cfg := config(s.url, 40)
	cfg.Load.Concurrency = streams
	all := watch(t, cfg, nil)
	if n := most.Load(); n > streams {
		t.Errorf("%d requests at once, want at most %d", n, streams)
	}
	slots := map[uint32]int{}
	ids := map[uint64]bool{}
	for _, e := range of[*event.Start](all) {
		slots[e.Slot]++
		ids[e.Request] = true
	}
	if len(slots) != streams || len(ids) != 40 {
		t.Errorf("slots %v, %d ids", slots, len(ids))
	}
	if n := len(of[*event.End](all)); n != 40 {
		t.Errorf("%d ends, want 40", n)
	}
}

func TestPauseBetweenRequests(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	cfg := config(s.url, 4)
	cfg.Load.Pause = 60 * time.Millisecond
	all := watch(t, cfg, nil)
	starts, ends := of[*event.Start](all), of[*event.End](all)
	for i := 1; i < len(starts); i++ {
		if gap := starts[i].At - ends[i-1].At; gap < int64(cfg.Load.Pause) {
			t.Errorf("request %d was sent %v after the one before", i+1, time.Duration(gap))
		}
	}
}

func TestControls(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		time.Sleep(5 * time.Millisecond)
		return full(c)
	})
	cfg := config(s.url, 0)
	cfg.Load.Concurrency, cfg.Limits.Grace = 1, time.Second
	plan := []event.Control{
		{Do: event.DoMaxTokens, Value: 5}, {Do: event.DoPromptTokens, Value: 40}, {Do: event.DoConcurrency, Value: 3},
		{Do: event.DoMark, Label: "by\x1b hand"}, {Do: event.DoConcurrency, Value: 0}, {Do: event.DoRate, Value: -2},
		{Do: "dance"}, {Do: event.DoPause}, {Do: event.DoPause}, {Do: event.DoResume}, {Do: event.DoStop},
	}
	ends := 0
	var after []*event.Start
	all := watch(t, cfg, func(ev event.Event, controls chan<- event.Control) {
		switch e := ev.(type) {
		case *event.End:
			if ends++; ends == 3 {
				for _, c := range plan[:7] {
					controls <- c
				}
			}
			if ends == 30 {
				controls <- plan[7]
				controls <- plan[8]
			}
			if ends == 45 {
				controls <- plan[10]
			}
		case *event.Target:
			if e.State == event.StatePaused {
				controls <- plan[9]
			}
		case *event.Start:
			if ends > 10 {
				after = append(after, e)
			}
		}
	})
	var got []event.Setting
	for _, e := range of[*event.Setting](all) {
		e.At = 0
		got = append(got, *e)
	}
	same(t, "settings", []event.Setting{
		{Name: "max_tokens", From: "2", To: "5"}, {Name: "prompt_tokens", From: "16", To: "40"},
		{Name: "concurrency", From: "1", To: "3"}, {Name: "paused", From: "false", To: "true"}, {Name: "paused", From: "true", To: "false"},
	}, got)
	var marks []string
	for _, e := range of[*event.Mark](all) {
		if e.Auto != (e.Label != "by hand") {
			t.Errorf("mark: %+v", e)
		}
		if e.Amends != strings.Contains(e.Label, "probing") {
			t.Errorf("mark: %+v", e)
		}
		marks = append(marks, e.Label)
	}
	same(t, "marks", []string{
		"by hand", "max_tokens 2 → 5, prompt_tokens 16 → 40, concurrency 1 → 3",
		"max_tokens 2 → 5, prompt_tokens 16 → 40, concurrency 1 → 3, probing paused",
		"max_tokens 2 → 5, prompt_tokens 16 → 40, concurrency 1 → 3, probing goes on",
	}, marks)
	if n := len(of[*event.Note](all)); n != 3 {
		t.Errorf("%d notes, want 3: %+v", n, of[*event.Note](all))
	}
	slots := map[uint32]bool{}
	for _, e := range after {
		slots[e.Slot] = true
		if e.Asked != 5 || e.Prompt != 40 {
			t.Errorf("after the change: %+v", e)
		}
	}
	if len(slots) != 3 {
		t.Errorf("slots after the change: %v", slots)
	}
	expectState(t, all, event.StatePaused, "")
	if f := only[*event.Finished](t, all); f.Complete || f.Reason != ReasonStopped {
		t.Errorf("finished: %+v", f)
	}
}

func TestTokensAllowed(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	cfg := config(s.url, 0)
	cfg.Load.MaxTotal = 100 // a request takes 18 at most and uses 9
	all := watch(t, cfg, nil)
	used := 0
	for _, e := range of[*event.End](all) {
		used += e.N + e.Prompt
	}
	if used > 100 || used+18 <= 100 {
		t.Errorf("%d tokens used of 100", used)
	}
	if f := only[*event.Finished](t, all); !f.Complete || f.Reason != ReasonTokens {
		t.Errorf("finished: %+v", f)
	}
}

func TestDurationBeginsWithMeasuring(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 1 {
			time.Sleep(1200 * time.Millisecond)
		}
		return full(c)
	})
	cfg := config(s.url, 0)
	cfg.Load.Warmup, cfg.Load.Duration, cfg.Load.Pause = 1, time.Second, 10*time.Millisecond
	all := watch(t, cfg, nil)
	f := only[*event.Finished](t, all)
	if !f.Complete || f.Reason != ReasonDuration {
		t.Errorf("finished: %+v", f)
	}
	var live int64
	for _, e := range of[*event.Target](all) {
		if e.State == event.StateLive {
			live = e.At
			break
		}
	}
	if live == 0 || f.At-live < int64(cfg.Load.Duration) {
		t.Errorf("measured from %d to %d, which is not %v", live, f.At, cfg.Load.Duration)
	}
}

func TestBusySingleSlotIsSkipped(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	s.get = func(c net.Conn, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/models":
			plain(c, 200, "application/json", `{"data":[{"id":"tiny","owned_by":"llamacpp"}]}`, "Server: llama.cpp")
		case "/props":
			plain(c, 200, "application/json", `{"total_slots":1,"build_info":"b1-x"}`)
		case "/slots":
			plain(c, 200, "application/json", map[bool]string{true: `[{"is_processing":true}]`, false: `[{"is_processing":false}]`}[looks.Add(1) <= 2])
		default:
			return false
		}
		return true
	}
	all := watch(t, config(s.url, 2), nil)
	skips := of[*event.Skip](all)
	if len(skips) != 2 || skips[0].Reason != event.SkipBusy || skips[0].Count != 1 {
		t.Errorf("skips: %+v", skips)
	}
	if n := len(of[*event.Note](all)); n != 1 {
		t.Errorf("%d notes, want one: %+v", n, of[*event.Note](all))
	}
	expectState(t, all, event.StateBusy, "somebody else")
	if n := len(of[*event.End](all)); n != 2 {
		t.Errorf("%d requests after it was free, want 2", n)
	}
	if at := of[*event.Start](all)[0].At; at < skips[1].At {
		t.Error("a request was queued behind somebody else's")
	}
}

func TestDownAndBack(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 2 || n == 3 {
			plain(c, 401, "application/json", `{"error":"who are you"}`)
			return true
		}
		return full(c)
	})
	all := watch(t, config(s.url, 4), nil)
	var classes []event.Class
	for _, e := range of[*event.End](all) {
		classes = append(classes, e.Class)
	}
	same(t, "classes", []event.Class{event.OKFull, event.ErrAuth, event.ErrAuth, event.OKFull}, classes)
	starts, ends := of[*event.Start](all), of[*event.End](all)
	if a, b := starts[2].At-ends[1].At, starts[3].At-ends[2].At; a < 1e9 || b < 2e9 {
		t.Errorf("tried again after %v and %v, want at least 1s and 2s", time.Duration(a), time.Duration(b))
	}
	expectState(t, all, event.StateDown, "who are you, next try in 1 s")
	expectState(t, all, event.StateDown, "who are you, next try in 2 s")
	if m := only[*event.Mark](t, all); !m.Auto || m.Label != s.url+" answers again" {
		t.Errorf("mark: %+v", m)
	}
}

// A server that is started anew answers first that it loads its model. That it
// is back is said all the same, and it is warmed up again before it is measured.
func TestBackThroughLoading(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		switch n {
		case 3:
			plain(c, 401, "application/json", `{"error":"who are you"}`)
			return true
		case 4:
			plain(c, 503, "application/json", `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
			return true
		}
		return full(c)
	})
	cfg := config(s.url, 4)
	cfg.Load.Warmup = 1
	all := watch(t, cfg, nil)
	var classes []event.Class
	var warm []bool
	for _, e := range of[*event.End](all) {
		classes, warm = append(classes, e.Class), append(warm, e.Warmup)
	}
	if n := len(classes); n < 6 || warm[2] || !warm[n-3] && !warm[n-2] || warm[n-1] {
		t.Errorf("warm-ups: %v, classes %v", warm, classes)
	}
	if m := only[*event.Mark](t, all); !m.Auto || m.Label != s.url+" answers again" {
		t.Errorf("mark: %+v", m)
	}
	expectState(t, all, event.StateLoading, "Loading model")
}

func TestGiveUp(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		plain(c, 404, "application/json", `{"error":"no such model"}`)
		return true
	})
	cfg := config(s.url, 0)
	cfg.GiveUp, cfg.Load.Warmup = true, 1
	all := watch(t, cfg, nil)
	ends := of[*event.End](all)
	if len(ends) != giveUpAfter || !ends[0].Warmup || ends[1].Warmup || ends[1].Class != event.ErrModel {
		t.Errorf("ends: %+v", ends)
	}
	if f := only[*event.Finished](t, all); f.Complete || f.Reason != ReasonNever {
		t.Errorf("finished: %+v", f)
	}
}

func TestSeveralTargets(t *testing.T) {
	a := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	b := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { time.Sleep(5 * time.Millisecond); return full(c) })
	cfg := config(a.url, 5)
	cfg.Targets = append(cfg.Targets, event.TargetConfig{URL: b.url + "/v1/chat/completions", Model: "other"})
	all := watch(t, cfg, nil)
	counts := map[uint32]int{}
	ids := map[uint64]bool{}
	for _, e := range of[*event.Start](all) {
		counts[e.Target]++
		ids[e.Request] = true
	}
	same(t, "requests per target", map[uint32]int{1: 5, 2: 5}, counts)
	if len(ids) != 10 {
		t.Errorf("%d different ids, want 10", len(ids))
	}
	for _, e := range of[*event.End](all) {
		// The server says it is "tiny".
		if other := len(e.Flags) == 1 && e.Flags[0] == event.FlagOtherModel; other != (e.Target == 2) {
			t.Errorf("target %d: flags %v", e.Target, e.Flags)
		}
	}
}
