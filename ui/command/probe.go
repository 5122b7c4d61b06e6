package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/charmbracelet/x/term"

	"teapot/probe"
	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/sim"
	"teapot/probe/stamp"
	"teapot/ui/options"
	"teapot/ui/plain"
)

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

func regular(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode().IsRegular()
}
