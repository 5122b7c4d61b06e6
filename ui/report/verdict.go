package report

import (
	"fmt"
	"strings"

	"teapot/probe/event"
	"teapot/stats"
)

// Exit codes that a Snapshot can justify.
const (
	ExitOK     = 0
	ExitFailed = 1 // an endpoint never answered
	ExitMissed = 3 // a service level was missed in a run that completed
)

// Verdict is the exit code of a run and, unless it is ExitOK, one line that
// says why: ExitFailed when an endpoint never answered, that is when not one of
// its requests was ok and there were failures, or the probe gave up; ExitMissed
// when the run completed and a service level or the error rate was missed.
func Verdict(s *stats.Snapshot) (code int, why string) {
	for _, t := range s.Targets {
		if r := &t.Session.Requests; r.OK == 0 && r.Failed > 0 {
			return ExitFailed, unanswered(t)
		}
	}
	if s.Finished != nil && s.Finished.Reason == "never answered" {
		if len(s.Targets) > 0 {
			return ExitFailed, unanswered(s.Targets[0])
		}
		return ExitFailed, "no endpoint answered"
	}
	if !Complete(s) {
		return ExitOK, ""
	}
	var missed []string
	for _, t := range s.Targets {
		for _, r := range t.Session.SLO {
			if !r.OK && !r.NoData {
				missed = append(missed, fmt.Sprintf("%s missed %s", name(t), sloShare(&t.Session, &r)))
			}
		}
	}
	if len(missed) > 0 {
		return ExitMissed, strings.Join(missed, "; ")
	}
	return ExitOK, ""
}

// unanswered says of an endpoint that never answered what it did instead.
func unanswered(t *stats.Target) string {
	line := name(t) + " never answered"
	if t.Session.OutputTokens > 0 && t.Session.Requests.Failed > 0 { // it spoke, and never to the end
		line = name(t) + " never answered in full"
	}
	if c := classes(t.Session.Requests.ByClass); c != "" {
		line += " (" + c + ")"
	}
	switch {
	case t.Info.State == event.StateDone && t.Info.Detail != "": // it was waited for to the end
		line += ": " + clean(t.Info.Detail)
	case t.LastError != "":
		line += ": " + clean(t.LastError)
	case t.Info.Detail != "":
		line += ": " + clean(t.Info.Detail)
	}
	return line
}
