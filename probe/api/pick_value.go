package api

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/buger/jsonparser"
)

// scratch holds the unescaped texts of one event; it is reused for the next.
type scratch struct{ buf []byte }

// plain undoes the escapes of a JSON string. Without escapes the result is the
// value itself; with them it lies in the buffer.
func (p *scratch) plain(value []byte) ([]byte, error) {
	if tidy(value) {
		return value, nil
	}
	if !utf8.Valid(value) {
		return nil, errUnusual
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value, nil
	}
	at, need := len(p.buf), len(p.buf)+len(value)
	if need > cap(p.buf) {
		p.buf = append(p.buf, value...)
	}
	out, err := jsonparser.Unescape(value, p.buf[at:need:need])
	if err != nil {
		return nil, errUnusual
	}
	p.buf = p.buf[:at+len(out)]
	return out, nil
}

// tidy tells whether a JSON string is plain ASCII without escapes, the usual
// case, in which it needs no work.
func tidy(value []byte) bool {
	for _, b := range value {
		if b == '\\' || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// number takes a small count under key number i.
func number(seen *fields, i int, value []byte, t jsonparser.ValueType, into *int) error {
	n, ok := small(value, t)
	if !seen.add(i) || !ok {
		return errUnusual
	}
	*into = n
	return nil
}

// millis takes a time in ms under key number i, as ns.
func millis(seen *fields, i int, value []byte, t jsonparser.ValueType, into *int64) error {
	if !seen.add(i) || t != jsonparser.Number || len(value) > 32 {
		return errUnusual
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return errUnusual
	}
	*into = spanOf(f, 1e6)
	return nil
}

// small reads a count of at most nine digits.
func small(value []byte, t jsonparser.ValueType) (int, bool) {
	if t != jsonparser.Number || len(value) == 0 || len(value) > 9 {
		return 0, false
	}
	n := 0
	for _, b := range value {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int(b-'0')
	}
	return n, true
}

// spanOf is a time in units of unit ns as ns; what is no sensible time is 0.
func spanOf(f, unit float64) int64 {
	ns := f * unit
	if !(ns > 0) || ns > 1e16 {
		return 0
	}
	return int64(math.Round(ns))
}
