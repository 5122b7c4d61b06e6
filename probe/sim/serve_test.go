package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// tcp runs f with an engine on a real loopback socket and returns the truth
// log.
func tcp(t testing.TB, o Options, f func(url string, c *http.Client)) []byte {
	t.Helper()
	var log bytes.Buffer
	o.Truth = &log
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, ln) }()
	tr := &http.Transport{MaxIdleConnsPerHost: 100}
	f("http://"+ln.Addr().String(), &http.Client{Transport: tr})
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve returns %v", err)
	}
	tr.CloseIdleConnections()
	return log.Bytes()
}

// count posts one chat request and counts its content events.
func count(c *http.Client, url string, tokens, who int) (int, error) {
	body := fmt.Sprintf(`{"messages":[{"role":"user","content":"%d"}],"stream":true,"max_tokens":%d,"ignore_eos":true}`, who, tokens)
	res, err := c.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if !bytes.HasSuffix(b, []byte("data: [DONE]\n\n")) {
		return 0, fmt.Errorf("status %d, a body of %d bytes without an end, %w", res.StatusCode, len(b), err)
	}
	return bytes.Count(b, []byte(`"token_ids":null`)), err
}

// TestManyStreams: 64 at once on real sockets, twice each on the same
// connections, in both modes; every token arrives and is in the truth log.
func TestManyStreams(t *testing.T) {
	for _, profile := range []string{"lockstep", "article"} {
		t.Run(profile, func(t *testing.T) {
			const streams, tokens = 64, 40
			log := tcp(t, Options{Profile: profile, Seed: 1}, func(url string, c *http.Client) {
				var wg sync.WaitGroup
				for i := range streams {
					wg.Go(func() {
						for range 2 {
							if n, err := count(c, url, tokens, i); err != nil || n != tokens {
								t.Errorf("stream %d: %d tokens, %v", i, n, err)
							}
						}
					})
				}
				wg.Wait()
			})
			facts, _, ends := facts(t, log)
			if len(facts) != 2*streams*tokens || len(ends) != 2*streams {
				t.Errorf("the truth log has %d tokens and %d ends", len(facts), len(ends))
			}
			for _, f := range facts {
				if f.T < f.Before || f.Before < f.Sched {
					t.Errorf("scheduled %d, written from %d to %d", f.Sched, f.Before, f.T)
				}
			}
		})
	}
}

// TestArticleFollowsItsLaw: in a bubble, where every write is on time, the
// gaps of the truth log are the law's, and so are those of any one stream, as
// far as so few can tell.
func TestArticleFollowsItsLaw(t *testing.T) {
	bubble(t, Options{Profile: "article", Seed: 9}, func(w *world) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { w.ask(usual + `,"max_tokens":2500`) })
		}
		wg.Wait()
		tokens, faults, _ := w.facts()
		last := map[string]fact{}
		var gaps []float64
		var sum time.Duration
		for _, f := range tokens {
			if before, ok := last[f.Req]; ok {
				if *f.I != *before.I+1 {
					w.Errorf("%s: token %d after %d", f.Req, *f.I, *before.I)
				}
				gaps = append(gaps, float64(f.T-before.T))
				sum += time.Duration(f.T - before.T)
			}
			last[f.Req] = f
		}
		if len(gaps) != 8*2499 || len(faults) != 0 {
			w.Fatalf("%d gaps, %d faults", len(gaps), len(faults))
		}
		law := ArticleLaw()
		// The share of gaps below the law's quantile, instead of the quantile of
		// the gaps: off by a few of 20 000 at most.
		for _, p := range []float64{0.1, 0.5, 0.9, 0.99, 0.999} {
			below := 0
			for _, g := range gaps {
				if g <= float64(law.Quantile(p)) {
					below++
				}
			}
			if share := float64(below) / float64(len(gaps)); share < p-0.001 || share > p+0.001 {
				w.Errorf("%.2f %% of the gaps are within the law's P%g", share*100, p*100)
			}
		}
		if mean := sum / time.Duration(len(gaps)); !near(mean, law.Mean(), 0.01) {
			w.Errorf("mean gap %v, want %v", mean, law.Mean())
		}
	})
}

// TestArticleFirstToken comes some 25 ms after the request.
func TestArticleFirstToken(t *testing.T) {
	bubble(t, Options{Profile: "article"}, func(w *world) {
		for range 5 {
			began := time.Now()
			r := w.ask(usual + `,"max_tokens":2`)
			if d := r.events[0].at.Sub(began); d < 22*time.Millisecond || d > 28*time.Millisecond {
				w.Errorf("first token after %v", d)
			}
		}
	})
}

func TestHandlerAlone(t *testing.T) {
	e, err := New(Options{Profile: "lockstep"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	srv := httptest.NewServer(e.Handler())
	for range 2 {
		if n, err := count(srv.Client(), srv.URL, 5, 1); n != 5 || err != nil {
			t.Errorf("%d tokens, %v", n, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run returns %v", err)
	}
	res, err := srv.Client().Post(srv.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"x"}`))
	if err != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("after the end: %v, %v", res.StatusCode, err)
	}
	res.Body.Close()
	srv.Close()
	if err := e.Run(t.Context()); !errors.Is(err, errRan) {
		t.Errorf("a second Run returns %v", err)
	}
}

// TestEndCutsStreams: Serve does not wait for replies under way.
func TestEndCutsStreams(t *testing.T) {
	bubble(t, Options{Profile: "smooth"}, func(w *world) {
		got := make(chan reply)
		go func() { got <- w.ask(usual + `,"max_tokens":5000`) }()
		whole := make(chan reply)
		go func() { whole <- w.ask(`"max_tokens":5000`) }()
		time.Sleep(time.Second)
		go w.stop()
		if r := <-got; r.err == nil || r.done || r.tokens == 0 {
			w.Errorf("the stream ends with %v after %d tokens", r.err, r.tokens)
		}
		if r := <-whole; r.err == nil && r.status == 200 {
			w.Errorf("the document is %q", r.body)
		}
		synctest.Wait()
	})
}

type brokenWriter struct{}

var errDisk = errors.New("disk full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errDisk }

func TestTruthLogFailureIsReported(t *testing.T) {
	e, err := New(Options{Profile: "smooth", Truth: brokenWriter{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ctx); !errors.Is(err, errDisk) {
		t.Errorf("Run returns %v", err)
	}
}

func TestListenAgain(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr()
	ln.Close()
	again, err := listenAgain(t.Context(), addr)
	if err != nil || again.Addr().String() != addr.String() {
		t.Fatalf("%v instead of %v: %v", again, addr, err)
	}
	again.Close()
}

func TestListenerFailureEndsServe(t *testing.T) {
	e, err := New(Options{Profile: "smooth"})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := e.Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve returns %v", err)
	}
}

func TestClocksDoNotWakeEarly(t *testing.T) {
	for _, c := range []Clock{SystemClock(), RuntimeClock()} {
		for i := range 20 {
			target := c.Now() + int64(i)*200_000 - 400_000
			c.SleepUntil(target)
			if now := c.Now(); now < target {
				t.Errorf("%s: woke %v early", c.Name(), time.Duration(target-now))
			}
		}
	}
}

// BenchmarkToken is the whole path of a token, from the decode loop to the
// socket and into the truth log, with a reader on the other end.
func BenchmarkToken(b *testing.B) {
	a, z := socketPair(b)
	go func() { _, _ = io.Copy(io.Discard, z) }()
	q := &request{chat: true, stream: true, usage: true, everyUsage: true, prompt: 10, max: 1 << 60, ignoreEOS: true}
	e, err := New(Options{Profile: "article", Truth: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	s := newStream("bench", q, nil, 1, e.prose)
	s.frame = newFramer(s.id, e.opt.Model, 1, q, true)
	s.out = e.newOut(a)
	stop := make(chan struct{})
	go e.truth.run(stop)
	b.ReportAllocs()
	for b.Loop() {
		s.emit(1, e.clock.Now())
	}
	close(stop)
}

func socketPair(b *testing.B) (net.Conn, net.Conn) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	z, err := ln.Accept()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close(); z.Close() })
	return a, z
}
