package stats

import (
	"testing"

	"teapot/probe/event"
)

// load feeds an endless closed loop of streams into an aggregator: every token
// carries its text, k and a kernel stamp, as a live probe sends them.
type load struct {
	a       *Aggregator
	streams int
	gap     int64 // of one stream
	tokens  int
	now     int64
	req     uint64
	rand    uint64
	state   []struct {
		req  uint64
		left int
		next int64
	}
	beat int64
	tok  event.Token
	text event.Text
}

func newLoad(streams int, gap int64) *load {
	l := &load{a: NewAggregator(Config{MaxErrorRate: -1, SLO: []SLO{{Metric: "gap", Limit: 50 * ms, Goal: 0.99}}}), streams: streams, gap: gap, tokens: 256, rand: 1}
	l.state = make([]struct {
		req  uint64
		left int
		next int64
	}, streams)
	l.a.Add(&event.Session{Source: event.SourceKernel})
	return l
}

func (l *load) random() int64 {
	l.rand = l.rand*6364136223846793005 + 1442695040888963407
	return int64(l.rand >> 33)
}

// step adds one token event and whatever is due before it.
func (l *load) step() {
	i := 0
	for j := range l.state {
		if l.state[j].next < l.state[i].next {
			i = j
		}
	}
	s := &l.state[i]
	l.now = max(l.now, s.next)
	if l.now-l.beat >= 100*ms {
		l.beat = l.now
		l.a.Add(&event.Floor{At: l.now, Overshoot: 100e3, Late: []int64{20e3, 50e3, 90e3}})
	}
	slot := uint32(i)
	if s.left == 0 {
		if s.req != 0 {
			l.a.Add(&event.End{At: l.now, Request: s.req, Slot: slot, Class: event.OKFull, N: l.tokens, Count: event.CountUsage})
		}
		l.req++
		s.req, s.left = l.req, l.tokens
		l.a.Add(&event.Start{At: l.now, Request: s.req, Slot: slot})
		l.a.Add(&event.Headers{At: l.now + ms, Request: s.req, Status: 200})
		s.next = l.now + 150*ms + l.random()%(50*ms)
		return
	}
	s.left--
	l.tok = event.Token{At: l.now, Request: s.req, Slot: slot, K: 1, Late: 20e3 + l.random()%30_000}
	l.a.Add(&l.tok)
	l.text = event.Text{At: l.now, Request: s.req, Text: "word "}
	l.a.Add(&l.text)
	s.next = l.now + l.gap/2 + l.random()%l.gap
}

func BenchmarkAddToken(b *testing.B) {
	l := newLoad(8, 16*ms)
	b.ReportAllocs()
	for range b.N {
		l.step() // a token, its text and their share of starts, ends and heartbeats
	}
}

// The same at 5000 tokens a second: what a second costs once is shared by ten
// times as many.
func BenchmarkAddTokenFast(b *testing.B) {
	l := newLoad(8, 1600*1000)
	b.ReportAllocs()
	for range b.N {
		l.step()
	}
}

func BenchmarkSnapshot(b *testing.B) {
	l := newLoad(8, 16*ms) // 500 gaps a second
	for l.now < 900*second {
		l.step()
	}
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		for at := l.now + 500*ms; l.now < at; {
			l.step()
		}
		b.StartTimer()
		l.a.Snapshot()
	}
}

func BenchmarkSeriesView(b *testing.B) {
	s := NewSeries(3600 * second)
	for i := range int64(36_000) {
		s.At(i * Bucket).Gap.Add(ms)
	}
	b.ResetTimer()
	for range b.N {
		s.At(36_000 * Bucket).Gap.Add(ms)
		s.View()
	}
}
