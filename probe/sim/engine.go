package sim

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// Options are the choices for an engine. The zero value is the tour with seed 0.
type Options struct {
	Profile string        // a name of Profiles; "": "tour"
	Seed    uint64        // the same seed and the same arrivals give the same schedule
	Truth   io.Writer     // the truth log, NDJSON; nil: none
	APIKey  string        // when not "", routes under /v1 want it as a bearer token
	Loading time.Duration // how long, from New on, the answer is 503: the model is being loaded
	Model   string        // "": "teapot-" and the profile's name
	Version string        // what /version says; "": "dev"
	Clock   Clock         // nil: SystemClock
	// Faults, where there are any, happen in turn in place of the profile's:
	// kinds as the truth log names them. Every is how far apart they begin on
	// average; 0: as the profile has it. They are for tests of what watches.
	Faults []string
	Every  time.Duration
	// Slow is how many times as long as the profile has it each step takes; 0: 1.
	Slow float64
	// Scenes are names of scenes to play, each from when it comes on; nil: none.
	Scenes <-chan string
}

// mode is a way to give out tokens. Only the decode loop calls it.
type mode interface {
	admit(s *stream, now int64)
	drop(s *stream, now int64)
	due() (int64, bool) // when fire is to be called; false: nothing to wait for
	fire(now int64)
	stop(now int64) // ends every stream
}

// Engine is an inference server that computes nothing. Its zero value is of no
// use: call New. All methods may be called from any goroutine, Run and Serve
// once in all.
type Engine struct {
	opt     Options
	profile Profile
	clock   Clock
	prose   *prose
	truth   *truth
	metrics *metrics
	mode    mode
	handler http.Handler
	wake    chan struct{} // something is in inbox or leaving
	writes  writes
	crashed chan struct{} // the listener has to go down until e.back

	mu      sync.Mutex
	ran     bool
	over    bool      // no new request: the loop has ended
	inbox   []*stream // new
	leaving []*stream // their clients are gone
	active  int
	replies uint64
	back    int64 // until when the engine is dead
	loaded  int64 // until when its model is being loaded
	frozen  int64 // until when the process stands still
	refused int64 // until when requests are turned away, and with what
	refusal int
	scene   *Scene // to be played from now on; nil: no new one
}

// New makes an engine. It serves nothing until Serve or Run is called. The
// error says what is wrong with the options.
func New(o Options) (*Engine, error) {
	if o.Profile == "" {
		o.Profile = "tour"
	}
	p, err := profileNamed(o.Profile)
	if err != nil {
		return nil, err
	}
	if p, err = p.with(o.Faults, o.Every); err != nil {
		return nil, err
	}
	if o.Slow > 0 {
		p.pace = p.pace.slowed(o.Slow)
	}
	return newEngine(o, p), nil
}

func newEngine(o Options, p Profile) *Engine {
	if o.Model == "" {
		o.Model = "teapot-" + p.Name
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Clock == nil {
		o.Clock = SystemClock()
	}
	e := &Engine{
		opt: o, profile: p, clock: o.Clock, prose: newProse(), truth: newTruth(o.Truth),
		metrics: newMetrics(o.Model, p.pace.blocks, time.Now()),
		wake:    make(chan struct{}, 1), crashed: make(chan struct{}, 1), writes: writes{none: make(chan struct{}, 1)},
	}
	e.loaded = e.clock.Now() + int64(o.Loading)
	if p.article {
		e.mode = newArticle(e)
	} else {
		e.mode = newBatch(e)
	}
	e.handler = e.routes()
	e.truth.head(e)
	return e
}

// Handler serves the engine's API inside another server. Requests wait until
// Run is called. A restart then only breaks the connections, for the listener
// is not the engine's.
func (e *Engine) Handler() http.Handler { return e.handler }

// errRan says that an engine was started twice.
var errRan = errors.New("sim: this engine has run already")

// lastWrites is how long the end of an engine waits for writes that are under
// way.
const lastWrites = time.Second

// nap is the longest sleep of the decode loop: arrivals and departures are seen
// at least this often.
const nap = 5 * time.Millisecond

// Run is the decode loop. It returns when ctx is done, after every stream has
// been cut and the truth log has been flushed; the error is that of the log's
// writer.
func (e *Engine) Run(ctx context.Context) error {
	e.mu.Lock()
	again := e.ran
	e.ran = true
	e.mu.Unlock()
	if again {
		return errRan
	}
	var logged sync.WaitGroup
	stop := make(chan struct{})
	if e.truth != nil {
		logged.Go(func() { e.truth.run(stop) })
	}
	if e.opt.Scenes != nil {
		go e.follow(ctx)
	}
	done := make(chan struct{})
	go func() { // a goroutine of its own, because its thread ends with it
		defer close(done)
		ownThread()
		e.loop(ctx)
	}()
	<-done
	// A write that was under way is in the log, too: its client may have it.
	e.writes.wait(lastWrites)
	close(stop)
	logged.Wait()
	return e.truth.failure()
}

// follow plays the scenes it is told. A name that is none changes nothing.
func (e *Engine) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case name, ok := <-e.opt.Scenes:
			if !ok {
				return
			}
			_ = e.Play(name)
		}
	}
}

func (e *Engine) loop(ctx context.Context) {
	for ctx.Err() == nil {
		now := e.clock.Now()
		e.take(now)
		due, ok := e.mode.due()
		switch {
		case !ok:
			select {
			case <-ctx.Done():
			case <-e.wake:
			}
		case due > now+int64(nap):
			e.clock.SleepUntil(now + int64(nap))
		default:
			e.clock.SleepUntil(due)
			e.mode.fire(e.clock.Now())
		}
	}
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	now := e.clock.Now()
	e.take(now)
	e.mode.stop(now)
}

// take moves arrivals into the mode and departures out of it.
func (e *Engine) take(now int64) {
	e.mu.Lock()
	come, gone := e.inbox, e.leaving
	e.inbox, e.leaving = nil, nil
	e.mu.Unlock()
	for _, s := range come {
		e.mode.admit(s, now)
	}
	for _, s := range gone {
		if s.ended {
			continue
		}
		e.mode.drop(s, now)
		s.cut(endCut)
		e.retire(s, now, "abort")
	}
}

// reserve finds a place for a request, or says why there is none.
func (e *Engine) reserve() *refusal {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.Now()
	switch {
	case e.over:
		return &refusal{status: 503, kind: "ServiceUnavailableError", text: "The engine is shutting down."}
	case now < e.refused:
		left := int((e.refused-now)/int64(time.Second)) + 1
		kind := "ServiceUnavailableError"
		if e.refusal == http.StatusTooManyRequests {
			kind = "RateLimitError"
		}
		return &refusal{status: e.refusal, kind: kind, retry: left,
			text: "The engine is overloaded: too many requests are queued. Try again later."}
	case e.active >= e.profile.pace.maxSeqs+e.profile.queue:
		return &refusal{status: 503, kind: "ServiceUnavailableError", retry: 1,
			text: "The engine is overloaded: its queue is full. Try again later."}
	}
	e.active++
	return nil
}

// unreserve gives a place back that start was not called for.
func (e *Engine) unreserve() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.active--
}

// start hands a stream with a reserved place to the decode loop.
func (e *Engine) start(s *stream) {
	e.truth.request(s)
	e.mu.Lock()
	over := e.over
	if !over {
		e.inbox = append(e.inbox, s)
	}
	e.mu.Unlock()
	if over {
		s.cut(endCut)
		e.unreserve()
		return
	}
	e.nudge()
}

// leave tells the decode loop that a stream's client is gone.
func (e *Engine) leave(s *stream) {
	e.mu.Lock()
	e.leaving = append(e.leaving, s)
	e.mu.Unlock()
	e.nudge()
}

func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// retire books a stream's end. Only the decode loop calls it, once a stream.
func (e *Engine) retire(s *stream, now int64, why string) {
	s.ended = true
	e.unreserve()
	e.truth.end(s.id, now, s.made, why)
	m := e.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	switch why {
	case "stop":
		m.stopped++
	case "length":
		m.length++
	case "error", "truncate":
		m.failed++
		return
	default:
		m.aborted++
		return
	}
	m.e2e.seconds(now - s.received)
	m.decode.seconds(s.latest - s.first)
	if s.made > 1 {
		m.tpot.seconds((s.latest - s.first) / int64(s.made-1))
	}
}

// freeze lets every handler wait until the time t, as a stopped process would.
func (e *Engine) freeze(t int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.frozen = t
}

// refuse turns new requests away with status until the time t.
func (e *Engine) refuse(t int64, status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused, e.refusal = t, status
}

// crash makes the engine dead until back, and loading from then until loaded.
func (e *Engine) crash(back, loaded int64) {
	e.mu.Lock()
	e.back, e.loaded = back, loaded
	e.mu.Unlock()
	e.metrics.reset(time.Now())
	select {
	case e.crashed <- struct{}{}:
	default:
	}
}
