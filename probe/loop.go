package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/engine/signals"
	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

// Reasons of the Finished event that ends a run.
const (
	ReasonDuration    = "duration"       // the time asked for has passed
	ReasonRequests    = "requests"       // as many requests as asked for were made
	ReasonTokens      = "tokens"         // one more request could exceed the tokens allowed
	ReasonStopped     = "stopped"        // a control said so
	ReasonInterrupted = "interrupted"    // the context ended
	ReasonNever       = "never answered" // the limit was reached, or patience ended, without one success
)

// errRunOver is why requests in flight are given up at the end of a run.
var errRunOver = errors.New("the run is over")

// ErrNeverAnswered is returned by Run at the end of a run without one answer.
var ErrNeverAnswered = errors.New("no target ever answered")

// run is one call of Run.
type run struct {
	cfg    event.Config
	limits event.Limits
	clk    *stamp.Clock
	hb     *stamp.Heartbeat
	in     *inbox
	floor  floor
	table  *signals.Table // of metrics

	ids     atomic.Uint64
	flying  atomic.Int64
	now     atomic.Pointer[settings] // the load as it is now
	budget  budget
	changes changes
	abreast abreast // the schedule that all targets share

	work   context.Context // of the requests in flight
	abort  context.CancelCauseFunc
	asking context.Context // until no new request may be made
	stop   context.CancelFunc
	live   chan struct{} // a target went live

	measured atomic.Bool // a measured request succeeded
}

// nextID numbers the requests of the session from 1.
func (r *run) nextID() uint64 { return r.ids.Add(1) }

// Run probes the targets of cfg and writes everything that happens to out,
// until a limit of cfg.Load is reached, a control says stop or abort, ctx ends,
// or out fails. The last event is Finished, which says which of these it was.
// Requests in flight at the end of the duration are given the grace of
// cfg.Limits and are then given up, as client_abort; at every other end but
// that of the requests they are given up at once.
//
// In a run without limits a target that does not answer is tried for ever,
// with growing pauses; Config.GiveUp bounds that.
//
// controls may be nil; that it is closed means nothing. Run flushes out and
// does not close it. The error is nil for every end but a configuration that
// cannot be used, before any event, an output that failed, and
// ErrNeverAnswered.
func Run(ctx context.Context, cfg event.Config, controls <-chan event.Control, out *record.Writer, clk *stamp.Clock) error {
	cfg = withDefaults(cfg)
	r := &run{
		cfg: cfg, limits: cfg.Limits, clk: clk, in: newInbox(inboxLimit, cfg.Text),
		hb:     stamp.NewHeartbeat(clk.Now, time.Sleep),
		live:   make(chan struct{}, 1),
		budget: budget{max: int64(cfg.Load.MaxTotal)},
	}
	if len(cfg.Targets) == 0 {
		return errors.New("there is no target")
	}
	var err error
	if r.table, err = metricsTable(cfg.MetricsTable); err != nil {
		return err
	}
	session := rand.Uint32()
	var loops []*looper
	for i, t := range cfg.Targets {
		ep, err := newEndpoint(uint32(i+1), t, &cfg, cfg.Limits.Connect, session, clk)
		if err != nil {
			return err
		}
		defer ep.rt.CloseIdleConnections()
		loops = append(loops, newLooper(r, ep))
	}
	set := settingsOf(cfg.Load)
	r.now.Store(&set)
	r.work, r.abort = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.abort(errRunOver)
	r.asking, r.stop = context.WithCancel(r.work)
	return r.run(ctx, controls, out, loops)
}

// run starts everything, waits for the end, and ends everything.
func (r *run) run(ctx context.Context, controls <-chan event.Control, out *record.Writer, loops []*looper) error {
	go r.in.drain(out, r.clk.Now)
	source, release := stamp.Hold(r.clk)
	defer release()
	r.in.put(r.session(source))
	r.hb.Start()
	r.floor.memory = newCollector()
	quiet := make(chan struct{})
	var beats, work sync.WaitGroup
	beats.Go(func() { r.floor.beat(quiet, r.clk, r.hb, r.in, r.flying.Load) })

	reasons := make(chan string, len(loops))
	for _, l := range loops {
		work.Go(func() { reasons <- l.loop() })
	}
	looked := r.watch(loops)
	end := r.wait(ctx, controls, reasons, loops)
	work.Wait()
	looked()
	close(quiet)
	beats.Wait()
	r.hb.Stop()

	if end.Reason != ReasonStopped && end.Reason != ReasonInterrupted && !answered(loops) {
		end.Reason, end.Complete = ReasonNever, false
	}
	end.At = r.clk.Now()
	r.in.put(&end.Finished)
	give := ctx.Done()
	if end.abort {
		now := make(chan struct{})
		close(now)
		give = now
	}
	err := r.in.close(give, time.Second)
	if err == nil && end.Reason == ReasonNever {
		err = ErrNeverAnswered
	}
	return err
}

// watch looks at whatever the user wants looked at, until it is told to end.
func (r *run) watch(loops []*looper) (end func()) {
	ctx, cancel := context.WithCancel(r.work)
	var looks sync.WaitGroup
	for _, l := range loops {
		if w := r.newLookout(l.ep, r.table); w != nil {
			looks.Go(func() { w.watch(ctx) })
		}
	}
	looks.Go(func() { r.watchGPUs(ctx, loops) })
	return func() {
		cancel()
		looks.Wait()
	}
}

// answered tells whether any target ever answered a request, be it one that
// the end of the run cut short.
func answered(loops []*looper) bool {
	for _, l := range loops {
		if l.everOK || l.spoke || l.r.cfg.Load.Passive && l.ep.signalled.Load() {
			return true
		}
	}
	return false
}

// session describes this process. source is where its stamps can come from;
// Headers say it for each stream.
func (r *run) session(source string) *event.Session {
	host, _ := os.Hostname()
	return &event.Session{
		At: r.clk.Now(), Wall: r.clk.Wall(), Version: r.cfg.Version, Host: host, PID: os.Getpid(),
		Source: source, Priority: niceValue(), Slice: sliceValue(), Load: r.cfg.Load,
		Limits: &r.cfg.Limits, Judge: &r.cfg.Judge,
	}
}

// ending is how a run ends.
type ending struct {
	event.Finished
	abort bool // nothing is waited for
}

// wait handles controls and limits until every target's loop has ended.
func (r *run) wait(ctx context.Context, controls <-chan event.Control, reasons <-chan string, loops []*looper) (end ending) {
	limit := time.NewTimer(time.Hour)
	limit.Stop()
	defer limit.Stop()
	if d := r.cfg.Load.Duration; d > 0 {
		limit.Reset(d)
	}
	patience := r.patience()
	live, failed, interrupted := r.live, r.in.done, ctx.Done()
	stop := func(reason string, complete bool, grace time.Duration) {
		limit.Stop()
		if end.Reason == "" {
			end.Reason, end.Complete = reason, complete
			r.stop()
		}
		if grace <= 0 {
			r.abort(errRunOver)
			return
		}
		time.AfterFunc(grace, func() { r.abort(errRunOver) })
	}
	for left := len(loops); left > 0; {
		select {
		case reason := <-reasons:
			if left--; left == 0 && end.Reason == "" {
				end.Reason, end.Complete = reason, reason != ReasonNever
			}
		case <-live: // the time asked for is that of measuring
			live = nil
			if d := r.cfg.Load.Duration; d > 0 && end.Reason == "" {
				limit.Reset(d)
			}
		case <-patience:
			switch patience = nil; {
			case r.measured.Load() || end.Reason != "":
			case preparing(loops):
				stop(ReasonNever, false, 0)
			default: // it is being tried just now
				patience = time.After(time.Second)
			}
		case <-limit.C:
			if live != nil && preparing(loops) && end.Reason == "" {
				limit.Reset(time.Second / 10)
				continue
			}
			if len(r.live) > 0 && live != nil { // both came at once
				limit.Reset(0)
				continue
			}
			stop(ReasonDuration, true, r.limits.Grace)
		case <-interrupted:
			interrupted = nil
			stop(ReasonInterrupted, false, 0)
		case <-failed:
			failed = nil
			stop(ReasonInterrupted, false, 0)
		case c, ok := <-controls:
			if !ok {
				controls = nil
				continue
			}
			switch c.Do {
			case event.DoStop, event.DoAbort:
				end.abort = end.abort || c.Do == event.DoAbort
				stop(ReasonStopped, false, 0)
			default:
				r.control(c)
				for _, l := range loops {
					l.wake()
				}
			}
		}
	}
	return end
}

// patience is when a run that has an end gives up waiting for its first
// measured request, while a target answers that its model is being loaded, asks
// to be asked later, or is being warmed up. It never comes where nobody waits
// for an end.
func (r *run) patience() <-chan time.Time {
	if l := &r.cfg.Load; l.Duration <= 0 && l.Requests <= 0 && !r.cfg.GiveUp {
		return nil
	}
	return time.After(r.limits.Ready)
}

// preparing tells whether a target is on its way to being measured.
func preparing(loops []*looper) bool {
	for _, l := range loops {
		if l.preparing.Load() {
			return true
		}
	}
	return false
}

// control carries out a control that does not end the run.
func (r *run) control(c event.Control) {
	at := r.clk.Now()
	note := func(format string, args ...any) {
		r.in.put(&event.Note{At: at, Level: "warn", Text: (&redactor{}).line(fmt.Sprintf(format, args...))})
	}
	switch c.Do {
	case event.DoMark:
		r.in.put(&event.Mark{At: at, Label: (&redactor{}).line(c.Label)})
		r.in.flush()
		return
	case doUnknown:
		note("%s", c.Label)
		return
	}
	set := r.now.Load()
	next, name, from, to, err := set.change(c)
	switch {
	case err != nil:
		note("%v", err)
	case name == "":
		note("a control that is not known was skipped: %q", c.Do)
	case from != to:
		next.serial = set.serial + 1
		r.changes.add(at, next.serial, name, from, to) // before any request can know of it
		r.now.Store(&next)
		r.in.put(&event.Setting{At: at, Name: name, From: from, To: to})
		if m := r.changes.stopped(at, &next); m != nil {
			r.in.put(m)
		}
		r.in.flush()
	}
}
