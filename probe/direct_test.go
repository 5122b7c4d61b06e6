package probe

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"teapot/probe/event"
	"teapot/probe/stamp"
)

// speaking is a TLS server that streams two tokens in the protocols given. It
// counts handshakes. strict refuses whoever offers HTTP/1.1 alone, as some
// servers do.
func speaking(t *testing.T, protocols []string, strict bool) (url string, shakes *atomic.Int64) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{role, tok("a"), tok("b"), length, usage(2), done} {
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	}))
	s.EnableHTTP2 = slices.Contains(protocols, "h2")
	shakes = new(atomic.Int64)
	s.TLS = &tls.Config{NextProtos: protocols}
	s.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		shakes.Add(1)
		cfg := s.TLS.Clone()
		cfg.GetConfigForClient = nil
		cfg.NextProtos = protocols
		if strict && slices.Equal(hello.SupportedProtos, []string{"http/1.1"}) {
			cfg.NextProtos = []string{"something/else"}
		}
		return cfg, nil
	}
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, shakes
}

func TestProtocolUnderTLS(t *testing.T) {
	exact := event.SourceRead
	if runtime.GOOS == "linux" {
		exact = event.SourceKernel
	}
	for _, c := range []struct {
		name      string
		protocols []string
		strict    bool
		proto     string
		source    string
	}{
		{"both", []string{"h2", "http/1.1"}, false, "HTTP/1.1", exact},
		{"HTTP/1.1", []string{"http/1.1"}, false, "HTTP/1.1", exact},
		{"no word about it", nil, false, "HTTP/1.1", exact},
		{"HTTP/2 alone", []string{"h2"}, false, "HTTP/2.0", event.SourceRead},
		{"HTTP/2 alone, and it insists", []string{"h2"}, true, "HTTP/2.0", event.SourceRead},
		{"both, but not HTTP/1.1 alone", []string{"h2", "http/1.1"}, true, "HTTP/2.0", event.SourceRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, _ := speaking(t, c.protocols, c.strict)
			cfg := config(url, 3)
			cfg.Targets[0].Insecure = true
			all := watch(t, cfg, nil)
			for _, h := range of[*event.Headers](all) {
				if h.Proto != c.proto || h.Source != c.source {
					t.Errorf("headers: %+v", h)
				}
			}
			for i, e := range of[*event.End](all) {
				if e.Class != event.OKFull {
					t.Errorf("end %d: %+v", i, e)
				}
			}
			for i, e := range of[*event.Start](all) {
				if e.Reused && (e.TLS != 0 || e.TCP != 0) || i > 0 && !e.Reused {
					t.Errorf("start %d: %+v", i, e)
				}
			}
			if n := len(of[*event.End](all)); n != 3 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Once a server is known, no request asks again.
func TestProtocolIsAskedOnce(t *testing.T) {
	for _, c := range []struct {
		name      string
		protocols []string
		first     int64 // handshakes of the first connection
		next      int64 // and of a further one
		want      error
	}{
		{"both", []string{"h2", "http/1.1"}, 1, 1, nil},
		{"no word about it", nil, 2, 1, nil},
		{"HTTP/2 alone", []string{"h2"}, 2, 0, errHTTP2},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, shakes := speaking(t, c.protocols, false)
			rt, err := newTransport(event.TargetConfig{Insecure: true}, "", patience, stamp.NewClock())
			if err != nil {
				t.Fatal(err)
			}
			d := newDirect(base, rt)
			u, _ := url.Parse(base)
			for i, want := range []int64{c.first, c.first + c.next} {
				if !d.serves(u) {
					if c.want == nil {
						t.Fatal("left to others")
					}
					continue
				}
				conn, w, err := d.connect(t.Context(), &trip{clk: stamp.NewClock()})
				if err != c.want || (err == nil) != (w != nil) {
					t.Fatalf("%v, %v", w, err)
				}
				if err == nil {
					conn.Close()
				}
				if got := shakes.Load(); got != want {
					t.Errorf("%d handshakes after connection %d, want %d", got, i+1, want)
				}
			}
			if d.serves(u) != (c.want == nil) {
				t.Error("what it found out is forgotten")
			}
		})
	}
}

func TestWhatGoesDirectly(t *testing.T) {
	t.Setenv("HTTP_PROXY", "")
	for _, c := range []struct{ base, addr string }{
		{"http://h/v1", "h:80"},
		{"https://h/v1", "h:443"},
		{"http://h:8000/v1", "h:8000"},
		{"https://[::1]:8443/v1", "[::1]:8443"},
		{"http://münchen.example/v1", ""},
	} {
		t.Run(c.base, func(t *testing.T) {
			d := newDirect(c.base, &http.Transport{TLSClientConfig: &tls.Config{}})
			if got := d; (got == nil) != (c.addr == "") || got != nil && got.addr != c.addr {
				t.Errorf("%+v", got)
			}
			u, _ := url.Parse(c.base)
			if d.serves(u) != (c.addr != "") || d.serves(&url.URL{Scheme: u.Scheme, Host: "elsewhere"}) {
				t.Error("serves what it cannot, or not what it can")
			}
		})
	}
}

// What TLS needs several reads of the socket for counts as one, and what a read
// of framing alone says is not carried on to the next.
func TestTap(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	clk := stamp.NewClock()
	s := stamp.Wrap(a, clk)
	tap := newTap(s, s)
	if tap.Last().Seq != 0 {
		t.Errorf("before anything: %+v", tap.Last())
	}
	go func() {
		for _, part := range []string{"one", "two", "three"} {
			io.WriteString(b, part)
		}
	}()
	room := make([]byte, 64)
	for want := uint64(1); want <= 3; want++ {
		if _, err := tap.Read(room); err != nil {
			t.Fatal(err)
		}
		if r := tap.Last(); r.Seq != want || r != s.Last() || tap.Joined(0) != r {
			t.Errorf("read %d: %+v, the socket's %+v", want, r, s.Last())
		}
	}
	go func() {
		for _, part := range []string{"four", "five"} {
			io.WriteString(b, part)
		}
	}()
	above := newTap(twice{s}, s)
	if _, err := above.Read(room); err != nil {
		t.Fatal(err)
	}
	if r := above.Last(); r.Seq != 5 || r != s.Joined(3) {
		t.Errorf("two reads in one: %+v, want %+v", r, s.Joined(3))
	}
}

// twice needs two reads of the connection for one above.
type twice struct{ net.Conn }

func (c twice) Read(b []byte) (int, error) {
	if _, err := c.Conn.Read(b); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// quiet is a log that nobody reads: the tests' servers complain of clients that
// leave.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
