package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"teapot/probe/event"
	"teapot/stats"
)

// Format is what a recording can be written as.
type Format string

// The formats.
const (
	Trace    Format = "trace"    // Chrome's trace event format, for Perfetto
	CSV      Format = "csv"      // a row per token event
	Requests Format = "requests" // a row per request
	HLog     Format = "hlog"     // HdrHistogram's interval log
	HGrm     Format = "hgrm"     // the percentile distribution of the gaps, for hdr-plot
	VLLM     Format = "vllm"     // the keys of vllm bench serve
)

// writer makes one format out of the events of a session.
type writer interface {
	// event is told of every event after the aggregator has taken it.
	event(ev event.Event) error
	// ended is told of every request that has ended.
	ended(target uint32, t *stats.Trace)
	// end writes what remains.
	end() error
}

// early is a writer that is told of an event before the aggregator takes it.
type early interface{ before(ev event.Event) error }

// Next gives the events of a recording, and an error at its end.
type Next func() (event.Event, error)

// Write writes a recording to out. Besides an error of out it returns the one
// that ended the recording, unless that was io.EOF.
func Write(out io.Writer, form Format, next Next, c stats.Config) error {
	b := bufio.NewWriterSize(out, 1<<16)
	var w writer
	c.Ended = func(target uint32, t stats.Trace) { w.ended(target, &t) }
	a := stats.NewAggregator(c)
	switch form {
	case Trace:
		w = newTrace(b, a)
	case CSV:
		w = newTokens(b)
	case Requests:
		w = newRequests(b)
	case HLog:
		w = recorded{NewLog(b), a}
	case HGrm:
		w = percentiles{b, a}
	case VLLM:
		w = newBench(b, a)
	default:
		return fmt.Errorf("there is no format %q", form)
	}
	for {
		ev, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, w.end(), b.Flush())
		}
		if ev == nil {
			continue
		}
		if p, ok := w.(early); ok {
			if err := p.before(ev); err != nil {
				return fmt.Errorf("write the export: %w", err)
			}
		}
		a.Add(ev)
		if err := w.event(ev); err != nil {
			return fmt.Errorf("write the export: %w", err)
		}
	}
	err := w.end()
	if err == nil { // else it is the same again
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

// Create opens a file to write to; "" and "-" are standard output. Close it: its
// error says that something is not on the disk.
func Create(path string) (io.WriteCloser, error) {
	if path == "" || path == "-" {
		return standard{os.Stdout}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write the export: %w", err)
	}
	return f, nil
}

// standard is standard output, which stays open.
type standard struct{ io.Writer }

// Close does nothing.
func (standard) Close() error { return nil }
