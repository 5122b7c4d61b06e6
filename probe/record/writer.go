package record

import (
	"errors"
	"fmt"
	"io"

	"teapot/probe/event"
)

// Options say how a Writer writes.
type Options struct {
	// Compress compresses blocks with zstd where that makes them smaller. It is
	// for files: it costs memory and time that a probe on a live pipe lacks.
	Compress bool
	// Text lets Text events through; without it they are left out.
	Text bool
}

// ErrClosed is returned by a Writer after Close.
var ErrClosed = errors.New("record: writer is closed")

const (
	blockTarget = 256 << 10 // pending bytes at which a block is written without being asked for
	bufferSize  = 4 << 10   // a Writer's first buffer
	keepBuffer  = 1 << 20   // a buffer grown beyond this is given back after its block
)

// Writer collects events and writes them in blocks. It must not be used by two
// goroutines at once.
//
// The first error of the underlying writer, a broken pipe for example, is kept
// and returned by every later call.
type Writer struct {
	w       io.Writer
	opt     Options
	buf     []byte // room for a block header, then the pending records
	count   int    // pending records
	written uint64 // records in blocks already written
	zip     *packer
	err     error
}

// NewWriter writes the file header to w with one Write.
func NewWriter(w io.Writer, o Options) (*Writer, error) {
	var flags uint16
	if o.Text {
		flags |= fileText
	}
	wr := &Writer{w: w, opt: o, buf: make([]byte, blockSize, bufferSize)}
	if err := wr.write(appendFileHeader(nil, flags)); err != nil {
		return nil, err
	}
	return wr, nil
}

// Add takes one event into the pending block. It writes only when that block
// is full.
func (w *Writer) Add(ev event.Event) error {
	if w.err != nil {
		return w.err
	}
	if ev == nil || !w.opt.Text && ev.Kind() == event.KindText {
		return nil
	}
	before := len(w.buf)
	w.buf = event.Append(w.buf, ev)
	if len(w.buf) > before { // a nil pointer has no record
		w.count++
	}
	return w.flushFull()
}

// AddRaw takes whole records as event.Append made them, one after the other,
// and keeps no reference to them. It writes only when the pending block is
// full. When records end in the middle of one, those before it are taken and
// an error is returned that is not kept.
func (w *Writer) AddRaw(records []byte) error {
	if w.err != nil {
		return w.err
	}
	for len(records) > 0 {
		kind, n, err := event.Peek(records)
		if err != nil {
			return fmt.Errorf("record: add raw: %w", err)
		}
		if kind != event.KindText || w.opt.Text {
			w.buf = append(w.buf, records[:n]...)
			w.count++
			if err := w.flushFull(); err != nil {
				return err
			}
		}
		records = records[n:]
	}
	return nil
}

func (w *Writer) flushFull() error {
	if len(w.buf) < blockSize+blockTarget {
		return nil
	}
	return w.Flush()
}

// Flush writes the pending events as one block with exactly one Write, or
// nothing when there are none.
func (w *Writer) Flush() error {
	if w.err != nil || w.count == 0 {
		return w.err
	}
	records := w.buf[blockSize:]
	h := block{raw: len(records), stored: len(records), first: w.written, count: w.count}
	out := w.buf
	if w.opt.Compress {
		if w.zip == nil {
			zip, err := newPacker()
			if err != nil {
				w.err = err
				return err
			}
			w.zip = zip
		}
		if z := w.zip.pack(records); len(z) < len(out) {
			out, h.flags, h.stored = z, blockZstd, len(z)-blockSize
		}
	}
	h.sum = checksum(out[blockSize:])
	h.put(out)
	if err := w.write(out); err != nil {
		return err
	}
	w.written += uint64(w.count)
	w.count = 0
	w.buf = w.buf[:blockSize]
	if cap(w.buf) > keepBuffer {
		w.buf = make([]byte, blockSize, bufferSize)
	}
	return nil
}

// Close writes what is pending. It does not close the underlying writer. A
// second Close does nothing and returns what went wrong before, if anything.
func (w *Writer) Close() error {
	if errors.Is(w.err, ErrClosed) {
		return nil
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w.buf, w.zip, w.err = nil, nil, ErrClosed
	return nil
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("record: write: %w", err)
	}
	return w.err
}
