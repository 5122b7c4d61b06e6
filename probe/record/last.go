package record

import (
	"bytes"
	"io"
)

// lastLook is how much of a file's end is looked at first; blocks of a session
// are far shorter.
const lastLook = 256 << 10

// Last returns the time of the newest event in the last sound blocks of a
// recording, ns of its clock, without reading the rest; 0 where it finds none.
func Last(f io.ReaderAt, size int64) int64 {
	for _, look := range [...]int64{lastLook, 2 * MaxBlock} {
		tail := make([]byte, min(look, size))
		if n, err := f.ReadAt(tail, size-int64(len(tail))); n < len(tail) && err != io.EOF {
			return 0
		}
		for {
			i := bytes.Index(tail, []byte(blockMagic))
			if i < 0 || len(tail)-i < blockSize {
				break
			}
			tail = tail[i:]
			if at := newest(tail); at > 0 {
				return at
			}
			tail = tail[1:]
		}
	}
	return 0
}

// newest is the greatest time in the blocks that b begins with; 0 where the
// first is not whole.
func newest(b []byte) (at int64) {
	h, ok := parseBlock(b)
	if !ok || len(b) < blockSize+h.stored || checksum(b[blockSize:blockSize+h.stored]) != h.sum {
		return 0
	}
	r := &Reader{in: window{src: bytes.NewReader(b)}, text: true, next: h.first}
	for {
		ev, err := r.Next()
		if err != nil {
			return at
		}
		at = max(at, ev.Time())
	}
}
