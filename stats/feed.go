package stats

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/event"
)

// ErrRestart is what a source returns that begins again from its first event:
// what it gave before is void.
var ErrRestart = errors.New("the source begins again")

// Feed owns an Aggregator, fills it from a source of events and publishes
// snapshots that anybody may read without waiting.
type Feed struct {
	conf  Config
	next  func() (event.Event, error)
	every time.Duration
	now   func() time.Time // paces the publishing and nothing else
	tee   func(event.Event)

	mu   sync.Mutex // guards agg and last; never held while next blocks
	agg  *Aggregator
	last time.Time

	shown atomic.Pointer[Snapshot]
	done  chan struct{}
	once  sync.Once
}

// NewFeed returns a feed of the events that next gives until it returns an
// error other than ErrRestart. Snapshots are published at most once in every, and at the end.
func NewFeed(c Config, next func() (event.Event, error), every time.Duration) *Feed {
	f := &Feed{conf: c, next: next, every: every, now: time.Now, agg: NewAggregator(c), done: make(chan struct{})}
	f.shown.Store(f.agg.Snapshot())
	return f
}

// Tee has every event handed to fn in the very order in which the statistics
// take them, be it of the source or of Put. fn must not block and must not call
// the feed. It is set before Run.
func (f *Feed) Tee(fn func(event.Event)) { f.tee = fn }

// add takes one event; mu is held.
func (f *Feed) add(ev event.Event) {
	if f.tee != nil {
		f.tee(ev)
	}
	f.agg.Add(ev)
}

// Put takes an event that is not the source's, and publishes what came of it.
func (f *Feed) Put(ev event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(ev)
	f.publish(f.now())
}

// Run reads until the source ends. It returns nil at io.EOF and otherwise the
// source's error; the snapshot of all that was read stays.
func (f *Feed) Run() error {
	defer f.once.Do(func() { close(f.done) })
	for {
		ev, err := f.next()
		if errors.Is(err, ErrRestart) {
			f.mu.Lock()
			f.agg = NewAggregator(f.conf)
			f.mu.Unlock()
			continue
		}
		if err != nil {
			f.Do(func(*Aggregator) {})
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if ev == nil {
			continue
		}
		f.take(ev)
	}
}

// take adds one event. Should that fault, others can go on with what is there.
func (f *Feed) take(ev event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(ev)
	if now := f.now(); now.Sub(f.last) >= f.every {
		f.publish(now)
	}
}

func (f *Feed) publish(now time.Time) {
	f.last = now
	f.shown.Store(f.agg.Snapshot())
}

// Snapshot returns the newest one published; never nil. It never waits.
func (f *Feed) Snapshot() *Snapshot { return f.shown.Load() }

// Do calls fn alone with the Aggregator and publishes what came of it. It does
// not wait for the source, also while that has nothing to give.
func (f *Feed) Do(fn func(*Aggregator)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(f.agg)
	f.publish(f.now())
}

// Done is closed when Run has returned.
func (f *Feed) Done() <-chan struct{} { return f.done }
