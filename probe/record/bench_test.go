package record

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"teapot/probe/event"
)

func hundred() (evs []event.Event, raw []byte) {
	for i := range 100 {
		t := &event.Token{At: 3600e9 + int64(i)*13e6, Target: 1, Request: 1 << 20, Slot: uint32(i % 8), Late: 31e3, K: 1, Bytes: 5}
		evs = append(evs, t)
		raw = event.AppendToken(raw, t)
	}
	return evs, raw
}

func BenchmarkAdd(b *testing.B) {
	w, err := NewWriter(io.Discard, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var ev event.Event = &event.Token{At: 3600e9, Target: 1, Request: 1 << 20, Slot: 7, Late: 31e3, K: 1, Bytes: 5}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Add(ev); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteBlockOf100(b *testing.B) {
	_, raw := hundred()
	for name, o := range map[string]Options{"plain": {Text: true}, "zstd": {Text: true, Compress: true}} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWriter(io.Discard, o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.AddRaw(raw); err != nil {
					b.Fatal(err)
				}
				if err := w.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadEvent(b *testing.B) {
	evs, _ := hundred()
	for name, o := range map[string]Options{"plain": {}, "zstd": {Compress: true}} {
		b.Run(name, func(b *testing.B) {
			file, parts := write(b, o, evs)
			r, err := NewReader(&stream{head: bytes.Clone(file[:fileSize]), block: file[parts[0].from:], n: -1})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBytesPerToken is what a token costs on disk: 64 streams of 200 tokens
// a second, as a probe makes them, in blocks of half a second.
func BenchmarkBytesPerToken(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range []bool{false, true} {
		b.Run(fmt.Sprint("text=", text), func(b *testing.B) {
			var size counter
			w, err := NewWriter(&size, Options{Compress: true, Text: text})
			if err != nil {
				b.Fatal(err)
			}
			at, n := int64(0), 0
			for b.Loop() {
				at += int64(r.ExpFloat64() * 1e9 / (64 * 200))
				slot := uint32(r.IntN(64))
				_ = w.Add(&event.Token{At: at, Target: 1, Request: uint64(n/(64*256)*64) + uint64(slot) + 1, Slot: slot, K: 1,
					Late: int64(20e3 + r.ExpFloat64()*10e3), Bytes: uint32(2 + r.IntN(7))})
				_ = w.Add(&event.Text{At: at, Request: uint64(slot), Text: strings.Repeat("tea", 1+r.IntN(3))})
				if n++; n%6400 == 0 {
					_ = w.Flush()
				}
			}
			_ = w.Close()
			b.ReportMetric(float64(size)/float64(n), "B/token")
		})
	}
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
