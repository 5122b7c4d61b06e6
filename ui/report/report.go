// Package report writes what a run measured, at its end: a Snapshot as text,
// as Markdown and as JSON, the short table a closed screen leaves behind, and
// the exit code that follows.
//
// Its horizon is the whole run. It must not compute a statistic: what a
// Snapshot does not hold, no report says. Times are milliseconds everywhere.
// Nothing undefined is written as a number, no secret is written at all, and
// text of servers and models is cleaned first.
package report

import (
	"fmt"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// Options says what is known of a run beside its Snapshot, and how to write.
type Options struct {
	ASCII  bool          // bytes below 0x80 alone, in Text
	Limits *event.Limits // the timers of the requests, where the Snapshot does not know them; nil when unknown
}

// reader is stats.Read, or a stand-in for it.
type reader func(*stats.Target, *stats.Figures) []stats.Sentence

// Complete tells whether the run reached its limit and all of it is there.
// Only a complete run judges service levels.
func Complete(s *stats.Snapshot) bool {
	return s.Finished != nil && s.Finished.Complete && s.Damaged == ""
}

// name is the URL of an endpoint as it may be shown.
func name(t *stats.Target) string { return format.Clean(format.Redact(t.Info.URL)) }

// Render writes the report in a form by its name: "text", "markdown" or "json";
// "none" is empty.
func Render(s *stats.Snapshot, form string, o Options) (string, error) {
	switch form {
	case "text":
		return Text(s, o), nil
	case "markdown":
		return Markdown(s, o), nil
	case "json":
		b, err := JSON(s, o)
		return string(b), err
	case "none":
		return "", nil
	}
	return "", fmt.Errorf("there is no report as %q", form)
}
