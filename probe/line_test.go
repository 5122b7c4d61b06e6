package probe

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
)

// patience is how long a test's server waits for a sign that must come.
const patience = 20 * time.Second

// An event is handed on when its own bytes are there, and bears their stamp,
// however long the rest of its chunk takes.
func TestAChunkOverTwoReadsHoldsNoEventBack(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second string // of the payload of one chunk
		more          string // what comes with first behind it
	}{
		{"between two events", tok("a"), tok("b"), ""},
		{"inside the second", tok("a") + tok("b")[:9], tok("b")[9:], ""},
		{"before the end of the chunk", tok("a"), "", "\r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := make(chan struct{})
			s := serve(t, func(_ int, w net.Conn, _ *http.Request) bool {
				fmt.Fprintf(w, "%s%x\r\n%s%s", streamHead, len(c.first+c.second), c.first, c.more)
				select {
				case <-seen:
				case <-time.After(patience):
					t.Error("the first event was held back")
				}
				io.WriteString(w, c.second+strings.TrimPrefix("\r\n", c.more))
				if c.second == "" {
					say(w, tok("b"))
				}
				say(w, length, usage(2), done)
				io.WriteString(w, lastOne)
				return true
			})
			var asked int64
			all := watch(t, config(s.url, 1), func(ev event.Event, _ chan<- event.Control) {
				if tok, ok := ev.(*event.Token); ok && asked == 0 {
					asked = tok.At
					close(seen)
				}
			})
			tokens := of[*event.Token](all)
			if e := only[*event.End](t, all); len(tokens) != 2 || e.Class != event.OKFull {
				t.Fatalf("%d tokens, end %+v", len(tokens), e)
			}
			exact := only[*event.Headers](t, all).Source == event.SourceKernel
			if tokens[1].At <= tokens[0].At || tokens[1].Burst != 0 || exact && c.name == "between two events" && tokens[0].Merged {
				t.Errorf("tokens %+v and %+v", tokens[0], tokens[1])
			}
		})
	}
}

// A connection that the server has closed meanwhile is seen before anything is
// sent on it, and one that says something unasked is not listened to.
func TestAConnectionThatStirredIsNotUsed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it cannot be known here before it is used")
	}
	for _, c := range []struct{ name, unasked string }{
		{"closed", ""},
		{"spoke", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(_ int, w net.Conn, _ *http.Request) bool {
				io.WriteString(w, streamHead)
				say(w, role, tok("a"), tok("b"), length, usage(2), done)
				io.WriteString(w, lastOne+c.unasked)
				return c.unasked != ""
			})
			cfg := config(s.url, 3)
			cfg.Load.Pause = 20 * time.Millisecond
			all := watch(t, cfg, nil)
			for _, e := range of[*event.End](all) {
				// On a slow machine the news may come behind the request: then
				// it is sent again.
				if e.Class != event.OKFull && !e.SentAgain() {
					t.Errorf("end: %+v", e)
				}
			}
			if n := s.conns.Load(); n < 3 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// What statistics need to recognise the stall of a new connection.
func TestStartsAndHeadersDescribeTheConnection(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	cfg := config(s.url, 3)
	cfg.Load.Pause = 30 * time.Millisecond
	all := watch(t, cfg, nil)
	for i, e := range of[*event.Start](all) {
		if want := i > 0; e.Reused != want || want && e.Idle < int64(cfg.Load.Pause) || !want && (e.Idle != 0 || e.TCP <= 0) {
			t.Errorf("start %d: %+v", i+1, e)
		}
		if e.Idle > e.At {
			t.Errorf("start %d: idle longer than the session is old: %+v", i+1, e)
		}
	}
	for _, h := range of[*event.Headers](all) {
		if (h.RTT > 0) != (runtime.GOOS == "linux") || h.RTT > int64(patience) {
			t.Errorf("headers: %+v", h)
		}
	}
	if n := s.conns.Load(); n != 2 { // one of detection's
		t.Errorf("%d connections", n)
	}
}

// A server may answer before it has read the request, and close.
func TestAnAnswerBeforeTheRequestIsRead(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			head := make([]byte, 64)
			n, _ := io.ReadAtLeast(c, head, 4)
			if string(head[:4]) == "GET " {
				plain(c, 404, "text/plain", "", "Connection: close")
				c.Close()
				continue
			}
			plain(c, 413, "text/plain", "too long for us", "Connection: close")
			_ = c.(*net.TCPConn).CloseWrite()
			// The rest is taken, slowly, or its reset would overtake the answer.
			for err == nil && n > 0 {
				n, err = c.Read(head)
			}
			c.Close()
		}
	}()
	cfg := config("http://"+ln.Addr().String(), 1)
	cfg.Prompts = []string{strings.Repeat("long ", 20_000)}
	e := only[*event.End](t, watch(t, cfg, nil))
	if e.Class != event.ErrParam || e.Status != 413 || !strings.Contains(e.Message, "too long for us") {
		t.Errorf("end: %+v", e)
	}
}

// A limit ends a request whose bytes nobody takes.
func TestALimitEndsABlockedWrite(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	gone := make(chan struct{})
	defer close(gone)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				head := make([]byte, 4)
				io.ReadFull(c, head)
				if string(head) == "GET " {
					plain(c, 404, "text/plain", "", "Connection: close")
					return
				}
				<-gone
			}()
		}
	}()
	cfg := config("http://"+ln.Addr().String(), 1)
	cfg.Limits.First = 200 * time.Millisecond
	cfg.Prompts = []string{strings.Repeat("long ", 3<<20)}
	all := watch(t, cfg, nil)
	if e := only[*event.End](t, all); e.Class != event.ErrFirst || e.Limit != int64(cfg.Limits.First) {
		t.Errorf("end: %+v", e)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err) // no such sockets here
	}
	var asked []string
	s := serveOn(t, ln, "unix://"+path+":/deep/v1", func(_ int, c net.Conn, r *http.Request) bool {
		asked = append(asked, r.Host+" "+r.URL.String())
		return full(c)
	})
	s.get = func(c net.Conn, r *http.Request) bool {
		if r.URL.Path != "/deep/v1/models" {
			return false
		}
		plain(c, 200, "application/json", `{"object":"list","data":[{"id":"tiny","object":"model","owned_by":"us"}]}`)
		return true
	}
	all := watch(t, config(s.url+"?k=1", 2), nil)
	for _, e := range of[*event.End](all) {
		if e.Class != event.OKFull {
			t.Errorf("end: %+v", e)
		}
	}
	for _, e := range of[*event.Target](all) {
		if e.URL != s.url {
			t.Errorf("target shown as %q", e.URL)
		}
		if e.State == event.StateLive && e.Model != "tiny" {
			t.Errorf("target: %+v", e)
		}
	}
	for _, h := range of[*event.Headers](all) {
		if h.Source != event.SourceRead || h.RTT != 0 || h.Proto != "HTTP/1.1" {
			t.Errorf("headers: %+v", h)
		}
	}
	same(t, "asked", []string{"localhost /deep/v1/chat/completions?k=1", "localhost /deep/v1/chat/completions?k=1"}, asked)
}

func TestSocketAddresses(t *testing.T) {
	for _, c := range []struct{ in, path, url, err string }{
		{"unix:///run/x.sock", "/run/x.sock", "http://localhost", ""},
		{"unix:///run/x.sock/", "/run/x.sock", "http://localhost", ""},
		{"unix:///run/x.sock:/v1", "/run/x.sock", "http://localhost/v1", ""},
		{"unix:///run/a:b.sock:/", "/run/a:b.sock", "http://localhost", ""},
		{"unix:///run/x.sock:/a/v1?k=1", "/run/x.sock", "http://localhost/a/v1?k=1", ""},
		{"unix://run/x.sock", "", "", "begins at the root"},
		{"unix:///", "", "", "names no unix socket"},
		{"unix://", "", "", "names no unix socket"},
		{"unix://:/v1", "", "", "begins at the root"},
	} {
		t.Run(c.in, func(t *testing.T) {
			u, err := address(c.in)
			if err != nil {
				t.Fatal(err)
			}
			path, inner, err := overSocket(u)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || path != c.path || inner.String() != c.url {
				t.Errorf("%q, %v, %v", path, inner, err)
			}
		})
	}
}
