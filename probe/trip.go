package probe

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"teapot/probe/event"
	"teapot/probe/stamp"
)

// trip follows one request from the search for a connection to the moment it
// left. A request is sent when its first byte is about to be written on a
// connection that stands: what connecting cost is kept apart.
//
// Its methods are called by several goroutines of net/http where that carries
// the request, also after the request is over.
type trip struct {
	clk    *stamp.Clock
	onGot  func()                                   // a connection stands
	onSent func(at, wrote int64, spans event.Start) // announces the request; called once

	sent     atomic.Int64 // when it left; 0 before
	answered atomic.Bool  // a byte of the answer came

	mu        sync.Mutex
	announced bool
	spans     event.Start // DNS, TCP, TLS, Reused and Idle
	began     struct{ dns, tcp, tls int64 }
	failed    event.Class // the phase of connecting that failed
	on        carriage
}

// carriage is the connection that a request leaves on.
type carriage struct {
	wire   *wire       // nil: not one of ours
	conn   *stamp.Conn // its socket
	came   arrivals    // when what is read from it came
	multi  bool        // HTTP/2: it carries other streams too
	reused bool        // it has carried a request before
	kept   bool        // it had stood idle, used before or not: the server may have closed it
	idle   int64       // for how long, ns; 0 when not or not known
}

// trace is what net/http reports to.
func (t *trip) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { t.phase(&t.began.dns) },
		DNSDone: func(i httptrace.DNSDoneInfo) {
			t.done(&t.began.dns, &t.spans.DNS, i.Err, event.ErrDNS)
		},
		ConnectStart: func(string, string) { t.phase(&t.began.tcp) },
		ConnectDone: func(_, _ string, err error) {
			t.done(&t.began.tcp, &t.spans.TCP, err, event.ErrConnect)
		},
		TLSHandshakeStart: func() { t.phase(&t.began.tls) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			t.done(&t.began.tls, &t.spans.TLS, err, event.ErrTLS)
		},
		GotConn:              t.got,
		GotFirstResponseByte: func() { t.answered.Store(true) },
	}
}

// phase notes the beginning of a phase; of several attempts the first counts.
func (t *trip) phase(began *int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *began == 0 {
		*began = t.clk.Now()
	}
}

// done notes the end of a phase.
func (t *trip) done(began *int64, span *int64, err error, class event.Class) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed = class
		return
	}
	t.failed = ""
	*span = max(t.clk.Now()-*began, 1)
}

// got takes the connection that net/http has found.
func (t *trip) got(i httptrace.GotConnInfo) {
	c := carriage{wire: wireOf(i.Conn), conn: stamp.Of(i.Conn), reused: i.Reused, kept: i.Reused || i.WasIdle}
	if c.conn != nil {
		c.came = c.conn
	}
	if i.Reused && i.WasIdle {
		c.idle = int64(i.IdleTime)
	}
	if s, ok := i.Conn.(*tls.Conn); ok {
		c.multi = s.ConnectionState().NegotiatedProtocol == "h2"
	}
	t.takes(c)
}

// takes notes the connection that the request will leave on.
func (t *trip) takes(c carriage) {
	w := c.wire
	t.mu.Lock()
	if t.on.wire != nil {
		t.on.wire.next.CompareAndSwap(t, nil) // the transport has taken another one
	}
	t.on, t.failed = c, ""
	t.spans.Reused, t.spans.Idle = c.reused, c.idle
	if c.reused {
		t.spans.DNS, t.spans.TCP, t.spans.TLS = 0, 0, 0
	}
	t.mu.Unlock()
	t.onGot()
	if w == nil || c.multi {
		// The next write may be anybody's: this is as near as one can come.
		t.leaves(t.clk.Now())
		t.left(0)
		return
	}
	w.next.Store(t)
}

// leaves notes that the request is about to be written.
func (t *trip) leaves(at int64) { t.sent.Store(at) }

// left announces the request, wrote ns after it began to leave; 0 is unknown.
func (t *trip) left(wrote int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.announced || t.sent.Load() == 0 {
		return
	}
	t.announced = true
	t.onSent(t.sent.Load(), wrote, t.spans)
}

// never announces a request that never left, at the time it was given up.
func (t *trip) never(at int64) {
	t.sent.CompareAndSwap(0, at)
	t.left(0)
}

// over takes the trip off its connection: what is written next is not of it.
func (t *trip) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on.wire != nil {
		t.on.wire.next.CompareAndSwap(t, nil)
	}
}

// carrier is what the reply comes on.
func (t *trip) carrier() carriage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.on
}

// fault is the phase of connecting that failed, "" if none did.
func (t *trip) fault() event.Class {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}
