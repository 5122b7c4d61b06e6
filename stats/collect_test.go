package stats

import (
	"errors"
	"io"
	"testing"

	"teapot/probe/event"
)

func TestCollect(t *testing.T) {
	evs := []event.Event{&event.Session{Wall: 5}, nil, &event.Target{At: 1e9, ID: 1, URL: "http://h"}}
	s, err := Collect(Config{}, from(evs, io.EOF), func() string { return "cut off\nat byte 7" })
	if err != nil || len(s.Targets) != 1 || s.Now != 1e9 || s.Damaged != "cut off at byte 7" {
		t.Errorf("%+v, %v", s, err)
	}
	broken := errors.New("the disk is gone")
	s, err = Collect(Config{}, from(evs, broken), nil)
	if err != broken || len(s.Targets) != 1 || s.Damaged != "" {
		t.Errorf("what was read before is lost: %+v, %v", s, err)
	}
}
