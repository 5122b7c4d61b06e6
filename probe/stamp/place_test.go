package stamp

import (
	"crypto/rand"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func TestPlace(t *testing.T) {
	const wall0 = int64(1_800_000_000_000_000_000) // the wall clock at session time 0
	cases := []struct {
		name                           string
		stamp, mono, step, since, prev int64 // stamp in session time before the step of the wall clock
		at                             int64
		source                         string
	}{
		{"30 µs late", 500*ms - 30_000, 500 * ms, 0, 400 * ms, 400 * ms, 500*ms - 30_000, event.SourceKernel},
		{"a second late", 500 * ms, 1500 * ms, 0, 400 * ms, 400 * ms, 500 * ms, event.SourceKernel},
		{"a hair in the future", 500*ms + 3_000, 500 * ms, 0, 400 * ms, 400 * ms, 500 * ms, event.SourceKernel},
		{"never before the read before", 500*ms - 30_000, 500 * ms, 0, 490 * ms, 500*ms - 10_000, 500*ms - 10_000, event.SourceKernel},
		{"stamped just before the socket was seen empty", 399 * ms, 500 * ms, 0, 400 * ms, 0, 399 * ms, event.SourceKernel},
		{"wall clock stepped back an hour in between", 500*ms - 30_000, 500 * ms, -3600 * 1000 * ms, 400 * ms, 400 * ms, 500 * ms, event.SourceRead},
		{"wall clock stepped forward an hour in between", 500*ms - 30_000, 500 * ms, 3600 * 1000 * ms, 400 * ms, 400 * ms, 500 * ms, event.SourceRead},
		{"stepped back 100 ms", 500*ms - 30_000, 500 * ms, -100 * ms, 400 * ms, 400 * ms, 500 * ms, event.SourceRead},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at, source := place(wall0+c.stamp, c.mono, wall0+c.mono+c.step, c.since, c.prev)
			if at != c.at || source != c.source {
				t.Errorf("%d %s, want %d %s", at, source, c.at, c.source)
			}
		})
	}
	t.Run("no stamp", func(t *testing.T) {
		if at, source := place(0, 5, wall0, 0, 0); at != 5 || source != event.SourceRead {
			t.Errorf("%d %s", at, source)
		}
	})
}

// Whatever the kernel says, a stamp is never in the future and never goes back.
func TestPlaceIsOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mono := rapid.Int64Range(0, 1<<50).Draw(t, "mono")
		prev := rapid.Int64Range(0, mono).Draw(t, "prev")
		since := rapid.Int64Range(0, mono).Draw(t, "since")
		wall := rapid.Int64Range(0, 1<<61).Draw(t, "wall")
		stamp := rapid.Int64Range(0, 1<<61).Draw(t, "stamp")
		at, _ := place(stamp, mono, wall, since, prev)
		if at < prev || at > mono {
			t.Fatalf("at %d, before it %d, now %d", at, prev, mono)
		}
	})
}

func TestQueue(t *testing.T) {
	type step struct {
		name          string
		got           taken
		now           int64
		drained       bool
		since, waited int64
		split         bool
	}
	// One connection, read after read.
	q := queue{drained: true}
	for _, s := range []step{
		{"first, found waiting: nothing is known", taken{before: 9}, 10, true, 0, 10, false},
		{"parked", taken{before: 29, parked: true, empty: 15}, 30, true, 15, 0, false},
		{"found waiting since the one before", taken{before: 35}, 36, true, 29, 7, false},
		{"parked, and more than the buffer came", taken{before: 59, parked: true, empty: 40}, 60, false, 40, 0, true},
		{"the backlog goes on", taken{before: 61}, 62, false, 40, 2, true},
		{"and ends", taken{before: 63}, 64, true, 40, 4, true},
		{"found waiting since its end", taken{before: 69}, 70, false, 63, 7, true},
		{"which is a backlog too", taken{before: 74}, 75, true, 63, 12, true},
		{"parked, prompt", taken{before: 99, parked: true, empty: 80}, 100, true, 80, 0, false},
	} {
		var r Read
		q.see(&r, s.got, s.now, s.drained)
		if r.Since != s.since || r.Waited != s.waited || r.Split != s.split {
			t.Errorf("%s: since %d waited %d split %v, want %d %d %v", s.name, r.Since, r.Waited, r.Split, s.since, s.waited, s.split)
		}
	}
}

func TestRecords(t *testing.T) {
	record := func(kind byte, n int) []byte {
		b := append([]byte{kind, 3, 3, byte(n >> 8), byte(n)}, make([]byte, n)...)
		_, _ = rand.Read(b[recordHead:])
		return b
	}
	join := func(bs ...[]byte) (out []byte) {
		for _, b := range bs {
			out = append(out, b...)
		}
		return out
	}
	cases := []struct {
		name  string
		reads [][]byte
		want  []int
	}{
		{"plain HTTP", [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n"), []byte("data: x\n\n")}, []int{0, 0}},
		{"one record", [][]byte{record(22, 100), record(23, 300)}, []int{1, 1}},
		{"several in one read", [][]byte{record(22, 100), join(record(23, 300), record(23, 200), record(23, 1))}, []int{1, 3}},
		{"one over two reads", [][]byte{record(22, 9)[:8], record(22, 9)[8:]}, []int{0, 1}},
		{"header over two reads", [][]byte{join(record(22, 9), record(23, 7)[:3]), record(23, 7)[3:]}, []int{1, 1}},
		{"empty record", [][]byte{join(record(22, 0), record(23, 4))}, []int{2}},
		{"behind a proxy's answer", [][]byte{[]byte("HTTP/1.1 200 Connection established\r\n\r\n"), record(22, 50), record(23, 5)}, []int{0, 1, 1}},
		{"garbage after a record", [][]byte{join(record(22, 4), []byte("garbage")), []byte("more")}, []int{1, 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r records
			for i, b := range c.reads {
				if got := r.count(b); got != c.want[i] {
					t.Errorf("read %d: %d records, want %d", i, got, c.want[i])
				}
			}
		})
	}
}

// The number of records does not depend on how the bytes were cut, once the
// first header was seen whole.
func TestRecordsWhateverTheReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 600), 1, 20).Draw(t, "sizes")
		var stream []byte
		for _, n := range sizes {
			stream = append(stream, 23, 3, 3, byte(n>>8), byte(n))
			stream = append(stream, make([]byte, n)...)
		}
		var r records
		got := r.count(stream[:recordHead])
		for rest := stream[recordHead:]; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			got += r.count(rest[:n])
			rest = rest[n:]
		}
		if got != len(sizes) {
			t.Fatalf("%d records, want %d", got, len(sizes))
		}
	})
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte{22, 3, 1, 0, 2, 9, 9, 23, 3, 3, 0, 0}, 3)
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var r records
		if cut < 0 || cut > len(b) {
			cut = len(b) / 2
		}
		if n := r.count(b[:cut]) + r.count(b[cut:]); n < 0 || n > len(b) {
			t.Errorf("%d records in %d bytes", n, len(b))
		}
	})
}
