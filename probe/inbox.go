package probe

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/event"
)

// inboxLimit is how many bytes of records wait for a reader: some 100 000
// tokens. While a write is blocked one more such buffer is in its hands.
const inboxLimit = 4 << 20

// drainEvery is how often waiting records become a block of the output.
const drainEvery = 25 * time.Millisecond

// inbox takes events from everybody who measures and never makes them wait
// for more than a copy under a mutex. One goroutine, drain, carries them to
// the output; only that one is stopped by a pipe nobody reads.
//
// When records pile up, texts are refused above half the limit and everything
// but the frame of the story (sessions, targets, ends, the finish) above the
// limit; above twice the limit everything is. What was refused is counted, and
// the count is the next event that is written.
type inbox struct {
	limit int
	text  bool // texts are wanted at all

	mu     sync.Mutex
	buf    []byte
	texts  uint64
	events uint64
	closed bool // nothing more is taken

	writing atomic.Int64 // since when a write is under way, ns; 0 for none
	slowest atomic.Int64 // the longest that one took since it was asked for, ns

	kick chan struct{} // a request to drain now; holds one
	stop chan struct{} // closed to drain the rest and end
	done chan struct{} // closed when drain has ended
	err  error         // why drain ended early; read after done
}

// blockWriter is the output of an inbox: a record.Writer.
type blockWriter interface {
	AddRaw(records []byte) error
	Flush() error
}

// newInbox makes an inbox that holds limit bytes of records, without texts
// unless they are wanted.
func newInbox(limit int, text bool) *inbox {
	return &inbox{
		limit: limit,
		text:  text,
		kick:  make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
	}
}

// kept tells whether a record of a kind and n bytes still fits, and counts it
// if not. The mutex is held.
func (b *inbox) kept(kind event.Kind, n int) bool {
	have := len(b.buf)
	room := have < b.limit
	switch kind {
	case event.KindText:
		room = have < b.limit/2
	case event.KindSession, event.KindTarget, event.KindEnd, event.KindFinished:
		room = have+n <= 2*b.limit
	}
	if room && !b.closed {
		return true
	}
	if kind == event.KindText {
		b.texts++
	} else {
		b.events++
	}
	return false
}

// put takes any event. It is encoded before the mutex is taken.
func (b *inbox) put(ev event.Event) {
	if ev.Kind() == event.KindText && !b.text {
		return
	}
	record := event.Append(nil, ev)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept(ev.Kind(), len(record)) {
		b.buf = append(b.buf, record...)
	}
}

// putTokens takes the token events of one read with their texts, which are
// texts[i] for tokens[i], under one lock and without garbage.
func (b *inbox) putTokens(tokens []event.Token, texts []event.Text) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range tokens {
		if !b.kept(event.KindToken, 0) {
			continue
		}
		b.buf = event.AppendToken(b.buf, &tokens[i])
		if b.text && i < len(texts) && len(texts[i].Text) > 0 && b.kept(event.KindText, 0) {
			b.buf = event.AppendText(b.buf, &texts[i])
		}
	}
}

// flush asks drain to write now. It does not wait.
func (b *inbox) flush() {
	select {
	case b.kick <- struct{}{}:
	default:
	}
}

// swap takes what is waiting and leaves the spare buffer, empty, in its place.
func (b *inbox) swap(spare []byte) (buf []byte, texts, events uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	buf, b.buf = b.buf, spare[:0]
	texts, events = b.texts, b.events
	b.texts, b.events = 0, 0
	return buf, texts, events
}

// drain writes what comes in, a block at a time, until close is called or the
// output fails. now gives ns of the session's clock.
func (b *inbox) drain(w blockWriter, now func() int64) {
	defer close(b.done)
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	var spare []byte
	for last := false; !last; {
		select {
		case <-tick.C:
		case <-b.kick:
		case <-b.stop:
			last = true
		}
		buf, texts, events := b.swap(spare)
		if texts+events > 0 {
			buf = event.Append(buf, &event.Dropped{At: now(), Texts: texts, Events: events})
		}
		if len(buf) > 0 {
			began := now()
			b.writing.Store(began)
			err := writeBlock(w, buf)
			b.writing.Store(0)
			if took := now() - began; took > b.slowest.Load() {
				b.slowest.Store(took)
			}
			if err != nil {
				b.fail(err)
				return
			}
		}
		spare = buf
		if cap(spare) > b.limit/2 { // a backlog is over: give its memory back
			spare = nil
		}
	}
}

// blockedLeast is from when on a write counts as blocked by whoever reads.
const blockedLeast = int64(20 * time.Millisecond)

// blocked is the longest that a write took since the last call, ns, one that is
// under way now included; 0 where none was held up.
func (b *inbox) blocked(now int64) int64 {
	worst := b.slowest.Swap(0)
	if since := b.writing.Load(); since > 0 {
		worst = max(worst, now-since)
	}
	if worst < blockedLeast {
		return 0
	}
	return worst
}

// writeBlock writes records as one checked block.
func writeBlock(w blockWriter, records []byte) error {
	if err := w.AddRaw(records); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	return nil
}

// fail notes why nothing more is taken.
func (b *inbox) fail(err error) {
	b.err = err
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.buf = true, nil
}

// close asks drain to write what is there and to end, and waits for that as
// long as the output takes. Once give is closed it waits for patience more at
// most: a pipe that nobody reads must not keep alive a probe that was told to
// end. It returns what went wrong with the output.
func (b *inbox) close(give <-chan struct{}, patience time.Duration) error {
	close(b.stop)
	select {
	case <-b.done:
		return b.err
	case <-give:
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-b.done:
		return b.err
	case <-limit.C:
		return fmt.Errorf("write events: nobody read them within %v", patience)
	}
}
