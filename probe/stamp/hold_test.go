package stamp

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"teapot/probe/event"
)

// While somebody holds on, the first bytes of a connection are stamped as well.
func TestHold(t *testing.T) {
	k := NewClock()
	source, release := Hold(k)
	defer release()
	if source != event.SourceKernel {
		if source != event.SourceRead {
			t.Errorf("source %q", source)
		}
		t.Skipf("no kernel stamps on %s here", runtime.GOOS)
	}
	for range 10 {
		a, b, err := ends()
		if err != nil {
			t.Fatal(err)
		}
		c := Wrap(a, k)
		io.WriteString(b, "x")
		if _, err := c.Read(make([]byte, 9)); err != nil {
			t.Fatal(err)
		}
		if r := c.Last(); r.Source != event.SourceKernel {
			t.Errorf("the first read: %+v", r)
		}
		a.Close()
		b.Close()
	}
	release()
}

// Stirred sees bytes, a close and a break, takes nothing, and waits for
// nothing.
func TestStirred(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it cannot be known here")
	}
	await := func(c *Conn) bool {
		for range 2000 {
			if c.Stirred() {
				return true
			}
			time.Sleep(time.Millisecond)
		}
		return false
	}
	for _, c := range []struct {
		name string
		do   func(b net.Conn)
	}{
		{"bytes", func(b net.Conn) { io.WriteString(b, "x") }},
		{"end", func(b net.Conn) { b.Close() }},
		{"reset", func(b net.Conn) { b.(*net.TCPConn).SetLinger(0); b.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b, err := ends()
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			s := Wrap(a, NewClock())
			defer s.Close()
			if s.Stirred() {
				t.Error("nothing has happened")
			}
			c.do(b)
			if !await(s) {
				t.Fatal("not seen")
			}
			if c.name == "bytes" {
				if n, err := s.Read(make([]byte, 9)); n != 1 || err != nil {
					t.Errorf("read %d, %v: it took what it saw", n, err)
				}
				if s.Stirred() {
					t.Error("nothing is left")
				}
			}
			s.Close()
			if !s.Stirred() {
				t.Error("closed by ourselves")
			}
		})
	}
	p, q := net.Pipe()
	defer p.Close()
	defer q.Close()
	if Wrap(p, NewClock()).Stirred() {
		t.Error("what cannot be known")
	}
}
