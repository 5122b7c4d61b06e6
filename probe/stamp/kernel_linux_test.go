package stamp

import (
	"encoding/binary"
	"net"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"teapot/probe/event"
)

// stamped makes a connection on which kernel stamps have begun to come: the
// kernel switches them on for the whole machine a moment after it is first
// asked to.
func stamped(t *testing.T) (*Conn, func(string)) {
	t.Helper()
	c, far := pair(t, "tcp")
	s := Wrap(c, NewClock())
	for range 1000 {
		write(t, far, "x")
		if got := read(s, 64); got.Err != "" {
			t.Fatalf("%+v", got)
		}
		if s.Last().Source == event.SourceKernel {
			return s, func(msg string) { write(t, far, msg) }
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the kernel gives no stamps")
	return nil, nil
}

// awaitBytes returns when n bytes lie unread in the socket.
func awaitBytes(t *testing.T, c *Conn, n int) {
	t.Helper()
	for range 10_000 {
		var have int
		err := c.sock.raw.Control(func(fd uintptr) { have, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		if err != nil {
			t.Fatal(err)
		}
		if have >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d bytes never arrived", n)
}

// Bytes that are seen in the socket at one instant and read much later are
// stamped before that instant: the stamp is the kernel's and not ours.
func TestStampIsOfTheArrival(t *testing.T) {
	s, send := stamped(t)
	for range 5 {
		sent := s.clock.Now()
		send("hello")
		awaitBytes(t, s, 5)
		there := s.clock.Now()
		time.Sleep(10 * time.Millisecond)
		if got := read(s, 64); got.Data != "hello" {
			t.Fatalf("%+v", got)
		}
		r := s.Last()
		if r.Source != event.SourceKernel || r.At > there || r.At < sent-ms/2 {
			t.Errorf("%+v; sent at %d, there at %d", r, sent, there)
		}
		if r.Late < 9*ms || r.Parked {
			t.Errorf("lateness or parking: %+v", r)
		}
		if Merged(1, r, 10*ms, 0) {
			t.Errorf("one event with an exact stamp counts as merged: %+v", r)
		}
		if !Merged(2, r, 0, 0) {
			t.Errorf("two events that lay for 10 ms pass for a burst: %+v", r)
		}
	}
}

// What is told of reads by a socket that found bytes waiting, without any
// kernel stamp: all of it follows from the session's clock.
func TestReadsOfABacklog(t *testing.T) {
	c, far := pair(t, "tcp")
	s := Wrap(c, NewClock())
	write(t, far, "0123456789")
	awaitBytes(t, s, 10)
	k := s.clock
	t0 := k.Now()
	time.Sleep(3 * time.Millisecond)
	if got := read(s, 4); got.Data != "0123" {
		t.Fatalf("%+v", got)
	}
	first := s.Last()
	if first.Parked || !first.Split {
		t.Errorf("first of a backlog: %+v", first)
	}
	if got := read(s, 64); got.Data != "456789" {
		t.Fatalf("%+v", got)
	}
	second := s.Last()
	if second.Parked || !second.Split || second.Since != first.Since || second.Waited < first.Waited {
		t.Errorf("second of a backlog: %+v after %+v", second, first)
	}
	if first.Waited < first.Taken()-t0 {
		t.Errorf("waited %d, but lay there for %d", first.Waited, first.Taken()-t0)
	}
	if !Merged(3, first, 0, 0) || !Merged(3, second, 0, 0) || !Merged(1, second, 0, 0) {
		t.Error("a backlog passes for a burst")
	}
	if second.Source == event.SourceKernel && second.At > t0 {
		t.Errorf("arrived at %d, after it was seen there at %d", second.At, t0)
	}
}

// A read that had to wait says so.
func TestParked(t *testing.T) {
	s, send := stamped(t)
	for range 100 {
		before := s.clock.Now()
		got := make(chan result)
		go func() { got <- full(s, 2) }()
		time.Sleep(2 * time.Millisecond) // usually enough for it to wait
		send("hi")
		if r := <-got; r.Data != "hi" {
			t.Fatalf("%+v", r)
		}
		if r := s.Last(); r.Parked {
			if r.Waited != 0 || r.Since < before {
				t.Errorf("%+v, before %d", r, before)
			}
			return
		}
	}
	t.Error("no read of a hundred is known to have waited")
}

func TestRTT(t *testing.T) {
	s, send := stamped(t)
	for range 1000 {
		if rtt := s.RTT(); rtt > 0 {
			if rtt > time.Minute {
				t.Errorf("round trip over loopback: %v", rtt)
			}
			return
		}
		write(t, s, "x") // a round trip is measured on what is sent
		send("y")
		full(s, 1)
	}
	t.Error("no round trip is known")
}

func TestRTTUnknown(t *testing.T) {
	c, _ := pair(t, "unix")
	if rtt := Wrap(c, NewClock()).RTT(); rtt != 0 {
		t.Errorf("round trip of a unix socket: %v", rtt)
	}
	c, _ = pair(t, "tcp")
	s := Wrap(c, NewClock())
	s.Close()
	if rtt := s.RTT(); rtt != 0 {
		t.Errorf("round trip of a closed connection: %v", rtt)
	}
}

// message builds a socket control message.
func message(level, kind int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = level, kind
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b[unix.CmsgLen(0):], data)
	return b
}

func words(ws ...int64) (b []byte) {
	for _, w := range ws {
		b = binary.NativeEndian.AppendUint64(b, uint64(w))
	}
	return b
}

func halves(ws ...int32) (b []byte) {
	for _, w := range ws {
		b = binary.NativeEndian.AppendUint32(b, uint32(w))
	}
	return b
}

func TestStampOf(t *testing.T) {
	const sol = unix.SOL_SOCKET
	other := message(unix.IPPROTO_TCP, 7, words(3))
	stamp := message(sol, unix.SO_TIMESTAMPNS_NEW, words(1_800_000_000, 123_456_789))
	cases := []struct {
		name string
		b    []byte
		want int64
	}{
		{"new form", stamp, 1_800_000_000_123_456_789},
		{"old form, 64 bits", message(sol, unix.SO_TIMESTAMPNS, words(1_800_000_000, 5)), 1_800_000_000_000_000_005},
		{"old form, 32 bits", message(sol, unix.SO_TIMESTAMPNS, halves(1_800_000_000, 6)), 1_800_000_000_000_000_006},
		{"behind another message", append(append([]byte{}, other...), stamp...), 1_800_000_000_123_456_789},
		{"another message only", other, 0},
		{"none", nil, 0},
		{"cut", stamp[:len(stamp)-4], 0},
		{"too short for a time", message(sol, unix.SO_TIMESTAMPNS, halves(1)), 0},
		{"no such nanosecond", message(sol, unix.SO_TIMESTAMPNS_NEW, words(1_800_000_000, 2_000_000_000)), 0},
		{"no such second", message(sol, unix.SO_TIMESTAMPNS_NEW, words(1<<60, 0)), 0},
		{"before 1970", message(sol, unix.SO_TIMESTAMPNS_NEW, words(-5, 0)), 0},
		{"zero", message(sol, unix.SO_TIMESTAMPNS_NEW, words(0, 0)), 0},
		{"a length of nothing", make([]byte, 64), 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := stampOf(c.b); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func FuzzStampOf(f *testing.F) {
	f.Add(message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, words(1_800_000_000, 1)))
	f.Add(message(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, halves(1_800_000_000, 1)))
	f.Add([]byte{16, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := stampOf(b); got < 0 {
			t.Errorf("%d", got)
		}
	})
}

// A message on a unix socket can carry open files; they must not stay open in
// a reader that never asked for them.
func TestUnixSocketTakesNoFiles(t *testing.T) {
	c, far := pair(t, "unix")
	s := Wrap(c, NewClock())
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	open := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	before := open()
	for range 10 {
		if _, _, err := far.(*net.UnixConn).WriteMsgUnix([]byte("x"), unix.UnixRights(int(null.Fd())), nil); err != nil {
			t.Fatal(err)
		}
		if got := full(s, 1); got.Data != "x" {
			t.Fatalf("%+v", got)
		}
	}
	if after := open(); after != before {
		t.Errorf("%d files open, %d before", after, before)
	}
}
