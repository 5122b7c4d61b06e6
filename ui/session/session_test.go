package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"teapot/probe/event"
	"teapot/ui/options"
)

// disk is a recording that has room for some events and then for none.
type disk struct {
	room int
	took int
}

func (d *disk) Put(event.Event) { d.took++ }
func (d *disk) Close() error    { return d.Err() }
func (d *disk) Err() error {
	if d.took < d.room {
		return nil
	}
	return fmt.Errorf("write the recording: %w", &os.PathError{Op: "write", Path: "run", Err: syscall.ENOSPC})
}

// A disk that is full is said once, in the report and on the way out, and what
// is measured is measured to its end.
func TestAFullDiskStopsNoMeasurement(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report.txt")
	o, code := options.Parse([]string{"report", "h:1", "-o", out}, func(string) string { return "" }, io.Discard, io.Discard)
	if code != options.GoOn {
		t.Fatal(code)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	evs := []event.Event{&event.Session{Wall: 1e18}, &event.Target{ID: 1, URL: "http://h:1", State: event.StateLive}}
	for i := range uint64(40) {
		at := int64(1+i) * 1e9
		evs = append(evs, &event.Start{At: at, Target: 1, Request: i + 1, Asked: 1}, &event.Token{At: at + 1e6, Target: 1, Request: i + 1, K: 1},
			&event.End{At: at + 2e6, Target: 1, Request: i + 1, Class: event.OKFull, N: 1, Count: event.CountUsage})
	}
	evs = append(evs, &event.Finished{At: 50e9, Complete: true, Reason: "requests"})
	i := 0
	s.Start(Source{
		Next: func() (event.Event, error) {
			if i == len(evs) {
				return nil, io.EOF
			}
			i++
			return evs[i-1], nil
		},
		Stop: func() {}, Recording: &disk{room: 30},
	})
	defer s.Close()
	code, err = s.Measure()
	if code != 1 || err == nil || err.Error() != "write the recording: write run: no space left on device" {
		t.Errorf("exit %d, %v", code, err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(strings.Fields(string(text)), " "); strings.Count(said, "no space left on device; it ends here, measuring goes on") != 1 ||
		!strings.Contains(said, "40 ok") {
		t.Errorf("the report:\n%s", text)
	}
}
