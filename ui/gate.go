package ui

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"
)

// gate stands between Bubble Tea and the terminal. A write to it never blocks:
// a goroutine of its own, the pump, hands the bytes on, one Write per frame. So
// a terminal that takes nothing holds up no key, no signal and no quit. It also
// holds back the few sequences of Bubble Tea's own that ask the terminal
// something, whose answers could arrive after the program is gone, and those
// that change how it reports keys, which teapot does not need.
//
// It looks like the terminal's file to Bubble Tea, which asks it for its size.
type gate struct {
	file *os.File // the terminal
	w    *os.File // the terminal, opened once more where that works, so that a write can be given up
	gone func()   // called once when the terminal is no longer there

	mu      sync.Mutex
	cond    *sync.Cond
	queue   [][]byte
	queued  int
	writing bool
	lost    bool // frames were dropped since Lost was last asked
	broken  bool // the terminal is gone, or given up on: everything is dropped
	closed  bool
	written int64
}

// maxQueued is how many bytes wait for a stalled terminal. The model draws
// nothing new while something waits, so only resizes ever add up.
const maxQueued = 256 << 10

func newGate(file *os.File, gone func()) *gate {
	g := &gate{file: file, w: file, gone: gone}
	if again := reopen(file); again != nil {
		g.w = again
	}
	g.cond = sync.NewCond(&g.mu)
	return g
}

// Write queues a copy of p.
func (g *gate) Write(p []byte) (int, error) {
	b := withhold(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.broken || g.closed || len(b) == 0:
	case g.queued+len(b) > maxQueued:
		g.lost = true
	default:
		g.queue = append(g.queue, b)
		g.queued += len(b)
		g.cond.Broadcast()
	}
	return len(p), nil
}

// pump hands queued frames to the terminal until the gate is closed and empty.
func (g *gate) pump() {
	for {
		g.mu.Lock()
		for len(g.queue) == 0 && !g.closed && !g.broken {
			g.cond.Wait()
		}
		if g.broken || len(g.queue) == 0 {
			g.mu.Unlock()
			return
		}
		b := g.queue[0]
		g.queue = g.queue[1:]
		g.queued -= len(b)
		g.writing = true
		g.mu.Unlock()

		n, err := g.w.Write(b)

		g.mu.Lock()
		g.writing = false
		g.written += int64(n)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil // given up on by finish, which goes on from here
		}
		failed := err != nil && !g.broken
		if err != nil {
			g.broken, g.queue, g.queued = true, nil, 0
		}
		g.cond.Broadcast()
		g.mu.Unlock()
		if failed {
			g.gone()
		}
	}
}

// Ready tells whether the terminal has taken everything.
func (g *gate) Ready() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue) == 0 && !g.writing
}

// Lost tells whether frames were thrown away since it was last asked. It stays
// silent while the terminal is stalled.
func (g *gate) Lost() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.lost || len(g.queue) > 0 || g.writing {
		return false
	}
	g.lost = false
	return true
}

// Written is the number of bytes the terminal has taken.
func (g *gate) Written() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written
}

// drain waits until everything is written, at most for d; false when it is not.
func (g *gate) drain(d time.Duration) bool {
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		if g.Ready() {
			return true
		}
		time.Sleep(2 * time.Millisecond)
	}
	return g.Ready()
}

// rescue is written to a terminal that did not take the last frames: it cancels
// a sequence cut in the middle and undoes every mode that the screen sets.
const rescue = "\x18\x1b[?2026l\x1b[?1004l\x1b[?2004l\x1b[m\x1b[?25h\x1b[?1049l"

// finish writes what is left, at most for d, then gives up: it throws away what
// the terminal has not taken and tries to leave it whole.
func (g *gate) finish(d time.Duration) {
	if !g.drain(d) {
		g.giveUp()
	}
	g.mu.Lock()
	g.closed = true
	if len(g.queue) > 0 {
		g.broken, g.queue, g.queued = true, nil, 0
	}
	stuck := g.writing
	g.cond.Broadcast()
	g.mu.Unlock()
	if g.w != g.file && !stuck {
		_ = g.w.Close()
	}
}

// giveUp ends a write that hangs, empties the queue of the tty and puts the
// rescue there, for when the terminal wakes up.
func (g *gate) giveUp() {
	g.mu.Lock()
	g.queue, g.queued = nil, 0
	g.mu.Unlock()
	if g.w == g.file || g.w.SetWriteDeadline(time.Now()) != nil {
		return
	}
	if !g.drain(flushWait) {
		return
	}
	discardOutput(g.w)
	_ = g.w.SetWriteDeadline(time.Now().Add(flushWait))
	_, _ = g.Write([]byte(rescue))
	g.drain(flushWait)
}

// Read, Close and Fd make the gate a terminal's file. Close leaves the file
// open: it belongs to whoever opened it.
func (g *gate) Read(p []byte) (int, error) { return g.file.Read(p) }

// Close does nothing.
func (g *gate) Close() error { return nil }

// Fd is the descriptor of the terminal.
func (g *gate) Fd() uintptr { return g.file.Fd() }

// withheld are the sequences that never reach the terminal: requests for modes
// 2026 and 2027, the keyboard protocol's request, push and pop, and the switches
// of modifyOtherKeys.
var withheld = [...]string{
	"\x1b[?2026$p", "\x1b[?2027$p", "\x1b[?u", "\x1b[>1u", "\x1b[<1u", "\x1b[>4;2m", "\x1b[>4m", "\x1b[>4;0m",
}

func withhold(p []byte) []byte {
	b := bytes.Clone(p)
	for _, s := range withheld {
		if bytes.Contains(b, []byte(s)) {
			b = bytes.ReplaceAll(b, []byte(s), nil)
		}
	}
	return b
}
