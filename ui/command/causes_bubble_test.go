package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"teapot/probe/engine/signals"
	"teapot/probe/event"
	"teapot/probe/sim"
	"teapot/stats"
	"teapot/stats/confusion"
)

// memory is a network inside this process: it lives in a bubble, where seconds
// take no time.
type memory struct {
	in   chan net.Conn
	done chan struct{}
	once sync.Once
}

func newMemory() *memory { return &memory{in: make(chan net.Conn), done: make(chan struct{})} }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.in:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { m.once.Do(func() { close(m.done) }); return nil }
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.in <- there:
		return here, nil
	case <-m.done:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// trial is a run of the built-in engine with its faults, watched as a probe
// does, in the time of a bubble.
type trial struct {
	profile string
	faults  []string
	every   time.Duration // between two faults
	long    time.Duration
	seed    uint64
	streams int
	look    time.Duration // between two looks at the metrics; 0: none
	late    time.Duration // how much later they are heard
	slow    float64       // each step takes so many times as long; 0: 1
}

// patient is what a probe is, without its sockets.
type patient struct {
	*trial
	began time.Time
	http  *http.Client

	mu  sync.Mutex
	agg *stats.Aggregator
	ids uint64
	own []prefill // of this client's own requests
}

// prefill is the time from a request to its first token.
type prefill struct{ from, to int64 }

// crowds are the instants at which so many requests of this client got their
// first token together that one step had to work on all of their prompts: the
// client was its own neighbour.
func crowds(all []prefill) (faults []confusion.Fault) {
	slices.SortFunc(all, func(a, b prefill) int { return cmp.Compare(a.to, b.to) })
	for i := 0; i < len(all); {
		j, from := i, all[i].from
		for ; j < len(all) && all[j].to-all[i].to < int64(5*time.Millisecond); j++ {
			from = min(from, all[j].from)
		}
		if j-i >= 4 {
			faults = append(faults, confusion.Fault{Kind: confusion.Prefill, Start: from, End: all[i].to})
		}
		i = j
	}
	return faults
}

func (p *patient) now() int64 { return int64(time.Since(p.began)) }

func (p *patient) put(ev event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agg.Add(ev)
}

// run plays a trial to its end. It returns what was found and what was true.
func (tr *trial) run(t *testing.T) (snap *stats.Snapshot, faults []confusion.Fault) {
	synctest.Test(t, func(t *testing.T) {
		var truth bytes.Buffer
		e, err := sim.New(sim.Options{
			Profile: tr.profile, Seed: tr.seed, Faults: tr.faults, Every: tr.every, Slow: tr.slow, Truth: &truth, Clock: sim.RuntimeClock(), Version: "0",
		})
		if err != nil {
			t.Fatal(err)
		}
		wire, ctx, cancel := newMemory(), context.Context(nil), context.CancelFunc(nil)
		ctx, cancel = context.WithCancel(t.Context())
		server := &http.Server{Handler: e.Handler()}
		var parts, looks sync.WaitGroup
		parts.Go(func() { _ = server.Serve(wire) })
		parts.Go(func() { _ = e.Run(ctx) })
		transport := &http.Transport{DialContext: wire.dial, MaxIdleConnsPerHost: 100, DisableCompression: true}
		p := &patient{trial: tr, began: time.Now(), http: &http.Client{Transport: transport}, agg: stats.NewAggregator(stats.Config{MaxErrorRate: -1})}
		p.put(&event.Session{Wall: p.began.UnixNano(), Source: event.SourceKernel})
		p.put(&event.Target{ID: 1, URL: "http://engine", State: event.StateLive, Engine: "teapot engine", Model: "teapot-" + tr.profile})
		quiet := make(chan struct{})
		looks.Go(func() { p.beat(quiet) })
		if tr.look > 0 {
			looks.Go(func() { p.watch(t, quiet) })
		}
		var streams sync.WaitGroup
		for i := range tr.streams {
			streams.Go(func() { p.stream(uint32(i)) })
		}
		streams.Wait()
		time.Sleep(10 * time.Second) // what is still to be heard
		close(quiet)
		looks.Wait()
		cancel()
		_ = server.Close()
		wire.Close()
		transport.CloseIdleConnections()
		parts.Wait()
		p.put(&event.Finished{At: p.now(), Complete: true, Reason: "duration"})
		snap = p.agg.Snapshot()
		if faults, err = confusion.ReadTruth(&truth, p.began.UnixNano()); err != nil {
			t.Fatal(err)
		}
		faults = append(faults, crowds(p.own)...)
	})
	return snap, faults
}

// beat is the heartbeat of a client that is never disturbed.
func (p *patient) beat(quiet chan struct{}) {
	for {
		select {
		case <-quiet:
			return
		case <-time.After(100 * time.Millisecond):
		}
		p.put(&event.Floor{At: p.now(), Wall: time.Now().UnixNano(), Overshoot: 200_000, Late: []int64{20_000, 60_000, 90_000}})
	}
}

// watch looks at the engine's metrics with the program's own watcher.
func (p *patient) watch(t *testing.T, quiet chan struct{}) {
	w, err := signals.NewWatcher(signals.Config{
		Target: 1, Source: signals.Source{Name: event.SignalMetrics, URL: "http://engine/metrics", Every: p.look, Own: true},
		Client: p.http, Now: p.now, Header: http.Header{},
	})
	if err != nil {
		t.Error(err)
		return
	}
	var heard sync.WaitGroup
	defer heard.Wait()
	for {
		sig, err := w.Poll(t.Context())
		if err == nil {
			sig.Age += int64(p.late)
			heard.Go(func() {
				time.Sleep(p.late)
				sig.At += int64(p.late)
				p.put(&sig)
			})
		}
		select {
		case <-quiet:
			return
		case <-time.After(p.look):
		}
	}
}

// stream is one of a closed loop.
func (p *patient) stream(slot uint32) {
	time.Sleep(time.Duration(slot) * 37 * time.Millisecond)
	down := false
	for p.now() < int64(p.long) {
		p.mu.Lock()
		p.ids++
		id := p.ids
		p.mu.Unlock()
		ok := p.ask(slot, id, &down)
		switch {
		case ok:
			time.Sleep(time.Millisecond)
		default:
			time.Sleep(500 * time.Millisecond)
		}
	}
}

// state tells that the target went away, or came back.
func (p *patient) state(down *bool, now bool, why string) {
	if *down == now {
		return
	}
	*down = now
	s := event.StateLive
	if now {
		s = event.StateDown
	}
	p.put(&event.Target{At: p.now(), ID: 1, URL: "http://engine", State: s, Detail: why, Engine: "teapot engine"})
}

// ask makes one request and tells whether it was answered.
func (p *patient) ask(slot uint32, id uint64, down *bool) bool {
	body := `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 100) + `"}],"max_tokens":256,"stream":true,"stream_options":{"include_usage":true},"ignore_eos":true}`
	req, err := http.NewRequest(http.MethodPost, "http://engine/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", fmt.Sprintf("teapot-00000000-%d", id))
	sent := p.now()
	p.put(&event.Start{At: sent, Target: 1, Request: id, Slot: slot, Asked: 256, Prompt: 128, Reused: true})
	end := &event.End{Target: 1, Request: id, Slot: slot}
	defer func() {
		end.At = p.now()
		p.put(end)
	}()
	res, err := p.http.Do(req)
	if err != nil {
		end.Class, end.Message = event.ErrRefused, "connection refused"
		p.state(down, true, "connection refused")
		return false
	}
	defer res.Body.Close()
	end.Status = res.StatusCode
	p.put(&event.Headers{At: p.now(), Target: 1, Request: id, Status: res.StatusCode, Source: event.SourceKernel})
	if res.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, res.Body)
		end.Class = event.ErrOverload
		return false
	}
	p.state(down, false, "")
	p.read(res.Body, slot, id, sent, end)
	return end.Class.OK()
}

// read takes the events of a reply as they come.
func (p *patient) read(body io.Reader, slot uint32, id uint64, sent int64, end *event.End) {
	end.Class = event.ErrTruncated
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	last, burst := int64(-1), uint32(0)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var c struct {
			Error   json.RawMessage
			Choices []struct {
				Delta struct{ Content string }
			}
			Usage *struct {
				N      int `json:"completion_tokens"`
				Prompt int `json:"prompt_tokens"`
			}
		}
		switch {
		case !ok:
			continue
		case data == "[DONE]":
			if end.Class == event.ErrTruncated {
				end.Class = event.OKFull
			}
			continue
		case json.Unmarshal([]byte(data), &c) != nil:
			continue
		}
		if c.Error != nil {
			end.Class = event.ErrStream
		}
		if c.Usage != nil {
			end.N, end.Prompt, end.Count = c.Usage.N, c.Usage.Prompt, event.CountUsage
		}
		for _, x := range c.Choices {
			if x.Delta.Content == "" {
				continue
			}
			at := p.now()
			if burst++; at != last {
				burst = 0
			}
			if last < 0 {
				p.mu.Lock()
				p.own = append(p.own, prefill{sent, at})
				p.mu.Unlock()
			}
			last = at
			p.put(&event.Token{At: at, Target: 1, Request: id, Slot: slot, K: 1, Burst: burst, Late: 30_000, Bytes: uint32(len(x.Delta.Content))})
		}
	}
}
