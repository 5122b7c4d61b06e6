package http1

import (
	"io"
	"net/http"
)

// mode is how the end of a body is known.
type mode uint8

const (
	over        mode = iota // it has ended
	counted                 // by its length
	chunked                 // by a chunk of length 0
	untilClosed             // by the end of the connection
)

// body is the body of one answer.
type body struct {
	c     *Conn
	resp  *http.Response
	mode  mode
	keep  bool  // the connection may carry another request afterwards
	left  int64 // counted: bytes to come
	chunk chunks
	err   error // what every further Read returns
}

// Read hands out bytes of the body that came with one read of the connection,
// and waits only when none of those read so far is left. The error is io.EOF
// at the end of the body, and io.ErrUnexpectedEOF where the connection ended
// before it.
func (b *body) Read(p []byte) (int, error) {
	if b.mode == over {
		return 0, b.end()
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if b.c.r == b.c.w {
			if err := b.c.fill(); err != nil {
				return 0, b.broke(err)
			}
		}
		n := b.take(p)
		if n > 0 {
			return n, nil
		}
		if b.mode == over {
			return 0, b.end()
		}
	}
}

// take moves what the buffer holds of the body to p, as far as it goes.
func (b *body) take(p []byte) int {
	c := b.c
	switch b.mode {
	case counted:
		n := copy(p[:min(int64(len(p)), b.left)], c.buf[c.r:c.w])
		c.r += n
		if b.left -= int64(n); b.left == 0 {
			b.finish()
		}
		return n
	case untilClosed:
		n := copy(p, c.buf[c.r:c.w])
		c.r += n
		return n
	}
	n, used, err := b.chunk.decode(p, c.buf[c.r:c.w])
	c.r += used
	switch {
	case err != nil:
		b.fail(err)
	case b.chunk.state == atEnd:
		b.resp.Trailer, err = b.chunk.trailers()
		if err != nil {
			b.fail(err)
			break
		}
		b.finish()
	}
	return n
}

// broke is what the end of the connection means for the body.
func (b *body) broke(err error) error {
	switch {
	case err != io.EOF:
		b.fail(err)
	case b.mode == untilClosed:
		b.finish()
	default:
		b.fail(io.ErrUnexpectedEOF)
	}
	return b.end()
}

func (b *body) fail(err error) { b.mode, b.err = over, err }

// finish notes the proper end of the body.
func (b *body) finish() {
	b.mode, b.c.reusable = over, b.keep
}

func (b *body) end() error {
	if b.err != nil {
		return b.err
	}
	return io.EOF
}

// Close gives up what is left of the body. The connection, which is the
// caller's, is not to be used again unless Reusable says so.
func (b *body) Close() error {
	if b.mode != over {
		b.fail(http.ErrBodyReadAfterClose)
	}
	return nil
}
