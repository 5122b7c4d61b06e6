package plain

import (
	"context"
	"fmt"
	"io"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// Waits tells on w, a line each, what a run waits for before anything can be
// measured, once and again when that changes, until the context or the run ends.
// atMost is how long it waits in all. snapshot never returns nil.
func Waits(ctx context.Context, w io.Writer, snapshot func() *stats.Snapshot, tick <-chan time.Time, done <-chan struct{}, atMost time.Duration, ascii bool) {
	said := map[uint32]string{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-tick:
		}
		for _, t := range snapshot().Targets {
			line := waiting(t, atMost)
			if line == said[t.Info.ID] {
				continue
			}
			if said[t.Info.ID] = line; line == "" {
				continue
			}
			if ascii {
				line = format.ASCII(line)
			}
			if _, err := io.WriteString(w, "teapot: "+line+"\n"); err != nil {
				return // nobody reads it: the report is what counts
			}
		}
	}
}

// waiting says what an endpoint is waited for, "" where it is not: it is being
// measured, was measured before, or is down, which has an end of its own.
func waiting(t *stats.Target, atMost time.Duration) string {
	if t.Session.Requests.OK > 0 {
		return ""
	}
	why := ""
	switch t.Info.State {
	case event.StateLoading:
		why = "it loads its model"
	case event.StateLimited:
		why = "it asks to be asked later"
	default:
		return ""
	}
	if d := format.Clean(format.RedactText(t.Info.Detail)); d != "" {
		why += " (" + format.Cut(d, 160) + ")"
	}
	return fmt.Sprintf("waiting for %s: %s; for at most %s in all (--ready-timeout)",
		format.Clean(format.Redact(t.Info.URL)), why, format.Age(atMost))
}
