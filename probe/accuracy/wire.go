package accuracy

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/stamp"
)

// listener makes connections that note when they write, and when what they
// read had come. Under TLS it is the one who ends it, so that the notes are
// those of the socket.
type listener struct {
	net.Listener
	conf  *tls.Config // nil without TLS
	http2 bool
	clk   *stamp.Clock
	notes notes
}

func newListener(ln net.Listener, conf *tls.Config, http2 bool) *listener {
	return &listener{Listener: ln, conf: conf, http2: http2, clk: stamp.NewClock(), notes: notes{of: map[uint64]*Written{}}}
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t := &timed{stamped: stamp.Wrap(c, l.clk)}
	t.Conn = t.stamped
	if l.conf == nil {
		return t, nil
	}
	s := tls.Server(t, l.conf)
	if !l.http2 {
		return &under{Conn: s, t: t}, nil
	}
	return &framed{Conn: s, t: t, notes: &l.notes}, nil
}

// timed notes the times around its last write and the arrival of its last
// read. One goroutine writes at a time, and asks for what it wrote.
type timed struct {
	net.Conn
	stamped       *stamp.Conn
	before, after int64
	came          atomic.Int64
}

func (t *timed) Write(b []byte) (int, error) {
	t.before = monotonic()
	n, err := t.Conn.Write(b)
	t.after = monotonic()
	return n, err
}

func (t *timed) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if n > 0 {
		t.came.Store(monotonic() - t.stamped.Last().Late)
	}
	return n, err
}

// under is HTTP/1.1 under TLS.
type under struct {
	net.Conn
	t *timed
}

// timedOf finds the noting connection under c, nil if it is shared by streams.
func timedOf(c net.Conn) *timed {
	switch c := c.(type) {
	case *timed:
		return c
	case *under:
		return c.t
	}
	return nil
}

// direct writes on the connection itself.
type direct struct {
	conn net.Conn
	t    *timed
}

func (d direct) put(b []byte) (before, after int64, err error) {
	_, err = d.conn.Write(b)
	return d.t.before, d.t.after, err
}

// framed is HTTP/2 under TLS: a goroutine of the server's writes for all
// streams, so each write is looked through for the tokens in it.
type framed struct {
	net.Conn
	t     *timed
	notes *notes
	rest  []byte // a frame that is not whole yet
}

const (
	frameHead = 9 // bytes: length, type, flags, stream
	frameData = 0 // the type of a frame with a part of a body
)

func (f *framed) Write(b []byte) (int, error) {
	n, err := f.Conn.Write(b)
	if err != nil {
		return n, err
	}
	f.rest = append(f.rest, b...)
	for len(f.rest) >= frameHead {
		size := frameHead + int(binary.BigEndian.Uint32(f.rest)>>8)
		if len(f.rest) < size {
			break
		}
		if f.rest[3] == frameData {
			f.notes.token(f.rest[frameHead:size], f.t.before, f.t.after)
		}
		f.rest = f.rest[size:]
	}
	return n, nil
}

// notes are when the tokens of the streams that share connections left.
type notes struct {
	mu sync.Mutex
	of map[uint64]*Written
}

// tokenHead begins an event with a token, before the number of its stream.
const tokenHead = `data: {"id":"`

// token notes the write of a part of a body, if that is a token.
func (n *notes) token(body []byte, before, after int64) {
	rest, ok := bytes.CutPrefix(body, []byte(tokenHead))
	if !ok {
		return
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	number, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.of[number]
	if w == nil {
		w = &Written{}
		n.of[number] = w
	}
	w.Before, w.After = append(w.Before, before), append(w.After, after)
}

// take waits until a stream's tokens have left and returns when; false if they
// do not within a second.
func (n *notes) take(number uint64, tokens int) (w Written, ok bool) {
	for range 1000 {
		n.mu.Lock()
		if got := n.of[number]; got != nil && len(got.Before) == tokens {
			delete(n.of, number)
			n.mu.Unlock()
			return *got, true
		}
		n.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	return Written{}, false
}
