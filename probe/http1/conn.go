// Package http1 is the client side of HTTP/1.1 for streams whose arrival times
// matter: one request after the other on one connection, each written at once,
// each body handed out read by read.
//
// net/http's client takes an answer on a goroutine of its own before the
// caller's sees it, and joins two reads of the connection where a chunk goes
// over both, so that what came first bears the stamp of what came later. Here
// the caller's goroutine reads the connection itself, and what one read of the
// connection brought is never joined with the next.
// The meaning of a head is left to net/http's parser; this package finds where
// a head ends and undoes the framing of bodies.
//
// It opens no connection, follows no redirect, keeps no pool and stamps
// nothing: the connection may stamp its reads, and what Read returns came with
// the newest of them.
package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	// bufferSize is the most that one read of the connection takes.
	bufferSize = 64 << 10
	// maxHead bounds the status line and the header of one answer in bytes, and
	// maxLines in lines: what is made of a line takes more room than the line.
	maxHead  = 1 << 20
	maxLines = 4096
	// keptOut is the longest request whose buffer is kept for the next one.
	keptOut = 1 << 20
	// maxInformational is how many 1xx answers may come before the real one.
	maxInformational = 5
)

// Errors of an answer that cannot be read. Malformed heads fail with an error
// of net/http's.
var (
	ErrHeadTooLong   = errors.New("the header of the answer is too long")
	ErrInformational = errors.New("too many 1xx answers")
	ErrSwitched      = errors.New("the server switched to another protocol")
)

// Conn carries requests, one at a time. It belongs to one goroutine.
type Conn struct {
	c    io.ReadWriter
	buf  []byte // what was read and not yet taken is buf[r:w]
	r, w int
	err  error // of the last read, kept until what came before it is taken
	out  bytes.Buffer
	line []byte // room for a head

	body     body
	got      bool // a byte of the present answer was read
	reusable bool
}

// NewConn makes a Conn of a connection that stands. Nothing may have been read
// from c that is not for it.
func NewConn(c io.ReadWriter) *Conn {
	return &Conn{c: c, buf: make([]byte, bufferSize), reusable: true}
}

// Reset goes on with another connection, in the buffers of the old one.
func (c *Conn) Reset(rw io.ReadWriter) {
	c.c, c.r, c.w, c.err = rw, 0, 0, nil
	c.got, c.reusable = false, true
	c.body.mode = over
}

// Send writes a request, in one write. The body, if there is one, is read to
// its end first: its length is what req.ContentLength says.
func (c *Conn) Send(req *http.Request) error {
	c.out.Reset()
	if err := req.Write(&c.out); err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	c.got, c.reusable = false, false
	_, err := c.c.Write(c.out.Bytes())
	if c.out.Cap() > keptOut {
		c.out = bytes.Buffer{} // one long prompt is no reason to keep its room
	}
	return err
}

// Answered tells whether any byte of an answer to the last request was read.
func (c *Conn) Answered() bool { return c.got }

// Reusable tells whether the connection can carry another request: the last
// answer was read to its end, and neither side wants to close.
func (c *Conn) Reusable() bool { return c.reusable && c.err == nil && c.r == c.w }

// Response reads the head of the answer to req; those of 1xx are skipped, and
// 101 is an error. The body has to be read to its end before the next request,
// or the connection closed. The error is io.EOF when the connection ended
// before the first byte, and io.ErrUnexpectedEOF when it ended in the head.
func (c *Conn) Response(req *http.Request) (*http.Response, error) {
	for range maxInformational + 1 {
		head, err := c.head()
		if err != nil {
			return nil, err
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), req)
		if err != nil {
			return nil, err
		}
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, ErrSwitched
		case resp.StatusCode/100 != 1:
			c.frame(resp, req)
			return resp, nil
		}
	}
	return nil, ErrInformational
}

// frame gives an answer the body that its head announces.
func (c *Conn) frame(resp *http.Response, req *http.Request) {
	b := &c.body
	*b = body{c: c, resp: resp, keep: !resp.Close, chunk: chunks{line: b.chunk.line[:0]}}
	switch {
	case req.Method == http.MethodHead, resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified:
		b.finish()
	case len(resp.TransferEncoding) > 0: // net/http's parser takes no other than chunked
		b.mode = chunked
	case resp.ContentLength >= 0:
		b.mode, b.left = counted, resp.ContentLength
		if b.left == 0 {
			b.finish()
		}
	default:
		b.mode, b.keep = untilClosed, false
	}
	resp.Body = b
}

// head takes the bytes of a head from the connection, its empty line included.
// A first line that no answer can begin with ends the wait for more: what is no
// HTTP may never send an empty line.
func (c *Conn) head() ([]byte, error) {
	head, lines := c.line[:0], 0
	defer func() { c.line = head[:0] }()
	for {
		if c.r == c.w {
			if err := c.fill(); err != nil {
				if err == io.EOF && len(head) > 0 {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
		}
		c.got = true
		from := len(head)
		head = append(head, c.buf[c.r:c.w]...)
		end := headEnd(head, from)
		whole := end > 0
		if !whole {
			end = len(head)
		}
		c.r += end - from
		lines += bytes.Count(head[from:end], []byte{'\n'})
		switch {
		case end > maxHead, lines > maxLines:
			return nil, ErrHeadTooLong
		case whole:
			return head[:end], nil
		case lines > 0 && !bytes.HasPrefix(head, []byte("HTTP/")):
			return head, nil // net/http's parser says what is wrong
		}
	}
}

// headEnd finds the end of the first empty line after the status line. Bytes
// before from were searched already. 0 means that there is none yet.
func headEnd(head []byte, from int) int {
	for i := max(from-3, 0); i < len(head); i++ {
		at := bytes.IndexByte(head[i:], '\n')
		if at < 0 {
			return 0
		}
		i += at
		switch rest := head[i+1:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return i + 2
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 3
		}
	}
	return 0
}

// fill reads once from the connection, when everything before is taken. It
// returns the bytes that came before the error that came with them.
func (c *Conn) fill() error {
	if c.err != nil {
		return c.err
	}
	c.r, c.w = 0, 0
	for range 100 { // a reader may return nothing now and then
		n, err := c.c.Read(c.buf)
		c.w, c.err = n, err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	c.err = io.ErrNoProgress
	return c.err
}
