package sse

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// chunk is an event as servers send it, of about 300 bytes.
func chunk(i int) string {
	return fmt.Sprintf(`{"id":"chatcmpl-LqI9RnJxj4KrIv0eDXE57eCSOPjhw5GB","object":"chat.completion.chunk","created":1796064883,`+
		`"model":"some-model-of-8-billion-parameters","system_fingerprint":"b10573-d775b8967",`+
		`"choices":[{"index":0,"delta":{"content":" word%03d"},"logprobs":null,"finish_reason":null}]}`, i%1000)
}

// loop delivers a text again and again, so much per Read.
type loop struct {
	text string
	per  int
	at   int
}

func (l *loop) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), l.per)], l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

// streams are endless bodies in steady state.
var streams = []struct {
	name string
	body func() string
}{
	{"SSE", func() string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "data: %s\n\n", chunk(i))
		}
		return b.String()
	}},
	{"SSE with names, ids and comments", func() string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, ": keep-alive\n\nevent: content_block_delta\r\nid: %d\r\ndata: %s\r\n\r\n", i, chunk(i))
		}
		return b.String()
	}},
	{"SSE without blank lines", func() string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "data: %s\n", chunk(i))
		}
		return b.String()
	}},
	{"NDJSON", func() string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "%s\n", chunk(i))
		}
		return b.String()
	}},
	{"JSON array", func() string {
		// The loop goes on inside the array: it begins only once.
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "%s\n,\r\n", chunk(i))
		}
		return b.String()
	}},
}

func endlessly(name, body string, per int) *Reader {
	var src io.Reader = &loop{text: body, per: per}
	if name == "JSON array" {
		src = io.MultiReader(strings.NewReader("["), src)
	}
	return NewReader(src, Options{})
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, s := range streams {
		for _, per := range []int{100, 330, 5000} {
			t.Run(fmt.Sprintf("%s, %d bytes a read", s.name, per), func(t *testing.T) {
				r := endlessly(s.name, s.body(), per)
				next := func() {
					if _, err := r.Next(); err != nil {
						t.Fatal(err)
					}
				}
				for range 1000 {
					next()
				}
				if n := testing.AllocsPerRun(1000, next); n != 0 {
					t.Errorf("%v allocations per event", n)
				}
			})
		}
	}
}

// Events of about 300 bytes, one per Read.
func BenchmarkNext(b *testing.B) {
	for _, s := range streams {
		b.Run(s.name, func(b *testing.B) {
			r := endlessly(s.name, s.body(), len("data: \n\n")+len(chunk(0)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
