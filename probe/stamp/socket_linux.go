package stamp

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket reads a stream socket with recvmsg, which hands over the kernel's
// receive time beside the bytes, and waits in Go's poller. One call of read at
// a time.
type socket struct {
	conn net.Conn
	raw  syscall.RawConn
	tcp  bool

	try   func(fd uintptr) bool // attempt, bound once so that a read allocates nothing
	clock *Clock
	msg   unix.Msghdr
	iov   unix.Iovec
	oob   [128]byte
	got   taken
	n     int
	err   error // of recvmsg
}

// newSocket prepares c for stamped reads. It is nil for what is not a stream
// socket of the net package. A kernel that gives no stamps is no error: the
// messages then lack them.
func newSocket(c net.Conn) *socket {
	s := &socket{conn: c}
	var err error
	switch c := c.(type) {
	case *net.TCPConn:
		s.tcp = true
		s.raw, err = c.SyscallConn()
	case *net.UnixConn:
		if a := c.LocalAddr(); a == nil || a.Network() != "unix" {
			return nil
		}
		s.raw, err = c.SyscallConn()
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	s.try = s.attempt
	if s.tcp {
		_ = s.raw.Control(func(fd uintptr) {
			if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1) != nil {
				_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
			}
		})
	}
	return s
}

// maxRead is the most that the net package reads at once, too.
const maxRead = 1 << 30

// read is net.Conn's Read, with what the read told.
func (s *socket) read(b []byte, k *Clock) (int, taken, error) {
	if len(b) > maxRead {
		b = b[:maxRead]
	}
	s.clock, s.got, s.n, s.err = k, taken{}, 0, nil
	s.iov.Base = &b[0]
	s.iov.SetLen(len(b))
	err := s.raw.Read(s.try)
	s.iov.Base = nil // keep nobody's buffer alive
	if err == nil {
		err = s.err
	}
	switch {
	case err != nil:
		return 0, s.got, s.wrap(err)
	case s.n == 0:
		return 0, s.got, io.EOF
	}
	return s.n, s.got, nil
}

// attempt tries once to read without blocking. False sends the caller to the
// poller.
func (s *socket) attempt(fd uintptr) bool {
	before := s.clock.Now()
	for {
		s.msg = unix.Msghdr{Iov: &s.iov}
		s.msg.SetIovlen(1)
		if s.tcp {
			// Not on unix sockets: a message could carry open files to us.
			s.msg.Control = &s.oob[0]
			s.msg.SetControllen(len(s.oob))
		}
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.msg)), unix.MSG_DONTWAIT)
		switch errno {
		case 0:
			s.n = int(n)
			s.got.before = before
			if s.tcp {
				s.got.stamp = stampOf(s.oob[:min(int(s.msg.Controllen), len(s.oob))])
			}
			sawRead(fd)
			return true
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			s.got.parked, s.got.empty = true, before
			return false
		default:
			s.err = os.NewSyscallError("read", errno)
			return true
		}
	}
}

// wrap gives an error the form that net.Conn's own Read gives it.
func (s *socket) wrap(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	out := &net.OpError{Op: "read", Err: err}
	if a := s.conn.LocalAddr(); a != nil {
		out.Net, out.Source = a.Network(), a
	}
	if a := s.conn.RemoteAddr(); a != nil {
		out.Addr = a
	}
	return out
}

// stampOf finds the receive time in a socket control message, in Unix ns, or 0.
// Both forms are understood: the new one of two 64-bit words and the old one of
// two C longs.
func stampOf(control []byte) int64 {
	for len(control) >= unix.CmsgSpace(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && (h.Type == unix.SO_TIMESTAMPNS_NEW || h.Type == unix.SO_TIMESTAMPNS) {
			switch {
			case len(data) >= 16:
				return nanos(int64(binary.NativeEndian.Uint64(data)), int64(binary.NativeEndian.Uint64(data[8:])))
			case len(data) >= 8:
				return nanos(int64(int32(binary.NativeEndian.Uint32(data))), int64(int32(binary.NativeEndian.Uint32(data[4:]))))
			}
		}
		control = rest
	}
	return 0
}

// nanos joins seconds and nanoseconds; 0 if they are no time of this age.
func nanos(sec, nsec int64) int64 {
	if sec <= 0 || sec > 1<<33 || nsec < 0 || nsec >= int64(time.Second) {
		return 0
	}
	return sec*int64(time.Second) + nsec
}

// rtt is TCP_INFO's smoothed round trip, 0 when unknown.
func (s *socket) rtt() time.Duration {
	if !s.tcp {
		return 0
	}
	var micros uint32
	err := s.raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			micros = info.Rtt
		}
	})
	if err != nil {
		return 0
	}
	return time.Duration(micros) * time.Microsecond
}

// stirred tells whether a read would return at once.
func (s *socket) stirred() bool {
	idle := false
	err := s.raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		idle = err == unix.EAGAIN || err == unix.EINTR
	})
	return err != nil || !idle
}
