package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"teapot/probe/event"
)

// doUnknown marks a line that was no control. Run turns it into a Note.
const doUnknown = "?"

// maxControl is the longest line of controls, in bytes. The first one carries
// the user's prompts.
const maxControl = 64 << 20

// ReadControls reads controls, one JSON object a line, and closes the channel
// at the end of r. A line that is no control is skipped; the run that receives
// it from the channel says so in a Note. The reading goroutine ends with r, or
// when the channel's buffer is full and nobody receives any more, never.
func ReadControls(r io.Reader) <-chan event.Control {
	out := make(chan event.Control, 16)
	go func() {
		defer close(out)
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 4096), maxControl)
		for lines.Scan() {
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			var c event.Control
			if err := json.Unmarshal(line, &c); err != nil || c.Do == "" {
				c = event.Control{Do: doUnknown, Label: "a line that is no control was skipped"}
			}
			out <- c
		}
		if lines.Err() != nil && errors.Is(lines.Err(), bufio.ErrTooLong) {
			out <- event.Control{Do: doUnknown, Label: "a control is too long; no further one is read"}
		}
	}()
	return out
}

// AwaitStart receives the first control, which must carry the configuration.
func AwaitStart(ctx context.Context, controls <-chan event.Control) (event.Config, error) {
	select {
	case <-ctx.Done():
		return event.Config{}, fmt.Errorf("wait for the configuration: %w", context.Cause(ctx))
	case c, ok := <-controls:
		switch {
		case !ok:
			return event.Config{}, fmt.Errorf("wait for the configuration: %w", io.ErrUnexpectedEOF)
		case c.Do != event.DoStart || c.Config == nil:
			return event.Config{}, fmt.Errorf("the first line must be %q with a configuration, and is %q", event.DoStart, c.Do)
		}
		return *c.Config, nil
	}
}

// UntilClosed passes controls on, and cancels the context it returns when they
// end: for a probe whose parent is gone once its control pipe is. The
// goroutine ends with ctx or with the controls.
func UntilClosed(ctx context.Context, controls <-chan event.Control) (context.Context, <-chan event.Control) {
	ctx, cancel := context.WithCancelCause(ctx)
	out := make(chan event.Control, cap(controls))
	go func() {
		for {
			select {
			case <-ctx.Done():
				cancel(nil)
				return
			case c, ok := <-controls:
				if !ok {
					cancel(errControlsClosed)
					return
				}
				select {
				case out <- c:
				case <-ctx.Done():
				}
			}
		}
	}()
	return ctx, out
}

// errControlsClosed is why UntilClosed cancels.
var errControlsClosed = errors.New("the control pipe was closed")

// Scenes are the names of the scenes that an engine is told to play.
func Scenes(ctx context.Context, controls <-chan event.Control) <-chan string {
	names := make(chan string)
	go func() {
		defer close(names)
		for {
			select {
			case <-ctx.Done():
				return
			case c, ok := <-controls:
				if !ok {
					return
				}
				if c.Do != event.DoScene {
					continue
				}
				select {
				case names <- c.Label:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return names
}
