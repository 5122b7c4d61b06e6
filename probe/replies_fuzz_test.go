package probe

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"teapot/probe/event"
)

// FuzzReplies sends the probe anything at all in place of an answer. It ends
// the request, calls nothing a success that brought no token, and says nothing
// that could control a terminal.
func FuzzReplies(f *testing.F) {
	const stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for _, seed := range []string{
		"", "\r\n", "\x00", "HTTP", "HTTP/1.1", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 099 Hm\r\n\r\n", "HTTP/1.1 1000 Hm\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n",
		"HTTP/1.1 103 Early\r\nLink: <x>\r\n\r\n" + streamHead + "0\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n" + tok("a"),
		stream + "\r\n", stream + "\r\n\xff\xfe\xfd", stream + "\r\n" + role + tok("a") + length + done, stream + "\r\n" + done,
		stream + "Content-Length: -1\r\n\r\n" + tok("a"), stream + "Content-Length: 5\r\nContent-Length: 7\r\n\r\n" + tok("a"),
		stream + "Content-Length: 99999999999\r\n\r\n" + tok("a"), stream + "Content-Encoding: gzip\r\n\r\n" + tok("a"), stream + "Content-Encoding: br\r\n\r\n\x1b\x03",
		streamHead + "zz\r\n", streamHead + "ffffffffffffffffff\r\n" + tok("a"), streamHead + "5;x=\"\r\n\"\r\n" + tok("a"), streamHead + "-1\r\n\r\n",
		"HTTP/1.1 400 Bad\r\n\r\n{\"error\":{\"message\":\"\x1b[2J no seed\"}}", "HTTP/1.1 503 Busy\r\nRetry-After: 1e99\r\n\r\nloading model",
		"HTTP/1.1 429 Many\r\nRetry-After: Fri, 99 Foo\r\n\r\n", "HTTP/1.1 307 There\r\nLocation: ://%zz\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n[[[[[[{\"error\":",
		"HTTP/1.1 200 OK\r\n\r\n<html><title>\u202egnp.exe", "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n{\"done\":true}\n{\"done\":",
		stream + "\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\\u001b[31mstop\"}]}\n\n",
		stream + "\r\n" + strings.Repeat("data: [\n", 50) + "\n\n", stream + "\r\n" + strings.Repeat(": ping\n\n", 100),
		stream + "X: " + strings.Repeat("y", 70_000) + "\r\n\r\n" + tok("a"),
	} {
		f.Add([]byte(seed), false)
	}
	f.Add([]byte(streamHead+"5\r\n"), true)
	f.Add([]byte("HTTP/1.1 500 Oops\r\nContent-Length: 10\r\n\r\nhalf"), true)
	f.Fuzz(func(t *testing.T, answer []byte, open bool) {
		s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
			_, _ = c.Write(answer)
			if open {
				_, _ = io.Copy(io.Discard, c)
			}
			return false
		})
		cfg := config(s.url, 1)
		cfg.Limits = event.Limits{First: patience, Idle: patience, Total: patience}
		if open {
			cfg.Limits.First, cfg.Limits.Idle, cfg.Limits.Total = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
		}
		e, tokens := settled(t, cfg)
		switch {
		case e.Class.OK() && (tokens == 0 || e.Message != ""):
			t.Errorf("%d tokens and %q are %s", tokens, e.Message, e.Class)
		case e.Class.Failed() && e.Message == "":
			t.Errorf("%s without a message", e.Class)
		case !e.Class.OK() && !e.Class.Failed():
			t.Errorf("it was given up: %+v", e)
		}
		for _, line := range []string{e.Message, e.Finish, e.Provider} {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(c rune) bool {
				return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
			}) {
				t.Errorf("%q is not fit to be shown", line)
			}
		}
	})
}
