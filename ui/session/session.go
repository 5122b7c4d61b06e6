// Package session is one run of teapot as its viewer has it: events come from
// a source, become numbers, are shown on a screen or as lines, and end in a
// report and an exit code.
//
// It does not know what a source is: a probe at work and a recording look
// alike from here. It opens no connection and starts no process; whoever made
// the source ends it.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui"
	"teapot/ui/format"
	"teapot/ui/options"
	"teapot/ui/plain"
	"teapot/ui/report"
)

const (
	exitFailure = 1

	snapshotEvery = 50 * time.Millisecond // the fastest pane draws ten times a second
	progressEvery = 5 * time.Second       // between two lines while a report is measured
	waitsEvery    = time.Second / 4       // between two looks at what it waits for
	endLimit      = 5 * time.Second       // for a source that was told to end

	// gcPercent keeps the heap of a session of many hours within its bounds. The
	// probe is a process of its own, so collecting here costs it nothing.
	gcPercent = 50
)

// Live is a source that measures at this moment, and can be told what to do.
type Live interface {
	Send(event.Control)
	// Ended says why the measurement broke off, "" if it did not.
	Ended() string
}

// Source is where the events of a session come from.
type Source struct {
	Next      func() (event.Event, error)
	Stop      func()                   // ends it; Next returns soon after
	Live      Live                     // nil in a replay
	Recording io.Closer                // written from the same events; nil: none
	Scene     func() (ui.Scene, error) // plays the next scene of a demo; nil where there is none
	Damage    func() string            // what a recording has lost; nil where nothing can be
}

// Session is one run. Its methods are called by one goroutine.
type Session struct {
	o      *options.Options
	log    *plain.Log // nil: none
	source Source
	feed   *stats.Feed
	failed chan error // the first fault of the goroutine that feeds
}

// New prepares a session and opens its log, if there is to be one: a file, or
// with -v and no screen standard error. It fails before anything is started.
func New(o *options.Options) (*Session, error) {
	debug.SetGCPercent(gcPercent)
	s := &Session{o: o}
	if o.Command != options.Replay {
		if err := report.Writable(o.Output); err != nil {
			return nil, err
		}
	}
	switch {
	case o.Log != "":
		f, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return nil, fmt.Errorf("write the log: %w", err)
		}
		s.log = plain.NewLog(f)
	case o.Verbose && (o.Command == options.Report || !Screen(os.Stdout)):
		s.log = plain.NewLog(os.Stderr)
	}
	return s, nil
}

// Screen tells whether f is a terminal that a screen can be drawn on.
func Screen(f *os.File) bool {
	return term.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
}

// Start feeds the statistics from a source, on a goroutine of its own.
func (s *Session) Start(from Source) {
	s.source = from
	s.failed = make(chan error, 1)
	next := from.Next
	if s.log != nil {
		next = s.log.Follow(next)
	}
	s.feed = stats.NewFeed(s.o.Stats(), next, snapshotEvery)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				s.failed <- fmt.Errorf("internal fault: %v", p)
			}
		}()
		_ = s.feed.Run() // a source that failed has said so in its last event
	}()
}

// Close ends the source, if it was started.
func (s *Session) Close() {
	if s.source.Stop != nil {
		s.end()
	}
}

// end stops the source and waits for the last of its events.
func (s *Session) end() {
	s.source.Stop()
	select {
	case <-s.feed.Done():
	case <-s.failed:
	case <-time.After(endLimit):
	}
	if s.source.Damage != nil {
		s.feed.Do(func(a *stats.Aggregator) { a.Damaged(s.source.Damage()) })
	}
}

// Measure waits for the end without a screen, and reports. The result is the
// exit code.
func (s *Session) Measure() (int, error) {
	ctx, sig := plain.UntilSignal()
	if term.IsTerminal(os.Stderr.Fd()) { // somebody waits for it
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		go func() {
			_ = plain.Run(ctx, os.Stderr, s.feed.Snapshot, tick.C, s.feed.Done(), plain.Options{ASCII: s.o.ASCII()})
		}()
	}
	looks := time.NewTicker(waitsEvery)
	defer looks.Stop()
	go plain.Waits(ctx, os.Stderr, s.feed.Snapshot, looks.C, s.feed.Done(), s.o.ReadyTimeout, s.o.ASCII())
	select {
	case <-s.feed.Done():
	case <-ctx.Done():
	case err := <-s.failed:
		return exitFailure, err
	}
	s.end()
	return s.finish(sig(), false)
}

// Show runs the screen, or its plain form, and everything that follows it. The
// result is the exit code.
func (s *Session) Show() (int, error) {
	if !Screen(os.Stdout) {
		return s.lines()
	}
	c := ui.Config{
		Snapshot: s.feed.Snapshot, Feed: s.feed, Failed: s.failed,
		Window: s.o.WindowIndex(), Theme: s.o.Theme, Color: s.o.Color, Glyphs: s.o.Glyphs,
		LowBandwidth: s.o.LowBandwidth, NoSync: s.o.NoSync, In: os.Stdin, Out: os.Stdout,
	}
	c.Scene = s.source.Scene
	if s.source.Live != nil {
		c.Control, c.Ended = s.source.Live.Send, s.source.Live.Ended
	}
	out, err := ui.Run(context.Background(), c)
	s.end()
	if out.Normal() && !s.o.NoSummary {
		table := report.Table(s.feed.Snapshot())
		if s.o.ASCII() {
			table = format.ASCII(table)
		}
		fmt.Print(table)
	}
	if err != nil {
		_, reportErr := s.finish(0, true)
		return exitFailure, errors.Join(err, reportErr)
	}
	return s.finish(plain.Number(out.Signal), true)
}

// lines writes a line a second, and the report at the end.
func (s *Session) lines() (int, error) {
	ctx, sig := plain.UntilSignal()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	to := os.Stdout
	if toStdout := s.o.Output == "" || s.o.Output == "-"; toStdout && s.o.ReportFormat() != "text" && s.o.ReportFormat() != "none" {
		to = os.Stderr // what reads the report wants nothing else
	}
	err := plain.Run(ctx, to, s.feed.Snapshot, tick.C, s.feed.Done(), plain.Options{Window: s.o.WindowIndex(), ASCII: s.o.ASCII()})
	s.end()
	if err != nil {
		return 0, errors.Join(err, s.recorded())
	}
	return s.finish(sig(), false)
}

// finish writes the report that was asked for and settles the exit code.
func (s *Session) finish(sig int, screen bool) (int, error) {
	snap := s.feed.Snapshot()
	err := s.recorded()
	if s.o.WantsReport(screen) {
		opt := report.Options{ASCII: s.o.ASCII()}
		if s.source.Live != nil {
			limits := s.o.Config(nil).Limits
			opt.Limits = &limits
		}
		err = errors.Join(err, report.Write(snap, s.o.ReportFormat(), s.o.Output, opt))
	}
	switch {
	case errors.Is(err, syscall.EPIPE):
		return 0, nil
	case err != nil:
		return exitFailure, err
	case sig != 0:
		return plain.Signalled + sig, nil
	case screen && !report.Complete(snap):
		return 0, nil // the operator has seen it all, and quit
	case s.source.Live != nil && s.source.Live.Ended() != "":
		return exitFailure, errors.New(s.source.Live.Ended())
	case s.source.Live == nil && len(snap.Targets) == 0:
		return exitFailure, fmt.Errorf("%s: there is no event in it; %s", s.o.File, snap.Damaged)
	}
	code, why := report.Verdict(snap)
	if why != "" {
		return code, errors.New(why)
	}
	return code, nil
}

// recorded closes the recording.
func (s *Session) recorded() error {
	if s.source.Recording == nil {
		return nil
	}
	return s.source.Recording.Close()
}
