package api

import (
	"encoding/json"
	"strings"

	"github.com/buger/jsonparser"

	"teapot/probe/sse"
)

// glance reads the fields that a dialect wants out of events that are JSON
// objects: those at the top, and those one level below. A plain event is read
// in one walk and without allocating; any other with encoding/json, and both
// ways find the same. A dialect builds on it where the events are not those of
// OpenAI's chat, for which there is the [picker].
type glance struct {
	scratch
	keys  []string // the last part of each path
	under []string // the first part, "" at the top
	outer []string // the objects that are entered, each once
	found []field

	in   string // the object that is being walked
	seen uint64 // the fields found, by bit; those entered follow the fields
	walk func(key, value []byte, t jsonparser.ValueType, at int) error
}

// field is what stood in a field. The zero value is a field that is missing.
type field struct {
	raw  json.RawMessage // JSON that is no string; nil for a string
	text []byte          // of a string
	is   bool            // it is there, and is not null
}

// maxFields is how many fields a glance can look for.
const maxFields = 48

// newGlance makes a glance at the given paths: "done" stands at the top,
// "message.content" in the object message.
func newGlance(paths ...string) *glance {
	g := &glance{scratch: scratch{make([]byte, 0, 256)}}
	for _, path := range paths[:min(len(paths), maxFields)] {
		outer, key, ok := strings.Cut(path, ".")
		if !ok {
			outer, key = "", path
		} else if g.entry(outer) < 0 {
			g.outer = append(g.outer, outer)
		}
		g.keys, g.under = append(g.keys, key), append(g.under, outer)
	}
	return g
}

// entry is the number of an object that is entered, or -1.
func (g *glance) entry(key string) int {
	for i, o := range g.outer {
		if o == key {
			return i
		}
	}
	return -1
}

// look reads an event. The fields are in the order of the paths and valid until
// the next look; ok is false where the event is no JSON object.
func (g *glance) look(data []byte) (found []field, ok bool) {
	if g.plainly(data) {
		return g.found, true
	}
	return g.found, g.thoroughly(data)
}

// clear forgets the event before.
func (g *glance) clear() {
	if g.walk == nil {
		g.walk = g.key
		g.found = make([]field, len(g.keys))
	}
	clear(g.found)
	g.buf, g.seen, g.in = g.buf[:0], 0, ""
}

// plainly is the quick way. It is false where it is not sure; then the fields
// mean nothing.
func (g *glance) plainly(data []byte) bool {
	g.clear()
	return valid(data) && jsonparser.ObjectEach(data, g.walk) == nil
}

// key takes one field of the walk.
func (g *glance) key(key, value []byte, t jsonparser.ValueType, _ int) error {
	for i, k := range g.keys {
		if k != string(key) || g.under[i] != g.in {
			continue
		}
		if g.seen&(1<<i) != 0 {
			return errUnusual // of a repeated key the last value counts
		}
		g.seen |= 1 << i
		switch t {
		case jsonparser.Null:
		case jsonparser.String:
			text, err := g.plain(value)
			if err != nil {
				return err
			}
			g.found[i] = field{text: text, is: true}
		default:
			g.found[i] = field{raw: value, is: true}
		}
	}
	if g.in != "" {
		return nil
	}
	n := g.entry(string(key))
	if n < 0 {
		return nil
	}
	bit := uint64(1) << (maxFields + n)
	if g.seen&bit != 0 {
		return errUnusual
	}
	g.seen |= bit
	if t != jsonparser.Object {
		return nil
	}
	g.in = g.outer[n]
	err := jsonparser.ObjectEach(value, g.walk)
	g.in = ""
	return err
}

// thoroughly is the slow way.
func (g *glance) thoroughly(data []byte) bool {
	g.clear()
	top, ok := objectOf(data)
	if !ok {
		return false
	}
	for i, key := range g.keys {
		o := top
		if outer := g.under[i]; outer != "" {
			if o, ok = objectOf(top[outer]); !ok {
				continue
			}
		}
		raw, have := o[key]
		switch {
		case !have || string(raw) == "null":
		case raw[0] == '"':
			g.found[i] = field{text: textOf(raw), is: true}
		default:
			g.found[i] = field{raw: raw, is: true}
		}
	}
	return true
}

// count is the field as a count; ok is false where it is none.
func (f field) count() (n int, ok bool) {
	if !f.is {
		return 0, false
	}
	if f.raw == nil {
		return countIn(string(f.text))
	}
	return countIn(string(f.raw))
}

// span is the field as a time in units of unit ns, in ns; 0 where it is none.
func (f field) span(unit float64) int64 {
	v, ok := f.number()
	if !ok {
		return 0
	}
	return spanOf(v, unit)
}

// number is the field as a number; ok is false where it is none.
func (f field) number() (v float64, ok bool) {
	if f.raw == nil {
		return 0, false
	}
	return floatIn(string(f.raw))
}

// true tells whether the field is the JSON true.
func (f field) true() bool { return string(f.raw) == "true" }

// empty tells whether the field says nothing: missing, null, "", {}, [] or 0.
func (f field) empty() bool {
	return !f.is || f.raw == nil && len(f.text) == 0 || f.raw != nil && !present(f.raw)
}

// kindOf is the kind of an event whose payload repeats its name: what the
// payload says, or the name where it says nothing.
func kindOf(f field, typ string) []byte {
	if len(f.text) > 0 || typ == sse.TypeMessage {
		return f.text
	}
	return []byte(typ)
}
