package probe

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

// server is a loopback TCP server that sends scripted bytes. It lists one
// model; everything else that is asked with GET it does not know.
type server struct {
	url   string
	post  func(n int, c net.Conn, r *http.Request) (keep bool) // request n, from 1
	get   func(c net.Conn, r *http.Request) (done bool)        // nil: the list of models
	raw   func(c net.Conn)                                     // instead of HTTP/1.1
	posts atomic.Int64
	conns atomic.Int64
	gone  chan struct{} // closed when the test is over
}

// serve starts a server that lives as long as the test.
func serve(t testing.TB, post func(n int, c net.Conn, r *http.Request) bool) *server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, ln, "http://"+ln.Addr().String(), post)
}

// serveOn starts a server on a listener that url leads to.
func serveOn(t testing.TB, ln net.Listener, url string, post func(n int, c net.Conn, r *http.Request) bool) *server {
	t.Helper()
	s := &server{url: url, post: post, gone: make(chan struct{})}
	s.listen(t, ln)
	return s
}

// listen serves for as long as the test lives.
func (s *server) listen(t testing.TB, ln net.Listener) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		close(s.gone)
		ln.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() { s.talk(c) })
		}
	})
}

func (s *server) talk(c net.Conn) {
	defer c.Close()
	if s.raw != nil {
		s.raw(c)
		return
	}
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if r.Method == http.MethodPost {
			if !s.post(int(s.posts.Add(1)), c, r) {
				return
			}
			continue
		}
		switch {
		case s.get != nil && s.get(c, r):
		case r.URL.Path == "/v1/models":
			plain(c, 200, "application/json", `{"object":"list","data":[{"id":"tiny","object":"model","owned_by":"us"}]}`)
		default:
			plain(c, 404, "text/plain", "not found")
		}
	}
}

// plain answers with a whole body.
func plain(w io.Writer, status int, kind, body string, header ...string) {
	fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", status, http.StatusText(status), kind, len(body))
	for _, h := range header {
		fmt.Fprintf(w, "%s\r\n", h)
	}
	fmt.Fprintf(w, "\r\n%s", body)
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// say writes events, each in a chunk and a write of its own.
func say(w io.Writer, events ...string) {
	for _, e := range events {
		fmt.Fprintf(w, "%x\r\n%s\r\n", len(e), e)
	}
}

// Events of a chat stream.
const (
	role    = `data: {"model":"tiny","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	length  = `data: {"model":"tiny","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n"
	done    = "data: [DONE]\n\n"
	comment = ": keep-alive\n\n"
	lastOne = "0\r\n\r\n"
)

func tok(text string) string {
	return fmt.Sprintf(`data: {"model":"tiny","choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", text)
}

func usage(n int) string {
	return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":%d}}`+"\n\n", n)
}

// full answers with a whole stream of two tokens.
func full(c net.Conn) bool {
	io.WriteString(c, streamHead)
	say(c, role, tok("a"), tok("b"), length, usage(2), done)
	io.WriteString(c, lastOne)
	return true
}

// config asks url for n requests of two tokens.
func config(url string, n int) event.Config {
	return event.Config{
		Targets: []event.TargetConfig{{URL: url}},
		Load:    event.Load{Requests: n, MaxTokens: 2, PromptTokens: 16, Seed: 1, Concurrency: 1},
		Text:    true,
	}
}

// watch runs a probe to its end and returns everything it said. on, if given,
// sees every event as it comes and may send controls.
func watch(t testing.TB, cfg event.Config, on func(ev event.Event, controls chan<- event.Control)) []event.Event {
	t.Helper()
	pr, pw := io.Pipe()
	controls := make(chan event.Control, 16)
	failed := make(chan error, 1)
	go func() {
		out, err := record.NewWriter(pw, record.Options{Text: true})
		if err == nil {
			err = Run(t.Context(), cfg, controls, out, stamp.NewClock())
		}
		pw.CloseWithError(err)
		failed <- err
	}()
	r, err := record.NewReader(pr)
	if err != nil {
		t.Fatal(err)
	}
	var all []event.Event
	for {
		ev, err := r.Next()
		if err != nil {
			break
		}
		all = append(all, ev)
		if on != nil {
			on(ev, controls)
		}
	}
	err = <-failed
	if f := of[*event.Finished](all); len(f) == 1 && (f[0].Reason == ReasonNever) != errors.Is(err, ErrNeverAnswered) {
		t.Errorf("run: %v, and it finished %+v", err, f[0])
	}
	if err != nil && !errors.Is(err, ErrNeverAnswered) {
		t.Fatalf("run: %v", err)
	}
	if d := r.Damage(); d != "" {
		t.Fatalf("what was written is damaged: %s", d)
	}
	return all
}

// of picks the events of one type.
func of[E event.Event](events []event.Event) []E {
	var some []E
	for _, ev := range events {
		if e, ok := ev.(E); ok {
			some = append(some, e)
		}
	}
	return some
}

// only is the one event of its type.
func only[E event.Event](t testing.TB, events []event.Event) E {
	t.Helper()
	some := of[E](events)
	if len(some) != 1 {
		t.Fatalf("%d events of type %T, want 1", len(some), *new(E))
	}
	return some[0]
}

// same compares and shows the difference.
func same(t testing.TB, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, append(opts, cmpopts.EquateEmpty())...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
