package probe

import (
	"math"
	"sync/atomic"
	"time"

	"teapot/probe/event"
)

// looper keeps up the load on one target. One goroutine owns it: it decides
// when which stream sends, and hands the request to that stream's sender.
type looper struct {
	r       *run
	ep      *endpoint
	health  health
	slots   []*slot
	results chan result
	changed chan struct{} // a setting changed; holds one
	// preparing: it answers, and its model is being loaded or warmed up.
	preparing atomic.Bool

	sched *schedule // of the open loop; nil in a closed one
	rate  float64   // of sched
	// measuring: sched began when warming up was over.
	measuring bool
	ordinal   uint64 // requests so far, of every kind
	warm      int    // warm-up requests not yet sent
	warming   int    // warm-up requests in flight
	sent      int    // measured requests, those in flight included
	flying    int
	ended     int64 // when a request of ours ended last
	waited    int64 // the end of the last pause that was waited for
	everOK    bool  // a request succeeded
	spoke     bool  // tokens came, if only of a request that then failed
	freed     int64 // until when the target's state kept us from sending: being late for that is not ours
	spent     bool  // the tokens allowed are used up

	told *speech // how the target was last said to be spoken to
}

// slot is one stream of the load.
type slot struct {
	n     uint32
	busy  bool
	ready int64 // when it may send again
	timed bool  // ready is a time that was waited for, so being late for it is ours
	jobs  chan job
}

// result is a request that ended.
type result struct {
	slot *slot
	job  job
	out  outcome
}

func newLooper(r *run, ep *endpoint) *looper {
	return &looper{
		r: r, ep: ep, results: make(chan result), changed: make(chan struct{}, 1),
		warm: r.cfg.Load.Warmup, health: health{state: event.StateConnecting},
	}
}

// wake has the loop look at the settings again.
func (l *looper) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// loop probes until there is nothing left to do, and says why.
func (l *looper) loop() (reason string) {
	defer func() {
		for _, s := range l.slots {
			close(s.jobs)
		}
		l.announce(event.StateDone, l.unready())
	}()
	l.r.in.put(l.ep.describe(l.r.clk.Now(), l.health.state, ""))
	timer := time.NewTimer(0)
	defer timer.Stop()
	stop := l.r.asking.Done()
	for {
		var next int64 = math.MaxInt64
		if l.r.asking.Err() == nil {
			if reason = l.enough(); reason == "" {
				next = l.step()
				reason = l.enough() // the step may have found out that no more is allowed
			}
		}
		if l.flying == 0 && (reason != "" || l.r.asking.Err() != nil) {
			return reason
		}
		timer.Reset(time.Duration(min(max(next-l.r.clk.Now(), 0), int64(time.Hour))))
		select {
		case <-timer.C:
		case <-l.changed:
		case <-stop:
			stop = nil
		case res := <-l.results:
			l.took(res)
		}
	}
}

// unready says of a target that was waited for to the end what it was doing.
func (l *looper) unready() string {
	h := &l.health
	if l.everOK || h.state != event.StateLoading && h.state != event.StateLimited {
		return ""
	}
	return "still " + string(h.state) + " at the end: " + h.detail
}

// enough says which limit of the run forbids any further request, "" if none.
func (l *looper) enough() string {
	load := &l.r.cfg.Load
	switch {
	case load.Requests > 0 && l.sent >= load.Requests:
		return ReasonRequests
	case l.spent:
		return ReasonTokens
	case l.r.cfg.GiveUp && !l.everOK && !l.spoke && l.health.failures >= giveUpAfter:
		return ReasonNever
	}
	return ""
}

// step sends what is due, and returns when to look again, in ns of the
// session's clock.
func (l *looper) step() (next int64) {
	set := l.r.now.Load()
	now := l.r.clk.Now()
	if l.paused(set.paused) {
		return math.MaxInt64
	}
	if l.r.cfg.Load.Passive {
		return l.watching(now)
	}
	l.pace(set, now)
	if l.held(now) {
		l.freed = max(l.freed, l.health.hold)
		return min(l.health.hold, now+int64(time.Second))
	}
	if l.sched != nil {
		l.skip(event.SkipSchedule, l.sched.advance(now))
	}
	if l.flying == 0 && !l.health.known {
		err := l.ep.detect(l.r.asking)
		if l.r.asking.Err() != nil {
			return math.MaxInt64
		}
		l.detected(err)
		if now = l.r.clk.Now(); now < l.health.hold {
			return l.health.hold
		}
	}
	allowed := set.concurrency
	if l.health.trying {
		allowed = 1
	}
	for len(l.slots) < allowed {
		l.grow(now, allowed)
	}
	if l.flying == 0 && l.ep.speech.Load().det.Slots == 1 {
		if due := l.due(now, allowed); due > now {
			return due
		}
		if l.ep.busy(l.r.asking) {
			return l.occupied()
		}
		if l.r.asking.Err() != nil {
			return math.MaxInt64
		}
	}
	if l.sched != nil && l.warm == 0 && l.warming == 0 {
		return l.open(set, allowed)
	}
	return l.closed(set, allowed)
}

// pace starts, ends or renews the schedule of the open loop.
func (l *looper) pace(set *settings, now int64) {
	switch {
	case set.rate <= 0:
		l.sched = nil
	case l.sched == nil || l.rate != set.rate || !l.measuring:
		// A schedule begins when warming up is over: nobody waits before.
		l.rate, l.measuring = set.rate, l.warm == 0 && l.warming == 0
		l.sched = l.schedule(set.rate, now)
	}
}

// held tells whether the target's state demands a pause that is not over. What
// an open loop wanted sent in such a pause is left out, unless it is short.
func (l *looper) held(now int64) bool {
	until := l.health.hold
	if until <= l.waited {
		return false
	}
	if l.sched != nil {
		lost := l.sched.advance(min(now, until))
		switch {
		case l.health.state == event.StateBusy:
			l.skip(event.SkipBusy, lost+l.sched.clear())
		case l.health.trying || l.health.long:
			l.skip(event.SkipDown, lost+l.sched.clear())
		default:
			l.skip(event.SkipSchedule, lost)
		}
	}
	if now < until {
		return true
	}
	l.waited = until
	return false
}

// due is when the next request wants to be sent.
func (l *looper) due(now int64, allowed int) int64 {
	if l.sched != nil && l.warm == 0 {
		if len(l.sched.queue) > 0 {
			return now
		}
		return l.sched.next
	}
	due := int64(math.MaxInt64)
	for _, s := range l.slots[:min(allowed, len(l.slots))] {
		due = min(due, s.ready)
	}
	return due
}

// busyWait is how long a server whose only slot serves somebody else is left
// alone.
const busyWait = int64(time.Second)

// occupied leaves out a request because the only slot serves somebody else.
// Right after a request of ours the slot may still say that of ourselves.
func (l *looper) occupied() (next int64) {
	now := l.r.clk.Now()
	if l.ended > 0 && now-l.ended < busyWait/2 {
		l.health.hold = now + busyWait/10
		return l.health.hold
	}
	n := 1
	if l.sched != nil {
		n = max(l.sched.clear(), 1)
	}
	l.skip(event.SkipBusy, n)
	if l.health.state != event.StateBusy {
		l.note("info", "its only slot serves somebody else: probes are skipped until it is free")
	}
	l.announce(event.StateBusy, "its only slot serves somebody else")
	l.health.hold = now + busyWait
	return l.health.hold
}

// skip tells of requests that were due and are not sent.
func (l *looper) skip(reason string, n int) {
	if n > 0 {
		l.r.in.put(&event.Skip{At: l.r.clk.Now(), Target: l.ep.id, Reason: reason, Count: n})
	}
}

// note tells the operator something about the target.
func (l *looper) note(level, text string) {
	l.r.in.put(&event.Note{At: l.r.clk.Now(), Target: l.ep.id, Level: level, Text: l.ep.red.line(text)})
}
