package stats

import (
	"errors"
	"io"
	"testing"

	"teapot/probe/event"
)

// of gives events one by one, and then an error.
func of(err error, evs ...event.Event) func() (event.Event, error) {
	return func() (event.Event, error) {
		if len(evs) == 0 {
			return nil, err
		}
		ev := evs[0]
		evs = evs[1:]
		return ev, nil
	}
}

func TestCollect(t *testing.T) {
	evs := []event.Event{&event.Session{Wall: 5}, nil, &event.Target{At: 1e9, ID: 1, URL: "http://h"}}
	s, err := Collect(Config{}, of(io.EOF, evs...), func() string { return "cut off\nat byte 7" })
	if err != nil || len(s.Targets) != 1 || s.Now != 1e9 || s.Damaged != "cut off at byte 7" {
		t.Errorf("%+v, %v", s, err)
	}
	broken := errors.New("the disk is gone")
	s, err = Collect(Config{}, of(broken, evs...), nil)
	if err != broken || len(s.Targets) != 1 || s.Damaged != "" {
		t.Errorf("what was read before is lost: %+v, %v", s, err)
	}
}
