package command

import (
	"io"
	"os"
	"strings"

	"teapot/probe/accuracy"
	"teapot/ui/options"
	"teapot/ui/plain"
	"teapot/ui/report"
)

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
