package probe

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/sim"
)

// stopLimit is how long a child may take to end once it was told to.
const stopLimit = 3 * time.Second

// Source is the stream of events of a probe that runs as a child of this
// process. What it hands out is what a recording of it holds, event by event.
type Source struct {
	child  *Child
	reader *record.Reader // opened by the first Next: its header comes when the child is up
	last   int64          // time of the newest event
	closed bool           // the stream has ended; only Next touches it

	finished atomic.Bool
	ended    atomic.Pointer[string]
	stop     sync.Once
}

// Watch starts a probe for cfg.
func Watch(cfg event.Config) (*Source, error) {
	child, err := StartChild(cfg)
	if err != nil {
		return nil, err
	}
	return &Source{child: child}, nil
}

// Next returns the next event. When the probe dies before it said that it
// finished, the last event before io.EOF is a Note that says how it ended.
func (s *Source) Next() (event.Event, error) {
	if s.closed {
		return nil, io.EOF
	}
	ev, err := s.read()
	if err != nil {
		s.closed = true
		if ev = s.obituary(err); ev == nil {
			return nil, io.EOF
		}
	}
	if ev == nil {
		return nil, nil
	}
	s.last = max(s.last, ev.Time())
	if ev.Kind() == event.KindFinished {
		s.finished.Store(true)
	}
	return ev, nil
}

func (s *Source) read() (ev event.Event, err error) {
	if s.reader == nil {
		if s.reader, err = record.NewReader(s.child.Events()); err != nil {
			return nil, err
		}
	}
	return s.reader.Next()
}

// obituary is the note about a probe that ended without saying so; nil when it
// did. err is what ended its stream.
func (s *Source) obituary(err error) event.Event {
	if !errors.Is(err, io.EOF) && s.reader != nil {
		s.child.Kill() // it still runs, but makes no sense any more
	}
	why := s.child.Wait()
	if s.finished.Load() {
		return nil
	}
	text := "probe ended"
	switch {
	case why != nil:
		text = why.Error()
	case s.reader != nil && !errors.Is(err, io.EOF):
		text = fmt.Sprintf("probe ended: %v", err)
	}
	s.ended.Store(&text)
	return &event.Note{At: s.last, Level: "error", Text: text}
}

// Ended says how the probe ended when that was not in order; "" otherwise.
func (s *Source) Ended() string {
	if p := s.ended.Load(); p != nil {
		return *p
	}
	return ""
}

// Send gives the probe a control. One that comes too late is of no use, and no
// error.
func (s *Source) Send(c event.Control) { _ = s.child.Send(c) }

// Stop ends the probe: it may finish its stream of events, and is killed when
// it has not within three seconds. Stop returns at once; the end of the stream
// is Next's io.EOF.
func (s *Source) Stop() {
	s.stop.Do(func() {
		s.Send(event.Control{Do: event.DoStop})
		go func() {
			time.Sleep(stopLimit)
			s.child.Kill()
		}()
	})
}

// demoScheme marks an address that stands for a built-in engine.
const demoScheme = "demo:"

// StartEngines starts a built-in engine for every demo:PROFILE among urls and
// returns the addresses with those of the engines in their places. On an error
// nothing is left running.
func StartEngines(urls []string, seed uint64) (engines []*EngineProc, addresses []string, err error) {
	for _, u := range urls {
		profile, ok := strings.CutPrefix(u, demoScheme)
		if !ok {
			addresses = append(addresses, u)
			continue
		}
		if err := sim.Check(profile); err != nil {
			CloseEngines(engines)
			return nil, nil, err
		}
		e, err := StartEngine(profile, seed)
		if err != nil {
			CloseEngines(engines)
			return nil, nil, err
		}
		engines = append(engines, e)
		addresses = append(addresses, e.URL())
	}
	return engines, addresses, nil
}

// CloseEngines ends engines that StartEngines started.
func CloseEngines(engines []*EngineProc) {
	for _, e := range engines {
		_ = e.Close() // it was told to end; how it does is of no interest any more
	}
}
