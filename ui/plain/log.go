package plain

import (
	"fmt"
	"io"
	"time"

	"teapot/probe/event"
	"teapot/ui/format"
)

// Log writes what a run has to say of itself, one line each: notes, the states
// of its targets, changed settings, how it ended. It holds no figure, no text of
// a model and no secret.
type Log struct {
	w    io.Writer
	wall int64 // Unix ns of the session's time 0
	last map[uint32]string
}

// NewLog returns a log that writes to w. It is for one goroutine.
func NewLog(w io.Writer) *Log { return &Log{w: w, last: map[uint32]string{}} }

// Follow returns next with every event it gives logged on its way. A log that
// cannot be written stops no run.
func (l *Log) Follow(next func() (event.Event, error)) func() (event.Event, error) {
	return func() (event.Event, error) {
		ev, err := next()
		if ev != nil {
			_ = l.Add(ev)
		}
		return ev, err
	}
}

// Add writes a line if the event is worth one. The error is that of the write.
func (l *Log) Add(ev event.Event) error {
	switch e := ev.(type) {
	case *event.Session:
		l.wall = e.Wall
		return l.line(e.At, "info", fmt.Sprintf("teapot %s probes from %s, process %d", e.Version, e.Host, e.PID))
	case *event.Target:
		state := fmt.Sprintf("%s %s %s", format.Redact(e.URL), e.State, e.Detail)
		if l.last[e.ID] == state {
			return nil
		}
		l.last[e.ID] = state
		return l.line(e.At, "info", state)
	case *event.Note:
		return l.line(e.At, e.Level, e.Text)
	case *event.Setting:
		return l.line(e.At, "info", fmt.Sprintf("%s %s → %s", e.Name, e.From, e.To))
	case *event.Dropped:
		return l.line(e.At, "warn", fmt.Sprintf("%d texts and %d events were dropped: nobody read them in time", e.Texts, e.Events))
	case *event.End:
		if e.Class.Failed() {
			return l.line(e.At, "warn", fmt.Sprintf("request %d failed, %s: %s", e.Request, e.Class, e.Message))
		}
	case *event.Finished:
		return l.line(e.At, "info", "finished: "+e.Reason)
	}
	return nil
}

func (l *Log) line(at int64, level, text string) error {
	when := time.Unix(0, l.wall+at).UTC().Format("2006-01-02T15:04:05.000Z")
	_, err := fmt.Fprintf(l.w, "%s %s %s\n", when, format.Clean(level), format.Clean(text))
	return err
}
