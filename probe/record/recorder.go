package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"teapot/probe/event"
)

// recorderLimit bounds what waits for a slow disk, in bytes. Beyond it events
// are lost, counted, and the recording says so with a Dropped event.
const recorderLimit = 64 << 20

// recorderPace is how often what waits is written.
const recorderPace = 500 * time.Millisecond

// Recorder writes a session's events to a file on a goroutine of its own, so
// that whoever hands them over never waits for a disk.
type Recorder struct {
	w    *Writer
	dst  io.WriteCloser
	text bool

	mu      sync.Mutex
	pending []byte
	lost    event.Dropped
	closed  bool
	err     error

	wake chan struct{}
	done chan struct{}
}

// NewRecorder writes the file header and starts the goroutine. Close ends it.
func NewRecorder(dst io.WriteCloser, o Options) (*Recorder, error) {
	w, err := NewWriter(dst, o)
	if err != nil {
		return nil, err
	}
	r := &Recorder{w: w, dst: dst, text: o.Text, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go r.run()
	return r, nil
}

// Put hands one event over. It never waits for the file.
func (r *Recorder) Put(ev event.Event) {
	if ev == nil || ev.Kind() == event.KindText && !r.text {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.err != nil {
		return
	}
	if len(r.pending) > recorderLimit {
		r.lost.At = ev.Time()
		r.lost.Events++
		return
	}
	if r.lost.Events > 0 {
		r.pending = event.Append(r.pending, &r.lost)
		r.lost = event.Dropped{}
	}
	r.pending = event.Append(r.pending, ev)
}

// Err is the first error of the file, nil as long as all is well.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close writes what waits, closes the file, and returns the first error of
// either.
func (r *Recorder) Close() error {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	if first {
		r.wake <- struct{}{}
	}
	<-r.done
	return r.Err()
}

func (r *Recorder) run() {
	defer close(r.done)
	tick := time.NewTicker(recorderPace)
	defer tick.Stop()
	var spare []byte
	for closed := false; !closed; {
		select {
		case <-tick.C:
		case <-r.wake:
		}
		r.mu.Lock()
		if closed = r.closed; closed && r.lost.Events > 0 {
			r.pending = event.Append(r.pending, &r.lost)
		}
		batch := r.pending
		r.pending = spare[:0]
		r.mu.Unlock()
		r.keep(r.write(batch))
		spare = batch
	}
	r.keep(r.w.Close())
	r.keep(r.dst.Close())
}

func (r *Recorder) write(batch []byte) error {
	if len(batch) == 0 {
		return nil
	}
	if err := r.w.AddRaw(batch); err != nil {
		return err
	}
	return r.w.Flush()
}

func (r *Recorder) keep(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	var file *fs.PathError
	if errors.As(err, &file) {
		err = file // the file's own words are enough
	}
	r.err, r.pending = fmt.Errorf("write the recording: %w", err), nil
}
