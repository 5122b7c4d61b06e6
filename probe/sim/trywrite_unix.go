//go:build unix

package sim

import (
	"net"
	"syscall"
)

// tryWriter returns a function that writes as much as the kernel takes without
// waiting, or nil when the connection is no socket of the system.
func tryWriter(c net.Conn) func(b []byte) (int, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	t := &tryWrite{raw: raw}
	t.once = t.attempt // made once: a closure for every write would be garbage
	return t.write
}

type tryWrite struct {
	raw  syscall.RawConn
	once func(fd uintptr) bool
	b    []byte
	n    int
	err  error
}

func (t *tryWrite) write(b []byte) (int, error) {
	t.b, t.n, t.err = b, 0, nil
	err := t.raw.Write(t.once)
	t.b = nil
	if err == nil {
		err = t.err
	}
	return t.n, err
}

// attempt makes one system call and always says that it is satisfied, so that
// the poller never waits.
func (t *tryWrite) attempt(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), t.b)
		switch err {
		case nil:
			t.n = n
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		default:
			t.err = err
		}
		return true
	}
}
