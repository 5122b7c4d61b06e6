package event

import "testing"

func BenchmarkAppendToken(b *testing.B) {
	buf := make([]byte, 0, 64)
	tok := &Token{At: 3600e9, Target: 1, Request: 1 << 20, Slot: 7, Late: 31e3, K: 1, Bytes: 5}
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendToken(buf[:0], tok)
	}
	b.ReportMetric(float64(len(buf)), "B/record")
}

func BenchmarkAppendText(b *testing.B) {
	buf := make([]byte, 0, 64)
	text := &Text{At: 3600e9, Request: 1 << 20, Text: " hello"}
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendText(buf[:0], text)
	}
}

func BenchmarkAppendFloor(b *testing.B) {
	var buf []byte
	ev := &Floor{At: 3600e9, Wall: 1.7e18, Overshoot: 80e3, Late: []int64{20e3, 60e3, 90e3}, Reads: 12, RTT: 40e3}
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], ev)
	}
}

func BenchmarkReadToken(b *testing.B) {
	rec := AppendToken(nil, &Token{At: 3600e9, Target: 1, Request: 1 << 20, Slot: 7, Late: 31e3, K: 1, Bytes: 5})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Read(rec); err != nil {
			b.Fatal(err)
		}
	}
}
