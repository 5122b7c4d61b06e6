package sse

import (
	"bytes"
	"encoding/json"
)

// stream is what an event stream has told of the event to come, by the
// algorithm of the HTML standard (server-sent events, "interpreting an event
// stream") and a few leniencies for servers that do not follow it.
type stream struct {
	typ     string // of the event field before the data; "" if none
	typNext string // of an event field after data: by the standard it still counts
	isError bool   // an error field brought data
	data    []byte // of the data fields so far, joined by "\n"
	lines   int    // how many they were
	read    uint64 // the Read that brought the last of them
	id      []byte
	out     []byte // data of the event delivered last, valid until Next

	eager bool    // blank lines are missing: do not wait for them
	bare  bool    // JSON without a field name is being collected in data
	json  scanner // where that JSON stands

	names map[string]string // event types seen, so that each is allocated once
}

const (
	maxNames   = 64 // event types remembered ...
	maxNameLen = 64 // ... and the length of those
	maxIDKept  = 4096
)

// streamStep parses lines until one completes an event.
func (r *Reader) streamStep() (Event, bool) {
	s := &r.stream
	for {
		if s.eager && s.lines == 1 && !s.bare && s.standsAlone() {
			return s.deliver(0), true
		}
		line, whole, ok := r.line(true)
		if !ok {
			if r.err != nil && r.failed == nil {
				return r.streamEnd()
			}
			return Event{}, false
		}
		if ev, ok := r.streamLine(line, whole); ok {
			return ev, true
		}
		if r.failed != nil {
			return Event{}, false
		}
	}
}

// streamLine takes one line. whole is false for what was left at the end of
// the body.
func (r *Reader) streamLine(line []byte, whole bool) (Event, bool) {
	s := &r.stream
	if s.bare && !isField(line) {
		return r.bareLine(line, whole)
	}
	if s.bare {
		s.reset() // it never became a JSON value
	}
	if len(line) == 0 {
		if s.lines == 0 {
			s.reset()
			return Event{}, false
		}
		s.read = r.last
		return s.finish(), true
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "":
		f := Flags(0)
		if !whole {
			f = NoTerminator
		}
		return Event{Type: TypeComment, Data: value, ID: s.id, Read: r.last, Flags: f}, true
	case "data":
		return r.data(value, false)
	case "error":
		// Not in the standard: some servers report a failure this way.
		return r.data(value, true)
	case "event":
		if s.lines == 0 {
			s.typ = s.intern(value)
		} else {
			s.typNext = s.intern(value)
		}
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			if cap(s.id) > maxIDKept {
				s.id = nil
			}
			s.id = append(s.id[:0], value...)
		}
	default: // retry, which only matters to a client that reconnects, and the unknown
		if s.lines == 0 && (line[0] == '{' || line[0] == '[') {
			s.bare, s.json = true, scanner{}
			return r.bareLine(line, whole)
		}
		if !whole && s.lines == 0 && beginsField(line) {
			s.reset()
			return r.cut()
		}
	}
	return Event{}, false
}

// data adds a line of data. If the data before it is a whole JSON object, and
// would be none with this line, the blank line between two events is missing.
func (r *Reader) data(value []byte, isError bool) (ev Event, ok bool) {
	s := &r.stream
	if s.lines == 1 && len(s.data) > 0 && s.data[0] == '{' && !blank(value) && json.Valid(s.data) {
		next := s.typNext
		s.typNext = ""
		ev, ok = s.deliver(NoBlankLine), true
		s.typ, s.eager = next, true
	}
	if s.lines > 0 {
		s.data = append(s.data, '\n')
	}
	if len(s.data)+len(value) > r.max {
		r.tooLong()
		return ev, ok
	}
	s.data = append(s.data, value...)
	s.lines++
	s.read = r.last
	s.isError = s.isError || isError
	return ev, ok
}

// bareLine adds a line of JSON that has no field name. It is an event as soon
// as it is a whole value; what never becomes one is left out, as the standard
// wants.
func (r *Reader) bareLine(line []byte, whole bool) (Event, bool) {
	s := &r.stream
	if len(line) == 0 {
		s.reset()
		return Event{}, false
	}
	if s.lines > 0 {
		s.data = append(s.data, '\n')
		s.json.scan([]byte{'\n'})
	}
	if len(s.data)+len(line) > r.max {
		r.tooLong()
		return Event{}, false
	}
	s.data = append(s.data, line...)
	s.lines++
	s.read = r.last
	if _, done := s.json.scan(line); !done {
		return Event{}, false
	}
	s.bare = false
	if !json.Valid(s.data) && !isDone(s.data) {
		s.reset()
		return Event{}, false
	}
	f := Bare
	if !whole {
		f |= NoTerminator
	}
	return s.deliver(f), true
}

// finish delivers the event that a blank line ended.
func (s *stream) finish() Event {
	if s.typNext != "" {
		s.typ, s.typNext = s.typNext, ""
	}
	return s.deliver(0)
}

// streamEnd delivers what the end of the body left pending, if it is whole by
// itself. The standard would drop it.
func (r *Reader) streamEnd() (Event, bool) {
	s := &r.stream
	if s.lines == 0 || s.bare || !s.isError && !isDone(s.data) && !json.Valid(s.data) {
		inside := s.lines > 0 || s.typ != ""
		s.reset()
		if inside {
			return r.cut()
		}
		return Event{}, false
	}
	ev := s.finish()
	ev.Flags |= NoTerminator
	return ev, true
}

// deliver makes the event of the data collected and begins the next one.
func (s *stream) deliver(f Flags) Event {
	ev := Event{Type: s.typ, ID: s.id, Read: s.read, Flags: f}
	switch {
	case s.isError:
		ev.Type = TypeError
	case ev.Type == "" || ev.Type == TypeComment || ev.Type == TypeCut:
		ev.Type = TypeMessage
	}
	s.out, s.data = s.data, s.out
	ev.Data = s.out
	s.reset()
	return ev
}

// reset begins a new event.
func (s *stream) reset() {
	s.typ, s.typNext, s.isError, s.bare = "", "", false, false
	s.data, s.lines = s.data[:0], 0
}

// shrink lets go of the memory of a large event once it was used.
func (s *stream) shrink() {
	if cap(s.out) > bufferSize {
		s.out = nil
	}
	if cap(s.data) > bufferSize && s.lines == 0 {
		s.data = nil
	}
}

// standsAlone tells whether a data line is an event by itself, in a stream of
// which that is known to occur: it is the end marker, or an object that ends
// with the line.
func (s *stream) standsAlone() bool {
	if len(s.data) == 0 || s.data[0] != '{' {
		return isDone(s.data)
	}
	var v scanner
	n, done := v.scan(s.data)
	return done && blank(s.data[n:])
}

// intern gives the string of an event type, allocating only for new ones.
func (s *stream) intern(name []byte) string {
	if n, ok := s.names[string(name)]; ok {
		return n
	}
	n := string(name)
	if len(n) <= maxNameLen && len(s.names) < maxNames {
		if s.names == nil {
			s.names = make(map[string]string)
		}
		s.names[n] = n
	}
	return n
}

// isDone tells whether data is the end marker of the OpenAI dialects.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// blank tells whether b is nothing but JSON's white space.
func blank(b []byte) bool { return len(bytes.TrimLeft(b, " \t\r\n")) == 0 }
