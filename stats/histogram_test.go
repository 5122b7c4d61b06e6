package stats

import (
	"testing"

	"pgregory.net/rapid"
)

// The partition into buckets is HdrHistogram's, value by value.
func TestBucketsAreTheLibrarys(t *testing.T) {
	for _, g := range []geometry{fine, coarse} {
		rapid.Check(t, func(t *rapid.T) {
			v := rapid.OneOf(rapid.Int64Range(0, 5000), rapid.Int64Range(0, hour)).Draw(t, "v")
			h := histogram{g.dense()}
			if err := h.RecordValue(v); err != nil {
				t.Fatal(err)
			}
			w := newWindow(g)
			w.add(g.index(v), 1)
			if got, want := w.values([]uint64{1})[0], h.values([]uint64{1})[0]; got != want || got < v {
				t.Fatalf("value %d: bucket top %d, the library's %d", v, got, want)
			}
		})
	}
}

func TestWindowAnswersLikeTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := newWindow(fine), histogram{fine.dense()}
		vs := rapid.SliceOfN(rapid.Int64Range(0, hour), 1, 50).Draw(t, "values")
		for _, v := range vs {
			n := uint64(rapid.IntRange(1, 5).Draw(t, "n"))
			w.add(fine.index(v), n)
			_ = h.RecordValues(v, int64(n))
		}
		ranks := rapid.SliceOfN(rapid.Uint64Range(1, h.exact()), 1, 20).Draw(t, "ranks")
		got, want := w.values(ranks), h.values(ranks)
		for i := range ranks {
			if got[i] != want[i] {
				t.Fatalf("rank %d of %d: %d, the library says %d", ranks[i], h.exact(), got[i], want[i])
			}
		}
	})
}
