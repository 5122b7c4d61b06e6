package record

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func FuzzReader(f *testing.F) {
	for _, compress := range []bool{false, true} {
		file, parts := write(f, Options{Text: true, Compress: compress}, three()...)
		f.Add(file)
		f.Add(file[:parts[2].to-5])
		f.Add(file[:parts[1].from])
		bad := bytes.Clone(file)
		bad[parts[1].from+50] ^= 1
		f.Add(bad)
	}
	f.Add(strange(block{raw: MaxBlock, count: 1, flags: blockZstd}, []byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x40\x00")))
	f.Add([]byte(fileMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := NewReader(bytes.NewReader(src))
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			ev, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
			if ev == nil {
				t.Fatal("no event and no error")
			}
		}
		if len(r.in.buf) > 2*(MaxBlock+blockSize) {
			t.Fatalf("buffer of %d bytes", len(r.in.buf))
		}
		_ = r.Damage()
	})
}
