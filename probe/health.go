package probe

import (
	"errors"
	"fmt"
	"time"

	"teapot/probe/engine"
	"teapot/probe/event"
)

// health is what the probe knows of a target's state.
type health struct {
	state    event.State
	detail   string
	before   event.State   // the state while probing is paused
	known    bool          // it was found out what answers
	trying   bool          // one request at a time, until one succeeds
	asks     bool          // only requests tell that the model is being loaded
	apart    time.Duration // between two of these
	lost     bool          // it was down, and has answered no request since
	anew     bool          // it answers, and is warmed up again
	rewarmed bool          // that was tried since it was down
	failures int           // requests that failed in a row
	hold     int64         // nothing is sent before, ns of the session's clock
	long     bool          // hold is so far off that an open loop must not catch up after it
	backoff  time.Duration
}

// Waiting times.
const (
	firstBackoff = time.Second // doubles with each failure
	mostBackoff  = 30 * time.Second
	loadingWait  = time.Second      // between two looks at a server that loads its model
	mostApart    = 5 * time.Second  // between two requests to one of which only these tell
	mostAsked    = 60 * time.Second // of what a server may ask us to wait
	busySlotWait = 250 * time.Millisecond
	inARow       = 3 // failures of any kind before a target counts as down
	giveUpAfter  = 3 // failures of a target that never answered, where a run may give up
)

// announce tells the state of the target, if it changed.
func (l *looper) announce(state event.State, detail string) {
	if l.health.state == state && l.health.detail == detail {
		return
	}
	l.health.state, l.health.detail = state, detail
	switch state {
	case event.StateLoading, event.StateWarmup, event.StateLimited:
		l.preparing.Store(true)
	case event.StateDown, event.StateDone:
		l.preparing.Store(false)
	} // between any two others it is on its way still, until it began
	l.r.in.put(l.ep.describe(l.r.clk.Now(), state, detail))
	l.r.in.flush()
}

// paused takes note of whether the operator wants probing paused.
func (l *looper) paused(yes bool) bool {
	switch {
	case yes && l.health.state != event.StatePaused:
		l.health.before = l.health.state
		l.sched = nil
		l.announce(event.StatePaused, "")
	case !yes && l.health.state == event.StatePaused:
		l.announce(l.health.before, "")
	}
	return yes
}

// began notes that a measured request is on its way.
func (l *looper) began() {
	if l.health.trying {
		return // it is not known yet whether the target is back
	}
	l.announce(event.StateLive, "")
	select {
	case l.r.live <- struct{}{}:
	default:
	}
	l.preparing.Store(false) // only now: the run has been told
}

// detected takes the outcome of a detection.
func (l *looper) detected(err error) {
	sp := l.ep.speech.Load()
	l.told = sp
	if l.r.cfg.Verbose {
		for _, why := range sp.det.Why {
			l.note("info", why)
		}
		l.note("info", l.ep.chosen(sp))
	}
	var refused *engine.StatusError
	if errors.As(err, &refused) && refused.Loading() {
		l.health.asks, l.health.apart = false, 0
		l.loading(refused.RetryAfter, refused.Message)
		return
	}
	l.health.known = true
	if err == nil {
		l.health.anew = l.rewarm()
		if l.health.state == event.StateLoading && !l.health.asks {
			l.health.trying = l.health.failures > 0
			l.announce(event.StateConnecting, "")
		}
		l.r.in.put(l.ep.describe(l.r.clk.Now(), l.health.state, l.health.detail))
		return
	}
	// A request will tell whether it works all the same.
	l.health.trying = true
	if l.r.cfg.Verbose {
		l.note("info", "detection: "+err.Error())
	}
}

// rewarm has a server that was down warmed up again: what answers now may be
// another process, with cold caches. It does so once, so that a server whose
// requests all fail has them counted.
func (l *looper) rewarm() bool {
	if !l.everOK || !l.health.lost || l.health.rewarmed {
		return l.health.anew
	}
	l.health.rewarmed = true
	l.warm = l.r.cfg.Load.Warmup
	return true
}

// loading waits for a server that is loading its model. One whose list of models
// says so is looked at by that alone, one GET a time. Where only requests tell,
// they come ever less often, and nothing else is asked: it was, and was answered.
func (l *looper) loading(asked time.Duration, message string) {
	wait := min(max(asked, loadingWait, l.health.apart), mostBackoff)
	l.health.known, l.health.trying = l.health.asks, true
	l.health.hold = l.r.clk.Now() + int64(wait)
	if message == "" {
		message = "the model is being loaded"
	}
	l.announce(event.StateLoading, message)
}

// took takes a request that ended.
func (l *looper) took(res result) {
	l.flying--
	l.r.flying.Add(-1)
	j, out, s := res.job, res.out, res.slot
	l.r.budget.settle(j.asked+j.prompt, out.tokens)
	pause := l.r.cfg.Load.Pause
	s.busy, s.ready, s.timed = false, ready(out.ended, pause), pause > 0
	l.ended = out.ended
	if j.warmup {
		l.warming--
	}
	l.spoke = l.spoke || out.spoke
	if sp := l.ep.speech.Load(); sp != l.told { // a request found out how to speak to it
		l.told = sp
		l.r.in.put(l.ep.describe(l.r.clk.Now(), l.health.state, l.health.detail))
	}
	switch {
	case out.class.OK():
		if !j.warmup {
			l.r.measured.Store(true)
		}
		l.succeeded()
	case out.class == event.Aborted:
		if !j.warmup {
			l.sent--
		}
	case out.class == event.ErrLoading:
		switch {
		case !j.warmup:
			l.sent--
		case l.health.state != event.StateLoading:
			l.warm++
		}
		l.health.asks = true
		l.health.apart = min(max(loadingWait, l.health.apart*3/2), mostApart)
		l.loading(out.retryAfter, out.message)
	default:
		l.failed(s, j, out)
	}
}

// succeeded notes that the target works.
func (l *looper) succeeded() {
	back := l.everOK && l.health.lost
	if back && !l.health.anew {
		l.warm = l.r.cfg.Load.Warmup
	}
	l.everOK, l.health.lost, l.health.anew, l.health.rewarmed = true, false, false, false
	if l.health.trying { // what a server asked us to wait for stays
		l.freed = l.r.clk.Now()
		l.health.hold, l.health.long = 0, false
	}
	l.health.trying, l.health.failures, l.health.backoff = false, 0, 0
	if l.health.asks { // what it did not say of itself while it was loading, it may say now
		l.health.asks, l.health.apart, l.health.known = false, 0, false
	}
	if back {
		l.r.in.put(&event.Mark{At: l.r.clk.Now(), Label: l.ep.shown + " answers again", Auto: true})
	}
	if l.health.state == event.StatePaused {
		l.health.before = event.StateLive
		return
	}
	if l.warm == 0 && l.warming == 0 {
		l.began()
	} else {
		l.announce(event.StateWarmup, "")
	}
}

// failed decides what a failure means for the requests that follow.
func (l *looper) failed(s *slot, j job, out outcome) {
	l.health.failures++
	l.health.anew = false // whatever it says of itself, requests fail: they count
	now := l.r.clk.Now()
	asked := min(out.retryAfter, mostAsked)
	class := out.class
	if out.busy {
		class = event.ErrOverload
	}
	switch class {
	case event.ErrRate, event.ErrOverload:
		// It works, and has too much to do.
		if asked > 0 {
			l.health.hold = max(l.health.hold, now+int64(asked))
			l.health.long = asked > time.Second
			line := fmt.Sprintf("%s, next try in %s", out.message, seconds(asked))
			l.note("warn", line)
			l.announce(event.StateLimited, line)
			return
		}
		wait := min(busySlotWait<<min(l.health.failures-1, 5), mostBackoff)
		s.ready, s.timed = max(s.ready, now+int64(wait)), false
	case event.ErrDNS, event.ErrRefused, event.ErrConnect, event.ErrConnectTime, event.ErrTLS, event.ErrReset,
		event.ErrAuth, event.ErrModel, event.ErrParam, event.ErrNotStream:
		l.down(j, out, asked)
	default:
		if l.health.failures >= inARow {
			l.down(j, out, asked)
		}
	}
}

// down stops sending for a while, which doubles with each try that fails.
func (l *looper) down(j job, out outcome, asked time.Duration) {
	h := &l.health
	if h.trying && !j.trial {
		return // sent before it was known
	}
	h.backoff = min(max(firstBackoff, 2*h.backoff), mostBackoff)
	wait := max(h.backoff, asked)
	h.lost = true
	h.known, h.trying, h.hold = false, true, l.r.clk.Now()+int64(wait)
	detail := fmt.Sprintf("%s, next try in %s", out.message, seconds(wait))
	if h.state == event.StatePaused {
		h.before = event.StateDown
		return
	}
	l.announce(event.StateDown, detail)
}

// seconds writes a waiting time for a person.
func seconds(d time.Duration) string {
	if d < time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
}
