package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func TestNotARecording(t *testing.T) {
	newer := appendFileHeader(nil, 0)
	newer[8] = 3
	binary.LittleEndian.PutUint32(newer[12:], checksum(newer[:12]))
	zero := appendFileHeader(nil, 0)
	zero[8] = 0
	binary.LittleEndian.PutUint32(zero[12:], checksum(zero[:12]))
	tests := []struct {
		name string
		src  []byte
		want string
	}{
		{"empty", nil, "not a teapot recording: it is empty"},
		{"text", []byte("Permission denied (publickey).\n"), "not a teapot recording"},
		{"a short word", []byte("no"), "not a teapot recording"},
		{"JSON", []byte(`{"version":1,"complete":true}`), "not a teapot recording"},
		{"zeros", make([]byte, 100), "not a teapot recording"},
		{"almost, and short", []byte("teapop\r\n"), "not a teapot recording"},
		{"line ends mended", bytes.ReplaceAll(appendFileHeader(nil, 0), []byte("\r\n"), []byte("\n")), "not a teapot recording any more: a transfer in text mode changed its line ends"},
		{"newer", newer, "written by a newer teapot: format 3, this one reads up to 1"},
		{"format 0", zero, "not a teapot recording: it says format 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := NewReader(bytes.NewReader(tt.src))
			if r != nil || err == nil || err.Error() != tt.want {
				t.Errorf("NewReader = %v, %v; want %q", r, err, tt.want)
			}
		})
	}
}

func TestReadBoundaries(t *testing.T) {
	for _, compress := range []bool{false, true} {
		want := tokens(300)
		file, _ := write(t, Options{Text: true, Compress: compress}, want[:100], want[100:101], want[101:])
		for name, src := range map[string]io.Reader{
			"one byte a read":   iotest.OneByteReader(bytes.NewReader(file)),
			"halves":            iotest.HalfReader(bytes.NewReader(file)),
			"data with the end": iotest.DataErrReader(bytes.NewReader(file)),
			"all at once":       bytes.NewReader(file),
		} {
			got, damage := read(t, src)
			wantEvents(t, got, want)
			if damage != "" {
				t.Errorf("%s: %s", name, damage)
			}
		}
	}
}

func TestBlocksComeAtOnce(t *testing.T) {
	for _, compress := range []bool{false, true} {
		src := &feed{t: t}
		w, err := NewWriter(src, Options{Text: true, Compress: compress})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			want := tokens(30)
			for _, ev := range want {
				if err := w.Add(ev); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			var got []event.Event
			for range want {
				ev, err := r.Next() // feed fails the test if this asks for more
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, ev)
			}
			wantEvents(t, got, want)
		}
	}
}

func TestSourceError(t *testing.T) {
	broken := errors.New("the line is dead")
	want := tokens(20)
	file, parts := write(t, Options{Text: true}, want[:10], want[10:])
	if _, err := NewReader(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("NewReader = %v", err)
	}
	for _, cut := range []int{parts[0].to, parts[1].from + 7, parts[1].to - 1} {
		r, err := NewReader(io.MultiReader(bytes.NewReader(file[:cut]), iotest.ErrReader(broken)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if _, err := r.Next(); err != nil {
				t.Fatalf("event %d: %v", i, err)
			}
		}
		for range 2 {
			if _, err := r.Next(); !errors.Is(err, broken) {
				t.Errorf("cut at %d: Next = %v", cut, err)
			}
		}
		if cutOff := r.Damage() != ""; cutOff != (cut > parts[1].from) {
			t.Errorf("cut at %d: damage %q", cut, r.Damage())
		}
	}
	r, err := NewReader(io.MultiReader(bytes.NewReader(file[:fileSize]), idle{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// strange makes a file with one block of the given payload.
func strange(h block, payload []byte) []byte {
	h.stored, h.sum = len(payload), checksum(payload)
	head := make([]byte, blockSize)
	h.put(head)
	return append(append(appendFileHeader(nil, 0), head...), payload...)
}

func TestStrangeBlocks(t *testing.T) {
	mark := event.Append(nil, &event.Mark{At: 1, Label: "a"})
	unknown := []byte{3, 200, 1, 2}
	wrong := []byte{5, byte(event.KindMark), 'n', 'o', '!', '!'}
	cat := func(bs ...[]byte) []byte { return bytes.Join(bs, nil) }
	zip, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Clone(zip.pack(make([]byte, 64<<20))[blockSize:])
	packed := bytes.Clone(zip.pack(cat(mark, mark))[blockSize:])
	tests := []struct {
		name    string
		h       block
		payload []byte
		events  int
		damage  string
	}{
		{"unknown kinds are skipped", block{raw: len(mark) + 4, count: 2}, cat(unknown, mark), 1, ""},
		{"a payload that makes no sense", block{raw: 2*len(mark) + 6, count: 3}, cat(mark, wrong, mark), 2, "1 event could not be decoded"},
		{"fewer records than said", block{raw: len(mark), count: 4}, mark, 1, "3 events could not be decoded"},
		{"records that end in the middle", block{raw: 2*len(mark) - 1, count: 2}, cat(mark, mark[:len(mark)-1]), 1, "1 event could not be decoded"},
		{"no records", block{}, nil, 0, ""},
		{"an unknown flag", block{raw: len(mark), count: 1, flags: 2}, mark, 0, "recording damaged at byte 16: 1 event lost"},
		{"two sizes, not compressed", block{raw: 5, count: 1}, mark, 0, "recording damaged at byte 16: 1 event lost"},
		{"compressed", block{raw: 2 * len(mark), count: 2, flags: blockZstd}, packed, 2, ""},
		{"compressed, longer than said", block{raw: len(mark), count: 1, flags: blockZstd}, packed, 0, "recording damaged at byte 16: 1 event lost"},
		{"compressed, shorter than said", block{raw: 500, count: 1, flags: blockZstd}, packed, 0, "recording damaged at byte 16: 1 event lost"},
		{"not zstd", block{raw: 500, count: 1, flags: blockZstd}, mark, 0, "recording damaged at byte 16: 1 event lost"},
		{"a zstd bomb", block{raw: MaxBlock, count: 1, flags: blockZstd}, bomb, 0, "recording damaged at byte 16: 1 event lost"},
		{"more raw bytes than allowed", block{raw: MaxBlock + 1, count: 1, flags: blockZstd}, bomb, 0, "recording damaged at byte 16: no event is known to be lost"},
		{"more records than fit", block{raw: len(mark), count: len(mark)}, mark, 0, "recording damaged at byte 16: no event is known to be lost"},
		{"events missing before it", block{raw: len(mark), count: 1, first: 7}, mark, 1, "recording damaged at byte 16: 7 events lost"},
		{"the highest ordinal", block{raw: len(mark), count: 1, first: 1<<64 - 1}, mark, 1, "recording damaged at byte 16: 18446744073709551615 events lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := NewReader(bytes.NewReader(strange(tt.h, tt.payload)))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for {
				if _, err = r.Next(); err != nil {
					break
				}
				n++
			}
			if n != tt.events || !errors.Is(err, io.EOF) || r.Damage() != tt.damage {
				t.Errorf("%d events, %v, damage %q; want %d, damage %q", n, err, r.Damage(), tt.events, tt.damage)
			}
			if len(r.in.buf) > 2*MaxBlock {
				t.Errorf("buffer of %d bytes", len(r.in.buf))
			}
		})
	}
}

// stream gives a file header and then the same block for ever, or n times.
type stream struct {
	head, block []byte
	n           int
	pos         int
}

func (s *stream) Read(b []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(b, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	if s.n == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.block[s.pos:])
	if s.pos += n; s.pos == len(s.block) {
		s.pos = 0
		s.n--
	}
	return n, nil
}

func TestMemoryIsBounded(t *testing.T) {
	file, parts := write(t, Options{Text: true}, tokens(500))
	blockBytes := file[parts[0].from:]
	t.Run("a large file", func(t *testing.T) {
		src := &stream{head: bytes.Clone(file[:fileSize]), block: blockBytes, n: 100}
		r, err := NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			n++
		}
		if n != 500*100 || len(r.in.buf) > windowSize {
			t.Errorf("%d events with a buffer of %d bytes", n, len(r.in.buf))
		}
	})
	t.Run("nothing but garbage", func(t *testing.T) {
		src := &stream{head: bytes.Clone(file[:fileSize]), block: []byte(strings.Repeat(blockMagic, 1000) + "\xf5t"), n: 400}
		r, err := NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := r.Next(); ev != nil || !errors.Is(err, io.EOF) || len(r.in.buf) > windowSize {
			t.Errorf("%v, %v with a buffer of %d bytes", ev, err, len(r.in.buf))
		}
	})
	t.Run("the largest blocks, all damaged", func(t *testing.T) {
		h := block{stored: MaxBlock, raw: MaxBlock, count: 5}
		b := make([]byte, blockSize+MaxBlock)
		h.put(b)
		b[blockSize] = 1
		r, err := NewReader(&stream{head: bytes.Clone(file[:fileSize]), block: b, n: 8})
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := r.Next(); ev != nil || !errors.Is(err, io.EOF) || len(r.in.buf) > 2*(blockSize+MaxBlock) {
			t.Errorf("%v, %v with a buffer of %d bytes", ev, err, len(r.in.buf))
		}
	})
}

func TestSameBytesSameEvents(t *testing.T) {
	// However the bytes arrive, the events and the damage are the same.
	rapid.Check(t, func(t *rapid.T) {
		file, _ := write(t, Options{Text: true, Compress: rapid.Bool().Draw(t, "compress")}, draws(t, 5)...)
		for range rapid.IntRange(0, 3).Draw(t, "flips") {
			file[rapid.IntRange(fileSize, len(file)).Draw(t, "at")%len(file)] ^= 0x41
		}
		if _, err := NewReader(bytes.NewReader(file)); err != nil {
			return
		}
		want, damage := read(t, bytes.NewReader(file))
		got, damage2 := read(t, iotest.OneByteReader(bytes.NewReader(file)))
		wantEvents(t, got, want)
		if damage != damage2 {
			t.Fatalf("%q at once, %q byte by byte", damage, damage2)
		}
	})
}
