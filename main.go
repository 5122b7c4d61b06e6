// Command teapot is a live monitor for the endpoints of language models: it
// asks for tokens, times each of them, and shows the distribution with its tail.
//
// This file wires the rooms together: options say what is wanted, a process of
// its own (teapot probe) measures, stats turn its events into numbers, ui shows
// them. Nothing is computed here.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"teapot/probe"
	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/sim"
	"teapot/probe/stamp"
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
	endLimit      = 5 * time.Second       // for a source that was told to end
)

func main() {
	// A closed stdout is an error of the write that notices it, and a quiet
	// end; the signal would end the process in the middle of its work.
	signal.Ignore(syscall.SIGPIPE)
	o, code := options.Parse(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if code != options.GoOn {
		os.Exit(code)
	}
	commands := map[options.Command]func(*options.Options) (int, error){
		options.Watch: watch, options.Report: measure, options.Replay: replay,
		options.Probe: runProbe, options.Engine: runEngine,
	}
	code, err := commands[o.Command](o)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(os.Stderr, "teapot: "+options.Line(err))
	}
	os.Exit(code)
}

// runProbe measures and writes events to standard output: the child of a
// viewer, or a probe started by hand.
func runProbe(o *options.Options) (int, error) {
	ctx, sig := plain.UntilSignal()
	var controls <-chan event.Control
	var cfg event.Config
	if o.Child {
		controls = probe.ReadControls(os.Stdin)
		var err error
		if cfg, err = probe.AwaitStart(ctx, controls); err != nil {
			return exitFailure, err
		}
		ctx, controls = probe.UntilClosed(ctx, controls)
	} else {
		if term.IsTerminal(os.Stdout.Fd()) {
			return options.ExitUsage, errors.New("probe writes binary events: send them to a pipe or a file, e.g. teapot probe URL | teapot replay -")
		}
		engines, urls, err := probe.StartEngines(o.URLs, o.RunSeed())
		if err != nil {
			return failure(err), err
		}
		defer probe.CloseEngines(engines)
		cfg = o.Config(urls)
		// Text goes to whoever reads a pipe, and into a file only when asked.
		cfg.Text = o.SaveText || !regular(os.Stdout)
	}
	defer probe.Tune()()
	out, err := record.NewWriter(os.Stdout, record.Options{Text: cfg.Text})
	if err != nil {
		return 0, err
	}
	err = probe.Run(ctx, cfg, controls, out, stamp.NewClock())
	switch {
	case errors.Is(err, syscall.EPIPE):
		return 0, nil
	case sig() != 0:
		return plain.Signalled + sig(), nil
	case err != nil && ctx.Err() == nil:
		return exitFailure, err
	}
	return 0, nil
}

// runEngine serves the built-in engine until it is told to stop.
func runEngine(o *options.Options) (int, error) {
	ctx, sig := plain.UntilSignal()
	if o.Child {
		ctx, _ = probe.UntilClosed(ctx, probe.ReadControls(os.Stdin))
	}
	opt := sim.Options{Profile: o.Profile, Seed: o.RunSeed(), Version: options.Release}
	err := sim.Listen(ctx, opt, o.Addr, o.Truth, func(a net.Addr) {
		fmt.Printf("teapot engine %s listens on http://%s\n", o.Profile, a)
	})
	if err != nil {
		return failure(err), err
	}
	if sig() != 0 {
		return plain.Signalled + sig(), nil
	}
	return 0, nil
}

// watch is the live screen, or a plain line a second where there is none.
func watch(o *options.Options) (int, error) {
	s, err := openLive(o)
	if err != nil {
		return failure(err), err
	}
	defer s.close()
	return s.show()
}

// measure is the report without a screen.
func measure(o *options.Options) (int, error) {
	ctx, sig := plain.UntilSignal()
	s, err := openLive(o)
	if err != nil {
		return failure(err), err
	}
	defer s.close()
	if term.IsTerminal(os.Stderr.Fd()) { // somebody waits for it
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		go func() {
			_ = plain.Run(ctx, os.Stderr, s.feed.Snapshot, tick.C, s.feed.Done(), plain.Options{ASCII: o.ASCII()})
		}()
	}
	select {
	case <-s.feed.Done():
	case <-ctx.Done():
	case err := <-s.failed:
		return exitFailure, err
	}
	s.end()
	return s.finish(sig(), false)
}

// replay shows a recording as if it happened now, or reports on it.
func replay(o *options.Options) (int, error) {
	s, err := openFile(o)
	if err != nil {
		return exitFailure, err
	}
	defer s.close()
	return s.show()
}

// session is one run as its viewer has it: where events come from, the numbers
// they become, and what has to be ended afterwards.
type session struct {
	o       *options.Options
	engines []*probe.EngineProc
	source  *probe.Source // nil in a replay
	rec     *record.Recorder
	feed    *stats.Feed
	failed  chan error // the first fault of the goroutine that feeds
	stop    func()
	damage  func() string // of the recording that is replayed
	log     *plain.Log    // nil: none
}

// newSession opens the log, if there is to be one: a file, or with -v and no
// screen standard error.
func newSession(o *options.Options) (*session, error) {
	s := &session{o: o}
	switch {
	case o.Log != "":
		f, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return s, fmt.Errorf("write the log: %w", err)
		}
		s.log = plain.NewLog(f)
	case o.Verbose && (o.Command == options.Report || !screen(os.Stdout)):
		s.log = plain.NewLog(os.Stderr)
	}
	return s, nil
}

// openLive starts what the options name: engines, the recording, the probe.
func openLive(o *options.Options) (s *session, err error) {
	if s, err = newSession(o); err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := report.Writable(o.Output); err != nil {
		return s, err
	}
	urls := o.URLs
	if len(urls) == 0 {
		found := probe.FindLocal(context.Background(), probe.LocalPorts[:])
		if len(found) == 0 {
			return s, probe.NoneFound()
		}
		for i, f := range found {
			fmt.Fprintf(os.Stderr, "teapot: %s %s\n", []string{"watching", "there is also"}[min(i, 1)], f)
		}
		urls = []string{found[0].URL}
	}
	if s.engines, urls, err = probe.StartEngines(urls, o.RunSeed()); err != nil {
		return s, err
	}
	if o.Record != "" {
		if s.rec, err = record.Create(o.Record, o.SaveText); err != nil {
			return s, err
		}
	}
	if s.source, err = probe.Watch(o.Config(urls), s.rec); err != nil {
		return s, err
	}
	s.run(s.source.Next, s.source.Stop)
	return s, nil
}

// openFile opens a recording, or a stream of events on standard input.
func openFile(o *options.Options) (*session, error) {
	r, f, err := record.Open(o.File)
	if err != nil {
		return nil, err
	}
	speed := o.Speed
	if o.File == "-" || !screen(os.Stdout) {
		speed = 0 // a live stream sets its own pace, and nobody watches a report
	}
	s, err := newSession(o)
	if err != nil {
		return s, err
	}
	s.run(record.NewPlayer(r.Next, speed, time.Sleep).Next, func() { f.Close() })
	s.damage = r.Damage
	return s, nil
}

// run feeds the statistics on a goroutine of its own.
func (s *session) run(next func() (event.Event, error), stop func()) {
	s.stop = stop
	s.failed = make(chan error, 1)
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

// end stops the source and waits for the last of its events.
func (s *session) end() {
	s.stop()
	select {
	case <-s.feed.Done():
	case <-s.failed:
	case <-time.After(endLimit):
	}
	if s.damage != nil {
		s.feed.Do(func(a *stats.Aggregator) { a.Damaged(s.damage()) })
	}
}

// close ends whatever still runs.
func (s *session) close() {
	if s.stop != nil {
		s.end()
	}
	probe.CloseEngines(s.engines)
}

// show runs the screen, or its plain form, and everything that follows it.
func (s *session) show() (int, error) {
	if !screen(os.Stdout) {
		return s.lines()
	}
	c := ui.Config{
		Snapshot: s.feed.Snapshot, Feed: s.feed, Failed: s.failed,
		Window: s.o.WindowIndex(), Theme: s.o.Theme, Color: s.o.Color, Glyphs: s.o.Glyphs,
		LowBandwidth: s.o.LowBandwidth, NoSync: s.o.NoSync, In: os.Stdin, Out: os.Stdout,
	}
	if s.source != nil {
		c.Control, c.Ended = s.source.Send, s.source.Ended
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
func (s *session) lines() (int, error) {
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
func (s *session) finish(sig int, screen bool) (int, error) {
	snap := s.feed.Snapshot()
	err := s.recorded()
	if s.o.WantsReport(screen) {
		opt := report.Options{ASCII: s.o.ASCII()}
		if s.source != nil {
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
	case s.source != nil && s.source.Ended() != "":
		return exitFailure, errors.New(s.source.Ended())
	case s.source == nil && len(snap.Targets) == 0:
		return exitFailure, fmt.Errorf("%s: there is no event in it; %s", s.o.File, snap.Damaged)
	}
	code, why := report.Verdict(snap)
	if why != "" {
		return code, errors.New(why)
	}
	return code, nil
}

// recorded closes the recording.
func (s *session) recorded() error {
	if s.rec == nil {
		return nil
	}
	return s.rec.Close()
}

// failure is the exit code of an error before a run: that of usage when the
// address of an engine is wrong.
func failure(err error) int {
	if errors.Is(err, sim.ErrProfile) {
		return options.ExitUsage
	}
	return exitFailure
}

// screen tells whether f is a terminal that a screen can be drawn on.
func screen(f *os.File) bool {
	return term.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
}

func regular(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode().IsRegular()
}
