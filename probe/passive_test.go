package probe

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/sim"
)

// passive is a run without requests.
func passive(url string) event.Config {
	cfg := config(url, 0)
	cfg.Load.Passive, cfg.Load.Duration = true, time.Hour
	cfg.Targets[0].Metrics = event.MetricsAuto
	return cfg
}

// until stops a run once enough is true of an event.
func until(enough func(ev event.Event) bool) func(event.Event, chan<- event.Control) {
	return func(ev event.Event, controls chan<- event.Control) {
		if enough(ev) {
			select {
			case controls <- event.Control{Do: event.DoStop}:
			default:
			}
		}
	}
}

// The signals flow, and nothing but GET is ever sent.
func TestPassive(t *testing.T) {
	t.Parallel()
	var looks atomic.Int64
	s := engineServer(t,
		func(_ int, c net.Conn, r *http.Request) bool {
			t.Errorf("a request: POST %s", r.URL)
			return full(c)
		},
		func(c net.Conn, _ *http.Request) {
			plain(c, 200, "text/plain", vllmPage(int(100*looks.Add(1))))
		})
	all := watch(t, passive(s.url), until(func(ev event.Event) bool {
		sig, ok := ev.(*event.Signal)
		return ok && sig.Span > 0
	}))
	if n := len(of[*event.Start](all)) + len(of[*event.End](all)); n > 0 || s.posts.Load() > 0 {
		t.Errorf("%d events of requests, %d POSTs", n, s.posts.Load())
	}
	states := map[event.State]bool{}
	for _, e := range of[*event.Target](all) {
		states[e.State] = true
	}
	if !states[event.StateLive] || states[event.StateDown] {
		t.Errorf("states: %v", states)
	}
	if ses := only[*event.Session](t, all); !ses.Load.Passive {
		t.Errorf("the session says nothing of it: %+v", ses.Load)
	}
}

// A run of limited time ends well, though nothing was asked.
func TestPassiveEnds(t *testing.T) {
	t.Parallel()
	s := engineServer(t,
		func(_ int, c net.Conn, r *http.Request) bool { t.Errorf("a request: POST %s", r.URL); return full(c) },
		func(c net.Conn, _ *http.Request) { plain(c, 200, "text/plain", vllmPage(1)) })
	cfg := passive(s.url)
	cfg.Load.Duration, cfg.GiveUp = 300*time.Millisecond, true
	if f := only[*event.Finished](t, watch(t, cfg, nil)); !f.Complete || f.Reason != ReasonDuration {
		t.Errorf("finished: %+v", f)
	}
}

// A target that is not there is said to be down, and a report gives up on it.
func TestPassiveWithoutATarget(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String()
	ln.Close()
	cfg := passive(url)
	cfg.GiveUp = true
	all := watch(t, cfg, nil)
	if f := only[*event.Finished](t, all); f.Complete || f.Reason != ReasonNever {
		t.Errorf("finished: %+v", f)
	}
	down := false
	for _, e := range of[*event.Target](all) {
		down = down || e.State == event.StateDown && e.Detail != ""
	}
	if !down {
		t.Error("it is not said to be down")
	}
}

// The built-in engine, whose page has everything.
func TestPassiveOfTheBuiltInEngine(t *testing.T) {
	t.Parallel()
	e, err := sim.New(sim.Options{Profile: "smooth", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	url := "http://" + ln.Addr().String()
	all := watch(t, passive(url), until(func(ev event.Event) bool {
		sig, ok := ev.(*event.Signal)
		if !ok || sig.Span == 0 {
			return false
		}
		_, running := sig.Value("running")
		_, kv := sig.Value("kv_used")
		_, preempted := sig.Value("preemptions")
		_, ttft := sig.Value("ttft_count")
		return running && kv && preempted && ttft
	}))
	if f := only[*event.Finished](t, all); f.Reason != ReasonStopped {
		t.Errorf("finished: %+v", f)
	}
}
