package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"teapot/probe/engine"
	"teapot/probe/engine/signals"
	"teapot/probe/event"
)

const (
	foundEvery = 250 * time.Millisecond // between two questions whether a target was found
	lookLimit  = 5 * time.Second        // for one look, whatever it waits for
	lookApart  = 250 * time.Millisecond // at least, between a look and one beyond its turn
	maxSamples = 256                    // of one look: a page may have labels without end
	maxLabel   = 64                     // bytes of what a sample is of
)

// lookout watches what a target says of itself, beside the requests and on
// connections of its own: whatever it finds or fails to find, no request is
// made, delayed or judged because of it.
type lookout struct {
	r     *run
	ep    *endpoint
	table *signals.Table
}

// newLookout prepares to watch a target; nil where the user wants none of it.
func (r *run) newLookout(ep *endpoint, table *signals.Table) *lookout {
	if ep.want.Metrics == "" || ep.want.Metrics == event.MetricsOff {
		return nil
	}
	return &lookout{r: r, ep: ep, table: table}
}

// metricsTable is the table of metrics with the lines of the user's file first.
func metricsTable(file string) (*signals.Table, error) {
	t := signals.DefaultTable()
	if file == "" {
		return t, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the table of metrics: %w", err)
	}
	defer f.Close()
	if t, err = t.Extend(f); err != nil {
		return nil, fmt.Errorf("read the table of metrics: %s: %w", file, err)
	}
	return t, nil
}

// watch watches until ctx is over. A target that turns out to be another one is
// watched anew.
func (l *lookout) watch(ctx context.Context) {
	for ctx.Err() == nil {
		d := l.ep.detection()
		if d == nil && l.named() { // where to look does not depend on what it is
			d = &l.ep.speech.Load().det
		}
		if d != nil {
			l.look(ctx, d)
		} else {
			rest(ctx, foundEvery, nil)
		}
	}
}

// look asks all that can be asked of what was found, each source at its pace,
// until something else is found.
func (l *lookout) look(ctx context.Context, det *engine.Detection) {
	ctx, cancel := context.WithCancel(ctx)
	var looks sync.WaitGroup
	defer looks.Wait()
	defer cancel()
	for i, s := range l.sources(det) {
		w, err := l.watcher(s, det)
		if err != nil {
			l.note("warn", "the server's own metrics: "+err.Error())
			continue
		}
		p := &poll{of: w, name: s.Name, effect: s.Effect, put: l.put, note: l.note, misses: &l.ep.misses}
		if i == 0 && s.Effect == "" {
			p.sooner = l.ep.stall
		}
		looks.Go(func() {
			defer w.Close()
			p.run(ctx)
		})
	}
	for rest(ctx, foundEvery, nil) {
		if d := l.ep.detection(); d != nil && !sameServer(d, det) {
			return
		}
	}
}

// named tells whether the user says where to look.
func (l *lookout) named() bool {
	return l.ep.want.Metrics != event.MetricsAuto && l.ep.want.Metrics != event.MetricsDrain
}

// sources is what can be asked of a server.
func (l *lookout) sources(det *engine.Detection) []signals.Source {
	var o signals.Options
	switch l.ep.want.Metrics {
	case event.MetricsAuto:
	case event.MetricsDrain:
		o.Drain = true
	default:
		o.Page = l.ep.want.Metrics
	}
	all, err := signals.Sources(*det, l.ep.address, o)
	switch {
	case err != nil:
		l.note("warn", "the server's own metrics: "+err.Error())
	case len(all) == 0 && (l.r.cfg.Verbose || l.r.cfg.Load.Passive):
		l.note("info", "it is not known what this server shows of itself: --server-metrics URL names a page")
	}
	if l.r.cfg.Verbose {
		for _, s := range all {
			if s.Effect != "" {
				l.note("info", "asking for "+s.Name+" "+s.Effect)
			}
		}
	}
	return all
}

// watcher prepares to look at one source. What is elsewhere gets no key, and is
// not reached through the target's socket.
func (l *lookout) watcher(s signals.Source, det *engine.Detection) (*signals.Watcher, error) {
	socket, header := "", http.Header(nil)
	if s.Own {
		socket, header = l.ep.socket, l.ep.speech.Load().askHeader()
	}
	rt, err := newTransport(l.ep.want, socket, l.r.limits.Connect, l.r.clk)
	if err != nil {
		return nil, err
	}
	rt.MaxIdleConnsPerHost, rt.MaxConnsPerHost = 1, 1
	rt.ReadBufferSize = 0 // the usual one will do
	return signals.NewWatcher(signals.Config{
		Target: l.ep.id, Source: s, Model: det.Model, Table: l.table, Header: header,
		Client: newClient(rt), Now: l.r.clk.Now, Wall: time.Now,
	})
}

// detection is what the target was found to be; nil before that is known.
func (ep *endpoint) detection() *engine.Detection {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	return ep.found
}

// sameServer tells whether two detections found what is watched alike.
func sameServer(a, b *engine.Detection) bool {
	return a == b || a.Engine == b.Engine && a.Version == b.Version && a.Model == b.Model
}

func (l *lookout) put(s *event.Signal) {
	if len(s.Values) > 0 {
		l.ep.signalled.Store(true)
	}
	s.Detail = l.ep.red.line(s.Detail)
	bound(s)
	l.r.in.put(s)
}

// bound leaves out what of a look is beyond measure.
func bound(s *event.Signal) {
	kept := s.Values[:0]
	for _, v := range s.Values {
		if len(kept) < maxSamples && len(v.Of) <= maxLabel {
			kept = append(kept, v)
		}
	}
	s.Values = kept
}

func (l *lookout) note(level, text string) {
	l.r.in.put(&event.Note{At: l.r.clk.Now(), Target: l.ep.id, Level: level, Text: l.ep.red.line(text)})
}

// poller is one thing to look at.
type poller interface {
	Poll(context.Context) (event.Signal, error)
	Every() time.Duration
}

// poll looks at one thing, again and again.
type poll struct {
	of     poller
	name   string
	effect string // of looking, to be told with the first look
	put    func(*event.Signal)
	note   func(level, text string)
	sooner <-chan struct{} // asks for a look before its turn; nil: nobody does
	misses interface{ Store(int64) }
	limit  time.Duration // of a look, where that is longer than the usual one
	said   string        // what is absent was told
	missed int64
}

// run looks until ctx is over. What is not there is said once.
func (p *poll) run(ctx context.Context) {
	early := false // the look before came before its turn
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, max(p.limit, lookLimit))
		sig, err := p.of.Poll(limited)
		cancel()
		if ctx.Err() != nil {
			return
		}
		p.took(&sig, err)
		// A page without end is not read as often as one of a few KiB.
		every := p.of.Every() * time.Duration(1+sig.Bytes>>20)
		if !rest(ctx, min(every, lookApart), nil) {
			return
		}
		sooner := p.sooner
		if early { // never two in a row: the cost stays known
			sooner = nil
		}
		wait := time.Now().Add(every - lookApart)
		if !rest(ctx, every-lookApart, sooner) {
			return
		}
		early = time.Now().Before(wait)
	}
}

// took takes the outcome of a look.
func (p *poll) took(sig *event.Signal, err error) {
	var none *signals.Absent
	sig.Effect, p.effect = p.effect, ""
	switch {
	case errors.As(err, &none): // somebody answered, if not with what was looked for
		p.missed = 0
		if none.Why != p.said {
			p.said = none.Why
			p.note("info", p.name+": "+none.Why)
			p.put(sig)
		}
	case err != nil:
		p.missed++
		p.put(sig)
	default:
		p.said, p.missed = "", 0
		p.put(sig)
	}
	if p.misses != nil {
		p.misses.Store(p.missed)
	}
}

// rest waits, or until something asks for less; it is false when ctx is over.
func rest(ctx context.Context, d time.Duration, sooner <-chan struct{}) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-sooner:
	case <-t.C:
	}
	return true
}
