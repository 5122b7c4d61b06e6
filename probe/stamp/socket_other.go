//go:build !linux

package stamp

import (
	"net"
	"time"
)

// socket is the Linux way to read; there is none here.
type socket struct{}

func newSocket(net.Conn) *socket { return nil }

func (*socket) read([]byte, *Clock) (int, taken, error) { return 0, taken{}, net.ErrClosed }

func (*socket) rtt() time.Duration { return 0 }

func (*socket) stirred() bool { return false }
