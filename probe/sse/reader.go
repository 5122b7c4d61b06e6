package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultMax is the cap on one event where Options name none: 16 MiB. Single
// lines of some megabytes do occur.
const DefaultMax = 16 << 20

// Options of a Reader. The zero value is ready to use.
type Options struct {
	// Max is the cap in bytes on one line, and on the data of one event;
	// DefaultMax if 0 or less.
	Max int
	// Hint says what a body is whose first bytes do not tell: SSE and NDJSON
	// count, anything else means Text. FormatOf gives it from a Content-Type.
	Hint Format
	// Force takes the body for SSE or NDJSON whatever its first bytes are;
	// other values are ignored.
	Force Format
}

const (
	bufferSize = 64 << 10 // what the caller is asked for at a time
	textSize   = 64 << 10 // how much of a body that is no stream becomes an event
	emptyReads = 100      // Reads without bytes and without error before giving up
)

// Reader cuts a body into events. It is for one goroutine.
type Reader struct {
	src    io.Reader
	max    int
	hint   Format
	force  bool
	format Format
	reads  uint64 // Reads made
	last   uint64 // the newest one that brought bytes
	err    error  // that ended the body; everything buffered is still parsed
	failed error  // ErrTooLong: nothing more is parsed

	small      []byte // the buffer of ordinary size, kept while a larger one is in use
	buf        []byte
	start, end int // unparsed bytes
	scanned    int // bytes from start on already searched in vain
	lf, noLF   int // where from start on the next LF is, -1 for not found among the first noLF

	begun  bool                 // the byte order mark is behind us
	skipLF bool                 // the last line ended with a CR: one LF belongs to it
	lines  int                  // of newline-delimited JSON that were not blank
	step   func() (Event, bool) // the parser of the present format

	stream stream
	json   scanner
	inside bool // a JSON value is being collected, from start on
	closed bool // the array or the text is over: the rest is skipped
	torn   bool // the event that the end of the body cut short was told of
}

// NewReader reads a body from src. It asks src for nothing until Next is
// called.
func NewReader(src io.Reader, o Options) *Reader {
	r := new(Reader)
	r.Reset(src, o)
	return r
}

// Reset begins a new body, as NewReader does, with the buffers of the old one:
// what was delivered before is no longer valid.
func (r *Reader) Reset(src io.Reader, o Options) {
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	small, s := r.small, &r.stream
	if small == nil {
		small = make([]byte, bufferSize)
	}
	s.reset()
	s.shrink()
	*r = Reader{src: src, max: o.Max, hint: o.Hint, small: small, buf: small, lf: -1,
		stream: stream{data: s.data, out: s.out, names: s.names}}
	r.step = r.detect
	if o.Force == SSE || o.Force == NDJSON {
		r.hint, r.force = o.Force, true
		r.step = r.forced
	}
}

// Format is what the body is, as far as is known: Unknown before the first
// byte that is not blank. A single JSON value on one line is taken for NDJSON
// until the body ends without another one.
func (r *Reader) Format() Format { return r.format }

// Buffered is the number of bytes that came and are in no event yet, line ends
// in front left out. After Next it tells whether the Read that brought the
// event brought anything behind it.
func (r *Reader) Buffered() int { return len(bytes.TrimLeft(r.buf[r.start:r.end], "\r\n")) }

// Next is the next event. The error is io.EOF at the end of the body, what the
// io.Reader said if it broke, or ErrTooLong; whole events that came before it
// are delivered first, and the error stays.
func (r *Reader) Next() (Event, error) {
	r.shrink()
	for empty := 0; ; {
		if r.failed != nil {
			return Event{}, r.failed
		}
		ev, ok := r.step()
		if ok {
			return ev, nil
		}
		if r.failed != nil {
			return Event{}, r.failed
		}
		if r.err != nil {
			r.settle()
			return Event{}, r.err
		}
		if n := r.fill(); n > 0 {
			empty = 0
		} else if empty++; empty >= emptyReads && r.err == nil {
			r.err = io.ErrNoProgress
		}
	}
}

// cut tells, once, that the body ended in order and inside an event.
func (r *Reader) cut() (Event, bool) {
	if r.err != io.EOF || r.torn {
		return Event{}, false
	}
	r.torn = true
	return Event{Type: TypeCut, Read: r.last}, true
}

// settle ends the doubt about a body of one line.
func (r *Reader) settle() {
	if r.format == NDJSON && r.hint != NDJSON && r.lines <= 1 {
		r.format = JSON
	}
}

// errBadReader is the error of an io.Reader that breaks its contract.
var errBadReader = errors.New("reader returned an impossible count")

// fill reads once and gives the number of bytes that came.
func (r *Reader) fill() int {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.grow()
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.reads++
	if n < 0 || n > len(r.buf)-r.end {
		r.err = errBadReader
		return 0
	}
	if n > 0 {
		r.last = r.reads
		r.end += n
	}
	r.err = err
	return n
}

// grow doubles the full buffer, up to a little more than the cap: a line of
// that length has been refused by then.
func (r *Reader) grow() {
	big := make([]byte, max(min(2*len(r.buf), r.max+bufferSize), len(r.buf)+1))
	copy(big, r.buf[:r.end])
	r.buf = big
}

// shrink goes back to the ordinary buffer once its contents fit, and lets go
// of the memory of large events. The event before is over when it is called.
func (r *Reader) shrink() {
	if len(r.buf) > bufferSize && r.end-r.start <= bufferSize/2 {
		r.end = copy(r.small, r.buf[r.start:r.end])
		r.start, r.buf = 0, r.small
	}
	r.stream.shrink()
}

// tooLong refuses what exceeds the cap.
func (r *Reader) tooLong() {
	r.failed = fmt.Errorf("%w: more than %d bytes", ErrTooLong, r.max)
}

// take removes n bytes from the front of what is unparsed.
func (r *Reader) take(n int) []byte {
	b := r.buf[r.start : r.start+n : r.start+n]
	r.start += n
	r.scanned = 0
	r.lf, r.noLF = max(r.lf-n, -1), max(r.noLF-n, 0)
	return b
}

// back undoes the takes since start was mark.
func (r *Reader) back(mark int) {
	r.start, r.scanned = mark, 0
	r.lf, r.noLF = -1, 0
}

// rest is what is unparsed.
func (r *Reader) rest() []byte { return r.buf[r.start:r.end] }

// line takes the next line, without its end. cr lets a CR end one, too. It is
// false if there is no whole line, or if the line exceeds the cap; at the end
// of the body the bytes left over are the last line (whole false).
func (r *Reader) line(cr bool) (line []byte, whole, ok bool) {
	if r.skipLF && r.start < r.end {
		r.skipLF = false
		if r.buf[r.start] == '\n' {
			r.take(1)
		}
	}
	b := r.rest()
	// Neither search looks twice at a byte, whatever line ends there are.
	if r.lf < 0 {
		if j := bytes.IndexByte(b[r.noLF:], '\n'); j >= 0 {
			r.noLF += j
			r.lf = r.noLF
		} else {
			r.noLF = len(b)
		}
	}
	i := r.lf
	if cr {
		to := len(b)
		if i >= 0 {
			to = i
		}
		if j := bytes.IndexByte(b[r.scanned:to], '\r'); j >= 0 {
			i = r.scanned + j
		}
		r.scanned = to
	}
	if i < 0 {
		switch {
		case len(b) > r.max:
			r.tooLong()
		case r.err != nil && len(b) > 0:
			return r.take(len(b)), false, true
		}
		return nil, false, false
	}
	if i > r.max {
		r.tooLong()
		return nil, false, false
	}
	end := b[i]
	line = r.take(i + 1)[:i]
	if end == '\r' {
		// The LF of a CRLF may not have come yet; the line need not wait for it.
		if r.start < r.end && r.buf[r.start] == '\n' {
			r.take(1)
		} else {
			r.skipLF = r.start == r.end
		}
	}
	return line, true, true
}
