package sse

import "bytes"

// bom drops a byte order mark at the very beginning. It is false while the
// bytes there are may still become one.
func (r *Reader) bom() bool {
	const mark = "\xef\xbb\xbf"
	if r.begun {
		return true
	}
	b := r.rest()
	if len(b) < len(mark) && r.err == nil && string(b) == mark[:len(b)] {
		return false
	}
	r.begun = true
	if len(b) >= len(mark) && string(b[:len(mark)]) == mark {
		r.take(len(mark))
	}
	return true
}

// detect is the parser until the format is known.
func (r *Reader) detect() (Event, bool) {
	if !r.bom() {
		return Event{}, false
	}
	// Blanks in front say nothing; some servers send them to keep a
	// connection alive.
	b := r.rest()
	r.take(len(b) - len(bytes.TrimLeft(b, " \t\r\n")))
	f, ok := sniff(r.rest(), r.hint, r.err != nil)
	if !ok {
		return Event{}, false
	}
	return r.begin(f)
}

// forced is the first step of a body whose format the caller decided.
func (r *Reader) forced() (Event, bool) {
	if !r.bom() {
		return Event{}, false
	}
	return r.begin(r.hint)
}

// begin goes on with the parser of a format.
func (r *Reader) begin(f Format) (Event, bool) {
	r.format = f
	switch f {
	case SSE:
		r.step = r.streamStep
	case NDJSON:
		r.step = r.firstLine
		if r.hint == NDJSON {
			r.step = r.lineStep
		}
	case Array:
		r.take(1) // the opening bracket
		r.step = r.arrayStep
	default:
		r.step = r.textStep
	}
	return r.step()
}

// textStep makes the beginning of a body that is no stream into one event.
func (r *Reader) textStep() (Event, bool) {
	b := r.rest()
	if r.closed {
		r.take(len(b))
		return Event{}, false
	}
	if len(b) < textSize && r.err == nil || len(b) == 0 {
		return Event{}, false
	}
	r.closed = true
	n := min(len(b), textSize)
	return Event{Type: TypeText, Data: r.take(n), Read: r.last}, true
}
