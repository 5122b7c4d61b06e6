package stats

import (
	"math/bits"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// geometry is the resolution of a histogram: significant digits from 1 ns on.
// Values are recorded in ns, so that three digits mean 0.1 % at a microsecond as
// well as at an hour, and an exported histogram reads right in other tools.
type geometry int

const (
	fine   geometry = 3 // the figures
	coarse geometry = 2 // side figures: phases, lateness
)

func (g geometry) dense() *hdr.Histogram        { return hdr.New(1, hour, int(g)) }
func (g geometry) packed() *hdr.PackedHistogram { return hdr.NewPacked(1, hour, int(g)) }

// halfBits is log2 of the buckets in each doubling of the value.
func (g geometry) halfBits() int {
	if g == fine {
		return 10
	}
	return 7
}

// index is the bucket of a value, the same partition as HdrHistogram's.
func (g geometry) index(v int64) int {
	h := g.halfBits()
	exp := max(bits.Len64(uint64(v))-h-1, 0)
	return exp<<h + int(v>>exp)
}

// top is the largest value of a bucket.
func (g geometry) top(i int) int64 {
	h := g.halfBits()
	exp := max(i>>h-1, 0)
	return (int64(i-exp<<h)+1)<<exp - 1
}

// window is the histogram of a rolling window. The library's own cannot take
// samples out again; this one is kept up to date by adding the second that
// begins and taking out the one that leaves, so that a query does not merge
// hundreds of seconds.
type window struct {
	geom   geometry
	counts []uint32
	total  uint64 // samples in counts
	// Nothing was added outside of low..high since the last reset.
	low, high int
}

func newWindow(g geometry) window {
	w := window{geom: g, counts: make([]uint32, g.index(hour)+1)}
	w.low = len(w.counts)
	return w
}

func (w *window) add(i int, n uint64) {
	w.counts[i] += uint32(n)
	w.total += n
	w.low, w.high = min(w.low, i), max(w.high, i+1)
}

// sub takes out a second that was added before.
func (w *window) sub(s *slot) {
	s.each(w.geom, func(i int, n uint64) {
		w.counts[i] -= uint32(n)
		w.total -= n
	})
}

func (w *window) reset() {
	if w.low < w.high {
		clear(w.counts[w.low:w.high])
	}
	w.total, w.low, w.high = 0, len(w.counts), 0
}

// exact is the number of samples, and values the bucket tops at the given
// ranks, in any order.
func (w *window) exact() uint64 { return w.total }

func (w *window) values(ranks []uint64) []int64 {
	out := make([]int64, len(ranks))
	order := ascending(ranks)
	sum, i := uint64(0), min(w.low, len(w.counts))
	for _, at := range order {
		for sum < ranks[at] && i < len(w.counts) {
			// Whole blocks that do not reach the rank are skipped at once.
			if i+8 <= len(w.counts) {
				c := w.counts[i : i+8 : i+8]
				if s := uint64(c[0]) + uint64(c[1]) + uint64(c[2]) + uint64(c[3]) +
					uint64(c[4]) + uint64(c[5]) + uint64(c[6]) + uint64(c[7]); sum+s < ranks[at] {
					sum += s
					i += 8
					continue
				}
			}
			sum += uint64(w.counts[i])
			i++
		}
		out[at] = w.geom.top(max(i-1, 0))
	}
	return out
}

// ascending returns the order in which the ranks grow. They are few and almost
// sorted.
func ascending(ranks []uint64) []int {
	order := make([]int, len(ranks))
	for i := range order {
		j := i
		for j > 0 && ranks[order[j-1]] > ranks[i] {
			order[j] = order[j-1]
			j--
		}
		order[j] = i
	}
	return order
}

// histogram is the library's dense one, asked by rank.
type histogram struct{ *hdr.Histogram }

func (h histogram) exact() uint64 { return uint64(h.TotalCount()) }

// values passes 100·rank/n: the library rounds p/100·n + ½ down, which gives
// that very rank.
func (h histogram) values(ranks []uint64) []int64 {
	ask := make([]float64, len(ranks))
	for i, r := range ranks {
		ask[i] = 100 * float64(r) / float64(h.exact())
	}
	return h.ValueAtPercentilesSlice(ask)
}
