package probe

import (
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

// BenchmarkTokenPath takes tokens from the socket to the pipe as a probe does:
// they are read, stamped, parsed and written as events. One operation is one
// token. The server is another process, so the processor time is the probe's
// alone, its heartbeat included. What is allocated is counted by reply, for it
// does not depend on the number of tokens (TestTokenPathAllocatesNothing).
//
// Without a pause between tokens it shows what is sustained, in tok/s; 5000
// tok/s and 15000 tok/s show what a token costs that comes alone.
func BenchmarkTokenPath(b *testing.B) {
	const step = 1600 * time.Microsecond
	for _, c := range []struct {
		name    string
		streams int
		step    time.Duration
	}{
		{"as fast as it goes, 1 stream", 1, 0},
		{"as fast as it goes, 64 streams", 64, 0},
		{"5000 tok per s, 8 streams", 8, step},
		{"15000 tok per s, 64 streams", 64, 64 * time.Second / 15000},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkTokens(b, c.streams, c.step) })
	}
}

// bench is the inside of a run with senders that the benchmark drives.
type bench struct {
	r       *run
	senders []*sender
}

// newBench prepares streams to url.
func newBench(b *testing.B, url string, streams int) *bench {
	cfg := withDefaults(config(url, 0))
	clk := stamp.NewClock()
	r := &run{cfg: cfg, limits: cfg.Limits, clk: clk, in: newInbox(inboxLimit, true), hb: stamp.NewHeartbeat(clk.Now, time.Sleep)}
	ep, err := newEndpoint(1, cfg.Targets[0], &cfg, time.Second, 1, clk)
	if err != nil {
		b.Fatal(err)
	}
	out, err := record.NewWriter(io.Discard, record.Options{Text: true})
	if err != nil {
		b.Fatal(err)
	}
	r.hb.Start()
	r.floor.memory = newCollector()
	quiet := make(chan struct{})
	go r.in.drain(out, clk.Now)
	go r.floor.beat(quiet, clk, r.hb, r.in, r.flying.Load)
	x := &bench{r: r}
	for i := range streams {
		x.senders = append(x.senders, r.newSender(ep, uint32(i)))
	}
	b.Cleanup(func() {
		for _, s := range x.senders {
			s.line.close()
		}
		close(quiet)
		r.hb.Stop()
		r.in.close(nil, 0)
		ep.rt.CloseIdleConnections()
	})
	return x
}

// replies has every stream take n replies.
func (x *bench) replies(b *testing.B, n int) {
	var all sync.WaitGroup
	for _, s := range x.senders {
		all.Go(func() {
			for range n {
				x.r.flying.Add(1)
				o := s.do(b.Context(), job{ordinal: 1, asked: tokensPerReply, prompt: 16})
				x.r.flying.Add(-1)
				if o.class != event.OKFull {
					b.Errorf("class %q: %s", o.class, o.message)
				}
				x.r.floor.memory.between(x.r.flying.Load())
			}
		})
	}
	all.Wait()
}

func benchmarkTokens(b *testing.B, streams int, step time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	x := newBench(b, startWriter(b, step), streams)
	x.replies(b, 1) // warm
	rounds := max(b.N/(streams*tokensPerReply), 1)
	tokens := rounds * streams * tokensPerReply
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	b.ResetTimer()
	x.replies(b, rounds)
	b.StopTimer()
	spent := cpuTime() - cpu
	runtime.ReadMemStats(&after)
	perReply := float64(tokens) / tokensPerReply
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/perReply, "allocs/reply")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/perReply, "B/reply")
	b.ReportMetric(float64(spent)/float64(tokens), "cpu-ns/token")
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tok/s")
	b.ReportMetric(0, "ns/op") // a token's time is the server's
}
