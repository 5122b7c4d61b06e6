package stamp

import (
	"net"
	"runtime"
	"time"

	"teapot/probe/event"
)

// holdLimit is how long Hold waits for the kernel to begin. It takes some
// milliseconds.
const holdLimit = 100 * time.Millisecond

// Hold has the kernel stamp what arrives, and keeps it at that until release
// is called. A kernel begins to stamp only when the first socket wants it, a
// while after that, and ends with the last: without somebody who holds on, the
// first bytes of a connection come without a stamp. source tells what stamps
// can be had on this machine: event.SourceKernel or event.SourceRead.
func Hold(k *Clock) (source string, release func()) {
	if runtime.GOOS != "linux" {
		return event.SourceRead, func() {}
	}
	a, b, err := ends()
	if err != nil {
		return event.SourceRead, func() {}
	}
	in := Wrap(a, k)
	release = func() {
		in.Close()
		b.Close()
	}
	buf := make([]byte, 8)
	_ = in.SetReadDeadline(time.Now().Add(2 * holdLimit))
	for end := k.Now() + int64(holdLimit); k.Now() < end; time.Sleep(time.Millisecond) {
		if _, err := b.Write(buf[:1]); err != nil {
			break
		}
		if _, err := in.Read(buf); err != nil {
			break
		}
		if in.Last().Source == event.SourceKernel {
			return event.SourceKernel, release
		}
	}
	return event.SourceRead, release
}

// ends makes two ends of a connection within this machine.
func ends() (a, b net.Conn, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer ln.Close()
	if a, err = net.DialTimeout("tcp", ln.Addr().String(), holdLimit); err != nil {
		return nil, nil, err
	}
	_ = ln.(*net.TCPListener).SetDeadline(time.Now().Add(holdLimit))
	if b, err = ln.Accept(); err != nil {
		a.Close()
		return nil, nil, err
	}
	if b.RemoteAddr().String() != a.LocalAddr().String() { // somebody else's
		a.Close()
		b.Close()
		return nil, nil, net.ErrClosed
	}
	return a, b, nil
}
