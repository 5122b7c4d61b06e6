package stamp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pair makes a loopback connection; server is the far end.
func pair(t testing.TB, network string) (client, server net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	client, err = net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server = <-accepted
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// result is what a call gave, without the ports.
type result struct {
	N       int
	Data    string
	Err     string
	Op      string // of the *net.OpError
	Timeout bool
	Closed  bool
	EOF     bool
	Reset   bool
	Long    bool // os.ErrDeadlineExceeded
}

func seen(c net.Conn, n int, b []byte, err error) result {
	r := result{N: n, Data: string(b[:n])}
	if err == nil {
		return r
	}
	r.Err = strings.NewReplacer(c.LocalAddr().String(), "LOCAL", c.RemoteAddr().String(), "REMOTE").Replace(err.Error())
	var op *net.OpError
	if errors.As(err, &op) {
		r.Op = op.Op + " " + op.Net
		if op.Source == nil || op.Addr == nil {
			r.Op += " without addresses"
		}
	}
	var ne net.Error
	r.Timeout = errors.As(err, &ne) && ne.Timeout()
	r.Closed = errors.Is(err, net.ErrClosed)
	r.EOF = err == io.EOF
	r.Reset = errors.Is(err, syscall.ECONNRESET)
	r.Long = errors.Is(err, os.ErrDeadlineExceeded)
	return r
}

func read(c net.Conn, size int) result {
	b := make([]byte, size)
	n, err := c.Read(b)
	return seen(c, n, b, err)
}

// full reads until size bytes or an error are there, so that how the bytes were
// cut does not matter.
func full(c net.Conn, size int) result {
	b := make([]byte, size)
	n := 0
	var err error
	for n < size && err == nil {
		var m int
		m, err = c.Read(b[n:])
		n += m
	}
	return seen(c, n, b, err)
}

// behaviour is everything that must be as with a plain connection.
var behaviour = []struct {
	name string
	do   func(t *testing.T, c, far net.Conn) []result
}{
	{"data", func(t *testing.T, c, far net.Conn) []result {
		write(t, far, "hello")
		return []result{full(c, 5)}
	}},
	{"small buffer", func(t *testing.T, c, far net.Conn) []result {
		write(t, far, "hello")
		return []result{full(c, 2), full(c, 2), full(c, 1)}
	}},
	{"end", func(t *testing.T, c, far net.Conn) []result {
		write(t, far, "bye")
		far.Close()
		return []result{full(c, 3), read(c, 8), read(c, 8)}
	}},
	{"half-close of the far end", func(t *testing.T, c, far net.Conn) []result {
		if err := far.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		out := []result{read(c, 8)}
		write(t, c, "still here")
		return append(out, full(far, 10))
	}},
	{"half-close of this end", func(t *testing.T, c, far net.Conn) []result {
		if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		out := []result{read(far, 8)}
		write(t, far, "answer")
		return append(out, full(c, 6))
	}},
	{"read side closed", func(t *testing.T, c, far net.Conn) []result {
		if err := c.(interface{ CloseRead() error }).CloseRead(); err != nil {
			t.Fatal(err)
		}
		return []result{read(c, 8)}
	}},
	{"nothing asked for", func(t *testing.T, c, far net.Conn) []result {
		out := []result{read(c, 0)}
		write(t, far, "x")
		return append(out, read(c, 0), full(c, 1))
	}},
	{"nothing asked for at the end", func(t *testing.T, c, far net.Conn) []result {
		far.Close()
		return []result{read(c, 0), read(c, 1)}
	}},
	{"nothing asked for after the deadline", func(t *testing.T, c, far net.Conn) []result {
		c.SetReadDeadline(time.Unix(1, 0))
		return []result{read(c, 0), read(c, 1)}
	}},
	{"nothing asked for when closed", func(t *testing.T, c, far net.Conn) []result {
		c.Close()
		return []result{read(c, 0)}
	}},
	{"deadline passed before", func(t *testing.T, c, far net.Conn) []result {
		write(t, far, "late")
		c.SetReadDeadline(time.Unix(1, 0))
		out := []result{read(c, 8)}
		c.SetReadDeadline(time.Time{})
		return append(out, full(c, 4))
	}},
	{"deadline passes while waiting", func(t *testing.T, c, far net.Conn) []result {
		c.SetDeadline(time.Now().Add(5 * time.Millisecond))
		out := []result{read(c, 8), read(c, 8)}
		c.SetDeadline(time.Time{})
		write(t, far, "x")
		return append(out, full(c, 1))
	}},
	{"deadline set while another reads", func(t *testing.T, c, far net.Conn) []result {
		got := make(chan result)
		go func() { got <- read(c, 8) }()
		time.Sleep(2 * time.Millisecond) // before or after it waits: the same
		c.SetReadDeadline(time.Unix(1, 0))
		return []result{<-got}
	}},
	{"closed before", func(t *testing.T, c, far net.Conn) []result {
		c.Close()
		return []result{read(c, 8), seen(c, 0, nil, c.Close())}
	}},
	{"closed while another reads", func(t *testing.T, c, far net.Conn) []result {
		got := make(chan result)
		go func() { got <- read(c, 8) }()
		time.Sleep(2 * time.Millisecond)
		c.Close()
		return []result{<-got}
	}},
	{"two readers, then closed", func(t *testing.T, c, far net.Conn) []result {
		got := make(chan result)
		for range 2 {
			go func() { got <- read(c, 8) }()
		}
		time.Sleep(2 * time.Millisecond)
		c.Close()
		return []result{<-got, <-got}
	}},
	{"write when closed", func(t *testing.T, c, far net.Conn) []result {
		c.Close()
		n, err := c.Write([]byte("x"))
		return []result{seen(c, n, []byte("x"), err)}
	}},
	{"reading and writing at once", func(t *testing.T, c, far net.Conn) []result {
		const size = 1 << 20
		block := bytes.Repeat([]byte("0123456789abcdef"), size/16)
		var wg sync.WaitGroup
		for _, w := range []net.Conn{c, far} {
			wg.Go(func() {
				if _, err := w.Write(block); err != nil {
					t.Error(err)
				}
			})
		}
		back := make(chan result)
		go func() { back <- full(far, size) }()
		out := []result{full(c, size), <-back}
		wg.Wait()
		return out
	}},
}

func write(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Error(err)
	}
}

// The connection underneath is the oracle: with and without the wrapper the
// same calls must give the same bytes, errors and texts.
func TestBehavesAsTheConnectionItWraps(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, b := range behaviour {
			t.Run(network+"/"+b.name, func(t *testing.T) {
				c, far := pair(t, network)
				want := b.do(t, c, far)
				c, far = pair(t, network)
				got := b.do(t, Wrap(c, NewClock()), far)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("plain (-) and wrapped (+):\n%s", d)
				}
			})
		}
	}
}

func TestResetIsReported(t *testing.T) {
	do := func(c, far net.Conn) result {
		write(t, c, "unread") // so that closing sends a reset
		far.(*net.TCPConn).SetLinger(0)
		far.Close()
		return read(c, 8)
	}
	c, far := pair(t, "tcp")
	want := do(c, far)
	c, far = pair(t, "tcp")
	got := do(Wrap(c, NewClock()), far)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("plain (-) and wrapped (+):\n%s", d)
	}
	if !got.Reset {
		t.Errorf("no reset: %+v", got)
	}
}
