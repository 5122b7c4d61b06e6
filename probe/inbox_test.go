package probe

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
)

// memory is an output that keeps what is written, and can block or fail.
type memory struct {
	mu     sync.Mutex
	bytes  []byte
	blocks int
	gate   chan struct{} // nil: open
	err    error
}

func (m *memory) AddRaw(p []byte) error {
	if m.gate != nil {
		<-m.gate
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes = append(m.bytes, p...)
	return m.err
}

func (m *memory) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocks++
	return m.err
}

// events decodes everything written so far.
func (m *memory) events(t testing.TB) []event.Event {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	return decode(t, m.bytes)
}

func decode(t testing.TB, src []byte) []event.Event {
	t.Helper()
	var all []event.Event
	for len(src) > 0 {
		ev, n, err := event.Read(src)
		if err != nil {
			t.Fatalf("what was written does not read back: %v", err)
		}
		all = append(all, ev)
		src = src[n:]
	}
	return all
}

func zero() int64 { return 42 }

func TestInboxKeepsOrder(t *testing.T) {
	b := newInbox(inboxLimit, true)
	out := &memory{}
	go b.drain(out, zero)
	b.put(&event.Start{At: 1, Request: 1})
	b.putTokens(
		[]event.Token{{At: 2, Request: 1}, {At: 2, Request: 1, Burst: 1}, {At: 3, Request: 1}},
		[]event.Text{{At: 2, Request: 1, Text: "a"}, {At: 2, Request: 1}, {At: 3, Request: 1, Text: "c"}})
	b.put(&event.End{At: 4, Request: 1})
	if err := b.close(nil, 0); err != nil {
		t.Fatal(err)
	}
	var kinds []event.Kind
	for _, ev := range out.events(t) {
		kinds = append(kinds, ev.Kind())
	}
	want := []event.Kind{event.KindStart, event.KindToken, event.KindText, event.KindToken, event.KindToken, event.KindText, event.KindEnd}
	if len(kinds) != len(want) {
		t.Fatalf("kinds %v, want %v", kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Fatalf("kinds %v, want %v", kinds, want)
		}
	}
}

func TestInboxWithoutText(t *testing.T) {
	b := newInbox(inboxLimit, false)
	b.put(&event.Text{Text: "x"})
	b.putTokens([]event.Token{{At: 2}}, []event.Text{{At: 2, Text: "a"}})
	buf, texts, events := b.swap(nil)
	if got := decode(t, buf); len(got) != 1 || got[0].Kind() != event.KindToken || texts+events != 0 {
		t.Errorf("got %d events, %d texts and %d events dropped", len(got), texts, events)
	}
}

func TestInboxDropsTextFirstAndCounts(t *testing.T) {
	const limit = 4000
	b := newInbox(limit, true)
	tokens := []event.Token{{At: 1e9, Request: 1}}
	texts := []event.Text{{At: 1e9, Request: 1, Text: "some words of text"}}
	for range 400 {
		b.putTokens(tokens, texts)
	}
	b.put(&event.Note{Text: "not the frame"})
	for _, ev := range []event.Event{&event.Session{}, &event.Target{}, &event.End{}, &event.Finished{}} {
		b.put(ev)
	}
	if len(b.buf) > 2*limit {
		t.Errorf("%d bytes wait, above twice the limit", len(b.buf))
	}
	buf, droppedTexts, droppedEvents := b.swap(nil)
	count := map[event.Kind]uint64{}
	for _, ev := range decode(t, buf) {
		count[ev.Kind()]++
	}
	if droppedTexts == 0 || droppedEvents == 0 {
		t.Fatalf("dropped %d texts and %d events: neither may be 0", droppedTexts, droppedEvents)
	}
	// A text that goes with a dropped token is not counted: only one that was refused itself.
	if count[event.KindToken]+droppedEvents != 400+1 || count[event.KindText]+droppedTexts != count[event.KindToken] {
		t.Errorf("kept %v, dropped %d texts and %d events", count, droppedTexts, droppedEvents)
	}
	if count[event.KindText] >= count[event.KindToken] {
		t.Errorf("text was not dropped first: %v", count)
	}
	for _, k := range []event.Kind{event.KindSession, event.KindTarget, event.KindEnd, event.KindFinished} {
		if count[k] != 1 {
			t.Errorf("kind %d: %d kept, want 1", k, count[k])
		}
	}
	if count[event.KindNote] != 0 {
		t.Error("a note was kept above the limit")
	}
}

func TestInboxFrameIsBoundedToo(t *testing.T) {
	const limit = 1000
	b := newInbox(limit, true)
	for range 1000 {
		b.put(&event.End{Message: "an end"})
	}
	if buf, _, events := b.swap(nil); len(buf) > 2*limit || events == 0 {
		t.Errorf("%d bytes kept and %d events dropped", len(buf), events)
	}
}

func TestInboxBlockedOutputBlocksNobodyElse(t *testing.T) {
	b := newInbox(2000, true)
	out := &memory{gate: make(chan struct{})}
	go b.drain(out, zero)
	for range 100_000 { // would never end if the pipe were waited for
		b.putTokens([]event.Token{{At: 5, Request: 9}}, nil)
	}
	close(out.gate)
	if err := b.close(nil, 0); err != nil {
		t.Fatal(err)
	}
	var tokens, dropped uint64
	for _, ev := range out.events(t) {
		switch e := ev.(type) {
		case *event.Token:
			tokens++
		case *event.Dropped:
			dropped += e.Events
			if e.At != 42 {
				t.Errorf("dropped at %d, want the clock's 42", e.At)
			}
		}
	}
	if tokens+dropped != 100_000 || dropped == 0 {
		t.Errorf("%d tokens and %d dropped, want 100000 together", tokens, dropped)
	}
}

// A pipe that nobody reads is told of while it is so, and once afterwards.
func TestInboxTellsOfABlockedPipe(t *testing.T) {
	var clock atomic.Int64
	clock.Store(1000)
	b := newInbox(2000, true)
	out := &memory{gate: make(chan struct{})}
	go b.drain(out, clock.Load)
	b.put(&event.Note{Text: "x"})
	b.flush()
	for b.writing.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := b.blocked(1000 + blockedLeast - 1); got != 0 {
		t.Errorf("an ordinary write is called blocked for %d ns", got)
	}
	if got := b.blocked(1000 + 5e9); got != 5e9 {
		t.Errorf("blocked for %d ns, want 5 s", got)
	}
	clock.Store(1000 + 7e9)
	close(out.gate)
	if err := b.close(nil, 0); err != nil {
		t.Fatal(err)
	}
	if got := b.blocked(1000 + 9e9); got != 7e9 {
		t.Errorf("it was blocked for %d ns, want 7 s", got)
	}
	if got := b.blocked(1000 + 9e9); got != 0 {
		t.Errorf("it is told twice: %d ns", got)
	}
}

func TestInboxSaysThatTheOutputFailed(t *testing.T) {
	b := newInbox(2000, true)
	go b.drain(&memory{err: io.ErrClosedPipe}, zero)
	b.put(&event.Note{Text: "x"})
	b.flush()
	<-b.done
	b.put(&event.Note{Text: "after the end"})
	if len(b.buf) != 0 {
		t.Error("kept an event that can never be written")
	}
	if err := b.close(nil, 0); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want io.ErrClosedPipe", err)
	}
}

func TestInboxCloseDoesNotWaitForEver(t *testing.T) {
	b := newInbox(2000, true)
	out := &memory{gate: make(chan struct{})}
	go b.drain(out, zero)
	b.put(&event.Note{Text: "x"})
	given := make(chan struct{})
	close(given)
	if err := b.close(given, time.Millisecond); err == nil {
		t.Error("no error though nothing was written")
	}
	close(out.gate)
	<-b.done
}

func BenchmarkInboxToken(b *testing.B) {
	in := newInbox(1<<30, true)
	in.buf = make([]byte, 0, 8<<20)
	tokens := []event.Token{{At: 123456789012, Request: 1054, Slot: 3, Late: 14_000, K: 1, Bytes: 5}}
	texts := []event.Text{{At: 123456789012, Request: 1054, Text: " word"}}
	b.ReportAllocs()
	for b.Loop() {
		if len(in.buf) > 7<<20 {
			in.buf = in.buf[:0]
		}
		in.putTokens(tokens, texts)
	}
}

func BenchmarkInboxTokenContended(b *testing.B) {
	in := newInbox(inboxLimit, true)
	out := &discard{}
	go in.drain(out, zero)
	defer in.close(nil, 0)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		tokens := []event.Token{{At: 123456789012, Request: 1054, Slot: 3, Late: 14_000, K: 1, Bytes: 5}}
		texts := []event.Text{{At: 123456789012, Request: 1054, Text: " word"}}
		for pb.Next() {
			in.putTokens(tokens, texts)
		}
	})
}

// discard is an output that takes everything at once.
type discard struct{}

func (*discard) AddRaw([]byte) error { return nil }
func (*discard) Flush() error        { return nil }
