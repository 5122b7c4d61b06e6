package probe

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
)

// What a server can do to a client on the way, and the tests of this package
// that have one do it over loopback. The framing of events is tested by
// probe/sse, that of HTTP/1.1 by probe/http1.
//
//	chunks, whole                       TestOneRequest
//	chunks that break off               TestFailuresHaveTheirClass, TestCasesOverTCP
//	HTTP/1.0, ended by closing          TestFailuresHaveTheirClass
//	a JSON error with a length          TestFailuresHaveTheirClass, TestTransport: cut
//	reset in mid stream                 TestFailuresHaveTheirClass, TestWhoBrokeItOff
//	1xx before the answer               TestTransport
//	redirect 307                        TestTransport, TestRedirectsTakeNothingElsewhere
//	gzip, flushed and not               TestGzipArrivesAsItIsFlushed, TestGzipThatWasNotAskedFor
//	200 with JSON, with HTML            TestTransport, TestFailuresHaveTheirClass
//	429 and Retry-After, three ways     TestRetryAfterIsHonoured
//	503 while loading                   TestLoadingIsWaitedFor
//	529, 401                            TestTransport, TestFailuresHaveTheirClass
//	slow headers, silence, comments     TestFailuresHaveTheirClass
//	a proxy's time limit                TestTransport, TestProxyTimer
//	an idle connection that is closed   TestAConnectionThatStirredIsNotUsed, TestStaleConnectionIsNoError
//	HTTP/2, GOAWAY                      TestEndsOfHTTP2, TestGoAwayBetweenRequests
//	a bad certificate                   TestFailuresToConnect
//	--insecure, --cacert                TestTLSIsStampedByTheKernel, TestConnectingIsNotInTTFT
//	proxies of the environment          TestProxyOfTheEnvironment, TestProxyNeverForLoopback
//	-H, the key of each dialect         TestHeaderOrder, TestKeyInTheHeaderOfTheDialect
//	unix sockets                        TestUnixSocket
func TestTransport(t *testing.T) {
	const hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	for _, c := range []struct {
		name    string
		serve   func(c net.Conn) bool
		class   event.Class
		status  int
		message string // part of it
	}{
		{"1xx", func(c net.Conn) bool { io.WriteString(c, hints); return full(c) }, event.OKFull, 200, ""},
		{"1xx without end", func(c net.Conn) bool { io.WriteString(c, strings.Repeat(hints, 9)); return hang(c) }, event.ErrNotStream, 0, "1xx"},
		{"a redirect within the server", func(c net.Conn) bool {
			plain(c, 307, "text/plain", "", "Location: /v1/chat/completions/")
			return true
		}, event.ErrHTTP, 307, "/v1/chat/completions/, which is not followed"},
		{"a JSON error, cut", func(c net.Conn) bool {
			io.WriteString(c, "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n"+`{"error":{"message":"bo`)
			return false
		}, event.ErrHTTP, 500, "bo"},
		{"a whole answer in place of a stream", func(c net.Conn) bool {
			plain(c, 200, "application/json", `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"a b"},"finish_reason":"length"}]}`)
			return true
		}, event.ErrNotStream, 200, "one JSON document"},
		{"529", func(c net.Conn) bool {
			return nope(c, 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
		}, event.ErrOverload, 529, "Overloaded"},
		{"402", func(c net.Conn) bool { return nope(c, 402, `{"error":{"message":"no credits"}}`) }, event.ErrHTTP, 402, "no credits"},
		{"504", func(c net.Conn) bool { plain(c, 504, "text/plain", "upstream request timeout"); return true },
			event.ErrHTTP, 504, "upstream request timeout (a proxy's time limit, "},
		{"524", func(c net.Conn) bool {
			plain(c, 524, "text/html", "<html><title>A timeout occurred</title></html>")
			return true
		}, event.ErrHTTP, 524, "(a proxy's time limit, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ int, conn net.Conn, _ *http.Request) bool { return c.serve(conn) })
			all := watchUntil(t, config(s.url, 1))
			e := only[*event.End](t, all)
			if e.Class != c.class || e.Status != c.status || !strings.Contains(e.Message, c.message) {
				t.Errorf("%s %d %q; want %s %d and %q in it", e.Class, e.Status, e.Message, c.class, c.status, c.message)
			}
			if n := s.posts.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// The ways in which a body can break off are told apart.
func TestWhoBrokeItOff(t *testing.T) {
	for _, c := range []struct {
		name    string
		end     func(c net.Conn) bool
		message string
	}{
		{"closed", func(net.Conn) bool { return false }, "the server closed it (unexpected EOF)"},
		{"reset", func(c net.Conn) bool {
			time.Sleep(50 * time.Millisecond) // a reset discards what was not read yet
			return reset(c)
		}, "the server reset it (connection reset by peer)"},
		{"ended", func(c net.Conn) bool { io.WriteString(c, lastOne); return true }, "the body ended without a finish reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ int, conn net.Conn, _ *http.Request) bool {
				io.WriteString(conn, streamHead)
				say(conn, role, tok("a"))
				return c.end(conn)
			})
			e := only[*event.End](t, watchUntil(t, config(s.url, 1)))
			if e.Class != event.ErrTruncated || !strings.Contains(e.Message, c.message) {
				t.Errorf("%s %q; want %q in it", e.Class, e.Message, c.message)
			}
		})
	}
}

func TestProxyTimer(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		sent, idle time.Duration
		want       string
	}{
		{15 * s, 2 * s, "15.0 s after the request"},
		{60*s + 180*ms, 1 * s, "60.2 s after the request"},
		{71 * s, 60 * s, "60.0 s after the last byte"},
		{100*s + 40*ms, 0, "100.0 s after the request"},
		{300*s + 2*s, 0, "302.0 s after the request"},
		{14 * s, 3 * s, ""},
		{59*s + 300*ms, 5 * s, ""},
		{61 * s, 5 * s, ""},
		{20 * ms, 10 * ms, ""},
	} {
		got := proxyTimer(c.sent, c.idle)
		if want := c.want; want == "" && got != "" || want != "" && got != want+": likely a proxy's time limit" {
			t.Errorf("after %v, %v idle: %q, want %q", c.sent, c.idle, got, want)
		}
	}
}

// What a compressor passes on at once arrives at once.
func TestGzipArrivesAsItIsFlushed(t *testing.T) {
	const pause = 80 * time.Millisecond
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
		var b strings.Builder
		z := gzip.NewWriter(&b)
		for _, e := range []string{role + tok("a"), tok("b"), length + usage(2) + done} {
			io.WriteString(z, e)
			z.Flush()
			say(c, b.String())
			b.Reset()
			time.Sleep(pause)
		}
		z.Close()
		say(c, b.String())
		io.WriteString(c, lastOne)
		return true
	})
	all := watch(t, config(s.url, 1), nil)
	e, tokens := only[*event.End](t, all), of[*event.Token](all)
	if e.Class != event.OKFull || len(e.Flags) != 1 || e.Flags[0] != event.FlagCompressed || len(tokens) != 2 {
		t.Fatalf("%d tokens, end: %+v", len(tokens), e)
	}
	if gap := time.Duration(tokens[1].At - tokens[0].At); gap < pause/2 && !tokens[1].Merged {
		t.Errorf("a gap of %v, and the server paused for %v", gap, pause)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
		wait   time.Duration
	}{
		{"seconds", []string{"Retry-After: 1"}, time.Second},
		{"a date", []string{"Date: Mon, 30 Nov 2026 12:00:00 GMT", "Retry-After: Mon, 30 Nov 2026 12:00:01 GMT"}, time.Second},
		{"milliseconds", []string{"Retry-After-Ms: 700", "Retry-After: 5"}, 700 * time.Millisecond},
		{"a limit that fills up", []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 600ms"}, 600 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(n int, conn net.Conn, _ *http.Request) bool {
				if n == 1 {
					plain(conn, 429, "application/json", `{"error":"slow down"}`, c.header...)
					return true
				}
				return full(conn)
			})
			all := watch(t, config(s.url, 2), nil)
			ends, starts := of[*event.End](all), of[*event.Start](all)
			if len(ends) != 2 || ends[0].Class != event.ErrRate || ends[0].RetryAfter != int64(c.wait) || ends[1].Class != event.OKFull {
				t.Fatalf("ends: %+v", ends)
			}
			if wait := starts[1].At - ends[0].At; wait < int64(c.wait) {
				t.Errorf("sent again after %v, asked for %v", time.Duration(wait), c.wait)
			}
			expectState(t, all, event.StateLimited, "slow down, next try in ")
		})
	}
}

// A proxy that the environment names carries the requests to everything that is
// not this machine. It is read once by a process, so a child has to do it.
func TestProxyOfTheEnvironment(t *testing.T) {
	const far = "teapot-far-away.invalid:8000"
	s, got := answering(t, func(_ int, c net.Conn, a asked) bool { return full(c) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, strings.Replace(s.url, "://", "://user:canary-proxy@", 1))
	}
	for _, name := range []string{"NO_PROXY", "no_proxy", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	var hosts []string
	s.get = func(_ net.Conn, r *http.Request) bool {
		hosts = append(hosts, r.Host)
		return false
	}
	child, err := StartChild(config("http://"+far, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	all := follow(t, child, nil)
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	same(t, "classes", []event.Class{event.OKFull, event.OKFull}, classes(all))
	for _, a := range got() {
		if a.header.Get("Proxy-Authorization") == "" {
			t.Errorf("the proxy was asked without its password: %+v", a)
		}
	}
	for _, host := range hosts {
		if host != far {
			t.Errorf("the proxy was asked for %s", host)
		}
	}
	leaks(t, all, "canary-proxy")
	if h := of[*event.Headers](all); len(h) != 2 || h[0].Proto != "HTTP/1.1" {
		t.Errorf("headers: %+v", fmt.Sprint(h))
	}
}
