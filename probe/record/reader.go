package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"teapot/probe/event"
)

// maxNested bounds the damaged blocks that may overlap before the lengths in
// their headers are believed. Without a bound, a file made for it would have
// every byte checksummed thousands of times.
const maxNested = 16

// Reader reads events from a stream that may still be growing, and goes on
// after damage. It must not be used by two goroutines at once, but for Damage.
type Reader struct {
	in   window
	text bool
	rest []byte // records of the current block that were not returned
	left int    // as many as its header promised and did not come yet
	next uint64 // ordinal after the last record of the last sound block
	zip  *unpacker
	err  error

	// While a damaged stretch lasts:
	lost  bool
	from  int64  // where it begins
	short bool   // it begins with a block that the end of the stream cuts
	known uint64 // ordinal after the last record that a header in it told of

	suspect int64 // where all blocks end that are searched for nested ones
	tries   int   // damaged blocks since that search began

	dmg damage
}

// NewReader reads the file header from r and nothing after it that is not
// there already. Errors: ErrNotRecording, also for an empty stream; the format
// is newer than Version; what r failed with, wrapped.
func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{in: window{src: r}}
	b, err := rd.in.peek(fileSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	flags, whole, err := parseFileHeader(b)
	if err != nil {
		return nil, err
	}
	rd.text = flags&fileText != 0
	switch {
	case len(b) < fileSize:
		rd.dmg.cutOff(0, 0)
	case !whole:
		rd.dmg.place(0, 0)
		rd.text = true // it may hold some
	}
	rd.in.skip(len(b))
	return rd, nil
}

// Text tells whether Text events may come: whether they were let through when
// the stream was written.
func (r *Reader) Text() bool { return r.text }

// Damage says in one line what could not be read so far, with the offset in
// bytes; "" when all is well. It may be called from any goroutine.
func (r *Reader) Damage() string { return r.dmg.line() }

// Next returns the next event as soon as its block is there. It skips records
// of unknown kinds, and what is damaged; Damage tells of that. At the end,
// which may be a cut, it returns io.EOF, and when the source fails, its error
// wrapped, each after all events that came whole before.
func (r *Reader) Next() (event.Event, error) {
	for {
		for len(r.rest) > 0 {
			ev, n, err := event.Read(r.rest)
			if n == 0 { // the block is as it was written, but the writer erred
				r.rest = nil
				break
			}
			r.rest = r.rest[n:]
			r.left--
			if err != nil {
				r.dmg.badRecords(1)
			} else if ev != nil {
				return ev, nil
			}
		}
		if r.left > 0 {
			r.dmg.badRecords(r.left)
		}
		r.left = 0
		if r.err == nil {
			r.err = r.block()
		}
		if r.err != nil {
			r.rest = nil
			return nil, r.err
		}
	}
}

// block makes the next sound block the current one.
func (r *Reader) block() error {
	for {
		b, err := r.in.peek(blockSize)
		if err != nil {
			return r.end(err, len(b))
		}
		h, ok := parseBlock(b)
		if _, whole, _ := parseFileHeader(b); whole {
			return r.another()
		}
		if !ok {
			r.fail(false, r.next)
			r.seek()
			continue
		}
		b, err = r.in.peek(blockSize + h.stored)
		if err != nil && !errors.Is(err, io.EOF) {
			return r.end(err, len(b))
		}
		if err == nil {
			records, ok, err := r.open(&h, b[blockSize:])
			if err != nil {
				return err
			}
			if ok {
				r.accept(&h)
				r.in.skip(len(b))
				r.rest, r.left = records, h.count
				return nil
			}
		}
		r.fail(err != nil, h.first+uint64(h.count))
		r.reject(&h)
	}
}

// open checks a block's payload and returns the records in it, valid until the
// window moves. ok is false when the payload is damaged.
func (r *Reader) open(h *block, payload []byte) (records []byte, ok bool, err error) {
	if checksum(payload) != h.sum || h.flags&^blockZstd != 0 {
		return nil, false, nil
	}
	if h.flags&blockZstd == 0 {
		return payload, h.raw == h.stored, nil
	}
	if r.zip == nil {
		if r.zip, err = newUnpacker(); err != nil {
			return nil, false, err
		}
	}
	records, ok = r.zip.unpack(payload, h.raw)
	return records, ok, nil
}

// accept ends a damaged stretch at a sound block, whose ordinal tells how much
// is missing before it.
func (r *Reader) accept(h *block) {
	var gone uint64
	if h.first > r.next {
		gone = h.first - r.next
	}
	switch {
	case r.lost:
		r.dmg.place(r.from, gone)
	case gone > 0: // whole blocks are missing without a trace
		r.dmg.place(r.in.off, gone)
	}
	r.lost = false
	r.next = h.first + uint64(h.count)
}

// fail begins a damaged stretch, unless one lasts already, and notes up to
// which ordinal records are known to have been in it.
func (r *Reader) fail(short bool, known uint64) {
	if !r.lost {
		r.lost, r.from, r.short, r.known = true, r.in.off, short, r.next
	}
	r.known = max(r.known, known)
}

// reject looks for whole blocks inside one that is damaged, for bytes may be
// missing in it. After maxNested vain tries it goes on where all of them end, so
// that the work stays in proportion to the bytes.
func (r *Reader) reject(h *block) {
	if r.in.off >= r.suspect {
		r.tries = 0
	}
	r.suspect = max(r.suspect, r.in.off+int64(blockSize+h.stored))
	if r.tries++; r.tries <= maxNested {
		r.seek()
		return
	}
	r.in.skip(int(r.suspect - r.in.off))
}

// seek goes on to what may be the next block, as far as the stream was read.
func (r *Reader) seek() {
	r.in.skip(1)
	b := r.in.ready()
	i := bytes.Index(b, []byte(blockMagic))
	if i < 0 {
		i = max(0, len(b)-len(fileMagic)+1) // its beginning may be there
	}
	if j := bytes.Index(b, []byte(fileMagic)); j >= 0 && j < i {
		i = j
	}
	r.in.skip(i)
}

// another ends the reading where a second recording begins: two runs have
// numbered their endpoints and requests alike, and would be taken for one.
func (r *Reader) another() error {
	r.dmg.another(r.in.off)
	return r.end(io.EOF, 0)
}

// end is called when the stream ends after left bytes that are no block.
func (r *Reader) end(err error, left int) error {
	if left > 0 {
		r.fail(true, r.next)
	}
	if r.lost {
		if gone := r.known - r.next; r.short {
			r.dmg.cutOff(r.from, gone)
		} else {
			r.dmg.place(r.from, gone)
		}
		r.lost = false
	}
	if r.zip != nil {
		r.zip.close()
		r.zip = nil
	}
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("read recording: %w", err)
}
