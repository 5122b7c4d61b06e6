package probe

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

// TestMain is also the program that StartChild and StartEngine start: they run
// their own binary, which is this one here.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "probe":
			os.Exit(childMain())
		case "engine":
			os.Exit(engineMain(os.Args[2:]))
		case "writer":
			os.Exit(writerMain(os.Args[2:]))
		case "parent":
			os.Exit(parentMain(os.Args[2:]))
		}
	}
	// The parallel tests wait for clocks and sockets more than they compute.
	if err := flag.Set("test.parallel", "6"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// childMain is what `teapot probe --child` does.
func childMain() int {
	ctx, controls := UntilClosed(context.Background(), ReadControls(os.Stdin))
	cfg, err := AwaitStart(ctx, controls)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch cfg.Load.Seed {
	case seedPanics:
		panic("a bug in the probe")
	case seedExits:
		fmt.Fprintln(os.Stderr, "cannot go on")
		return 3
	}
	defer Tune()()
	out, err := record.NewWriter(os.Stdout, record.Options{Text: true})
	if err == nil {
		err = Run(ctx, cfg, controls, out, stamp.NewClock())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Seeds that make childMain misbehave.
const (
	seedPanics = 666
	seedExits  = 667
)

// engineMain is what `teapot engine` does, as far as its parent can tell.
func engineMain(args []string) int {
	switch args[0] {
	case "silent":
		return 0
	case "broken":
		fmt.Fprintln(os.Stderr, "no such profile")
		return 2
	case "stubborn":
		fmt.Println("listening on http://127.0.0.1:9, try it")
		select {}
	}
	fmt.Printf("engine %v at http://127.0.0.1:12345\n", args)
	for range 10_000 { // a parent that reads no more must not stop it
		fmt.Println("and more to say")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// parentMain starts a child and then stays, so that a test can kill it.
func parentMain(args []string) int {
	c, err := StartChild(event.Config{Targets: []event.TargetConfig{{URL: args[0]}}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.PID())
	_, _ = io.Copy(io.Discard, c.Events())
	return 0
}
