package record

import "io"

// window is the part of a stream that was read and not yet used. Unlike a
// bufio.Reader it grows to what is asked of it, so that a block can be checked
// before it is taken, and searched when the check fails.
type window struct {
	src  io.Reader
	buf  []byte
	r, w int   // buf[r:w] is unused
	off  int64 // offset of buf[r] in the stream
	err  error // what src ended with; io.EOF at its end
}

const (
	windowSize = 64 << 10
	maxEmpty   = 100 // reads in a row without data or error before src is given up
)

// peek returns the next n bytes without using them, valid until the next call.
// Fewer come with the error of the source. It reads no further than it must,
// and takes along what is there anyway.
func (s *window) peek(n int) ([]byte, error) {
	if s.r == s.w {
		s.r, s.w = 0, 0
	}
	if s.w-s.r < n {
		s.room(n)
	}
	for empty := 0; s.w-s.r < n && s.err == nil; {
		m, err := s.src.Read(s.buf[s.w:])
		s.w += max(m, 0)
		s.err = err
		if m > 0 {
			empty = 0
		} else if empty++; empty == maxEmpty && err == nil {
			s.err = io.ErrNoProgress
		}
	}
	if s.w-s.r < n {
		return s.buf[s.r:s.w], s.err
	}
	return s.buf[s.r : s.r+n], nil
}

// room makes place for n unused bytes in one piece.
func (s *window) room(n int) {
	if s.r+n <= len(s.buf) {
		return
	}
	to := s.buf
	if n > len(to) {
		to = make([]byte, max(n, windowSize, 2*len(s.buf)))
	}
	s.w = copy(to, s.buf[s.r:s.w])
	s.buf, s.r = to, 0
}

// ready returns all that was read and not used.
func (s *window) ready() []byte { return s.buf[s.r:s.w] }

// skip uses n bytes of those that are ready.
func (s *window) skip(n int) {
	n = min(n, s.w-s.r)
	s.r += n
	s.off += int64(n)
}
