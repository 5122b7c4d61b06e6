package probe

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/event"
)

// stage is what a request is waiting for.
type stage uint8

const (
	connecting stage = iota
	awaitFirst       // the first token
	awaitNext        // another token
	awaitEnd         // nothing is owed but the end of the body
	over
)

// tailPatience is how long a body may stay open after everything that matters
// has come, or after a failure has been announced and is being read.
const tailPatience = 2 * time.Second

// When a limit passes while this process itself could not run for overslept,
// resumeGrace is granted: what the server sent meanwhile lies in the socket.
const (
	overslept   = int64(100 * time.Millisecond)
	resumeGrace = 2 * time.Second
)

// watchdog holds the limits of one request. Only tokens feed it: bytes,
// comments and pings do not, for they can come for ever without an answer. The
// newest byte is noted beside them. Its limit is the same, so it passes with
// that of the tokens at the latest, and what it adds is which of the two it was:
// a connection that is silent, or one that is only kept alive.
// Feeding it costs a mutex; its timer is set anew only when it fires.
type watchdog struct {
	limits event.Limits
	now    func() int64            // ns of the session's clock
	asleep func(since int64) int64 // the worst oversleep of this process since then, ns
	cancel context.CancelCauseFunc // ends the request
	mu     sync.Mutex
	timer  *time.Timer
	stage  stage
	since  int64 // when the stage began, for awaitNext the last token
	sent   int64
	spared bool
	class  event.Class // of the limit that passed; "" while none has
	limit  time.Duration

	heard atomic.Int64 // when the newest byte of the answer came; 0: none
}

// start begins with the limit of connecting.
func (w *watchdog) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stage, w.since = connecting, w.now()
	w.timer = time.AfterFunc(w.limits.Connect, w.fire)
}

// connected ends the limit of connecting; the request is about to leave.
func (w *watchdog) connected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stage > awaitFirst {
		return
	}
	w.stage, w.since = awaitFirst, w.now()
	w.sent = w.since
	w.set(w.since)
}

// token notes that one came, at ns of the session's clock.
func (w *watchdog) token(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stage > awaitNext {
		return
	}
	sooner := w.stage == awaitFirst && w.limits.Idle < w.limits.First
	w.stage, w.since, w.spared = awaitNext, at, false
	if sooner {
		w.set(w.now())
	}
}

// ending notes that nothing is owed but the end of the body.
func (w *watchdog) ending() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stage >= awaitEnd {
		return
	}
	w.stage, w.since = awaitEnd, w.now()
	w.set(w.since)
}

// end stops it. It returns the limit that had passed: its class and length, or
// "".
func (w *watchdog) end() (event.Class, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stage = over
	if w.timer != nil {
		w.timer.Stop()
	}
	return w.class, w.limit
}

// deadline is the next instant at which a limit passes, and which one that is.
// The mutex is held.
func (w *watchdog) deadline() (at int64, class event.Class, limit time.Duration) {
	switch w.stage {
	case connecting:
		return w.since + int64(w.limits.Connect), event.ErrConnectTime, w.limits.Connect
	case awaitEnd:
		return w.since + int64(tailPatience), "", 0
	case awaitFirst:
		at, class, limit = w.since+int64(w.limits.First), event.ErrFirst, w.limits.First
	default:
		at, class, limit = w.since+int64(w.limits.Idle), event.ErrIdle, w.limits.Idle
	}
	if total := w.sent + int64(w.limits.Total); total < at {
		return total, event.ErrTotal, w.limits.Total
	}
	return at, class, limit
}

// set aims the timer at the deadline. The mutex is held.
func (w *watchdog) set(now int64) {
	at, _, _ := w.deadline()
	w.timer.Reset(time.Duration(max(at-now, 0)))
}

// fire looks whether a limit has really passed.
func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stage == over || w.class != "" {
		return
	}
	now := w.now()
	at, class, limit := w.deadline()
	if now < at {
		w.set(now)
		return
	}
	if !w.spared && w.asleep(w.since) > overslept {
		w.spared = true
		w.timer.Reset(resumeGrace)
		return
	}
	w.class, w.limit = class, limit
	w.stage = over
	w.cancel(limitError{class: class, limit: limit, alive: w.heard.Load() > max(w.since, now-int64(limit)/2)})
}

// limitError is why a request was given up.
type limitError struct {
	class event.Class
	limit time.Duration
	alive bool // something else than tokens came in the second half of it
}

func (e limitError) Error() string {
	switch e.class {
	case event.ErrConnectTime:
		return fmt.Sprintf("no connection within %v", e.limit)
	case event.ErrFirst:
		return fmt.Sprintf("no token within %v%s", e.limit, e.rest())
	case event.ErrIdle:
		return fmt.Sprintf("no further token for %v%s", e.limit, e.rest())
	case event.ErrTotal:
		return fmt.Sprintf("not finished within %v", e.limit)
	}
	return "the body stayed open after its end"
}

// rest says what came instead of tokens.
func (e limitError) rest() string {
	if e.alive {
		return ", though the connection was kept alive"
	}
	return ", nor anything else"
}
