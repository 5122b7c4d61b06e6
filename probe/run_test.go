package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

func TestInterrupted(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return hang(c) })
	ctx, cancel := context.WithCancel(t.Context())
	out := &strings.Builder{}
	w, err := record.NewWriter(out, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for s.posts.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if err := Run(ctx, config(s.url, 0), nil, w, stamp.NewClock()); err != nil {
		t.Fatal(err)
	}
	all := recorded(t, out.String())
	if e := only[*event.End](t, all); e.Class != event.Aborted {
		t.Errorf("end: %+v", e)
	}
	if f := only[*event.Finished](t, all); f.Complete || f.Reason != ReasonInterrupted {
		t.Errorf("finished: %+v", f)
	}
}

// recorded reads a whole recording.
func recorded(t testing.TB, s string) (all []event.Event) {
	t.Helper()
	r, err := record.NewReader(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
}

// broken is an output whose reader went away after the header.
type broken struct{ writes int }

func (b *broken) Write(p []byte) (int, error) {
	if b.writes++; b.writes > 1 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestEndsWithItsOutput(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	w, err := record.NewWriter(&broken{}, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), config(s.url, 0), nil, w, stamp.NewClock()); err == nil || !strings.Contains(err.Error(), "closed pipe") {
		t.Errorf("error %v, want that of the pipe", err)
	}
}

func TestConfigurationsThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name   string
		target *event.TargetConfig
		want   string
	}{
		{"no target", nil, "no target"},
		{"no host", &event.TargetConfig{URL: "http://"}, "host"},
		{"scheme", &event.TargetConfig{URL: "ftp://h"}, "http and https"},
		{"garbage", &event.TargetConfig{URL: "http://u:secret@h:port"}, "no URL"},
		{"dialect", &event.TargetConfig{URL: "http://h", API: "smoke signals"}, "smoke signals"},
		{"header", &event.TargetConfig{URL: "http://h", Headers: []string{"no colon"}}, "header 1"},
		{"certificate", &event.TargetConfig{URL: "http://h", CACert: "/nowhere/ca.pem"}, "CA certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cfg event.Config
			if c.target != nil {
				cfg.Targets = append(cfg.Targets, *c.target)
			}
			w, err := record.NewWriter(io.Discard, record.Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = Run(t.Context(), cfg, nil, w, stamp.NewClock())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// stuck is an output whose reader stopped reading after the header.
type stuck struct {
	writes int
	free   chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.writes++; s.writes > 1 {
		<-s.free
	}
	return len(p), nil
}

func TestAbortWaitsForNobody(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return hang(c) })
	out := &stuck{free: make(chan struct{})}
	w, err := record.NewWriter(out, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	controls := make(chan event.Control, 1)
	go func() {
		for s.posts.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		controls <- event.Control{Do: event.DoAbort}
	}()
	err = Run(t.Context(), config(s.url, 0), controls, w, stamp.NewClock())
	if err == nil || !strings.Contains(err.Error(), "nobody read them") {
		t.Errorf("error %v", err)
	}
	close(out.free)
}

func TestClosedControlsMeanNothing(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	w, err := record.NewWriter(io.Discard, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	controls := make(chan event.Control)
	close(controls)
	if err := Run(t.Context(), config(s.url, 3), controls, w, stamp.NewClock()); err != nil {
		t.Error(err)
	}
	if n := s.posts.Load(); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}
