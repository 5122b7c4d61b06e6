package accuracy

import (
	"container/heap"
	"math"
	"runtime"
	"sync"
	"time"
)

// outlet is how the tokens of one stream leave. put returns the times just
// before and just after the bytes were given to the kernel, ns.
type outlet interface {
	put(b []byte) (before, after int64, err error)
}

// stream is a reply that is being written.
type stream struct {
	sched *schedule
	out   outlet
	token []byte // what is written for each
	left  int
	log   Written
	done  chan struct{} // closed after the last token, or a failed write
}

// writer is the one thread that writes all tokens. What it is late by stands
// in the log, so it need not be punctual; it tries to be.
type writer struct {
	now   func() int64
	sleep func(ns int64)

	mu   sync.Mutex
	wake chan struct{}
	add  []*stream
	logs []Written

	due      byDue
	realtime bool
	pinned   bool
}

// spin is how long before a token is due the writer stops sleeping: about the
// 99th percentile of what a real-time thread oversleeps. More would keep from
// the clients a core that a real server leaves them.
const spin = int64(15 * time.Microsecond)

func newWriter() *writer {
	return &writer{now: monotonic, sleep: sleep, wake: make(chan struct{}, 1)}
}

// take hands a stream to the writer.
func (w *writer) take(s *stream) {
	w.mu.Lock()
	w.add = append(w.add, s)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// publish puts a stream that is done into the log.
func (w *writer) publish(l Written) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs = append(w.logs, l)
}

// written returns what was published since the last call.
func (w *writer) written() Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := Log{Streams: w.logs, WallOffset: wallOffset(w.now), Realtime: w.realtime, Pinned: w.pinned}
	w.logs = nil
	return l
}

// wallOffset is what to add to a time of now to get Unix ns: of several looks at
// both clocks the one that was interrupted least.
func wallOffset(now func() int64) (offset int64) {
	narrowest := int64(math.MaxInt64)
	for range 8 {
		before := now()
		wall := time.Now().UnixNano()
		if wide := now() - before; wide < narrowest {
			narrowest, offset = wide, wall-before-wide/2
		}
	}
	return offset
}

// run writes until stop is closed.
func (w *writer) run(stop <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	realtime, pinned := privilege()
	w.mu.Lock()
	w.realtime, w.pinned = realtime, pinned
	w.mu.Unlock()
	for {
		w.mu.Lock()
		fresh := w.add
		w.add = nil
		w.mu.Unlock()
		for _, s := range fresh {
			heap.Push(&w.due, s)
		}
		if len(w.due) == 0 {
			select {
			case <-stop:
				return
			case <-w.wake:
				continue
			}
		}
		select {
		case <-stop:
			return
		default:
		}
		if wait := w.due[0].sched.next - w.now(); wait > 2*spin {
			// Short sleeps, so that a stream that comes in between is not kept.
			w.sleep(min(wait-spin, int64(time.Millisecond)))
			continue
		} else if wait > 0 {
			continue // spin
		}
		w.write(w.due[0])
	}
}

// write puts out the token that is due.
func (w *writer) write(s *stream) {
	before, after, err := s.out.put(s.token)
	if err == nil {
		s.log.Behind = append(s.log.Behind, before-s.sched.next)
		s.log.Before = append(s.log.Before, before)
		s.log.After = append(s.log.After, after)
		s.left--
	}
	if err != nil || s.left == 0 {
		heap.Pop(&w.due)
		close(s.done)
		return
	}
	s.sched.advance()
	heap.Fix(&w.due, 0)
}

// byDue is a heap of streams, the earliest token first.
type byDue []*stream

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].sched.next < h[j].sched.next }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byDue) Push(x any)        { *h = append(*h, x.(*stream)) }
func (h *byDue) Pop() any {
	old := *h
	s := old[len(old)-1]
	*h = old[:len(old)-1]
	return s
}
