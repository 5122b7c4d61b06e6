package probe

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/stamp"
)

// slowDoor is a listener whose connections take their time before they can be
// used: the first read of each waits.
type slowDoor struct {
	net.Listener
	wait time.Duration
}

type slowConn struct {
	net.Conn
	wait time.Duration
}

func (l slowDoor) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &slowConn{c, l.wait}, nil
}

func (c *slowConn) Read(b []byte) (int, error) {
	time.Sleep(c.wait)
	c.wait = 0
	return c.Conn.Read(b)
}

// secure is a TLS server that streams two tokens to whoever asks.
func secure(t *testing.T, h2 bool, shake time.Duration) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Connection", "close") // detection leaves no connection behind
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{role, tok("a"), tok("b"), length, usage(2), done} {
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	}))
	s.EnableHTTP2 = h2
	if shake > 0 {
		s.Listener = slowDoor{s.Listener, shake}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// trust writes the server's certificate where a target can name it.
func trust(t *testing.T, s *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConnectingIsNotInTTFT(t *testing.T) {
	t.Parallel()
	const shake = 250 * time.Millisecond
	s := secure(t, false, shake)
	cfg := config(s.URL, 1)
	cfg.Targets[0].CACert = trust(t, s)
	all := watch(t, cfg, nil)
	start, tokens := only[*event.Start](t, all), of[*event.Token](all)
	if e := only[*event.End](t, all); e.Class != event.OKFull {
		t.Fatalf("end: %+v", e)
	}
	if start.Reused || start.TLS < int64(shake) || start.TCP <= 0 {
		t.Errorf("start: %+v, want a handshake of at least %v", start, shake)
	}
	var announced int64
	for _, e := range of[*event.Target](all) {
		if e.State == event.StateConnecting {
			announced = e.At
		}
	}
	// The handshake lies before sent, whole.
	if start.At-announced < start.TLS {
		t.Errorf("sent %v after the state before, with a handshake of %v", time.Duration(start.At-announced), time.Duration(start.TLS))
	}
	if tokens[0].At < start.At {
		t.Errorf("first token at %d, sent at %d", tokens[0].At, start.At)
	}
}

func TestTLSIsStampedByTheKernel(t *testing.T) {
	s := secure(t, false, 0)
	cfg := config(s.URL, 2)
	cfg.Targets[0].Insecure = true
	all := watch(t, cfg, nil)
	plainServer := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	want := of[*event.Headers](watch(t, config(plainServer.url, 1), nil))[0].Source
	for _, h := range of[*event.Headers](all) {
		if h.Source != want {
			t.Errorf("source %q under TLS, %q without", h.Source, want)
		}
	}
	if ends := of[*event.End](all); len(ends) != 2 || !ends[1].Class.OK() || len(of[*event.Token](all)) != 4 {
		t.Errorf("ends: %+v", ends)
	}
}

func TestHTTP2IsStampedByTheRead(t *testing.T) {
	s := secure(t, true, 0)
	cfg := config(s.URL, 4)
	cfg.Targets[0].Insecure, cfg.Load.Concurrency = true, 2
	all := watch(t, cfg, nil)
	for _, h := range of[*event.Headers](all) {
		if h.Proto != "HTTP/2.0" || h.Source != event.SourceRead {
			t.Errorf("headers: %+v", h)
		}
	}
	starts := map[uint64]int64{}
	for _, e := range of[*event.Start](all) {
		starts[e.Request] = e.At
	}
	tokens := of[*event.Token](all)
	for _, tok := range tokens {
		if tok.Late != 0 || tok.At < starts[tok.Request] {
			t.Errorf("token: %+v of a request sent at %d", tok, starts[tok.Request])
		}
	}
	if len(tokens) != 8 || len(starts) != 4 {
		t.Errorf("%d tokens of %d requests, want 8 of 4", len(tokens), len(starts))
	}
}

func TestReusedConnections(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	all := watch(t, config(s.url, 5), nil)
	for i, e := range of[*event.Start](all) {
		if e.Reused && (e.DNS != 0 || e.TCP != 0 || e.TLS != 0) || i > 0 && !e.Reused {
			t.Errorf("start %d: %+v", i+1, e)
		}
	}
	if n := s.conns.Load(); n > 2 {
		t.Errorf("%d connections for one stream", n)
	}
}

func TestRedirectsTakeNothingElsewhere(t *testing.T) {
	const canary = "sk-canary-redirect"
	t.Setenv("TEAPOT_TEST_KEY", canary)
	asked := make(chan http.Header, 16)
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked <- r.Header }))
	defer thief.Close()
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		plain(c, 308, "text/plain", "", "Location: "+thief.URL+"/v1/chat/completions")
		return true
	})
	s.get = func(c net.Conn, _ *http.Request) bool {
		plain(c, 302, "text/plain", "", "Location: "+thief.URL+"/v1/models")
		return true
	}
	cfg := config(s.url, 1)
	cfg.Targets[0].KeyEnv = "TEAPOT_TEST_KEY"
	e := only[*event.End](t, watch(t, cfg, nil))
	if e.Class != event.ErrHTTP || !strings.Contains(e.Message, "redirects to "+thief.URL) {
		t.Errorf("end: %+v", e)
	}
	select {
	case h := <-asked:
		t.Errorf("the other server was asked, with %v", h)
	default:
	}
}

func TestRedirectsWithinTheServerAreFollowed(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	s.get = func(c net.Conn, r *http.Request) bool {
		if r.URL.Path != "/v1/models" {
			return false
		}
		plain(c, 307, "text/plain", "", "Location: /list")
		return true
	}
	client := newClient(&http.Transport{DisableKeepAlives: true})
	resp, err := client.Get(s.url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Request.URL.Path != "/list" {
		t.Errorf("ended at %s", resp.Request.URL)
	}
	resp, err = client.Get(s.url + "/v1/models?loop=1")
	if err == nil {
		resp.Body.Close()
	}
}

func TestProxyNeverForLoopback(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.invalid:3128")
	for _, host := range []string{"localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"} {
		r := &http.Request{URL: &url.URL{Scheme: "http", Host: host + ":8000"}}
		if u, err := proxy(r); u != nil || err != nil {
			t.Errorf("%s goes through %v (%v)", host, u, err)
		}
	}
	for host, want := range map[string]bool{"localhost": true, "example.org": false, "10.0.0.1": false, "::1": true, "127.0.0.1.evil.org": false} {
		if got := loopback(host); got != want {
			t.Errorf("loopback(%q) = %v", host, got)
		}
	}
}

func TestWireKnowsWhenARequestLeaves(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	go io.Copy(io.Discard, b)
	clk := stamp.NewClock()
	w := &wire{Conn: stamp.Wrap(a, clk), clk: clk}
	if wireOf(tls.Client(w, &tls.Config{})) != w || wireOf(w) != w || wireOf(a) != nil {
		t.Error("the connection is not found under TLS")
	}
	if stamp.Of(tls.Client(w, &tls.Config{})) != w.Conn {
		t.Error("the stamped connection is not found under TLS")
	}
	var sent []int64
	tr := &trip{clk: clk, onSent: func(at, wrote int64, _ event.Start) { sent = append(sent, at, wrote) }}
	fmt.Fprint(w, "not of a request")
	if tr.sent.Load() != 0 {
		t.Error("left before it was its turn")
	}
	before := clk.Now()
	w.next.Store(tr)
	fmt.Fprint(w, "the request")
	after := clk.Now()
	fmt.Fprint(w, "its rest")
	if at := tr.sent.Load(); at < before || at > after {
		t.Errorf("left at %d, between %d and %d", at, before, after)
	}
	if len(sent) != 2 || sent[0] != tr.sent.Load() || sent[1] < 0 {
		t.Errorf("announced %v", sent)
	}
	tr.never(99)
	if len(sent) != 2 {
		t.Error("announced twice")
	}
}

func TestHeaderOrder(t *testing.T) {
	t.Setenv("TEAPOT_TEST_KEY", "the-key")
	for _, c := range []struct {
		name    string
		url     string
		headers []string
		want    string
	}{
		{"key", "http://h", nil, "Bearer the-key"},
		{"userinfo before key", "http://u:p@h", nil, "Basic dTpw"},
		{"header before all", "http://u:p@h", []string{"authorization: Token x"}, "Token x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := event.TargetConfig{URL: c.url, Headers: c.headers, KeyEnv: "TEAPOT_TEST_KEY"}
			ep, err := newEndpoint(1, target, &event.Config{}, time.Second, 0, stamp.NewClock())
			if err != nil {
				t.Fatal(err)
			}
			if got := ep.speech.Load().header.Get("Authorization"); got != c.want {
				t.Errorf("Authorization: %q, want %q", got, c.want)
			}
			if u := ep.speech.Load().url; u.User != nil || u.String() != "http://h/v1/chat/completions" {
				t.Errorf("asks at %s", u.Redacted())
			}
		})
	}
}

func TestQueryGoesWithTheRequest(t *testing.T) {
	var asked string
	s := serve(t, func(_ int, c net.Conn, r *http.Request) bool { asked = r.URL.String(); return full(c) })
	cfg := config(s.url+"/deep/v1?api-version=2", 1)
	cfg.Targets[0].API = "completions"
	watch(t, cfg, nil)
	if asked != "/deep/v1/completions?api-version=2" {
		t.Errorf("asked %s", asked)
	}
}

func TestDetectionEndsWithTheRun(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	s.get = func(c net.Conn, _ *http.Request) bool { hang(c); return true }
	cfg := config(s.url, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ep, err := newEndpoint(1, cfg.Targets[0], &cfg, time.Second, 0, stamp.NewClock())
	if err != nil {
		t.Fatal(err)
	}
	defer ep.rt.CloseIdleConnections()
	if err := ep.detect(ctx); err == nil {
		t.Error("no error though nothing was answered")
	}
}
