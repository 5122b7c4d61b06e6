package probe

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"teapot/probe/event"
)

// Types of frames of HTTP/2.
const (
	frameData    = 0
	frameHeaders = 1
	frameReset   = 3
	frameConfig  = 4
	frameGoAway  = 7
)

// frame writes a frame of HTTP/2.
func frame(w io.Writer, kind, flags byte, stream uint32, payload string) {
	n := len(payload)
	head := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	io.WriteString(w, string(head)+payload)
}

// number32 is a number as frames hold it.
func number32(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

// okHeaders is the header block of a stream of events: status 200, and its type.
const okHeaders = "\x88\x0f\x10\x11text/event-stream"

// onHTTP2 is a server that speaks HTTP/2 and nothing else, frame by frame. It
// answers requests with the method POST, which are known by having a body, with
// the function, and has no list of models.
func onHTTP2(t *testing.T, post func(n int, c net.Conn, stream uint32)) (url string) {
	t.Helper()
	cert := httptest.NewUnstartedServer(nil)
	cert.StartTLS()
	pair := cert.TLS.Certificates
	cert.Close()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: pair, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	var posts atomic.Int64
	s := &server{gone: make(chan struct{}), raw: func(c net.Conn) {
		talkHTTP2(c, func(stream uint32) { post(int(posts.Add(1)), c, stream) })
	}}
	s.listen(t, ln)
	return "https://" + ln.Addr().String()
}

// talkHTTP2 reads frames until the connection ends.
func talkHTTP2(c net.Conn, post func(stream uint32)) {
	if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	frame(c, frameConfig, 0, 0, "")
	for {
		var head [9]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		n := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, n); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch ended := flags&1 != 0; {
		case kind == frameConfig && flags == 0:
			frame(c, frameConfig, 1, 0, "")
		case kind == frameHeaders && ended:
			frame(c, frameHeaders, 5, stream, "\x8d") // 404
		case kind == frameData && ended:
			post(stream)
		}
	}
}

func TestEndsOfHTTP2(t *testing.T) {
	whole := role + tok("a") + tok("b") + length + usage(2) + done
	for _, c := range []struct {
		name    string
		post    func(n int, c net.Conn, stream uint32)
		class   event.Class
		message string
		tokens  int
	}{
		{"whole", func(_ int, c net.Conn, id uint32) {
			frame(c, frameHeaders, 4, id, okHeaders)
			frame(c, frameData, 1, id, whole)
		}, event.OKFull, "", 2},
		{"GOAWAY, and the stream goes on", func(_ int, c net.Conn, id uint32) {
			frame(c, frameHeaders, 4, id, okHeaders)
			frame(c, frameData, 0, id, role+tok("a"))
			frame(c, frameGoAway, 0, 0, number32(id)+number32(0))
			frame(c, frameData, 1, id, tok("b")+length+usage(2)+done)
		}, event.OKFull, "", 2},
		{"GOAWAY, and the connection ends", func(_ int, c net.Conn, id uint32) {
			frame(c, frameHeaders, 4, id, okHeaders)
			frame(c, frameData, 0, id, role+tok("a"))
			frame(c, frameGoAway, 0, 0, number32(id)+number32(0)+"sk-canary-h2")
			c.Close()
		}, event.ErrTruncated, "the server sent GOAWAY (NO_ERROR) and closed it", 1},
		{"reset of the stream", func(_ int, c net.Conn, id uint32) {
			frame(c, frameHeaders, 4, id, okHeaders)
			frame(c, frameData, 0, id, role+tok("a"))
			frame(c, frameReset, 0, id, number32(2))
		}, event.ErrTruncated, "the server reset the stream (INTERNAL_ERROR)", 1},
		{"a stream that ends without a reason", func(_ int, c net.Conn, id uint32) {
			frame(c, frameHeaders, 4, id, okHeaders)
			frame(c, frameData, 1, id, role+tok("a"))
		}, event.ErrTruncated, "without a finish reason", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(onHTTP2(t, c.post), 1)
			cfg.Targets[0].Insecure, cfg.Targets[0].Model = true, "tiny"
			all := watchUntil(t, cfg)
			e := only[*event.End](t, all)
			if e.Class != c.class || !strings.Contains(e.Message, c.message) {
				t.Errorf("%s (%s), want %s with %q", e.Class, e.Message, c.class, c.message)
			}
			if n := len(of[*event.Token](all)); n != c.tokens {
				t.Errorf("%d tokens, want %d", n, c.tokens)
			}
			if strings.Contains(e.Message, "canary") {
				t.Errorf("what a server adds to GOAWAY is shown: %s", e.Message)
			}
		})
	}
}

// A connection that says GOAWAY between two requests is left for a new one.
func TestGoAwayBetweenRequests(t *testing.T) {
	url := onHTTP2(t, func(n int, c net.Conn, id uint32) {
		frame(c, frameHeaders, 4, id, okHeaders)
		frame(c, frameData, 1, id, role+tok("a")+tok("b")+length+usage(2)+done)
		if n == 1 {
			frame(c, frameGoAway, 0, 0, number32(id)+number32(0))
		}
	})
	cfg := config(url, 2)
	cfg.Targets[0].Insecure, cfg.Targets[0].Model = true, "tiny"
	all := watch(t, cfg, nil)
	for _, e := range of[*event.End](all) {
		if e.Class != event.OKFull && !e.SentAgain() {
			t.Errorf("end: %+v", e)
		}
	}
}
