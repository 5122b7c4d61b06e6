package stats

import (
	"errors"
	"io"

	"teapot/probe/event"
)

// Collect reads a source of events to its end, as fast as it gives them, and
// returns the snapshot of it all. damage, unless it is nil, says then in one
// line what the source has lost, "" for nothing. The error is the source's, and
// comes beside the snapshot of what was read before.
func Collect(c Config, next func() (event.Event, error), damage func() string) (*Snapshot, error) {
	a, err := gather(c, next)
	if damage != nil {
		if line := damage(); line != "" {
			a.Damaged(line)
		}
	}
	return a.Snapshot(), err
}

// gather fills an aggregator from a source.
func gather(c Config, next func() (event.Event, error)) (*Aggregator, error) {
	a := NewAggregator(c)
	for {
		ev, err := next()
		switch {
		case errors.Is(err, io.EOF):
			return a, nil
		case err != nil:
			return a, err
		case ev != nil:
			a.Add(ev)
		}
	}
}
