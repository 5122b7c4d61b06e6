// Command teapot is a live monitor for the endpoints of language models: it
// asks for tokens, times each of them, and shows the distribution with its tail.
//
// This file wires the rooms together: options say what is wanted, a process of
// its own (teapot probe) measures, stats turn its events into numbers, and
// ui/session shows them and reports. Nothing is computed here.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"teapot/probe"
	"teapot/probe/accuracy"
	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/sim"
	"teapot/probe/stamp"
	"teapot/ui"
	"teapot/ui/export"
	"teapot/ui/options"
	"teapot/ui/plain"
	"teapot/ui/report"
	"teapot/ui/session"
)

const exitFailure = 1

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
		options.Export: exported, options.Probe: runProbe, options.Engine: runEngine,
		options.SelfTest: selfTest, options.Accuracy: measureAccuracy,
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
	opt := sim.Options{Profile: o.Profile, Seed: o.RunSeed(), Version: options.Release, Loading: o.Loading}
	if o.Child {
		var controls <-chan event.Control
		ctx, controls = probe.UntilClosed(ctx, probe.ReadControls(os.Stdin))
		opt.Scenes = probe.Scenes(ctx, controls)
	}
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

// selfTest says how exact the probe is on this machine.
func selfTest(o *options.Options) (int, error) {
	ctx, sig := plain.UntilSignal()
	return toOutput(o, sig, func(w io.Writer) error {
		return accuracy.SelfTest(ctx, o.Duration, o.ReportFormat() == "json", w)
	})
}

// measureAccuracy does so beside other clients. It is also the server that all
// of them read.
func measureAccuracy(o *options.Options) (int, error) {
	ctx, sig := plain.UntilSignal()
	if o.Serve != "" {
		if err := accuracy.Serve(ctx, accuracy.Transport(o.Serve), o.WorkDir, os.Stdin, os.Stdout); err != nil {
			return exitFailure, err
		}
		return 0, nil
	}
	a := accuracy.Options{Rounds: o.Rounds, For: o.Duration, Version: options.Release, Log: os.Stderr}
	return toOutput(o, sig, func(w io.Writer) error { return accuracy.Run(ctx, a, w) })
}

// toOutput collects a text and writes it where the options want it.
func toOutput(o *options.Options, sig func() int, write func(io.Writer) error) (int, error) {
	if err := report.Writable(o.Output); err != nil {
		return exitFailure, err
	}
	var text strings.Builder
	err := write(&text)
	switch {
	case sig() != 0:
		return plain.Signalled + sig(), nil
	case err == nil:
		err = report.Save(o.Output, text.String())
	}
	if err != nil {
		return exitFailure, err
	}
	return 0, nil
}

// watch is the live screen, or a plain line a second where there is none.
func watch(o *options.Options) (int, error) { return live(o, (*session.Session).Show) }

// measure is the report without a screen.
func measure(o *options.Options) (int, error) { return live(o, (*session.Session).Measure) }

// live starts what the options name (engines, the recording, the probe) and
// has the session that is made of it.
func live(o *options.Options, have func(*session.Session) (int, error)) (int, error) {
	s, err := session.New(o)
	if err != nil {
		return exitFailure, err
	}
	outlets, err := export.Open(o.Listen, o.HLog, options.Release)
	if err != nil {
		return exitFailure, err
	}
	urls, err := targets(o)
	if err != nil {
		return exitFailure, err
	}
	engines, urls, err := probe.StartEngines(urls, o.RunSeed())
	defer probe.CloseEngines(engines)
	if err != nil {
		return failure(err), err
	}
	var rec *record.Recorder
	var file io.Closer
	if o.Record != "" {
		if rec, err = record.Create(o.Record, o.SaveText); err != nil {
			return exitFailure, err
		}
		file = rec
	}
	source, err := probe.Watch(o.Config(urls), rec)
	if err != nil {
		return exitFailure, err
	}
	s.Start(session.Source{
		Next: outlets.Follow(source.Next, s), Stop: source.Stop, Live: source, Recording: file, Scene: scenes(engines),
	})
	defer s.Close()
	return besides(o, outlets, s, have)
}

// besides has a session while its outlets are open.
func besides(o *options.Options, outlets *export.Outlets, s *session.Session, have func(*session.Session) (int, error)) (int, error) {
	if url := outlets.Serve(s); url != "" && (o.Command == options.Report || !session.Screen(os.Stdout)) {
		fmt.Fprintln(os.Stderr, "teapot: figures for Prometheus at "+url)
	}
	code, err := have(s)
	if closed := outlets.Close(s); closed != nil {
		return max(code, exitFailure), errors.Join(err, closed)
	}
	return code, err
}

// scenes goes through the scenes that an engine of ours can play; nil without
// one.
func scenes(engines []*probe.EngineProc) func() (ui.Scene, error) {
	if len(engines) == 0 {
		return nil
	}
	list, next := sim.Scenes(), 0
	return func() (ui.Scene, error) {
		s := list[next%len(list)]
		for _, e := range engines {
			if err := e.Scene(s.Name); err != nil {
				return ui.Scene{}, err
			}
		}
		next++
		return ui.Scene{Title: s.Title, Look: s.Look}, nil
	}
}

// targets are the addresses to watch: those given, or what answers on this
// machine.
func targets(o *options.Options) ([]string, error) {
	if len(o.URLs) > 0 {
		return o.URLs, nil
	}
	found := probe.FindLocal(context.Background(), probe.LocalPorts[:])
	if len(found) == 0 {
		return nil, probe.NoneFound()
	}
	for i, f := range found {
		fmt.Fprintf(os.Stderr, "teapot: %s %s\n", []string{"watching", "there is also"}[min(i, 1)], f)
	}
	return []string{found[0].URL}, nil
}

// replay shows a recording, or a stream of events on standard input, as if it
// happened now, or reports on it.
func replay(o *options.Options) (int, error) {
	s, err := session.New(o)
	if err != nil {
		return exitFailure, err
	}
	outlets, err := export.Open(o.Listen, o.HLog, options.Release)
	if err != nil {
		return exitFailure, err
	}
	r, f, err := record.Open(o.File)
	if err != nil {
		return exitFailure, err
	}
	speed := o.Speed
	if o.File == "-" || !session.Screen(os.Stdout) {
		speed = 0 // a live stream sets its own pace, and nobody watches a report
	}
	s.Start(session.Source{
		Next: outlets.Follow(record.NewPlayer(r.Next, speed, time.Sleep).Next, s), Stop: func() { f.Close() }, Damage: r.Damage,
	})
	defer s.Close()
	return besides(o, outlets, s, (*session.Session).Show)
}

// exported writes a recording in the format of another tool.
func exported(o *options.Options) (int, error) {
	r, f, err := record.Open(o.File)
	if err != nil {
		return exitFailure, err
	}
	defer f.Close()
	if same(o.File, o.Output) {
		return options.ExitUsage, fmt.Errorf("-o names the recording itself, which would be lost: give another file")
	}
	to, err := export.Create(o.Output)
	if err != nil {
		return exitFailure, err
	}
	err = errors.Join(export.Write(to, export.Format(o.To), r.Next, o.Stats()), to.Close())
	if err != nil {
		return exitFailure, err
	}
	if why := r.Damage(); why != "" {
		fmt.Fprintln(os.Stderr, "teapot: "+o.File+": "+why)
	}
	return 0, nil
}

// failure is the exit code of an error before a run: that of usage when the
// address of an engine is wrong.
func failure(err error) int {
	if errors.Is(err, sim.ErrProfile) {
		return options.ExitUsage
	}
	return exitFailure
}

// same tells whether two names are those of one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

func regular(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode().IsRegular()
}
