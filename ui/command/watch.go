package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"teapot/probe"
	"teapot/probe/record"
	"teapot/probe/sim"
	"teapot/ui"
	"teapot/ui/export"
	"teapot/ui/options"
	"teapot/ui/session"
)

// watch is the live screen, or a plain line a second where there is none.
func watch(o *options.Options) (int, error) { return live(o, (*session.Session).Show) }

// measure is the report without a screen.
func measure(o *options.Options) (int, error) {
	if len(o.Files) > 0 {
		return reportOn(o)
	}
	return live(o, (*session.Session).Measure)
}

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
	var file session.Recording // an interface: nil has to stay nil
	if o.Record != "" {
		rec, err := record.Create(o.Record, o.SaveText)
		if err != nil {
			return exitFailure, err
		}
		file = rec
	}
	source, err := probe.Watch(o.Config(urls))
	if err != nil {
		return exitFailure, err
	}
	s.Start(session.Source{Next: outlets.Follow(source.Next, s), Stop: source.Stop, Live: source, Recording: file, Scene: scenes(engines)})
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
