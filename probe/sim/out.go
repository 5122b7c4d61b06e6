package sim

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// outCap is how many bytes may wait for a client that does not read. Beyond
// it the stream's tokens are kept back and leave together, several to an event.
const outCap = 64 << 10

// ending is what happens to the connection after a stream's last byte.
type ending int

const (
	endKeep  ending = iota // ready for the next request
	endCut                 // closed without the end of the body
	endReset               // the same, with a reset
)

var errEnded = errors.New("stream ended")

// out carries the bytes of one reply. The decode loop is never made to wait
// for a client: send tries a write that does not block, and what the kernel
// does not take at once is written by a goroutine that lives as long as there
// is something to write.
type out struct {
	w     io.Writer                   // blocking
	try   func(b []byte) (int, error) // does not block; nil where there is no such thing
	clock Clock
	truth *truth
	stop  func()  // called once when nothing more will be written
	late  func()  // called once when bytes still wait at the end of the reply
	busy  *writes // counts the goroutines that write; nil: nobody asks

	mu      sync.Mutex
	queue   []byte
	marks   []wrote // tokens whose bytes are in the queue
	spare   []byte
	moved   []wrote
	held    bool // a network that lets nothing through
	writing bool // the goroutine has the connection
	fin     bool // no more bytes will come
	ended   bool
	how     ending
	err     error
	done    chan struct{}
}

// writes counts the goroutines that write replies.
type writes struct {
	n    atomic.Int64
	none chan struct{} // something is in it after the last has ended
}

func (w *writes) begin() { w.n.Add(1) }

func (w *writes) end() {
	if w.n.Add(-1) == 0 {
		select {
		case w.none <- struct{}{}:
		default:
		}
	}
}

// wait waits until nobody writes, at most for so long.
func (w *writes) wait(most time.Duration) {
	limit := time.NewTimer(most)
	defer limit.Stop()
	for w.n.Load() > 0 {
		select {
		case <-w.none:
		case <-limit.C:
			return
		}
	}
}

// send hands over the bytes of one event. m tells which token they carry; its
// k is 0 when they carry none. It keeps no reference to b.
func (o *out) send(b []byte, m wrote) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || o.fin {
		return
	}
	if o.try == nil || o.held || o.writing || len(o.queue) > 0 {
		o.push(b, m)
		o.kick()
		return
	}
	m.at = o.clock.Now()
	n, err := o.try(b)
	m.by = o.clock.Now()
	if err != nil {
		o.end(err)
		return
	}
	if n == len(b) {
		o.note(m)
		return
	}
	o.push(b[n:], m)
	o.kick()
}

func (o *out) push(b []byte, m wrote) {
	o.queue = append(o.queue, b...)
	if m.k > 0 {
		o.marks = append(o.marks, m)
	}
}

func (o *out) note(m wrote) {
	if m.k > 0 {
		o.truth.token(m)
	}
}

// full tells that the client is so far behind that tokens must be kept back.
func (o *out) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) > outCap && !o.held
}

// hold stops or resumes the flow. What gathered leaves in one write.
func (o *out) hold(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = on
	if !on && !o.ended {
		o.kick()
	}
}

// finish says that the last byte has been sent, and what is to become of the
// connection.
func (o *out) finish(how ending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || o.fin {
		return
	}
	o.fin, o.how = true, how
	if how != endKeep { // cut means now: nothing that waits gets out
		o.end(errEnded)
		return
	}
	if len(o.queue) == 0 && !o.writing {
		o.end(nil)
		return
	}
	if o.late != nil {
		o.late()
	}
}

// abort ends the reply where it is.
func (o *out) abort() { o.finish(endCut) }

// kick gets the queue moving. mu is held.
func (o *out) kick() {
	if o.held || o.writing || o.ended || len(o.queue) == 0 {
		return
	}
	if o.try != nil {
		at := o.clock.Now()
		n, err := o.try(o.queue)
		by := o.clock.Now()
		if err != nil {
			o.end(err)
			return
		}
		if n == len(o.queue) {
			o.sent(o.marks, at, by)
			o.queue, o.marks = o.queue[:0], o.marks[:0]
			o.settle()
			return
		}
		o.queue = o.queue[:copy(o.queue, o.queue[n:])]
	}
	o.writing = true
	if o.busy != nil {
		o.busy.begin()
	}
	go o.drain()
}

func (o *out) sent(marks []wrote, at, by int64) {
	for _, m := range marks {
		m.at, m.by = at, by
		o.note(m)
	}
}

// settle ends a finished reply whose bytes are all gone. mu is held.
func (o *out) settle() {
	if o.fin && len(o.queue) == 0 && !o.ended {
		o.end(nil)
	}
}

// drain writes what is queued, and whatever joins it meanwhile.
func (o *out) drain() {
	if o.busy != nil {
		defer o.busy.end() // with the last note in the log
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 && !o.held && !o.ended {
		bytes, marks := o.queue, o.marks
		o.queue, o.marks = o.spare[:0], o.moved[:0]
		o.mu.Unlock()
		at := o.clock.Now()
		_, err := o.w.Write(bytes)
		by := o.clock.Now()
		o.mu.Lock()
		o.spare, o.moved = bytes[:0], marks[:0]
		if err != nil {
			o.writing = false
			o.end(err)
			return
		}
		o.sent(marks, at, by)
	}
	o.writing = false
	o.settle()
}

// end closes the reply. mu is held.
func (o *out) end(err error) {
	if o.ended {
		return
	}
	o.ended, o.err = true, err
	if err != nil && o.how == endKeep {
		o.how = endCut
	}
	o.stop()
	close(o.done)
}

// state tells whether and how the reply has ended.
func (o *out) state() (ended bool, how ending, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended, o.how, o.err
}

// stuckLimit is how long the rest of a finished reply may wait for its client.
const stuckLimit = 30 * time.Second
