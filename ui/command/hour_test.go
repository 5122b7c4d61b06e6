package command

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/stats"
)

// BenchmarkAnHour writes the recording of an hour of 64 streams of 200 tokens a
// second and opens it: go test -run XXX -bench AnHour -benchtime 1x .
// TEAPOT_BENCH_SPAN=1m makes it shorter.
func BenchmarkAnHour(b *testing.B) {
	span := time.Hour
	if d, err := time.ParseDuration(os.Getenv("TEAPOT_BENCH_SPAN")); err == nil {
		span = d
	}
	path := filepath.Join(b.TempDir(), "hour.teapot")
	tokens := writeLoad(b, path, 64, 200, span)
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	var opened, reported time.Duration
	for b.Loop() {
		start := time.Now()
		deck, file, err := record.OpenDeck(path, 1)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := deck.Next(); err != nil {
			b.Fatal(err)
		}
		if _, _, end := deck.Position(); end < int64(span)*9/10 {
			b.Fatalf("it ends at %d", end)
		}
		opened = time.Since(start)
		file.Close()
		start = time.Now()
		s, err := snapshotOf(path, stats.Config{MaxErrorRate: -1, Retention: 15 * time.Minute})
		if err != nil || s.Targets[0].Session.Gap.N == 0 {
			b.Fatal(err)
		}
		reported = time.Since(start)
	}
	b.ReportMetric(float64(st.Size())/1e6, "MB")
	b.ReportMetric(float64(st.Size())/float64(tokens), "B/token")
	b.ReportMetric(float64(opened.Milliseconds()), "ms-to-open")
	b.ReportMetric(reported.Seconds(), "s-to-report")
	b.ReportMetric(0, "ns/op")
}

// writeLoad writes what a probe would, in blocks of half a second, and returns
// the number of tokens.
func writeLoad(b *testing.B, path string, streams, rate int, span time.Duration) (tokens int) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := record.NewWriter(f, record.Options{Compress: true})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	put := func(ev event.Event) {
		if err := w.Add(ev); err != nil {
			b.Fatal(err)
		}
	}
	put(&event.Session{Wall: 1e18, Source: event.SourceKernel})
	put(&event.Target{ID: 1, URL: "http://h:1", State: event.StateLive})
	left, req := make([]int, streams), make([]uint64, streams)
	id := uint64(0)
	flush, beat := int64(0), int64(0)
	for at := int64(1e6); at < int64(span); at += int64(r.ExpFloat64() * 1e9 / float64(streams*rate)) {
		s := r.IntN(streams)
		if left[s] == 0 {
			if req[s] > 0 {
				put(&event.End{At: at, Target: 1, Request: req[s], Slot: uint32(s), Class: event.OKFull, N: 256, Count: event.CountUsage, Finish: "length", Status: 200})
			}
			id++
			req[s], left[s] = id, 256
			put(&event.Start{At: at, Target: 1, Request: id, Slot: uint32(s), Asked: 256, Prompt: 128, Reused: true})
			put(&event.Headers{At: at + 5e6, Target: 1, Request: id, Status: 200, Proto: "HTTP/1.1", Source: event.SourceKernel, RTT: 2e5})
		}
		left[s]--
		tokens++
		put(&event.Token{At: at, Target: 1, Request: req[s], Slot: uint32(s), K: 1, Bytes: uint32(2 + r.IntN(7)), Late: int64(20e3 + r.ExpFloat64()*10e3)})
		for ; beat < at; beat += 1e8 {
			put(&event.Floor{At: at, Wall: 1e18 + at, Overshoot: int64(5e4 + r.ExpFloat64()*2e4), Late: []int64{20e3, 60e3, 9e4}, Reads: 1200, RSS: 2e7})
		}
		if at-flush > 5e8 {
			flush = at
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return tokens
}
