package stats

import (
	"encoding/binary"
	"slices"
)

// packed is the histogram of a second gone by: of each bucket that holds
// anything, how far it lies behind the one before and how much it holds, as two
// uvarints. A busy second takes two bytes a bucket, and a ring of a quarter of
// an hour a few megabytes.
type packed []byte

// pack writes the counts of w into p, whose memory is used again if it fits,
// and empties w. scratch is lent for the time of the call.
func (w *window) pack(p packed, scratch []byte) (packed, []byte) {
	b, last := scratch[:0], -1
	for i := w.low; i < w.high; i++ {
		if n := w.counts[i]; n > 0 {
			b = binary.AppendUvarint(b, uint64(i-last))
			b = binary.AppendUvarint(b, uint64(n))
			last = i
		}
	}
	w.reset()
	if cap(p) < len(b) || cap(p) > 2*len(b)+64 {
		return slices.Clip(slices.Clone(packed(b))), b
	}
	return append(p[:0], b...), b
}

// each calls fn with every bucket and its count.
func (p packed) each(fn func(i int, n uint64)) {
	i := -1
	for len(p) > 0 {
		by, a := binary.Uvarint(p)
		n, b := binary.Uvarint(p[a:])
		p = p[a+b:]
		i += int(by)
		fn(i, n)
	}
}
