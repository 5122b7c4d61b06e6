package probe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

// tokensPerReply is how many tokens the benchmark's server sends for each request.
const tokensPerReply = 2000

// replies is a server that answers with prepared bytes, so that what it
// allocates itself is nothing per token. pause lies between two writes.
func replies(b *testing.B, pause time.Duration) *server {
	var chunks [][]byte
	for i := range tokensPerReply {
		var s strings.Builder
		say(&s, fmt.Sprintf(`data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1700000000,"model":"tiny","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}]}`+"\n\n", i%10))
		chunks = append(chunks, []byte(s.String()))
	}
	var tail strings.Builder
	say(&tail, length, usage(tokensPerReply), done)
	end := []byte(tail.String() + lastOne)
	return serve(b, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, streamHead)
		for _, chunk := range chunks {
			if _, err := c.Write(chunk); err != nil {
				return false
			}
			if pause > 0 {
				time.Sleep(pause)
			}
		}
		c.Write(end)
		return true
	})
}

// BenchmarkTokenPath reads streams over a loopback HTTP connection, parses
// them, and writes their events, as a probe does; one operation is one token.
// What a request costs by itself is spread over its tokens.
func BenchmarkTokenPath(b *testing.B) {
	for _, c := range []struct {
		name  string
		pause time.Duration
	}{{"as fast as it goes", 0}, {"one read each", 50 * time.Microsecond}} {
		b.Run(c.name, func(b *testing.B) { benchmarkTokens(b, c.pause) })
	}
}

func benchmarkTokens(b *testing.B, pause time.Duration) {
	s := replies(b, pause)
	cfg := withDefaults(config(s.url, 0))
	clk := stamp.NewClock()
	r := &run{cfg: cfg, limits: cfg.Limits, clk: clk, in: newInbox(inboxLimit, true), hb: stamp.NewHeartbeat(clk.Now, time.Sleep)}
	ep, err := newEndpoint(1, cfg.Targets[0], &cfg, time.Second, 1, clk)
	if err != nil {
		b.Fatal(err)
	}
	defer ep.rt.CloseIdleConnections()
	out, err := record.NewWriter(io.Discard, record.Options{Text: true})
	if err != nil {
		b.Fatal(err)
	}
	r.hb.Start()
	defer r.hb.Stop()
	go r.in.drain(out, clk.Now)
	defer r.in.close(nil, 0)
	sender := r.newSender(ep, 0)
	ask := job{ordinal: 1, asked: tokensPerReply, prompt: 16}
	sender.do(b.Context(), ask) // warm

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	tokens := 0
	b.ResetTimer()
	for tokens < b.N {
		o := sender.do(b.Context(), ask)
		if o.class != event.OKFull {
			b.Fatalf("class %q: %s", o.class, o.message)
		}
		tokens += tokensPerReply
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(tokens), "allocs/token")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(tokens), "B/token")
	b.ReportMetric(float64(cpuTime()-cpu)/float64(tokens), "cpu-ns/token(with-server)")
}

// BenchmarkStreams runs whole probes of 16 streams.
func BenchmarkStreams(b *testing.B) {
	s := replies(b, 0)
	for b.Loop() {
		cfg := config(s.url, 16)
		cfg.Load.Concurrency, cfg.Load.MaxTokens = 16, tokensPerReply
		out, err := record.NewWriter(io.Discard, record.Options{Text: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := Run(context.Background(), cfg, nil, out, stamp.NewClock()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*16*tokensPerReply)/b.Elapsed().Seconds(), "tokens/s")
}
