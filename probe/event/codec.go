package event

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Limits of one record, in bytes. A writer keeps them, so a reader may take
// anything above for damage before it reserves memory.
const (
	// MaxRecord bounds the kind byte and the payload together.
	MaxRecord = 2 << 20
	// MaxText is the most text one Text record carries; AppendText cuts what
	// is longer, at the start of a rune.
	MaxText = 1 << 20
)

// Errors of Read and Peek that end a sequence of records: where the next one
// begins is not known.
var (
	ErrShort   = errors.New("event: record is cut short")
	ErrTooLong = errors.New("event: record has an impossible length")
)

// Append appends the record of ev to dst: uvarint length | kind | payload. The
// length counts the kind byte and the payload. Token and Text have binary
// payloads, everything else one JSON object.
//
// It never fails: of a number that JSON cannot hold, NaN becomes 0 and an
// infinity the largest number of its sign; invalid UTF-8 in a JSON string
// becomes U+FFFD; an event that has no record all the same, or one above
// MaxRecord, is replaced by a Note that says so. A nil event appends nothing.
func Append(dst []byte, ev Event) []byte {
	switch e := ev.(type) {
	case nil:
		return dst
	case *Token:
		return AppendToken(dst, e)
	case *Text:
		return AppendText(dst, e)
	}
	if v := reflect.ValueOf(ev); v.Kind() == reflect.Pointer && v.IsNil() {
		return dst
	}
	payload, err := json.Marshal(ev)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		payload, err = json.Marshal(finite(ev))
	}
	kind := ev.Kind()
	if err != nil || len(payload) >= MaxRecord {
		payload = inability(ev, len(payload), err)
		kind = KindNote
	}
	dst = binary.AppendUvarint(dst, uint64(1+len(payload)))
	dst = append(dst, byte(kind))
	return append(dst, payload...)
}

// inability is the payload of the Note that stands for an event without a
// record. The error's text is left out: it may quote the event.
func inability(ev Event, size int, err error) []byte {
	why := fmt.Sprintf("its record would be %d bytes long", size)
	if err != nil {
		why = "it cannot be written as JSON"
	}
	payload, err := json.Marshal(&Note{
		At: ev.Time(), Level: "error",
		Text: fmt.Sprintf("an event of kind %d was left out: %s", ev.Kind(), why),
	})
	if err != nil { // a Note of numbers and plain strings always has one
		return []byte("{}")
	}
	return payload
}

// Peek tells the kind and the whole length in bytes of the record at the start
// of src without decoding it. The errors are ErrShort and ErrTooLong, with n 0.
func Peek(src []byte) (kind Kind, n int, err error) {
	length, head := binary.Uvarint(src)
	switch {
	case head == 0:
		return 0, 0, ErrShort
	case head < 0 || length == 0 || length > MaxRecord:
		return 0, 0, ErrTooLong
	case length > uint64(len(src)-head):
		return 0, 0, ErrShort
	}
	return Kind(src[head]), head + int(length), nil
}

// Read decodes the record at the start of src and tells its length n in bytes.
// The event keeps no reference to src.
//
// A record of an unknown kind gives nil, n and no error. When the payload makes
// no sense n is set beside the error, and the caller may go on after it; when n
// is 0, the error is ErrShort or ErrTooLong and nothing after it can be found.
func Read(src []byte) (ev Event, n int, err error) {
	kind, n, err := Peek(src)
	if err != nil {
		return nil, 0, err
	}
	_, head := binary.Uvarint(src)
	payload := src[head+1 : n]
	switch kind {
	case KindToken:
		t, err := readToken(payload)
		if err != nil {
			return nil, n, err
		}
		return t, n, nil
	case KindText:
		t, err := readText(payload)
		if err != nil {
			return nil, n, err
		}
		return t, n, nil
	}
	ev = blank(kind)
	if ev == nil {
		return nil, n, nil
	}
	if err := json.Unmarshal(payload, ev); err != nil {
		return nil, n, fmt.Errorf("event: payload of kind %d: %w", kind, err)
	}
	return ev, n, nil
}

// blank returns a zero event of the kinds that have a JSON payload, nil for all
// others.
func blank(k Kind) Event {
	switch k {
	case KindSession:
		return new(Session)
	case KindTarget:
		return new(Target)
	case KindStart:
		return new(Start)
	case KindHeaders:
		return new(Headers)
	case KindEnd:
		return new(End)
	case KindSkip:
		return new(Skip)
	case KindFloor:
		return new(Floor)
	case KindMark:
		return new(Mark)
	case KindSetting:
		return new(Setting)
	case KindNote:
		return new(Note)
	case KindDropped:
		return new(Dropped)
	case KindFinished:
		return new(Finished)
	case KindSignal:
		return new(Signal)
	case KindReset:
		return new(Reset)
	}
	return nil
}
