package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"teapot/probe/event"
)

// tokens makes n events, mostly tokens and their text, that differ from each
// other.
func tokens(n int) []event.Event {
	evs := make([]event.Event, n)
	for i := range evs {
		at := int64(i) * 13e6
		switch i % 5 {
		case 0, 2:
			evs[i] = &event.Token{At: at, Request: uint64(i), K: 1, Bytes: 5}
		case 1, 3:
			evs[i] = &event.Text{At: at, Request: uint64(i), Text: fmt.Sprintf(" word%d", i)}
		default:
			evs[i] = &event.Floor{At: at, Wall: 1e18 + at, Reads: uint64(i)}
		}
	}
	return evs
}

// part is where one block of a recording lies and which events it holds.
type part struct{ from, to, first, count int }

// write makes a recording of one block per group and tells where each lies.
func write(t failer, o Options, groups ...[]event.Event) ([]byte, []part) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	var parts []part
	n := 0
	for _, g := range groups {
		from := out.Len()
		for _, ev := range g {
			if err := w.Add(ev); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if len(g) > 0 {
			parts = append(parts, part{from, out.Len(), n, len(g)})
		}
		n += len(g)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), parts
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// read reads everything; an error other than the end is fatal.
func read(t failer, src io.Reader) ([]event.Event, string) {
	t.Helper()
	r, err := NewReader(src)
	if err != nil {
		t.Fatal(err)
	}
	var evs []event.Event
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			if again, err2 := r.Next(); again != nil || !errors.Is(err2, io.EOF) {
				t.Fatalf("after the end: %v, %v", again, err2)
			}
			return evs, r.Damage()
		}
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, ev)
	}
}

// wantEvents compares.
func wantEvents(t failer, got, want []event.Event) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) { // cmp is slow, and this runs for every byte of a file
			t.Fatalf("event %d (-want +got):\n%s", i, cmp.Diff(want[i], got[i]))
		}
	}
}

// draws makes generators of groups of events: blocks of 0 to 12 of them.
func draws(t *rapid.T, blocks int) [][]event.Event {
	groups := make([][]event.Event, rapid.IntRange(1, blocks).Draw(t, "blocks"))
	n := 0
	for i := range groups {
		k := rapid.IntRange(0, 12).Draw(t, "events")
		groups[i] = tokens(n + k)[n:]
		n += k
	}
	return groups
}

func join(groups [][]event.Event) []event.Event {
	var all []event.Event
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// sink is a writer that counts its Writes and may fail.
type sink struct {
	bytes.Buffer
	writes int
	fail   error
	short  bool
}

func (s *sink) Write(b []byte) (int, error) {
	s.writes++
	if s.fail != nil {
		return 0, s.fail
	}
	if s.short {
		return s.Buffer.Write(b[:len(b)/2])
	}
	return s.Buffer.Write(b)
}

// feed is a pipe without a goroutine: it gives what was put in, and fails the
// test when asked for more.
type feed struct {
	t *testing.T
	bytes.Buffer
}

func (f *feed) Read(b []byte) (int, error) {
	if f.Len() == 0 {
		f.t.Fatal("the reader waits although it has a whole block")
	}
	return f.Buffer.Read(b)
}
