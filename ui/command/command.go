// Package command is what each command of teapot does: it wires the rooms
// together. Options say what is wanted, a process of its own (teapot probe)
// measures, stats turn its events into numbers, and ui/session shows them and
// reports.
//
// It stands in main's place, and is therefore the one package of ui that knows
// the probe. Nothing is computed here. Its tests run the whole program: they are
// the program, too, when they start processes.
package command

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"teapot/probe/sim"
	"teapot/ui/options"
)

const exitFailure = 1

// Main does what the arguments (without the program's name) say, and returns the
// exit code.
func Main(args []string) int {
	// A closed stdout is an error of the write that notices it, and a quiet
	// end; the signal would end the process in the middle of its work.
	signal.Ignore(syscall.SIGPIPE)
	o, code := options.Parse(args, os.Getenv, os.Stdout, os.Stderr)
	if code != options.GoOn {
		return code
	}
	commands := map[options.Command]func(*options.Options) (int, error){
		options.Watch: watch, options.Report: measure, options.Replay: replay, options.Compare: compareRuns,
		options.Export: exported, options.Probe: runProbe, options.Engine: runEngine,
		options.SelfTest: selfTest, options.Accuracy: measureAccuracy,
	}
	code, err := commands[o.Command](o)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(os.Stderr, "teapot: "+options.Line(err))
	}
	return code
}

// failure is the exit code of an error before a run: that of usage when the
// address of an engine is wrong.
func failure(err error) int {
	if errors.Is(err, sim.ErrProfile) {
		return options.ExitUsage
	}
	return exitFailure
}
