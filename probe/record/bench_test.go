package record

import (
	"bytes"
	"io"
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
