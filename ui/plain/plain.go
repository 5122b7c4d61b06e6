// Package plain is teapot where there is no terminal: one line a second per
// endpoint, for logs, pipes and cron.
//
// A line is words of the form key=value in an order that does not change, so
// that it can be read, grepped and cut; times are milliseconds unless the key
// says otherwise. It holds no escape sequence and no control character. The
// package must not compute a statistic or know a terminal.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"teapot/stats"
	"teapot/ui/format"
)

// Options says what a line shows.
type Options struct {
	Window int  // index into stats.Windows
	ASCII  bool // bytes below 0x80 alone
}

// ErrClosed means that nobody reads the lines any more: not a failure, but a
// reason to end quietly. The error that wraps it is also syscall.EPIPE.
var ErrClosed = errors.New("the reader of the lines has gone")

// Run writes a line per endpoint at every tick until the context or the run
// ends, one Write per tick. snapshot never returns nil. Run returns nil at the
// end, an error that is ErrClosed when the reader is gone, else the error of
// the Write.
func Run(ctx context.Context, w io.Writer, snapshot func() *stats.Snapshot, tick <-chan time.Time, done <-chan struct{}, o Options) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-done:
			return nil
		case _, open := <-tick:
			if !open {
				return nil
			}
		}
		if _, err := io.WriteString(w, Lines(snapshot(), o)); err != nil {
			if gone(err) {
				return fmt.Errorf("%w: %w", ErrClosed, syscall.EPIPE)
			}
			return fmt.Errorf("writing a line: %w", err)
		}
	}
}

// gone tells whether a write failed because nobody reads.
func gone(err error) bool {
	for _, e := range []error{syscall.EPIPE, syscall.EIO, syscall.ECONNRESET, io.ErrClosedPipe, os.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Lines is a Line for each endpoint, each ended by a newline.
func Lines(s *stats.Snapshot, o Options) string {
	if len(s.Targets) == 0 {
		return head(s) + " state=starting\n"
	}
	var b strings.Builder
	for _, t := range s.Targets {
		b.WriteString(Line(s, t, o))
		b.WriteByte('\n')
	}
	return b.String()
}

// Line is what one endpoint does, as words key=value in a fixed order:
//
//	t            seconds since the session began
//	time         time of day
//	target       URL, without userinfo and query
//	model, state, fly (requests in flight)
//	ok, failed   requests of the session
//	window       seconds the figures that follow look back
//	ttft_, gap_  p50, p99, max and n
//	tok/s        output tokens a second, all streams
//	stalls, stall_max, errors   of the window
//	merged       gaps of the window left out because they are this client's
//	stamp, late_p99, host_stalls, dropped, floor   what this client adds
//	slo          each service level: its share, then ok, missed or nodata
//	detail, last_error           free text, quoted
//
// Where no request is made, the words after state are the server's own: running,
// waiting, kv, preemptions (of the session), ttft, itl and queue (means of the
// last minute).
//
// A value that does not exist is "-", one of too few samples ends in "~", and
// one that is only a lower bound begins with ">".
func Line(s *stats.Snapshot, t *stats.Target, o Options) string {
	f := &t.Windows[min(max(o.Window, 0), len(t.Windows)-1)]
	w := words{}
	w.add("target", text(format.Redact(t.Info.URL)))
	w.add("model", text(t.Info.Model))
	w.add("state", text(string(t.Info.State)))
	if s.Load.Passive {
		w.server(t.Server)
		w.detail(t)
		return w.done(s, o)
	}
	w.add("fly", strconv.Itoa(t.InFlight))
	w.add("ok", count(t.Session.Requests.OK))
	w.add("failed", count(t.Session.Requests.Failed))
	w.add("window", strconv.Itoa(int(stats.Windows[min(max(o.Window, 0), len(t.Windows)-1)]/time.Second)))
	w.figure("ttft", &f.TTFT)
	w.figure("gap", &f.Gap)
	w.add("tok/s", format.Rate(f.OutputRate))
	w.add("stalls", count(f.Stalls.Count))
	longest := format.None
	if f.Stalls.Count > 0 {
		longest = format.MS(f.Stalls.Longest)
	}
	w.add("stall_max", longest)
	w.add("errors", count(f.Requests.Failed))
	w.add("merged", count(f.Merged))
	w.add("stamp", text(s.Floor.Source))
	late := format.None
	if s.Floor.LateP99 > 0 {
		late = format.MS(s.Floor.LateP99)
	}
	w.add("late_p99", late)
	w.add("host_stalls", count(s.Floor.HostStalls))
	w.add("dropped", count(s.Floor.DroppedEvents))
	w.add("floor", text(s.Floor.Word))
	if len(f.SLO) > 0 {
		w.add("slo", slos(f.SLO))
	}
	w.detail(t)
	if t.LastError != "" {
		w.add("last_error", quoted(t.LastError))
		w.add("last_error_age", format.Age(time.Duration(s.Now-t.LastErrorAt)))
	}
	return w.done(s, o)
}

// done is the whole line.
func (w *words) done(s *stats.Snapshot, o Options) string {
	line := head(s) + w.b.String()
	if o.ASCII {
		line = format.ASCII(line)
	}
	return line
}

func (w *words) detail(t *stats.Target) {
	if t.Info.Detail != "" {
		w.add("detail", quoted(t.Info.Detail))
	}
}

func head(s *stats.Snapshot) string {
	at := "-"
	if !s.Wall.IsZero() {
		at = s.Wall.Add(time.Duration(s.Now)).Format("15:04:05")
	}
	return fmt.Sprintf("t=%d time=%s", max(s.Now, 0)/1e9, at)
}

// words collects a line.
type words struct{ b strings.Builder }

func (w *words) add(key, value string) {
	if value == "" || value == format.None {
		value = "-"
	}
	w.b.WriteString(" " + key + "=" + value)
}

func (w *words) figure(name string, f *stats.Figure) {
	w.add(name+"_p50", format.Quantile(f.Q[stats.P50], format.MS))
	w.add(name+"_p99", format.Quantile(f.Q[stats.P99], format.MS))
	w.add(name+"_max", format.Max(f, format.MS))
	w.add(name+"_n", count(f.N))
}

func slos(list []stats.SLOResult) string {
	parts := make([]string, len(list))
	for i, r := range list {
		switch {
		case r.NoData:
			parts[i] = text(r.Expr) + ",-,nodata"
		case r.OK:
			parts[i] = text(r.Expr) + "," + format.Percent(r.Attained) + ",ok"
		default:
			parts[i] = text(r.Expr) + "," + format.Percent(r.Attained) + ",missed"
		}
	}
	return strings.Join(parts, ";")
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

// text is a word of untrusted origin: without blanks, and not long.
func text(s string) string {
	return format.Cut(strings.ReplaceAll(format.Clean(format.RedactText(s)), " ", "_"), 80)
}

// quoted is free text of untrusted origin in double quotes.
func quoted(s string) string {
	s = format.Cut(format.Clean(format.RedactText(s)), 160)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
