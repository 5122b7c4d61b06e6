package probe

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
)

// A run that has an end does not wait for a target for ever, and says at its end
// what it waited for.
func TestWaitingForATargetIsBounded(t *testing.T) {
	t.Parallel()
	loading := `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`
	busy := func(_ int, c net.Conn, _ *http.Request) bool {
		plain(c, 503, "application/json", loading)
		return true
	}
	limited := func(_ int, c net.Conn, _ *http.Request) bool {
		plain(c, 429, "application/json", `{"error":"later"}`, "Retry-After: 600")
		return true
	}
	for _, c := range []struct {
		name   string
		serve  func(int, net.Conn, *http.Request) bool
		listed bool // the list of models says it, too
		load   event.Load
		giveUp bool
		detail string
	}{
		{"the list says it loads", busy, true, event.Load{Duration: 100 * time.Millisecond, Warmup: 1}, false, "still loading at the end: Loading model"},
		{"requests say it loads", busy, false, event.Load{Duration: 100 * time.Millisecond, Warmup: 1}, false, "still loading at the end: Loading model"},
		{"of so many requests", busy, false, event.Load{Requests: 3}, false, "still loading at the end: Loading model"},
		{"of a report", busy, false, event.Load{}, true, "still loading at the end: Loading model"},
		{"it asks to be asked later", limited, false, event.Load{Duration: 100 * time.Millisecond, Warmup: 1}, false, "still rate limited at the end: later, next try in 60 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.serve)
			if c.listed {
				s.get = func(conn net.Conn, r *http.Request) bool { return c.serve(0, conn, r) }
			}
			cfg := config(s.url, 0)
			cfg.Load.Requests, cfg.Load.Duration, cfg.Load.Warmup = c.load.Requests, c.load.Duration, c.load.Warmup
			cfg.GiveUp = c.giveUp
			cfg.Limits.Ready = 1500 * time.Millisecond
			all := watch(t, cfg, nil)
			f := only[*event.Finished](t, all)
			if f.Complete || f.Reason != ReasonNever {
				t.Errorf("finished %+v", f)
			}
			expectState(t, all, event.StateDone, c.detail)
		})
	}
}

// Waiting for a model costs the server little: where its list says that it is
// being loaded, one look a time and no request for tokens at all; where only
// requests say so, nothing but these, further and further apart.
func TestWaitingForAModelIsCheap(t *testing.T) {
	t.Parallel()
	loading := `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`
	t.Run("by the list", func(t *testing.T) {
		t.Parallel()
		var gets, posts atomic.Int32
		s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { posts.Add(1); return full(c) })
		var early atomic.Int32
		s.get = func(c net.Conn, r *http.Request) bool {
			if gets.Add(1) > 3 {
				return false
			}
			early.Store(posts.Load())
			plain(c, 503, "application/json", loading)
			return true
		}
		all := watch(t, config(s.url, 1), nil)
		if early.Load() != 0 {
			t.Errorf("%d requests for tokens while the list said that it loads", early.Load())
		}
		said := 0
		for _, ev := range of[*event.Target](all) {
			if ev.State == event.StateLoading {
				said++
			}
		}
		if said != 1 {
			t.Errorf("loading was said %d times, of three looks alike", said)
		}
	})
	t.Run("by requests", func(t *testing.T) {
		t.Parallel()
		var posts atomic.Int32
		var asked atomic.Int32 // GETs between the first of these and the last
		s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
			posts.Store(int32(n))
			if n <= 3 {
				plain(c, 503, "application/json", loading)
				return true
			}
			return full(c)
		})
		s.get = func(net.Conn, *http.Request) bool {
			if n := posts.Load(); n >= 1 && n <= 3 {
				asked.Add(1)
			}
			return false
		}
		all := watch(t, config(s.url, 1), nil)
		if n := asked.Load(); n != 0 {
			t.Errorf("%d GETs while requests said that it loads", n)
		}
		ends := slices.DeleteFunc(of[*event.End](all), func(e *event.End) bool { return e.Class == event.Aborted }) // on a stale connection
		if len(ends) != 5 || !ends[4].Class.OK() {
			t.Fatalf("%d ends, the last of class %q", len(ends), ends[len(ends)-1].Class)
		}
		first, second := ends[1].At-ends[0].At, ends[2].At-ends[1].At
		if first < int64(time.Second) || second < int64(1500*time.Millisecond) {
			t.Errorf("tries %v and %v apart: the second pause is the longer", time.Duration(first), time.Duration(second))
		}
		if last := of[*event.Target](all); !strings.Contains(string(last[len(last)-1].State), "done") {
			t.Errorf("last state %q", last[len(last)-1].State)
		}
	})
}
