package probe

import (
	"net"

	"teapot/probe/stamp"
)

// arrivals tells when what was read from a connection came.
type arrivals interface {
	// Last is the newest read that brought bytes.
	Last() stamp.Read
	// Joined is the newest read together with those since the one numbered
	// after, where a reader above may have needed several.
	Joined(after uint64) stamp.Read
}

// tap is a connection as the reader of replies takes from it, read by read: it
// knows when the bytes of the last of them came. Under TLS one read above may
// take several of the socket; they count as one. Without it they never do: a
// read of the socket that brought nothing but framing says nothing of the
// next. It is used by one goroutine.
type tap struct {
	net.Conn             // what is read and written: the socket, or TLS over it
	stamped  *stamp.Conn // the socket
	last     stamp.Read
}

// newTap makes the tap of a connection that stands. What was read before, as
// in a handshake, is no part of what comes.
func newTap(c net.Conn, stamped *stamp.Conn) tap {
	return tap{Conn: c, stamped: stamped, last: stamped.Last()}
}

func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if n > 0 && t.stamped.Last().Seq != t.last.Seq {
		t.last = t.stamped.Joined(t.last.Seq)
	}
	return n, err
}

// Last is the arrival of what was read last.
func (t *tap) Last() stamp.Read { return t.last }

// Joined is Last: the reader above takes from no other read.
func (t *tap) Joined(uint64) stamp.Read { return t.last }
