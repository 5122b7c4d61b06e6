package sse

import (
	"bytes"
	"mime"
	"strings"
)

// Format is what a body turned out to be.
type Format uint8

// The formats.
const (
	Unknown Format = iota // nothing but blanks so far
	SSE                   // text/event-stream
	NDJSON                // a JSON value per line
	JSON                  // one JSON document, or several not kept to lines
	Array                 // a JSON array whose elements are the events
	HTML
	Text // anything else
)

// String names the format.
func (f Format) String() string {
	names := [...]string{"unknown", "SSE", "NDJSON", "JSON", "JSON array", "HTML", "text"}
	if int(f) < len(names) {
		return names[f]
	}
	return "unknown"
}

// FormatOf is the format that a Content-Type claims, Unknown for a type that
// claims none. It makes a good Options.Hint.
func FormatOf(contentType string) Format {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	switch {
	case t == "text/event-stream":
		return SSE
	case t == "application/x-ndjson", t == "application/ndjson", t == "application/jsonl",
		t == "application/x-jsonlines", t == "application/json-lines", t == "application/jsonlines":
		return NDJSON
	case t == "application/json", strings.HasSuffix(t, "+json"):
		return JSON
	case t == "text/html", t == "application/xhtml+xml":
		return HTML
	case strings.HasPrefix(t, "text/"):
		return Text
	}
	return Unknown
}

// fields are the field names of an event stream, the unofficial error included.
var fields = [...]string{"data", "event", "id", "retry", "error"}

// sniff decides by the first bytes of a body after the blanks. It needs more
// (ok false) while b may still become a field name; at the end of the body it
// always decides.
func sniff(b []byte, hint Format, end bool) (f Format, ok bool) {
	if len(b) == 0 {
		return Unknown, false
	}
	switch b[0] {
	case ':':
		return SSE, true
	case '{':
		return NDJSON, true // or JSON, as its first line will tell
	case '[':
		return Array, true
	case '<':
		return HTML, true
	}
	for _, name := range fields {
		if len(b) <= len(name) {
			if !end && strings.HasPrefix(name, string(b)) {
				return Unknown, false
			}
			if string(b) == name {
				return SSE, true
			}
			continue
		}
		if c := b[len(name)]; string(b[:len(name)]) == name && (c == ':' || c == '\n' || c == '\r') {
			return SSE, true
		}
	}
	if hint == SSE || hint == NDJSON {
		return hint, true
	}
	return Text, true
}

// beginsField tells whether a line without an end may be the beginning of a
// field's name.
func beginsField(line []byte) bool {
	for _, name := range fields {
		if strings.HasPrefix(name, string(line)) {
			return true
		}
	}
	return false
}

// isField tells whether a line is a field or comment of an event stream. No
// JSON value looks like one.
func isField(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte{':'})
	if !ok {
		return false
	}
	if len(name) == 0 {
		return true
	}
	for _, f := range fields {
		if string(name) == f {
			return true
		}
	}
	return false
}
