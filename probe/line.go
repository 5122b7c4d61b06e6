package probe

import (
	"context"
	"io"
	"net/http"
	"time"

	"teapot/probe/http1"
	"teapot/probe/stamp"
)

// maxIdle is after how much disuse a connection is not trusted any more, as
// whatever stands between may have forgotten it.
const maxIdle = int64(90 * time.Second)

// line is how the requests of one stream travel: on a connection of its own
// that is kept from one to the next, read by the goroutine that also parses.
// What cannot go that way goes by net/http.
type line struct {
	direct *direct
	rt     http.RoundTripper
	clk    *stamp.Clock

	http  *http1.Conn // its buffers outlive connections
	tap   tap
	wire  *wire // nil: no connection stands
	used  bool  // it has carried a request
	reply reply
}

// reply is the body of the answer on a line. When it has ended, or is given
// up, the connection is kept or closed.
type reply struct {
	l    *line
	ctx  context.Context
	stop func() bool // ends the watch over ctx; nil when it is over
	body io.ReadCloser
}

// send makes a request and returns the head of the answer. The connection
// stands before anything leaves; t learns of all that.
func (l *line) send(req *http.Request, t *trip) (*http.Response, error) {
	if !l.direct.serves(req.URL) {
		return l.rt.RoundTrip(req)
	}
	ctx := req.Context()
	switch err := l.ready(ctx, t); {
	case err == errHTTP2:
		return l.rt.RoundTrip(req)
	case err != nil:
		return nil, cause(ctx, err)
	}
	w := l.wire
	// No goroutine waits for the end of ctx: one is started by it.
	stop := context.AfterFunc(ctx, func() { _ = w.SetDeadline(time.Unix(1, 0)) })
	l.reply = reply{l: l, ctx: ctx, stop: stop}
	t.takes(carriage{wire: w, conn: w.Conn, came: &l.tap, reused: l.used, kept: l.used, idle: l.idle()})
	l.used = true
	sendErr := l.http.Send(req)
	// Also after a failure: a server may answer before it has read everything.
	resp, err := l.http.Response(req)
	if l.http.Answered() {
		t.answered.Store(true)
	}
	if err != nil {
		if sendErr != nil {
			err = sendErr
		}
		l.reply.over()
		return nil, cause(ctx, err)
	}
	l.reply.body, resp.Body = resp.Body, &l.reply
	return resp, nil
}

// ready sees to it that a connection stands which nobody has closed, as far as
// can be known without using it.
func (l *line) ready(ctx context.Context, t *trip) error {
	if l.wire != nil && (l.idle() > maxIdle || l.wire.Stirred()) {
		l.close()
	}
	if l.wire != nil {
		return nil
	}
	c, w, err := l.direct.connect(ctx, t)
	if err != nil {
		return err
	}
	l.wire, l.used, l.tap = w, false, newTap(c, w.Conn)
	if l.http == nil {
		l.http = http1.NewConn(&l.tap)
	} else {
		l.http.Reset(&l.tap)
	}
	return nil
}

// idle is for how long the connection has brought nothing, in ns; 0 before its
// first request.
func (l *line) idle() int64 {
	if !l.used {
		return 0
	}
	return max(l.clk.Now()-l.tap.last.Taken(), 1)
}

// close gives up the connection, if there is one.
func (l *line) close() {
	if l.wire != nil {
		// Not a farewell of TLS first: that might wait for the server.
		_ = l.wire.Close()
		l.wire, l.tap.Conn = nil, nil
	}
}

// Read reads on in the body. It allocates nothing.
func (r *reply) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if err != nil {
		if err != io.EOF {
			err = cause(r.ctx, err)
		}
		r.over()
	}
	return n, err
}

// Close gives up what is left of the body.
func (r *reply) Close() error {
	r.over()
	return r.body.Close()
}

// over lets the connection go, or keeps it for the next request.
func (r *reply) over() {
	if r.stop == nil {
		return
	}
	quiet := r.stop()
	r.stop = nil
	if !quiet || !r.l.http.Reusable() {
		r.l.close()
	}
}

// cause is why reading or writing failed: that it was given up, if it was.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
