package stamp

import (
	"errors"
	"net"
	"sync"
	"time"

	"teapot/probe/event"
)

// Read is what is known of one read of a connection that brought bytes. All
// times are nanoseconds of the session's clock.
type Read struct {
	// At is the arrival of the last byte of the read: the kernel's stamp of the
	// last segment in it, or the time of the read where there is no stamp. It
	// never goes back on one connection.
	At int64
	// Late is how long those bytes had been waiting when we took them, at least
	// 0; it is 0 when the stamp is the read's. At+Late is the time of the read.
	Late int64
	// Seq numbers the reads of the connection that brought bytes, from 1.
	Seq uint64
	// Parked: nothing was there at first and the read waited in the poller, so
	// all of it arrived while we were waiting for it.
	Parked bool
	// Source is event.SourceKernel or event.SourceRead.
	Source string

	// Since is when the socket was last known to be empty: nothing in this read
	// had arrived before. 0 when that is not known.
	Since int64
	// Waited is how long the first byte of this read can have lain unread by
	// what the connection knows, in a process that was never kept from running:
	// 0 for a parked read, the time since the socket was last empty for one that
	// found its bytes waiting, and growing along a backlog that takes several
	// reads.
	Waited int64
	// Split: the read filled the caller's buffer or goes on where such a one
	// stopped, so its stamp may be that of a segment behind its last byte.
	Split bool
	// Records is how many TLS records ended in this read; 0 without TLS.
	Records int
}

// Taken is the time of the read itself.
func (r Read) Taken() int64 { return r.At + r.Late }

// history is how many reads a Conn remembers for Joined.
const history = 16

// Conn is a net.Conn that stamps its reads. It behaves as the connection it
// wraps in every other way: deadlines, Close, half-close, errors and the
// concurrent use of Read, Write and the rest.
type Conn struct {
	net.Conn
	clock *Clock
	sock  *socket // how to read with the kernel's stamp; nil where that is impossible

	reading sync.Mutex // one read at a time; guards what follows
	queue   queue
	records records

	mu   sync.Mutex // guards the reads remembered
	past [history]Read
	last uint64 // Seq of the newest
}

// Wrap makes the reads of c stamped by k. For TCP on Linux it asks the kernel
// for receive times; for anything else, or where the kernel refuses, stamps are
// the time of the read.
func Wrap(c net.Conn, k *Clock) *Conn {
	return &Conn{Conn: c, clock: k, sock: newSocket(c), queue: queue{drained: true}}
}

// Of finds the stamped connection under c, which may be wrapped by anything
// that has a NetConn method, as *tls.Conn does. It is nil if there is none.
func Of(c net.Conn) *Conn {
	for c != nil {
		if s, ok := c.(*Conn); ok {
			return s
		}
		u, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = u.NetConn()
	}
	return nil
}

// NetConn is the connection underneath.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Last is the newest read that brought bytes; its Seq is 0 before the first.
// It may be called while another goroutine reads.
func (c *Conn) Last() Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past[c.last%history]
}

// Joined is Last with everything since the read numbered after taken as one:
// what a reader above should go by when one of its own reads may have needed
// several of the connection's. With nothing new it is Last.
func (c *Conn) Joined(after uint64) Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.past[c.last%history]
	if after >= r.Seq || after+1 == r.Seq {
		return r
	}
	forgotten := c.last-after > history
	first := after + 1
	if forgotten {
		first = c.last - history + 1
	}
	head := c.past[first%history]
	r.Since = head.Since
	r.Waited = max(r.Waited, head.Waited+r.Taken()-head.Taken())
	if forgotten {
		r.Since, r.Waited = 0, r.Taken()
	}
	for s := first; s < c.last; s++ {
		p := &c.past[s%history]
		r.Split = r.Split || p.Split
		r.Records = max(r.Records, p.Records)
		if p.Source != event.SourceKernel {
			r.Source = p.Source
		}
	}
	return r
}

// Read reads as the connection underneath does and remembers when the bytes
// arrived. It does not allocate.
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return c.Conn.Read(b)
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	var (
		n   int
		err error
		got taken
	)
	if c.sock != nil {
		n, got, err = c.sock.read(b, c.clock)
	} else {
		n, got, err = c.plain(b)
	}
	if n > 0 {
		c.note(b, n, got)
	}
	return n, err
}

// taken is what a read itself can tell about the bytes it brought.
type taken struct {
	before int64 // just before the call that brought them
	parked bool
	empty  int64 // if parked: just before the call that found nothing
	stamp  int64 // the kernel's, in Unix ns; 0 for none
}

// waitSeen is how long a read of which nothing else is known must have lasted
// to count as one that waited.
const waitSeen = int64(100 * time.Microsecond)

// plain reads where the socket cannot be asked. Whether the read waited is told
// by its length alone.
func (c *Conn) plain(b []byte) (int, taken, error) {
	t0 := c.clock.Now()
	n, err := c.Conn.Read(b)
	t1 := c.clock.Now()
	if t1-t0 >= waitSeen {
		// The bytes were taken as they came, so just before t1.
		return n, taken{before: t1, parked: true, empty: t0}, err
	}
	return n, taken{before: t0}, err
}

// note stamps the n bytes just read into b and remembers the read.
func (c *Conn) note(b []byte, n int, got taken) {
	mono, wall := c.clock.Pair()
	r := Read{Parked: got.parked, Records: c.records.count(b[:n])}
	c.queue.see(&r, got, mono, n < len(b))

	c.mu.Lock()
	defer c.mu.Unlock()
	prev := c.past[c.last%history].At
	r.At, r.Source = place(got.stamp, mono, wall, r.Since, prev)
	r.Late = mono - r.At
	c.last++
	r.Seq = c.last
	c.past[c.last%history] = r
}

// queue follows what is known of the socket's receive queue.
type queue struct {
	since   int64 // when it was last known to be empty
	drained bool  // the last read left nothing
	woke    int64 // the read that began the present backlog ...
	waited  int64 // ... and its Waited
}

// see fills Since, Waited and Split of a read done at now. drained tells that
// it left nothing behind: a stream socket fills the buffer if it can.
func (q *queue) see(r *Read, got taken, now int64, drained bool) {
	r.Split = !drained
	switch {
	case got.parked:
		q.since, q.waited, q.woke = got.empty, 0, now
	case q.drained:
		q.waited, q.woke = now-q.since, now
	default: // one backlog, several reads
		r.Split = true
	}
	r.Since, r.Waited = q.since, q.waited+now-q.woke
	q.drained = drained
	if drained {
		q.since = got.before
	}
}

const (
	// stampAhead is how far in ns a stamp may lie in the future: the slop of
	// two clocks read one after the other. More is a step of the wall clock.
	stampAhead = int64(time.Millisecond)
	// stampBehind is how long before the socket was seen empty a stamp may lie:
	// the kernel stamps a packet before it reaches the socket. More is a step.
	stampBehind = int64(10 * time.Millisecond)
)

// place puts a kernel stamp (Unix ns, 0 for none) on the session's clock, given
// both clocks now. since is when the socket was last empty and prev the At
// before. A stamp that the present wall clock makes impossible was taken
// before that clock was stepped: it says nothing, and the read's time stands.
func place(stamp, mono, wall, since, prev int64) (at int64, source string) {
	if stamp == 0 {
		return max(mono, prev), event.SourceRead
	}
	late := wall - stamp
	if late < -stampAhead || mono-late < since-stampBehind {
		return max(mono, prev), event.SourceRead
	}
	return max(mono-max(late, 0), prev), event.SourceKernel
}

// CloseWrite shuts down the sending side, as *net.TCPConn does. The error is
// errors.ErrUnsupported where the connection has no such thing.
func (c *Conn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return errors.ErrUnsupported
}

// CloseRead shuts down the receiving side, as *net.TCPConn does. The error is
// errors.ErrUnsupported where the connection has no such thing.
func (c *Conn) CloseRead() error {
	if h, ok := c.Conn.(interface{ CloseRead() error }); ok {
		return h.CloseRead()
	}
	return errors.ErrUnsupported
}

// RTT is the kernel's smoothed round trip of the connection; 0 when unknown.
func (c *Conn) RTT() time.Duration {
	if c.sock == nil {
		return 0
	}
	return c.sock.rtt()
}

// Stirred tells whether bytes wait to be read, or the other side has closed or
// broken the connection: what tells that a connection which should lie idle
// does not. It takes nothing and never waits. False where it cannot be known.
func (c *Conn) Stirred() bool { return c.sock != nil && c.sock.stirred() }
