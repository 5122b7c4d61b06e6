package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/engine"
	"teapot/probe/engine/signals"
	"teapot/probe/event"
)

// vllmPage is a page of vLLM's after so many output tokens.
func vllmPage(made int) string {
	return fmt.Sprintf("vllm:num_requests_running{engine=\"0\",model_name=\"tiny\"} 3\nvllm:kv_cache_usage_perc 0.5\nvllm:generation_tokens_total %d\n", made)
}

// engineServer answers as vLLM does, with a page of metrics as the test wants
// it. It knows no other path.
func engineServer(t *testing.T, post func(n int, c net.Conn, r *http.Request) bool, page func(c net.Conn, r *http.Request)) *server {
	s := serve(t, post)
	s.get = func(c net.Conn, r *http.Request) bool {
		switch r.URL.Path {
		case "/version":
			plain(c, 200, "application/json", `{"version":"0.11.0"}`)
		case "/v1/models":
			plain(c, 200, "application/json", `{"object":"list","data":[{"id":"tiny","object":"model","owned_by":"vllm","max_model_len":4096}]}`)
		case "/metrics":
			page(c, r)
		default:
			return false
		}
		return true
	}
	return s
}

// slowly answers with tokens until enough is true, and then ends.
func slowly(c net.Conn, enough func() bool) bool {
	io.WriteString(c, streamHead)
	say(c, role)
	n := 0
	for !enough() && n < 3000 {
		say(c, tok("a"))
		n++
		time.Sleep(5 * time.Millisecond)
	}
	say(c, length, usage(n), done)
	io.WriteString(c, lastOne)
	return true
}

// The looks come beside a request, on another connection, with the key.
func TestSignalsBesideARequest(t *testing.T) {
	t.Setenv("TEAPOT_TEST_KEY", "s3cr3t-key-0001")
	var looks atomic.Int64
	var keyed atomic.Bool
	keyed.Store(true)
	s := engineServer(t,
		func(_ int, c net.Conn, _ *http.Request) bool {
			return slowly(c, func() bool { return looks.Load() >= 3 })
		},
		func(c net.Conn, r *http.Request) {
			n := int(looks.Add(1))
			if r.Header.Get("Authorization") != "Bearer s3cr3t-key-0001" {
				keyed.Store(false)
			}
			plain(c, 200, "text/plain; version=0.0.4", vllmPage(100*n))
		})
	cfg := config(s.url, 1)
	cfg.Targets[0].Metrics, cfg.Targets[0].KeyEnv = event.MetricsAuto, "TEAPOT_TEST_KEY"
	all := watch(t, cfg, nil)
	if e := only[*event.End](t, all); !e.Class.OK() {
		t.Errorf("the request: %+v", e)
	}
	got := of[*event.Signal](all)
	if len(got) < 2 || !keyed.Load() {
		t.Fatalf("%d looks, with the key: %v", len(got), keyed.Load())
	}
	last := got[len(got)-1]
	made, ok := last.Value("gen_tokens")
	if kv, _ := last.Value("kv_used"); !ok || made.Delta < 100 || last.Span <= 0 || kv.Value != 0.5 || last.Target != 1 || last.Source != event.SignalMetrics {
		t.Errorf("%+v", last)
	}
	if got[1].At-got[0].At > 5e9 {
		t.Errorf("looks are %d ns apart", got[1].At-got[0].At)
	}
}

// Whatever the page does, requests are made and end as if there were none; and
// what it hides stays hidden.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]func(c net.Conn, gone chan struct{}){
		"hangs":            func(c net.Conn, gone chan struct{}) { <-gone },
		"hangs in between": func(c net.Conn, gone chan struct{}) { io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nvllm:"); <-gone },
		"without end": func(c net.Conn, _ chan struct{}) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			line := strings.Repeat("vllm:num_requests_running{a=\"b\"} 1\n", 2000)
			for {
				if _, err := io.WriteString(c, line); err != nil {
					return
				}
			}
		},
		"labels without end": func(c net.Conn, _ chan struct{}) {
			var b strings.Builder
			for i := range 20_000 {
				fmt.Fprintf(&b, "vllm:request_success_total{finished_reason=\"%d\"} 1\n", i)
			}
			plain(c, 200, "text/plain", b.String())
		},
		"nonsense": func(c net.Conn, _ chan struct{}) {
			plain(c, 200, "text/plain", "\x1b[2J\x00vllm:num_requests_running{\n{}{}{ NaN\n"+strings.Repeat("{", 1000))
		},
		"elsewhere": func(c net.Conn, _ chan struct{}) { plain(c, 302, "text/plain", "", "Location: http://127.0.0.1:1/") },
		"for ever":  func(c net.Conn, _ chan struct{}) { plain(c, 302, "text/plain", "", "Location: /metrics") },
		"no HTTP":   func(c net.Conn, _ chan struct{}) { io.WriteString(c, "\x00\xff\r\n\r\n") },
		"its key": func(c net.Conn, _ chan struct{}) {
			plain(c, 403, "text/plain", "the key s3cr3t-key-0002 is not allowed")
		},
		"closes": func(c net.Conn, _ chan struct{}) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var looked atomic.Bool
			var s *server
			s = engineServer(t,
				func(_ int, c net.Conn, _ *http.Request) bool {
					if !looked.Load() { // the request lasts until it was looked
						return slowly(c, looked.Load)
					}
					return full(c)
				},
				func(c net.Conn, _ *http.Request) {
					looked.Store(true)
					page(c, s.gone)
				})
			cfg := config(s.url, 20)
			cfg.Targets[0].Metrics, cfg.Targets[0].Headers = event.MetricsAuto, []string{"X-Key: s3cr3t-key-0002"}
			all := watch(t, cfg, nil)
			ends := of[*event.End](all)
			if len(ends) != 20 {
				t.Errorf("%d requests, want 20", len(ends))
			}
			for _, e := range ends {
				if !e.Class.OK() {
					t.Errorf("a request: %s (%s)", e.Class, e.Message)
				}
			}
			for _, e := range of[*event.Signal](all) {
				if len(e.Values) > maxSamples || strings.Contains(e.Detail, "s3cr3t") || strings.ContainsAny(e.Detail, "\x1b\n") {
					t.Errorf("%d values, %q", len(e.Values), e.Detail)
				}
			}
			said := map[string]int{}
			for _, e := range of[*event.Note](all) {
				if said[e.Text]++; said[e.Text] > 1 || strings.Contains(e.Text, "s3cr3t") {
					t.Errorf("said %d times: %s", said[e.Text], e.Text)
				}
			}
		})
	}
}

// Off means that nothing is asked; a page elsewhere gets no key.
func TestWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	var own, other atomic.Int64
	var leaked atomic.Bool
	elsewhere := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	elsewhere.get = func(c net.Conn, r *http.Request) bool {
		other.Add(1)
		if r.Header.Get("X-Key") != "" {
			leaked.Store(true)
		}
		plain(c, 200, "text/plain", vllmPage(1))
		return true
	}
	for name, c := range map[string]struct {
		metrics    string
		own, other bool
	}{"off": {"off", false, false}, "nothing said": {"", false, false}, "auto": {"auto", true, false}, "elsewhere": {elsewhere.url + "/page", false, true}} {
		own.Store(0)
		other.Store(0)
		s := engineServer(t,
			func(_ int, conn net.Conn, _ *http.Request) bool {
				until := time.Now().Add(300 * time.Millisecond)
				return slowly(conn, func() bool {
					return (!c.own || own.Load() > 0) && (!c.other || other.Load() > 0) && time.Now().After(until)
				})
			},
			func(c net.Conn, _ *http.Request) {
				own.Add(1)
				plain(c, 200, "text/plain", vllmPage(1))
			})
		cfg := config(s.url, 1)
		cfg.Targets[0].Metrics, cfg.Targets[0].Headers = c.metrics, []string{"X-Key: k"}
		watch(t, cfg, nil)
		if (own.Load() > 0) != c.own || (other.Load() > 0) != c.other || leaked.Load() {
			t.Errorf("%s: %d looks at it, %d elsewhere, leaked %v", name, own.Load(), other.Load(), leaked.Load())
		}
	}
}

func TestMetricsTableOfTheUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# mine\nrunning gauge my_requests\n")
	if table, err := metricsTable(file); err != nil || table == nil {
		t.Errorf("%v", err)
	}
	write("running wrong my_requests\n")
	if _, err := metricsTable(file); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("error %v", err)
	}
	if _, err := metricsTable(file + ".not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// feigned is a thing to look at that says what a test wants.
type feigned struct {
	say   func(n int) (event.Signal, error)
	n     int
	every time.Duration
}

func (f *feigned) Poll(context.Context) (event.Signal, error) { f.n++; return f.say(f.n) }
func (f *feigned) Every() time.Duration                       { return f.every }

// What is absent is said once, and again only if something else is.
func TestAbsenceIsSaidOnce(t *testing.T) {
	var notes []string
	var misses atomic.Int64
	p := &poll{name: "metrics", put: func(*event.Signal) {}, note: func(_, s string) { notes = append(notes, s) }, misses: &misses}
	none := func(why string) error { return &signals.Absent{Why: why} }
	for i, err := range []error{none("a"), none("a"), io.EOF, io.EOF, none("a"), none("b"), nil, none("b"), io.EOF} {
		p.took(&event.Signal{}, err)
		if want := map[int]int64{2: 1, 3: 2, 8: 1}[i]; misses.Load() != want {
			t.Errorf("look %d: %d in a row were missed, want %d", i, misses.Load(), want)
		}
	}
	if got := strings.Join(notes, "; "); got != "metrics: a; metrics: b; metrics: b" {
		t.Errorf("said %s", got)
	}
}

// A stop asks for a look before its turn.
func TestALookBeforeItsTurn(t *testing.T) {
	ep := &endpoint{stall: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	f := &feigned{every: time.Hour}
	f.say = func(n int) (event.Signal, error) {
		switch n {
		case 1:
			ep.lookNow()
			ep.lookNow() // nobody waits for it
		case 2:
			close(done)
		}
		return event.Signal{}, nil
	}
	p := &poll{of: f, name: "metrics", put: func(*event.Signal) {}, note: func(_, _ string) {}, sooner: ep.stall}
	go p.run(ctx)
	<-done // or never: an hour is its turn
	cancel()
}

func TestPauses(t *testing.T) {
	var p pauses
	at := int64(0)
	read := func(gap time.Duration) bool { at += int64(gap); return p.long(at) }
	for i := range 20 {
		if read(20 * time.Millisecond) {
			t.Errorf("read %d", i)
		}
	}
	if read(150*time.Millisecond) || !read(400*time.Millisecond) || read(20*time.Millisecond) {
		t.Error("eight usual ones, and a tenth of a second, make a long one")
	}
	var slow pauses
	for i, gap := range []int64{0, 900, 900, 900, 900, 900} {
		at += gap * 1e6
		if slow.long(at) {
			t.Errorf("read %d of a slow stream", i)
		}
	}
}

func TestSameServer(t *testing.T) {
	a := engine.Detection{Engine: "vLLM", Version: "1", Model: "m", Slots: 1}
	b := a
	if b.Slots = 2; !sameServer(&a, &b) {
		t.Error("it is the same")
	}
	if b.Version = "2"; sameServer(&a, &b) {
		t.Error("it is another")
	}
}
