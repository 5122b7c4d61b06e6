package probe

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
)

// reset ends a connection the rude way.
func reset(c net.Conn) bool {
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
	return false
}

// zipped is a text as gzip.
func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// hang keeps a connection open without a word until the client leaves it.
func hang(c net.Conn) bool {
	io.Copy(io.Discard, c)
	return false
}

func TestFailuresHaveTheirClass(t *testing.T) {
	long := event.Limits{}
	first := event.Limits{First: 300 * time.Millisecond}
	idle := event.Limits{Idle: 300 * time.Millisecond}
	total := event.Limits{Total: 450 * time.Millisecond}
	jsonError := `{"error":{"message":"the reason","type":"x","code":500}}`
	for _, c := range []struct {
		name    string
		limits  event.Limits
		serve   func(c net.Conn) bool
		class   event.Class
		status  int
		message string // part of it
		tokens  int
		limit   time.Duration
	}{
		{"401", long, func(c net.Conn) bool {
			plain(c, 401, "application/json", `{"error":"Unauthorized"}`)
			return true
		}, event.ErrAuth, 401, "Unauthorized", 0, 0},
		{"404 for the model", long, func(c net.Conn) bool {
			plain(c, 404, "application/json", `{"error":{"message":"model x does not exist"}}`)
			return true
		}, event.ErrModel, 404, "model x does not exist", 0, 0},
		{"400", long, func(c net.Conn) bool { plain(c, 400, "application/json", jsonError); return true },
			event.ErrParam, 400, "the reason", 0, 0},
		{"429", long, func(c net.Conn) bool { plain(c, 429, "application/json", jsonError); return true },
			event.ErrRate, 429, "the reason", 0, 0},
		{"503 overload", long, func(c net.Conn) bool { plain(c, 503, "text/plain", "queue is full"); return true },
			event.ErrOverload, 503, "queue is full", 0, 0},
		{"500", long, func(c net.Conn) bool { plain(c, 500, "application/json", jsonError); return true },
			event.ErrHTTP, 500, "the reason", 0, 0},
		{"a body that never ends, of an error", long, func(c net.Conn) bool {
			fmt.Fprintf(c, "HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
			for {
				if _, err := fmt.Fprintf(c, "5\r\nagain\r\n"); err != nil {
					return false
				}
			}
		}, event.ErrHTTP, 500, "again", 0, 0},
		{"HTML", long, func(c net.Conn) bool {
			plain(c, 200, "text/html", "<!DOCTYPE html><html><title>Welcome</title></html>")
			return true
		}, event.ErrNotStream, 200, "", 0, 0},
		{"a JSON error in a 200", long, func(c net.Conn) bool { plain(c, 200, "application/json", jsonError); return true },
			event.ErrBody200, 200, "the reason", 0, 0},
		{"not HTTP", long, func(c net.Conn) bool { io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n"); return hang(c) },
			event.ErrNotStream, 0, "", 0, 0},
		{"a header without a colon", long, func(c net.Conn) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type text/event-stream\r\n\r\n")
			return hang(c)
		}, event.ErrNotStream, 0, "the header of the answer is broken: malformed MIME header", 0, 0},
		{"a length that is none", long, func(c net.Conn) bool {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
			return hang(c)
		}, event.ErrNotStream, 0, "the header of the answer is broken: bad Content-Length", 0, 0},
		{"compressed as brotli", long, func(c net.Conn) bool {
			plain(c, 200, "text/event-stream", "\x8b\x05\x80data: {\x03", "Content-Encoding: br")
			return true
		}, event.ErrDecode, 200, "the reply is compressed as br, which was not asked for and is not read", 0, 0},
		{"called brotli, and is none", long, func(c net.Conn) bool {
			plain(c, 200, "text/event-stream", role+tok("a")+tok("b")+length+usage(2)+done, "Content-Encoding: br")
			return true
		}, event.OKFull, 200, "", 2, 0},
		{"called gzip, and is none", long, func(c net.Conn) bool {
			plain(c, 200, "text/event-stream", role+tok("a")+tok("b")+length+usage(2)+done, "Content-Encoding: gzip")
			return true
		}, event.ErrDecode, 200, "the reply says that it is gzip, and is not", 0, 0},
		{"half a gzip", long, func(c net.Conn) bool {
			plain(c, 200, "text/event-stream", zipped(role + tok("a") + tok("b"))[:30], "Content-Encoding: gzip")
			return true
		}, event.ErrDecode, 200, "the reply says that it is gzip, and ends inside of it", 0, 0},
		{"a gzip that is broken", long, func(c net.Conn) bool {
			z := []byte(zipped(role + tok("a") + tok("b")))
			z[12] ^= 0xff
			plain(c, 200, "text/event-stream", string(z), "Content-Encoding: gzip")
			return true
		}, event.ErrDecode, 200, "the reply says that it is gzip, which is broken: ", 0, 0},
		{"a gzip whose connection breaks", long, func(c net.Conn) bool {
			z := zipped(role + tok("a") + tok("b"))
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(z), z[:30])
			return false
		}, event.ErrTruncated, 200, "the server closed it", 0, 0},
		{"an error in the stream", long, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role, tok("a"), "data: "+jsonError+"\n\n", done)
			io.WriteString(c, lastOne)
			return true
		}, event.ErrStream, 200, "the reason", 1, 0},
		{"no headers", first, hang, event.ErrFirst, 0, "no token within 300ms, nor anything else", 0, 300 * time.Millisecond},
		{"never a token", first, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role)
			return hang(c)
		}, event.ErrFirst, 200, "no token within 300ms", 0, 300 * time.Millisecond},
		{"comments for ever", first, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			for {
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(comment), comment); err != nil {
					return false
				}
				time.Sleep(5 * time.Millisecond)
			}
		}, event.ErrFirst, 200, "no token within 300ms, ", 0, 300 * time.Millisecond},
		{"stops in the middle", idle, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role, tok("a"))
			return hang(c)
		}, event.ErrIdle, 200, "no further token for 300ms, nor anything else", 1, 300 * time.Millisecond},
		{"goes on with comments alone", idle, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role, tok("a"))
			for {
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(comment), comment); err != nil {
					return false
				}
				time.Sleep(5 * time.Millisecond)
			}
		}, event.ErrIdle, 200, "no further token for 300ms, ", 1, 300 * time.Millisecond},
		{"takes too long as a whole", total, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			for {
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(tok("a")), tok("a")); err != nil {
					return false
				}
				time.Sleep(5 * time.Millisecond)
			}
		}, event.ErrTotal, 200, "not finished within 450ms", -1, 450 * time.Millisecond},
		{"a reset before the headers", long, reset, event.ErrReset, 0, "reset the connection", 0, 0},
		{"an end before the headers", long, func(net.Conn) bool { return false }, event.ErrReset, 0, "closed the connection", 0, 0},
		{"a reset in the middle", long, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role, tok("a"))
			time.Sleep(50 * time.Millisecond) // a reset discards what was not read yet
			return reset(c)
		}, event.ErrTruncated, 200, "", 1, 0},
		{"chunks that break off", long, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role, tok("a"))
			return false
		}, event.ErrTruncated, 200, "", 1, 0},
		{"HTTP/1.0, cut", long, func(c net.Conn) bool {
			io.WriteString(c, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+role+tok("a"))
			return false
		}, event.ErrTruncated, 200, "without a finish reason", 1, 0},
		{"HTTP/1.0, whole", long, func(c net.Conn) bool {
			io.WriteString(c, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+role+tok("a")+tok("b")+length+usage(2)+done)
			return false
		}, event.OKFull, 200, "", 2, 0},
		{"no token at all", long, func(c net.Conn) bool {
			io.WriteString(c, streamHead)
			say(c, role, length, done)
			io.WriteString(c, lastOne)
			return true
		}, event.ErrEmpty, 200, "", 0, 0},
		{"a redirect", long, func(c net.Conn) bool {
			plain(c, 307, "text/plain", "", "Location: http://elsewhere.invalid/v1/chat/completions?key=1")
			return true
		}, event.ErrHTTP, 307, "redirects to http://elsewhere.invalid/v1/chat/completions,", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ int, conn net.Conn, _ *http.Request) bool { return c.serve(conn) })
			cfg := config(s.url, 1)
			cfg.Limits = c.limits
			all := watch(t, cfg, nil)
			ends, starts := of[*event.End](all), of[*event.Start](all)
			if c.class == event.ErrReset && len(ends) == 2 {
				// The connection that detection left behind may have gone stale, so
				// a reset on it is tried again on a new one.
				if ends[0].Class != event.Aborted {
					t.Errorf("the first try ended %q, want %q", ends[0].Class, event.Aborted)
				}
				ends, starts = ends[1:], starts[1:]
			}
			if len(ends) != 1 || len(starts) != 1 {
				t.Fatalf("%d starts and %d ends, want 1", len(starts), len(ends))
			}
			e, start := ends[0], starts[0]
			if e.Class != c.class || e.Status != c.status || !strings.Contains(e.Message, c.message) || e.Limit != int64(c.limit) {
				t.Errorf("class %q status %d limit %v message %q; want %q %d %v and %q in it",
					e.Class, e.Status, time.Duration(e.Limit), e.Message, c.class, c.status, c.limit, c.message)
			}
			if n := len(of[*event.Token](all)); n != c.tokens && c.tokens >= 0 {
				t.Errorf("%d tokens, want %d", n, c.tokens)
			}
			if start.Request != e.Request || start.At > e.At || start.At == 0 {
				t.Errorf("start %+v of end %+v", start, e)
			}
			f := only[*event.Finished](t, all)
			spoke := len(of[*event.Token](all)) > 0
			if want := map[bool]string{true: ReasonRequests, false: ReasonNever}[c.class.OK() || spoke]; f.Reason != want || f.Complete != (want == ReasonRequests) {
				t.Errorf("finished %+v, want %q", f, want)
			}
		})
	}
}

func TestFailuresToConnect(t *testing.T) {
	tlsServer := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0)
	tlsServer.StartTLS()
	defer tlsServer.Close()
	plainServer := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	mute, err := net.Listen("tcp", "127.0.0.1:0") // never gets to a handshake
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close() // last, or one of the others might get its port

	for _, c := range []struct {
		name, url, message string
		class              event.Class
	}{
		{"closed port", "http://" + closed.Addr().String(), "connection refused", event.ErrRefused},
		{"no such host", "http://teapot.invalid:80", "no such host", event.ErrDNS},
		{"unknown certificate", tlsServer.URL, "certificate", event.ErrTLS},
		{"no TLS there", strings.Replace(plainServer.url, "http:", "https:", 1), "", event.ErrTLS},
		{"no handshake", "https://" + mute.Addr().String(), "no connection within 300ms", event.ErrConnectTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(c.url, 1)
			cfg.Limits.Connect = 300 * time.Millisecond
			if c.class == event.ErrDNS {
				cfg.Limits.Connect = time.Minute
			}
			all := watch(t, cfg, nil)
			e := only[*event.End](t, all)
			if e.Class != c.class || !strings.Contains(e.Message, c.message) {
				t.Errorf("class %q message %q, want %q and %q in it", e.Class, e.Message, c.class, c.message)
			}
			only[*event.Start](t, all)
			targets := of[*event.Target](all)
			if d := targets[len(targets)-2]; d.State != event.StateDown || !strings.Contains(d.Detail, "next try in 1 s") {
				t.Errorf("target: %+v", d)
			}
		})
	}
}

func TestLoadingIsWaitedFor(t *testing.T) {
	t.Parallel()
	loading := `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`
	t.Run("by the list of models", func(t *testing.T) {
		asked := 0
		s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
		s.get = func(c net.Conn, r *http.Request) bool {
			if asked++; asked > 1 {
				return false
			}
			plain(c, 503, "application/json", loading)
			return true
		}
		all := watch(t, config(s.url, 1), nil)
		if e := only[*event.End](t, all); e.Class != event.OKFull {
			t.Errorf("end: %+v", e)
		}
		expectState(t, all, event.StateLoading, "Loading model")
	})
	t.Run("by the request", func(t *testing.T) {
		s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
			if n <= 3 {
				plain(c, 503, "application/json", loading)
				return true
			}
			return full(c)
		})
		cfg := config(s.url, 1)
		cfg.Load.Warmup = 1
		all := watch(t, cfg, nil)
		var got []string
		for _, e := range of[*event.End](all) {
			got = append(got, fmt.Sprintf("%s %v", e.Class, e.Warmup))
		}
		same(t, "ends", []string{"http_loading true", "http_loading true", "http_loading true", "ok_full true", "ok_full true", "ok_full false"}, got)
		expectState(t, all, event.StateLoading, "Loading model")
	})
}

// expectState looks for an announcement of a state with text in its detail.
func expectState(t testing.TB, all []event.Event, state event.State, detail string) {
	t.Helper()
	for _, ev := range of[*event.Target](all) {
		if ev.State == state && strings.Contains(ev.Detail, detail) {
			return
		}
	}
	t.Errorf("no target in the state %q with %q", state, detail)
}

func TestSecretsStayInside(t *testing.T) {
	const canary = "sk-canary-0123456789"
	t.Setenv("TEAPOT_TEST_KEY", canary)
	secrets := []string{canary, "pass-word-77", "query-88-value", "hdr-99-value"}
	var seen http.Header
	s := serve(t, func(n int, c net.Conn, r *http.Request) bool {
		seen = r.Header
		echo := fmt.Sprintf("you said %v %v user pass-word-77", r.Header, r.URL)
		switch n {
		case 1:
			body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": echo}})
			plain(c, 418, "application/json", string(body))
		case 2:
			plain(c, 307, "text/plain", "", "Location: /"+canary)
		case 3:
			io.WriteString(c, streamHead)
			say(c, tok(canary), tok("b"), strings.Replace(length, "length", canary, 1), done)
			io.WriteString(c, lastOne)
		}
		return true
	})
	cfg := config(strings.Replace(s.url, "http://", "http://user:pass-word-77@", 1)+"/v1?sig=query-88-value", 3)
	cfg.Targets[0].KeyEnv = "TEAPOT_TEST_KEY"
	cfg.Targets[0].Headers = []string{"X-Api-Key: hdr-99-value", "Authorization: Bearer " + canary}
	cfg.Verbose = true
	all := watch(t, cfg, nil)
	if len(of[*event.End](all)) != 3 {
		t.Fatal("the server was not asked three times")
	}
	if seen.Get("Authorization") != "Bearer "+canary || seen.Get("X-Api-Key") != "hdr-99-value" {
		t.Errorf("the server must get what it is owed: %v", seen)
	}
	for _, ev := range all {
		b, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(b), secret) {
				t.Errorf("%T holds %q: %s", ev, secret, b)
			}
		}
	}
	if u := of[*event.Target](all)[0].URL; u != s.url+"/v1" {
		t.Errorf("URL shown as %q", u)
	}
}
