package plain

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signalled is added to the number of the signal that ended a process to make
// its exit code, as shells do.
const Signalled = 128

// UntilSignal returns a context that ends with the first of the signals that
// mean "end", and a function that tells its number, 0 as long as none came. A
// second one ends the process at once.
func UntilSignal() (context.Context, func() int) {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		cancel(ended{<-ch})
		os.Exit(Signalled + Number(<-ch))
	}()
	return ctx, func() int {
		var e ended
		if errors.As(context.Cause(ctx), &e) {
			return Number(e.Signal)
		}
		return 0
	}
}

// ended is the cause of a context that a signal ended.
type ended struct{ os.Signal }

func (e ended) Error() string { return e.String() }

// Number is the number of a signal; 0 when there is none.
func Number(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}
