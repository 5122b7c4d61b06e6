package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
)

// ErrProfile says that there is no profile of the name asked for.
var ErrProfile = errors.New("no profile")

// Listen serves an engine on addr until ctx ends. truth is the file of its truth
// log, "" for none. ready is told the address once the engine listens. The error
// wraps ErrProfile when o names no profile.
func Listen(ctx context.Context, o Options, addr, truth string, ready func(net.Addr)) error {
	if err := Check(o.Profile); err != nil {
		return err
	}
	if truth != "" {
		f, err := os.Create(truth)
		if err != nil {
			return fmt.Errorf("write the truth log: %w", err)
		}
		defer f.Close()
		o.Truth = f
	}
	e, err := New(o)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	ready(ln.Addr())
	return e.Serve(ctx, ln)
}
