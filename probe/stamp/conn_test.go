package stamp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// net.Pipe is no socket: reads are stamped when they return.
func TestOtherConnections(t *testing.T) {
	a, b := net.Pipe()
	c := Wrap(a, NewClock())
	go func() { io.WriteString(b, "x"); b.Close() }()
	if got := full(c, 1); got.Data != "x" || got.Err != "" {
		t.Errorf("%+v", got)
	}
	if r := c.Last(); r.Seq != 1 || r.Source != "read" || r.Late != 0 || r.At <= 0 {
		t.Errorf("%+v", r)
	}
	if got := read(c, 1); !got.EOF {
		t.Errorf("%+v", got)
	}
	if r := c.Last(); r.Seq != 1 {
		t.Errorf("the end of the stream was stamped as a read: %+v", r)
	}
	if err := c.CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("CloseWrite: %v", err)
	}
	if err := c.CloseRead(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("CloseRead: %v", err)
	}
	if c.RTT() != 0 {
		t.Errorf("round trip of a pipe: %v", c.RTT())
	}
}

func TestOf(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	c := Wrap(a, NewClock())
	if Of(c) != c || Of(tls.Client(c, &tls.Config{})) != c {
		t.Error("not found")
	}
	if Of(a) != nil || Of(nil) != nil || Of(tls.Client(a, &tls.Config{})) != nil {
		t.Error("found where there is none")
	}
}

// Last is asked by one goroutine while another reads; the race detector is the
// judge, and the numbers must be of one read.
func TestLastWhileReading(t *testing.T) {
	c, far := pair(t, "tcp")
	s := Wrap(c, NewClock())
	const reads = 500
	go func() {
		for range reads {
			far.Write([]byte("x"))
		}
		far.Close()
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 1)
		for {
			if _, err := s.Read(b); err != nil {
				return
			}
		}
	}()
	var prev Read
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		r := s.Last()
		if r.Seq < prev.Seq || r.At < prev.At || r.Late < 0 {
			t.Fatalf("%+v after %+v", r, prev)
		}
		s.Joined(prev.Seq)
		prev = r
	}
	if prev.Seq != reads {
		t.Errorf("%d reads of one byte each, want %d", prev.Seq, reads)
	}
}

func TestJoined(t *testing.T) {
	c := &Conn{}
	put := func(r Read) {
		c.last++
		r.Seq = c.last
		c.past[c.last%history] = r
	}
	put(Read{At: 10, Since: 5, Parked: true, Source: "kernel", Records: 1})
	put(Read{At: 20, Late: 2, Since: 12, Parked: true, Source: "kernel", Records: 3, Split: true})
	put(Read{At: 40, Late: 1, Since: 21, Waited: 4, Source: "kernel", Records: 2})
	for _, x := range []struct {
		name  string
		after uint64
		want  Read
	}{
		{"nothing new", 3, c.Last()},
		{"one", 2, c.Last()},
		{"two", 1, Read{At: 40, Late: 1, Seq: 3, Since: 12, Waited: 41 - 22, Source: "kernel", Records: 3, Split: true}},
		{"all", 0, Read{At: 40, Late: 1, Seq: 3, Since: 5, Waited: 41 - 10, Source: "kernel", Records: 3, Split: true}},
		{"ahead", 9, c.Last()},
	} {
		if d := cmp.Diff(x.want, c.Joined(x.after)); d != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, d)
		}
	}
	for range 2 * history {
		put(Read{At: 100, Since: 90, Source: "read"})
	}
	if r := c.Joined(3); r.Since != 0 || r.Waited != 100 || r.Source != "read" {
		t.Errorf("more than is remembered: %+v", r)
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			c, far := pair(t, network)
			s := Wrap(c, NewClock())
			b, x := make([]byte, 64), []byte("x")
			n := testing.AllocsPerRun(200, func() {
				if _, err := far.Write(x); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Read(b); err != nil {
					t.Fatal(err)
				}
				s.Last()
				s.Joined(0)
			})
			if n != 0 {
				t.Errorf("%v allocations per read", n)
			}
		})
	}
}

func benchmarkRead(b *testing.B, wrap func(net.Conn) net.Conn) {
	c, far := pair(b, "tcp")
	c = wrap(c)
	msg, buf := bytes.Repeat([]byte("x"), 300), make([]byte, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := far.Write(msg); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// Writing and reading 300 bytes over loopback, without and with stamps.
func BenchmarkReadPlain(b *testing.B) {
	benchmarkRead(b, func(c net.Conn) net.Conn { return c })
}

func BenchmarkReadStamped(b *testing.B) {
	benchmarkRead(b, func(c net.Conn) net.Conn { return Wrap(c, NewClock()) })
}
