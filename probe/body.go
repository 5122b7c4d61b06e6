package probe

import (
	"compress/gzip"
	"errors"
	"io"
	"sync/atomic"
	"unsafe"

	"teapot/probe/api"
	"teapot/probe/event"
	"teapot/probe/sse"
	"teapot/probe/stamp"
)

// reads is how many reads of a body are remembered: a reader of events may
// need the next read to see that the one before completed an event.
const reads = 8

// body reads the body of one reply, stamps every read before anything looks at
// the bytes, and turns the events of each read into Token and Text events. It
// is used by one goroutine, the one that also parses: nothing lies between the
// read and its stamp. Its buffers are kept from one request to the next.
type body struct {
	src  io.Reader
	conn arrivals // nil where reads must be stamped by their time (HTTP/2)
	clk  *stamp.Clock
	hb   *stamp.Heartbeat
	sink func(tokens []event.Token, texts []event.Text, r stamp.Read, merged int)
	red  *redactor

	target, slot uint32
	request      uint64

	rest  func() int // bytes of the last read that belong to no event yet
	seq   uint64     // the connection's read up to which all is accounted for
	count uint64     // reads of the body, as the reader of events counts them
	past  [reads]stamp.Read
	since int64         // without a connection: before the last read
	heard *atomic.Int64 // stamp of the newest byte, for whoever watches
	first int64         // stamp of the first byte
	last  int64         // stamp of the newest token event; before the first when the request was sent

	group  uint64 // the read whose events are collected
	kernel uint64 // the connection's read of the last group, and what it held:
	burst  uint32 // token events
	events int    // events of any kind from the first of these on: what came before it in the read does not touch its stamp, which is that of the last
	tokens []event.Token
	texts  []event.Text
	spans  []int  // where in arena the text of each token begins
	arena  []byte // texts of the group
	total  int    // token events of the request

	veils [event.Counted + 1]veil // one for each channel
	braid braid                   // of all of them
}

// begin prepares for a new reply on conn, whose header has just been read.
// sent is when the request left, and heard is told of every byte.
func (b *body) begin(src io.Reader, conn arrivals, request uint64, sent int64, heard *atomic.Int64) {
	b.src, b.conn, b.request, b.last, b.heard = src, conn, request, sent, heard
	b.seq, b.count, b.first, b.group, b.kernel, b.burst, b.events, b.total = 0, 0, 0, 0, 0, 0, 0, 0
	b.past = [reads]stamp.Read{}
	b.since = b.clk.Now()
	if conn != nil {
		b.seq = conn.Last().Seq
	}
	for i := range b.veils {
		b.veils[i].reset(&b.red.find)
	}
	b.braid = braid{last: -1}
	b.drop()
}

func (b *body) drop() {
	b.tokens, b.texts, b.spans, b.arena = b.tokens[:0], b.texts[:0], b.spans[:0], b.arena[:0]
}

// Read reads on, after all events of the read before have been handed out.
func (b *body) Read(p []byte) (int, error) {
	b.flush()
	before := b.clk.Now()
	n, err := b.src.Read(p)
	b.count++
	if n > 0 {
		b.stamp(before)
	}
	return n, err
}

// stamp notes when the bytes just read arrived.
func (b *body) stamp(before int64) {
	r := &b.past[b.count%reads]
	if b.conn != nil {
		*r = b.conn.Joined(b.seq)
		b.seq = r.Seq
	} else {
		*r = b.plain(before)
	}
	if b.first == 0 {
		b.first = r.At
	}
	b.heard.Store(r.At)
}

// waited is how long a read must have lasted, in ns, to count as one that
// waited for its bytes.
const waited = int64(100e3)

// plain stamps by the time of the read. Whether that read had to wait is told
// by its length alone.
func (b *body) plain(before int64) stamp.Read {
	now := b.clk.Now()
	r := stamp.Read{At: now, Seq: b.count, Source: event.SourceRead, Parked: now-before >= waited, Since: before}
	if !r.Parked {
		r.Since, r.Waited = b.since, now-b.since
	}
	b.since = before
	return r
}

// add takes what one event of the reply brought.
func (b *body) add(ev *sse.Event, p *api.Part) {
	if ev.Read != b.group {
		b.flush()
		b.group = ev.Read
		r := b.past[ev.Read%reads]
		if r.Seq != b.kernel || r.Seq == 0 {
			b.kernel, b.burst, b.events = r.Seq, 0, 0
		}
	}
	if p.Evidence || b.events > 0 {
		b.events++
	}
	if !p.Evidence {
		return
	}
	r := &b.past[ev.Read%reads]
	b.spans = append(b.spans, len(b.arena))
	b.weave(int(p.Channel)%len(b.veils), p.Text)
	b.tokens = append(b.tokens, event.Token{
		At: r.At, Target: b.target, Request: b.request, Slot: b.slot, Late: r.Late,
		K: p.K, Burst: b.burst, Bytes: uint32(len(p.Text)), Channel: p.Channel,
	})
	b.burst++
	b.total++
}

// end hands on, after the last flush, the text that was still held back.
func (b *body) end(put func(*event.Text)) {
	for i := range b.veils {
		b.arena = b.veils[i].finish(b.arena[:0])
		if len(b.arena) > 0 {
			put(&event.Text{At: b.last, Request: b.request, Channel: event.Channel(i), Text: view(b.arena)})
		}
	}
	b.drop()
}

// flush hands on the token events of one read. Only now is it known how many
// events the read completed, and so whether they may have been joined by our
// being late.
func (b *body) flush() {
	if len(b.tokens) == 0 {
		return
	}
	r := b.past[b.group%reads]
	merged, events := 0, b.events
	if b.group == b.count && b.rest() > 0 {
		events++ // one more has begun
	}
	gap := r.At - b.last
	b.last = r.At
	if b.hb.Merged(events, r, gap) {
		merged = len(b.tokens)
	}
	for i := range b.tokens {
		t := &b.tokens[i]
		t.Merged = merged > 0
		end := len(b.arena)
		if i+1 < len(b.spans) {
			end = b.spans[i+1]
		}
		// The arena is not touched again before the sink has copied the text.
		text := b.arena[b.spans[i]:end]
		b.texts = append(b.texts, event.Text{
			At: t.At, Request: t.Request, Channel: t.Channel, Text: view(text),
		})
	}
	b.sink(b.tokens, b.texts, r, merged)
	b.drop()
}

// view is b as a string without a copy, good for as long as b is left alone.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// inflater undoes a compression that was not asked for. It reads the header of
// the compressed stream only when the first byte is wanted. An error is that of
// the stream beneath, else a *zipError.
type inflater struct {
	src io.Reader
	end error // of src
	zip *gzip.Reader
}

func (i *inflater) Read(p []byte) (int, error) {
	if i.zip == nil {
		z, err := gzip.NewReader(beneath{i})
		if err != nil {
			return 0, i.why(err)
		}
		i.zip = z
	}
	n, err := i.zip.Read(p)
	return n, i.why(err)
}

// why tells a stream that broke from one that came whole and is no gzip.
func (i *inflater) why(err error) error {
	switch {
	case err == nil, err == io.EOF && i.zip != nil:
		return err
	case i.end != nil && i.end != io.EOF:
		return i.end
	}
	return &zipError{err}
}

// zipError is why a reply that says that it is gzip cannot be read.
type zipError struct{ err error }

func (e *zipError) Error() string {
	switch {
	case errors.Is(e.err, gzip.ErrHeader):
		return "the reply says that it is gzip, and is not"
	case errors.Is(e.err, io.ErrUnexpectedEOF), e.err == io.EOF:
		return "the reply says that it is gzip, and ends inside of it"
	}
	return "the reply says that it is gzip, which is broken: " + e.err.Error()
}

// beneath reads the compressed stream and remembers how it ended.
type beneath struct{ of *inflater }

func (b beneath) Read(p []byte) (int, error) {
	n, err := b.of.src.Read(p)
	if err != nil {
		b.of.end = err
	}
	return n, err
}
