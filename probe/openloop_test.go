package probe

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
)

func TestOpenLoopKeepsItsSchedule(t *testing.T) {
	var frozen atomic.Bool
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		if frozen.CompareAndSwap(false, true) {
			time.Sleep(300 * time.Millisecond)
		}
		return full(c)
	})
	cfg := config(s.url, 30)
	cfg.Load.Rate, cfg.Load.Arrival = 100, "constant"
	all := watch(t, cfg, nil)
	starts := of[*event.Start](all)
	if len(starts) != 30 {
		t.Fatalf("%d requests, want 30", len(starts))
	}
	for i, e := range starts {
		if i > 0 && e.Scheduled-starts[i-1].Scheduled != 10e6 {
			t.Errorf("requests %d and %d are scheduled %v apart, want 10ms", i, i+1, time.Duration(e.Scheduled-starts[i-1].Scheduled))
		}
		if e.At < e.Scheduled {
			t.Errorf("request %d was sent before its time", i+1)
		}
	}
	// One lane, and a server that froze for 300 ms at the first request: the
	// ones behind it waited, and kept the time at which they were due.
	if late := starts[1].At - starts[1].Scheduled; late < 280e6 {
		t.Errorf("the second request is only %v late", time.Duration(late))
	}
	if n := len(of[*event.Skip](all)); n != 0 {
		t.Errorf("%d skips with a short backlog", n)
	}
}

func TestOpenLoopSkipsWhatNobodyCanServe(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		time.Sleep(50 * time.Millisecond)
		return full(c)
	})
	cfg := config(s.url, 8)
	cfg.Load.Rate = 5000
	skipped := 0
	for _, e := range of[*event.Skip](watch(t, cfg, nil)) {
		if e.Reason != event.SkipSchedule || e.Target != 1 || e.Count <= 0 {
			t.Errorf("skip: %+v", e)
		}
		skipped += e.Count
	}
	// 400 ms at 5000 a second, one lane: a few are served and 256 wait.
	if skipped < 1000 {
		t.Errorf("%d skipped, want more than 1000", skipped)
	}
}

func TestOpenLoopLeavesOutWhatIsDueWhileDown(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 3 {
			plain(c, 401, "application/json", `{"error":"who are you"}`)
			return true
		}
		return full(c)
	})
	cfg := config(s.url, 6)
	cfg.Load.Rate = 50
	all := watch(t, cfg, nil)
	skipped := 0
	for _, e := range of[*event.Skip](all) {
		if e.Reason != event.SkipDown {
			t.Errorf("skip: %+v", e)
		}
		skipped += e.Count
	}
	if skipped < 40 { // a second at 50 a second
		t.Errorf("%d skipped while it was down", skipped)
	}
	starts := of[*event.Start](all)
	if len(starts) != 6 {
		t.Fatalf("%d requests, want 6", len(starts))
	}
	down := of[*event.End](all)[2].At
	for _, e := range starts[3:] {
		if e.Scheduled < down+int64(firstBackoff)-int64(100*time.Millisecond) {
			t.Errorf("request %d was due while the target was down", e.Request)
		}
	}
}

func TestFloorIsTold(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { time.Sleep(10 * time.Millisecond); return full(c) })
	cfg := config(s.url, 0)
	cfg.Load.Duration = 500 * time.Millisecond
	all := watch(t, cfg, nil)
	floors := of[*event.Floor](all)
	var reads uint64
	for _, f := range floors {
		reads += f.Reads
		if len(f.Late) != 0 && len(f.Late) != 3 || f.Overshoot < 0 || f.Wall == 0 {
			t.Errorf("floor: %+v", f)
		}
	}
	if len(floors) == 0 || reads == 0 || reads > uint64(len(of[*event.Token](all))) {
		t.Errorf("%d floors tell of %d reads", len(floors), reads)
	}
}

// The schedule begins when warming up is over: no request was due before the
// warm-up's reply had ended.
func TestOpenLoopIsScheduledFromTheEndOfWarmingUp(t *testing.T) {
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 1 {
			time.Sleep(200 * time.Millisecond)
		}
		return full(c)
	})
	cfg := config(s.url, 5)
	cfg.Load.Rate, cfg.Load.Arrival, cfg.Load.Warmup, cfg.Load.Concurrency = 100, "constant", 1, 8
	all := watch(t, cfg, nil)
	var warm int64
	for _, e := range of[*event.End](all) {
		if e.Warmup {
			warm = e.At
		}
	}
	for _, e := range of[*event.Start](all) {
		if !e.Warmup && (warm == 0 || e.Scheduled < warm) {
			t.Errorf("request %d was due at %v, and warming up ended at %v", e.Request, time.Duration(e.Scheduled), time.Duration(warm))
		}
	}
}
