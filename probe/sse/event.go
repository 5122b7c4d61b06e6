// Package sse cuts the body of a reply into events, byte for byte: a
// text/event-stream, newline-delimited JSON, a JSON array or document, or
// something that is none of these. It finds out which by the bytes, because
// Content-Type lies.
//
// It reads from the caller's io.Reader, one Read at a time and only when no
// whole event is left, so a caller that stamps its own Reads knows when each
// event came. It must not interpret what an event says, must not turn bytes
// into characters, knows nothing of clocks or sockets, and allocates nothing
// per event.
package sse

import (
	"errors"
	"strings"
)

// Event is one event of a body, or a comment between events.
type Event struct {
	// Type is the event's name, TypeMessage where it has none, or one of the
	// other Type constants. A server's own event named "comment" or
	// "cut" is delivered as TypeMessage, lest it pass for what it is not.
	Type string
	// Data is the payload exactly as it came, invalid UTF-8 included; the lines
	// of several data fields are joined by "\n". It is valid until Next is
	// called again.
	Data []byte
	// ID is the last event id seen on the stream, also by earlier events, and
	// is valid until Next is called again.
	ID []byte
	// Read is the ordinal, from 1, of the Read that completed the event. It is
	// the newest Read, except for an event that was known to be whole only by
	// what followed: flagged ones, and the last of a body.
	Read uint64
	// Flags say what was odd about it.
	Flags Flags
}

// The types that are not a server's own.
const (
	TypeMessage = "message" // no event field
	TypeComment = "comment" // a comment line, as used for keep-alives: Data is its text
	TypeError   = "error"   // an error field (or a server's event of that name)
	TypeText    = "text"    // the beginning of a body that is HTML or plain text, 64 KiB at most
	TypeCut     = "cut"     // the body ended in order, but inside an event, of which nothing is delivered
)

// Flags are the oddities of one event.
type Flags uint8

// The flags.
const (
	// NoTerminator: the body ended without the blank line (or, for
	// newline-delimited JSON, the line end) that completes the event.
	NoTerminator Flags = 1 << iota
	// NoBlankLine: the next event followed without the blank line between.
	// After the first such event of a body the reader no longer waits for
	// blank lines where a data line is whole by itself, and flags no more.
	NoBlankLine
	// Bare: a line of JSON without a field name, in an event stream.
	Bare
)

// String names the flags, joined by "+"; "" for none.
func (f Flags) String() string {
	var names []string
	for i, n := range []string{"no terminator", "no blank line", "bare"} {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, "+")
}

// ErrTooLong is the error of an event longer than the reader's cap. The error
// returned wraps it and names the cap. The rest of the body is not read.
var ErrTooLong = errors.New("event too long")
