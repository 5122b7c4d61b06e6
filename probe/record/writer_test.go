package record

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func withoutText(evs []event.Event) []event.Event {
	var kept []event.Event
	for _, ev := range evs {
		if ev.Kind() != event.KindText {
			kept = append(kept, ev)
		}
	}
	return kept
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := draws(t, 6)
		o := Options{Compress: rapid.Bool().Draw(t, "compress"), Text: rapid.Bool().Draw(t, "text")}
		raw := rapid.Bool().Draw(t, "raw")
		var out bytes.Buffer
		w, err := NewWriter(&out, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			var enc []byte
			for _, ev := range g {
				enc = event.Append(enc, ev)
				if !raw {
					err = errors.Join(err, w.Add(ev))
				}
			}
			if raw {
				err = errors.Join(err, w.AddRaw(enc))
			}
			clear(enc) // the writer must not look at it again
			err = errors.Join(err, w.Flush())
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		want := join(groups)
		if !o.Text {
			want = withoutText(want)
		}
		got, damage := read(t, &out)
		wantEvents(t, got, want)
		if damage != "" {
			t.Fatal(damage)
		}
	})
}

func TestTextFlag(t *testing.T) {
	for _, text := range []bool{false, true} {
		file, _ := write(t, Options{Text: text}, tokens(5))
		r, err := NewReader(bytes.NewReader(file))
		if err != nil || r.Text() != text {
			t.Errorf("Text %v: %v, %v", text, r.Text(), err)
		}
		if found := bytes.Contains(file, []byte("word")); found != text {
			t.Errorf("Text %v: words in the file: %v", text, found)
		}
	}
}

func TestOneWritePerFlush(t *testing.T) {
	for _, compress := range []bool{false, true} {
		out := &sink{}
		w, err := NewWriter(out, Options{Compress: compress, Text: true})
		if err != nil || out.writes != 1 {
			t.Fatalf("header: %d writes, %v", out.writes, err)
		}
		for i := range 3 {
			for _, ev := range tokens(1000) {
				if err := w.Add(ev); err != nil {
					t.Fatal(err)
				}
			}
			if out.writes != 1+i {
				t.Fatalf("Add wrote")
			}
			if err := w.Flush(); err != nil || out.writes != 2+i {
				t.Fatalf("Flush: %d writes, %v", out.writes-1-i, err)
			}
			if err := w.Flush(); err != nil || out.writes != 2+i {
				t.Fatalf("Flush of nothing: %d writes, %v", out.writes-2-i, err)
			}
		}
		if (w.zip != nil) != compress {
			t.Errorf("compress %v: encoder made: %v", compress, w.zip != nil)
		}
	}
}

func TestCompressionPays(t *testing.T) {
	plain, _ := write(t, Options{Text: true}, tokens(20000))
	packed, _ := write(t, Options{Text: true, Compress: true}, tokens(20000))
	if len(packed) > len(plain)/2 {
		t.Errorf("%d bytes, compressed %d", len(plain), len(packed))
	}
	// A block that compression would make longer is stored as it is.
	small, parts := write(t, Options{Compress: true}, tokens(1))
	if h, ok := parseBlock(small[parts[0].from:]); !ok || h.flags != 0 {
		t.Errorf("block of one token: flags %d, %v", h.flags, ok)
	}
}

func TestFullBlocksAreWritten(t *testing.T) {
	// A caller that never flushes must not fill the memory, and no block may
	// pass what a reader takes.
	out := &sink{}
	w, err := NewWriter(out, Options{Text: true})
	if err != nil {
		t.Fatal(err)
	}
	long := &event.Text{Text: string(bytes.Repeat([]byte("x"), event.MaxText))}
	var want []event.Event
	for i := range 12 {
		evs := append(tokens(1000+i/11*20000), long) // at last more small ones than a block holds
		want = append(want, evs...)
		if i%2 == 0 {
			var enc []byte
			for _, ev := range evs {
				enc = event.Append(enc, ev)
			}
			err = w.AddRaw(enc)
		} else {
			for _, ev := range evs {
				err = errors.Join(err, w.Add(ev))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(w.buf) > blockSize+blockTarget {
			t.Fatalf("%d bytes pending", len(w.buf))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out.writes < 12 {
		t.Errorf("only %d writes", out.writes)
	}
	got, damage := read(t, out)
	wantEvents(t, got, want)
	if damage != "" {
		t.Error(damage)
	}
}

func TestWriteErrorsStick(t *testing.T) {
	tests := []struct {
		name string
		sink *sink
		want error
	}{
		{"broken pipe", &sink{fail: syscall.EPIPE}, syscall.EPIPE},
		{"disk full", &sink{fail: syscall.ENOSPC}, syscall.ENOSPC},
		{"short write", &sink{short: true}, io.ErrShortWrite},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewWriter(tt.sink, Options{}); !errors.Is(err, tt.want) {
				t.Errorf("NewWriter = %v", err)
			}
			out := &sink{}
			w, err := NewWriter(out, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Add(&event.Mark{}); err != nil {
				t.Fatal(err)
			}
			out.fail, out.short = tt.sink.fail, tt.sink.short
			if err := w.Flush(); !errors.Is(err, tt.want) {
				t.Errorf("Flush = %v", err)
			}
			writes := out.writes
			out.fail, out.short = nil, false
			for name, err := range map[string]error{
				"Add": w.Add(&event.Mark{}), "AddRaw": w.AddRaw(event.Append(nil, &event.Mark{})), "Flush": w.Flush(), "Close": w.Close(),
			} {
				if !errors.Is(err, tt.want) {
					t.Errorf("%s afterwards = %v", name, err)
				}
			}
			if out.writes != writes {
				t.Error("wrote after an error")
			}
		})
	}
}

func TestAfterClose(t *testing.T) {
	out := &sink{}
	w, err := NewWriter(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(&event.Mark{Label: "x"}), w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(&event.Mark{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Add after Close = %v", err)
	}
	if got, _ := read(t, out); len(got) != 1 {
		t.Errorf("%d events", len(got))
	}
}

func TestAddRawRejectsHalves(t *testing.T) {
	out := &sink{}
	w, err := NewWriter(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := event.Append(nil, &event.Mark{Label: "a"})
	if err := w.AddRaw(append(whole, whole[:3]...)); !errors.Is(err, event.ErrShort) {
		t.Errorf("AddRaw of one and a half = %v", err)
	}
	if err := w.AddRaw([]byte{0, 0}); !errors.Is(err, event.ErrTooLong) {
		t.Errorf("AddRaw of nonsense = %v", err)
	}
	if err := errors.Join(w.Add(nil), w.Add((*event.Note)(nil)), w.Add(&event.Mark{Label: "b"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, damage := read(t, out)
	wantEvents(t, got, []event.Event{&event.Mark{Label: "a"}, &event.Mark{Label: "b"}})
	if damage != "" {
		t.Error(damage)
	}
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w, err := NewWriter(io.Discard, Options{Text: true})
	if err != nil {
		t.Fatal(err)
	}
	var raw []byte
	for i := range 40 {
		raw = event.AppendToken(raw, &event.Token{At: int64(i) * 1e9, Request: 7})
	}
	var ev event.Event = &event.Token{At: 1e12, Request: 7}
	n := testing.AllocsPerRun(500, func() {
		if err := errors.Join(w.AddRaw(raw), w.Add(ev), w.Flush()); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per block", n)
	}
}
