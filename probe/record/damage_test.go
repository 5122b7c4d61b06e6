package record

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func three() [][]event.Event {
	all := tokens(30)
	return [][]event.Event{all[:10], all[10:14], all[14:]}
}

func TestEveryTruncation(t *testing.T) {
	for _, compress := range []bool{false, true} {
		groups := three()
		file, parts := write(t, Options{Text: true, Compress: compress}, groups...)
		all := join(groups)
		for cut := 1; cut <= len(file); cut++ {
			got, damage := read(t, bytes.NewReader(file[:cut]))
			whole, clean := 0, cut == fileSize
			for _, p := range parts {
				if p.to <= cut {
					whole = p.first + p.count
				}
				clean = clean || p.to == cut
			}
			wantEvents(t, got, all[:whole])
			if clean != (damage == "") || !clean && !strings.Contains(damage, "cut off at byte") {
				t.Fatalf("cut at %d: damage %q", cut, damage)
			}
		}
	}
}

func TestEveryFlippedByte(t *testing.T) {
	for _, compress := range []bool{false, true} {
		groups := three()
		file, parts := write(t, Options{Text: true, Compress: compress}, groups...)
		all := join(groups)
		for at := range file {
			for _, x := range []byte{0x01, 0x80, 0xff, file[at]} { // the last makes it 0
				if x == 0 {
					continue
				}
				bad := bytes.Clone(file)
				bad[at] ^= x
				want := slices.Clone(all)
				for _, p := range parts {
					if p.from <= at && at < p.to {
						want = slices.Delete(want, p.first, p.first+p.count)
					}
				}
				got, damage := read(t, bytes.NewReader(bad))
				wantEvents(t, got, want)
				if !strings.HasPrefix(damage, "recording damaged at byte ") {
					t.Fatalf("byte %d ^ %#x: damage %q", at, x, damage)
				}
			}
		}
	}
}

func TestDamageLines(t *testing.T) {
	file, p := write(t, Options{Text: true}, three()...)
	flip := func(ats ...int) []byte {
		bad := bytes.Clone(file)
		for _, at := range ats {
			bad[at] ^= 0x10
		}
		return bad
	}
	if p[0].from != 16 || p[1].from != 296 || p[2].from != 397 || len(file) != 891 {
		t.Fatalf("the blocks lie elsewhere: %v, %d bytes", p, len(file))
	}
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"sound", file, ""},
		{"file header", flip(3), "recording damaged at byte 0: no event is known to be lost"},
		{"first block", flip(p[0].from + 40), "recording damaged at byte 16: 10 events lost"},
		{"first block's magic", flip(p[0].from), "recording damaged at byte 16: 10 events lost"},
		{"middle block's length", flip(p[1].from + 8), "recording damaged at byte 296: 4 events lost"},
		{"last block", flip(p[2].from + 36), "recording damaged at byte 397: 16 events lost"},
		{"last block's header", flip(p[2].from + 5), "recording damaged at byte 397: no event is known to be lost"},
		{"two neighbours", flip(p[0].from+40, p[1].from+1), "recording damaged at byte 16: 14 events lost"},
		{"first and last", flip(p[0].from+40, p[2].from+40), "recording damaged at byte 16 and 1 more place: 26 events lost"},
		{"cut in a payload", file[:p[2].to-1], "recording cut off at byte 397: its last block is incomplete, 16 events lost"},
		{"cut in a header", file[:p[2].from+20], "recording cut off at byte 397: its last block is incomplete"},
		{"cut and damaged", flip(p[0].from + 40)[:p[2].to-1], "recording damaged at byte 16: 10 events lost; recording cut off at byte 397: its last block is incomplete, 16 events lost"},
		{"cut in the file header", file[:9], "recording cut off at byte 0: its last block is incomplete"},
		{"a block gone", slices.Concat(file[:p[1].from], file[p[1].to:]), "recording damaged at byte 296: 4 events lost"},
		{"bytes gone", slices.Concat(file[:p[1].from+50], file[p[1].from+60:]), "recording damaged at byte 296: 4 events lost"},
		{"bytes gone up to the middle of a block", slices.Concat(file[:p[0].from+50], file[p[1].from+60:]), "recording damaged at byte 16: 14 events lost"},
		{"bytes added", slices.Concat(file[:p[1].from], []byte("noise"), file[p[1].from:]), "recording damaged at byte 296: no event is known to be lost"},
		{"zeros at the end", slices.Concat(file, make([]byte, 100)), "recording damaged at byte 891: no event is known to be lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, damage := read(t, bytes.NewReader(tt.file))
			if damage != tt.want {
				t.Errorf("damage\n%q, want\n%q", damage, tt.want)
			}
			if strings.ContainsAny(damage, "\r\n") {
				t.Error("more than one line")
			}
		})
	}
}

func TestDamageIsLocal(t *testing.T) {
	// Whatever happens to one stretch of bytes, every block outside of it comes.
	rapid.Check(t, func(t *rapid.T) {
		groups := draws(t, 8)
		file, parts := write(t, Options{Text: true, Compress: rapid.Bool().Draw(t, "compress")}, groups...)
		from := rapid.IntRange(fileSize, len(file)).Draw(t, "from")
		to := rapid.IntRange(from, len(file)).Draw(t, "to")
		noise := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "noise")
		bad := slices.Concat(file[:from], noise, file[to:])
		all := join(groups)
		got, damage := read(t, bytes.NewReader(bad))
		there := map[int64]bool{} // every event has its own time
		for _, ev := range got {
			there[ev.Time()] = true
		}
		var want []event.Event
		for _, p := range parts {
			outside := p.to <= from || p.from >= to
			// Noise may happen to mend the block it hit; then it comes whole.
			if outside || there[all[p.first].Time()] {
				want = append(want, all[p.first:p.first+p.count]...)
			}
		}
		wantEvents(t, got, want)
		cutAtBlock := to == len(file) && len(noise) == 0 && slices.ContainsFunc(parts, func(p part) bool { return p.from == from })
		if damage == "" && len(got) < len(all) && !cutAtBlock {
			t.Fatal("events lost without a word")
		}
	})
}

func TestSearchInDamagedBlocksIsBounded(t *testing.T) {
	sound := func(first int, label string) []byte {
		rec := event.Append(nil, &event.Mark{Label: label})
		return strange(block{raw: len(rec), count: 1, first: uint64(first)}, rec)[fileSize:]
	}
	damaged := func(size int) []byte {
		b := make([]byte, blockSize)
		(&block{stored: size, raw: size, count: 1, sum: 1}).put(b)
		return b
	}
	for _, tt := range []struct {
		name   string
		nested int
		want   []string
	}{
		{"one", 1, []string{"inside", "after"}},
		{"as many as are tried", maxNested - 1, []string{"inside", "after"}},
		{"too many", maxNested, []string{"after"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inside := slices.Concat(bytes.Repeat(damaged(40), tt.nested), sound(0, "inside"), make([]byte, 60))
			file := slices.Concat(appendFileHeader(nil, 0), damaged(len(inside)), inside, sound(1, "after"))
			evs, _ := read(t, bytes.NewReader(file))
			var got []string
			for _, ev := range evs {
				got = append(got, ev.(*event.Mark).Label)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}
