package sse

import (
	"bytes"
	"encoding/json"
)

// scanner follows one JSON value to its end, without judging it.
type scanner struct {
	kind  byte // its first byte; 0 before that
	depth int
	str   bool // inside a string
	esc   bool // after a backslash
}

// scan reads on and gives how many bytes of b belong to the value, and whether
// it ends there. A number or a literal ends before what follows it.
func (v *scanner) scan(b []byte) (n int, done bool) {
	for i, c := range b {
		if v.kind == 0 {
			v.kind = c
		}
		switch {
		case v.str:
			switch {
			case v.esc:
				v.esc = false
			case c == '\\':
				v.esc = true
			case c == '"':
				v.str = false
				if v.depth == 0 {
					return i + 1, true
				}
			}
		case c == '"':
			v.str = true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']':
			if v.depth == 0 { // behind a number or a literal
				return i, true
			}
			if v.depth--; v.depth == 0 {
				return i + 1, true
			}
		case v.depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return i, true
		}
	}
	return len(b), false
}

// firstLine decides between a value per line and a document: whether the first
// line is a whole value.
func (r *Reader) firstLine() (Event, bool) {
	b := r.rest()
	i := bytes.IndexByte(b[r.scanned:], '\n')
	if i >= 0 {
		i += r.scanned
	} else {
		i = len(b)
	}
	r.scanned = len(b)
	switch {
	case i > r.max:
		r.tooLong()
		return Event{}, false
	case i == len(b) && r.err == nil:
		return Event{}, false
	}
	r.scanned = 0
	r.step = r.lineStep
	if !json.Valid(b[:i]) {
		r.format, r.step = JSON, r.documentStep
	}
	return r.step()
}

// lineStep takes a line of newline-delimited JSON.
func (r *Reader) lineStep() (Event, bool) {
	for {
		mark := r.start
		line, whole, ok := r.line(false)
		if !ok {
			return Event{}, false
		}
		if !r.force && isField(line) {
			// A line of JSON in front of an event stream.
			r.back(mark)
			r.format, r.step = SSE, r.streamStep
			return r.step()
		}
		line = bytes.TrimRight(line, "\r")
		if blank(line) {
			continue
		}
		r.lines++
		ev := Event{Type: TypeMessage, Data: line, Read: r.last}
		if !whole {
			if !json.Valid(line) {
				return r.cut()
			}
			if r.lines > 1 {
				ev.Flags = NoTerminator
			}
		}
		return ev, true
	}
}

// documentStep takes the next document of a body that is not kept to lines.
func (r *Reader) documentStep() (Event, bool) {
	if !r.inside {
		b := r.rest()
		i := bytes.IndexAny(b, "{[")
		if i < 0 {
			r.take(len(b))
			return Event{}, false
		}
		r.take(i)
	}
	return r.collect()
}

// arrayStep takes the next element of a JSON array.
func (r *Reader) arrayStep() (Event, bool) {
	if r.closed {
		r.take(len(r.rest()))
		return Event{}, false
	}
	if !r.inside {
		b := r.rest()
		r.take(len(b) - len(bytes.TrimLeft(b, " \t\r\n,")))
		b = r.rest()
		switch {
		case len(b) == 0:
			if r.err != nil {
				return r.cut()
			}
			return Event{}, false
		case b[0] == ']' || b[0] == '}':
			r.closed = true
			return r.arrayStep()
		}
	}
	return r.collect()
}

// collect takes the JSON value at the front once it is whole. One that the end
// of the body cut short is no event.
func (r *Reader) collect() (Event, bool) {
	if !r.inside {
		r.inside, r.json = true, scanner{}
	}
	n, done := r.json.scan(r.rest()[r.scanned:])
	r.scanned += n
	if r.scanned > r.max {
		r.tooLong()
		return Event{}, false
	}
	if !done {
		if r.err != nil {
			return r.cut()
		}
		return Event{}, false
	}
	r.inside = false
	return Event{Type: TypeMessage, Data: r.take(r.scanned), Read: r.last}, true
}
