package plain

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

// What is waited for is told once, again when it changes, and not at all of an
// endpoint that was measured.
func TestWaits(t *testing.T) {
	const url = "http://user:secret@gpu07:8000"
	target := func(id uint32, state event.State, detail string, ok uint64) *stats.Target {
		return &stats.Target{
			Info:    event.Target{ID: id, URL: url, State: state, Detail: detail},
			Session: stats.Figures{Requests: stats.Requests{OK: ok}},
		}
	}
	steps := [][]*stats.Target{
		{},
		{target(1, event.StateConnecting, "", 0)},
		{target(1, event.StateLoading, "Loading\x1b[2J model", 0)},
		{target(1, event.StateLoading, "Loading\x1b[2J model", 0)},
		{target(1, event.StateLimited, "slow down, next try in 60 s", 0), target(2, event.StateLoading, "", 0)},
		{target(1, event.StateLive, "", 0), target(2, event.StateDown, "connection refused", 0)},
		{target(1, event.StateLoading, "again", 7)},
	}
	at := 0
	var out bytes.Buffer
	tick, done := make(chan time.Time), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Waits(context.Background(), &out, func() *stats.Snapshot { at++; return &stats.Snapshot{Targets: steps[at-1]} }, tick, done, 15*time.Minute, false)
	}()
	for range steps {
		tick <- time.Time{}
	}
	close(done)
	<-ended
	const tail = "; for at most 15m00s in all (--ready-timeout)\n"
	want := "teapot: waiting for http://gpu07:8000: it loads its model (Loading model)" + tail +
		"teapot: waiting for http://gpu07:8000: it asks to be asked later (slow down, next try in 60 s)" + tail +
		"teapot: waiting for http://gpu07:8000: it loads its model" + tail
	if got := out.String(); got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
	if strings.ContainsRune(out.String(), '\x1b') {
		t.Error("an escape sequence")
	}
}
