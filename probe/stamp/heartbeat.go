package stamp

import (
	"sync"
	"sync/atomic"
	"time"
)

// Period is the heartbeat's: it sleeps this long, over and over.
const Period = time.Millisecond

// Heartbeat is a goroutine that sleeps a millisecond at a time and notes by how
// much it overslept: what any other goroutine of this process may have been
// kept waiting, be it by the machine, the collector or a stop signal.
//
// What it answers does not depend on its having run: a beat that is overdue at
// the time of the question counts. So before Start and after Stop everything
// is overdue. It is safe for concurrent use.
type Heartbeat struct {
	now   func() int64
	sleep func(time.Duration)
	once  sync.Once
	stop  atomic.Bool
	done  chan struct{}

	mu    sync.Mutex // guards beats
	beats beats
}

// NewHeartbeat makes a heartbeat that is not yet beating. now is the session's
// clock in ns (Clock.Now) and sleep waits as time.Sleep does.
func NewHeartbeat(now func() int64, sleep func(time.Duration)) *Heartbeat {
	h := &Heartbeat{now: now, sleep: sleep, done: make(chan struct{})}
	h.beats.due = now() + int64(Period)
	return h
}

// Start begins to beat, in a goroutine of its own. Only the first call counts.
func (h *Heartbeat) Start() {
	h.once.Do(func() {
		h.mu.Lock()
		h.beats.due = h.now() + int64(Period)
		h.mu.Unlock()
		go h.run()
	})
}

// Stop ends the goroutine and waits for it, about a millisecond. A heartbeat
// that was never started never starts afterwards.
func (h *Heartbeat) Stop() {
	h.stop.Store(true)
	h.once.Do(func() { close(h.done) })
	<-h.done
}

func (h *Heartbeat) run() {
	defer close(h.done)
	for !h.stop.Load() {
		h.sleep(Period)
		h.mu.Lock()
		h.beats.beat(h.now())
		h.mu.Unlock()
	}
}

// Overshot is the worst oversleep in ns that ended at or after since, or that
// is still going on. It costs some tens of nanoseconds.
func (h *Heartbeat) Overshot(since int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beats.since(since, h.now())
}

// Worst is the worst oversleep in ns since Worst was last asked, one that is
// still going on included.
func (h *Heartbeat) Worst() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := max(h.beats.worst, h.now()-h.beats.due)
	h.beats.worst = 0
	return max(w, 0)
}

// beats is the heartbeat's memory: those oversleeps after which no longer one
// came, oldest and longest first, so that the worst since any instant is the
// first one after it.
type beats struct {
	due   int64 // when the next beat should be
	worst int64 // since last asked
	n     int
	peaks [32]peak
}

type peak struct{ at, over int64 }

// beat notes a beat at now and expects the next one a Period later, not on a
// fixed grid: the sleeper's own granularity would add up on it.
func (b *beats) beat(now int64) {
	over := max(now-b.due, 0)
	b.due = now + int64(Period)
	b.worst = max(b.worst, over)
	for b.n > 0 && b.peaks[b.n-1].over <= over {
		b.n--
	}
	if b.n == len(b.peaks) {
		// Full: the oldest and longest stands for the second as well, which
		// can only make an old oversleep seem younger.
		b.peaks[1].over = b.peaks[0].over
		copy(b.peaks[:], b.peaks[1:])
		b.n--
	}
	b.peaks[b.n] = peak{now, over}
	b.n++
}

// since is the worst oversleep that ended at t or later, or is going on at now.
func (b *beats) since(t, now int64) int64 {
	over := max(now-b.due, 0)
	for i := b.n - 1; i >= 0 && b.peaks[i].at >= t; i-- {
		over = max(over, b.peaks[i].over)
	}
	return over
}
