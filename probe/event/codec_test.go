package event

import (
	"bytes"
	"encoding/binary"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// makers draws an event of every kind, all fields free.
func makers() map[Kind]*rapid.Generator[Event] {
	return map[Kind]*rapid.Generator[Event]{
		KindSession: rapid.Custom(func(t *rapid.T) Event {
			e := rapid.Make[Session]().Draw(t, "session")
			e.Load.Rate = clampFloat(e.Load.Rate, math.MaxFloat64) // what cannot be kept has its own test
			return &e
		}),
		KindTarget:   maker[Target](),
		KindStart:    maker[Start](),
		KindHeaders:  maker[Headers](),
		KindToken:    maker[Token](),
		KindText:     maker[Text](),
		KindEnd:      maker[End](),
		KindSkip:     maker[Skip](),
		KindFloor:    maker[Floor](),
		KindMark:     maker[Mark](),
		KindSetting:  maker[Setting](),
		KindNote:     maker[Note](),
		KindDropped:  maker[Dropped](),
		KindFinished: maker[Finished](),
		KindReset:    maker[Reset](),
		KindSignal: rapid.Custom(func(t *rapid.T) Event {
			e := rapid.Make[Signal]().Draw(t, "signal")
			for i := range e.Values {
				v := &e.Values[i]
				v.Value, v.Delta = clampFloat(v.Value, math.MaxFloat64), clampFloat(v.Delta, math.MaxFloat64)
			}
			return &e
		}),
	}
}

func maker[T any, P interface {
	*T
	Event
}]() *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		e := rapid.Make[T]().Draw(t, "event")
		return P(&e)
	})
}

// kindConstants reads the names and numbers of the Kind constants from the
// source, so that a kind added there cannot be forgotten here.
func kindConstants(t *testing.T) map[string]Kind {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]Kind{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Kind" {
			return true
		}
		for i, name := range v.Names {
			lit, ok := v.Values[i].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is not a plain number", name.Name)
			}
			n, err := strconv.ParseUint(lit.Value, 10, 8)
			if err != nil {
				t.Fatal(err)
			}
			kinds[name.Name] = Kind(n)
		}
		return true
	})
	if len(kinds) < 14 {
		t.Fatalf("found only %d kinds in event.go", len(kinds))
	}
	return kinds
}

func TestEveryKindHasACodec(t *testing.T) {
	all := makers()
	for name, k := range kindConstants(t) {
		gen := all[k]
		if gen == nil {
			t.Errorf("%s = %d: the round-trip test does not draw it", name, k)
			continue
		}
		ev := gen.Example(1)
		if ev.Kind() != k {
			t.Errorf("%s: drawn event has kind %d", name, ev.Kind())
		}
		if got, _, err := Read(Append(nil, ev)); err != nil || got == nil || got.Kind() != k {
			t.Errorf("%s: Read(Append) = %v, %v", name, got, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for k, gen := range makers() {
		t.Run(strconv.Itoa(int(k)), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := gen.Draw(t, "event")
				tail := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "tail")
				rec := Append([]byte("before"), want)[len("before"):]
				got, n, err := Read(append(bytes.Clone(rec), tail...))
				if err != nil || n != len(rec) {
					t.Fatalf("Read = n %d of %d, err %v", n, len(rec), err)
				}
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("round trip (-want +got):\n%s", d)
				}
				if pk, pn, err := Peek(rec); pk != k || pn != len(rec) || err != nil {
					t.Fatalf("Peek = %d, %d, %v", pk, pn, err)
				}
				cut := rapid.IntRange(0, len(rec)-1).Draw(t, "cut")
				if ev, n, err := Read(rec[:cut]); ev != nil || n != 0 || !errors.Is(err, ErrShort) {
					t.Fatalf("Read of %d of %d bytes = %v, %d, %v; want ErrShort", cut, len(rec), ev, n, err)
				}
			})
		})
	}
}

func frame(kind byte, payload []byte) []byte {
	rec := binary.AppendUvarint(nil, uint64(1+len(payload)))
	return append(append(rec, kind), payload...)
}

func TestRead(t *testing.T) {
	tok := AppendToken(nil, &Token{At: 7, Request: 3})
	huge := binary.AppendUvarint(nil, MaxRecord+1)
	over32 := append([]byte{0, 0, 2, 1}, binary.AppendUvarint(nil, 1<<32)...)
	over32 = append(over32, 0, 0, 0, 0, 0)
	tests := []struct {
		name string
		src  []byte
		want Event
		n    int // -1: the whole of src
		err  bool
	}{
		{"nothing", nil, nil, 0, true},
		{"length only", []byte{5}, nil, 0, true},
		{"length zero", []byte{0, 1, 2}, nil, 0, true},
		{"length above the limit", append(huge, 5, 0, 0), nil, 0, true},
		{"length overflows", bytes.Repeat([]byte{0xff}, 11), nil, 0, true},
		{"unknown kind", frame(200, []byte("anything")), nil, -1, false},
		{"kind zero", frame(0, nil), nil, -1, false},
		{"unknown JSON key", frame(10, []byte(`{"at":5,"label":"x","new":{"a":[1]}}`)), &Mark{At: 5, Label: "x"}, -1, false},
		{"missing JSON keys", frame(10, []byte(`{}`)), &Mark{}, -1, false},
		{"JSON of another shape", frame(10, []byte(`{"at":"noon"}`)), nil, -1, true},
		{"JSON cut", frame(10, []byte(`{"at":5`)), nil, -1, true},
		{"no JSON at all", frame(10, nil), nil, -1, true},
		{"deep JSON", frame(10, bytes.Repeat([]byte("["), 1<<20)), nil, -1, true},
		{"token with a field more", frame(5, append(bytes.Clone(tok[2:]), 9, 9)), &Token{At: 7, Request: 3}, -1, false},
		{"token cut", frame(5, tok[2:len(tok)-1]), nil, -1, true},
		{"token with a target above 32 bits", frame(5, over32), nil, -1, true},
		{"text longer than its record", frame(6, []byte{0, 2, 1, 9, 'a'}), nil, -1, true},
		{"text with a field more", frame(6, []byte{1, 2, 3, 1, 'a', 'z'}), &Text{Channel: Reasoning, At: 1, Request: 3, Text: "a"}, -1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n, err := Read(tt.src)
			want := tt.n
			if want < 0 {
				want = len(tt.src)
			}
			if n != want || (err != nil) != tt.err {
				t.Errorf("Read = n %d, err %v; want n %d, err %v", n, err, want, tt.err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("event (-want +got):\n%s", d)
			}
		})
	}
}

func TestAppendNil(t *testing.T) {
	for _, ev := range []Event{nil, (*Token)(nil), (*Text)(nil), (*Note)(nil)} {
		if got := Append([]byte("x"), ev); string(got) != "x" {
			t.Errorf("Append(%T nil) = %q", ev, got)
		}
	}
}

func TestTextIsCut(t *testing.T) {
	for name, text := range map[string]string{
		"fits":             strings.Repeat("a", MaxText),
		"one byte over":    strings.Repeat("a", MaxText+1),
		"in a rune":        strings.Repeat("a", MaxText-2) + strings.Repeat("☕", 9),
		"in a wide rune":   strings.Repeat("a", MaxText-1) + strings.Repeat("🫖", 9),
		"at a rune's head": strings.Repeat("a", MaxText) + "☕",
		"no UTF-8":         strings.Repeat("\x80", 2*MaxText),
	} {
		rec := AppendText(nil, &Text{At: 1, Text: text})
		ev, n, err := Read(rec)
		if err != nil || n != len(rec) {
			t.Fatalf("%s: n %d of %d, %v", name, n, len(rec), err)
		}
		got := ev.(*Text).Text
		if len(got) > MaxText || len(got) < min(len(text), MaxText-3) || !strings.HasPrefix(text, got) {
			t.Errorf("%s: %d bytes kept of %d", name, len(got), len(text))
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%s: cut inside a rune", name)
		}
	}
}

func TestTokenPathDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 1024)
	tok := &Token{At: 3600e9, Target: 1, Request: 1 << 20, Slot: 7, Late: 31e3, K: 1, Bytes: 5}
	text := &Text{At: 3600e9, Request: 1 << 20, Text: " hello"}
	if n := testing.AllocsPerRun(1000, func() { buf = AppendToken(buf[:0], tok) }); n != 0 {
		t.Errorf("AppendToken allocates %v times", n)
	}
	if n := testing.AllocsPerRun(1000, func() { buf = AppendText(buf[:0], text) }); n != 0 {
		t.Errorf("AppendText allocates %v times", n)
	}
	var ev Event = tok
	if n := testing.AllocsPerRun(1000, func() { buf = Append(buf[:0], ev) }); n != 0 {
		t.Errorf("Append of a token allocates %v times", n)
	}
}

func TestLongestToken(t *testing.T) {
	tok := &Token{
		At: math.MinInt64, Target: math.MaxUint32, Request: math.MaxUint64, Slot: math.MaxUint32, Late: math.MinInt64,
		K: math.MaxUint32, Burst: math.MaxUint32, Bytes: math.MaxUint32, Channel: 255, Merged: true,
	}
	rec := AppendToken(nil, tok)
	if len(rec) > 0x7f {
		t.Fatalf("%d bytes do not fit a length of one byte", len(rec))
	}
	got, n, err := Read(rec)
	if d := cmp.Diff(Event(tok), got); d != "" || n != len(rec) || err != nil {
		t.Errorf("n %d, err %v, diff %s", n, err, d)
	}
}

func FuzzRead(f *testing.F) {
	for _, gen := range makers() {
		f.Add(Append(nil, gen.Example(3)))
	}
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add(frame(6, []byte{0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}))
	f.Add(frame(99, []byte("later")))
	f.Fuzz(func(t *testing.T, src []byte) {
		kind, pn, perr := Peek(src)
		ev, n, err := Read(src)
		if pn != n || (n == 0) != (perr != nil) || n < 0 || n > len(src) {
			t.Fatalf("Peek says %d, %v; Read says %d, %v; of %d bytes", pn, perr, n, err, len(src))
		}
		if perr != nil && err == nil || err != nil && ev != nil {
			t.Fatalf("Read = %v, %d, %v", ev, n, err)
		}
		if ev == nil || n > MaxRecord/8 { // JSON may grow by its escapes, and a Note replace it
			return
		}
		if ev.Kind() != kind {
			t.Fatalf("kind %d, not %d", ev.Kind(), kind)
		}
		// What was read once reads the same after being written again.
		again, _, err := Read(Append(nil, ev))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(ev, again, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-first +again):\n%s", d)
		}
	})
}
