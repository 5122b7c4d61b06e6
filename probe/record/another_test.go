package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Two recordings in one file are two runs, whose endpoints and requests bear the
// same numbers: the first is read, and the second is named, not mixed into it.
func TestAnotherRecordingBehindIt(t *testing.T) {
	want, other := tokens(300), tokens(40)
	for _, compress := range []bool{false, true} {
		first, _ := write(t, Options{Text: true, Compress: compress}, want[:100], want[100:])
		second, _ := write(t, Options{Text: true, Compress: compress}, other)
		both := slices.Concat(first, second)
		says := fmt.Sprintf("another recording begins at byte %d and was not read", len(first))
		got, damage := read(t, bytes.NewReader(both))
		wantEvents(t, got, want)
		if damage != says {
			t.Errorf("compress %v: %q, want %q", compress, damage, says)
		}
		got, damage = read(t, iotest.OneByteReader(bytes.NewReader(both)))
		wantEvents(t, got, want)
		if damage != says {
			t.Errorf("compress %v, a byte at a time: %q, want %q", compress, damage, says)
		}
		got, damage = read(t, bytes.NewReader(slices.Concat(first[:len(first)-5], second)))
		wantEvents(t, got, want[:100])
		if !strings.HasSuffix(damage, fmt.Sprintf("another recording begins at byte %d and was not read", len(first)-5)) {
			t.Errorf("compress %v, behind a cut: %q", compress, damage)
		}
	}
}
