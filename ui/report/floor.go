package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// floorFact is what this client added itself, what it left out because of it,
// and which percentiles may be called the server's all the same.
func floorFact(s *stats.Snapshot, t *stats.Target) fact {
	l, f := &s.Floor, &t.Session
	x := fact{"This client", []string{stampLine(s), leftOut(l, f) + fmt.Sprintf("; %s over 10 ms, worst oversleep %s",
		plural(l.HostStalls, "host stall"), format.Dur(l.SessionOvershoot))}}
	add := func(when bool, line string) {
		if when {
			x.lines = append(x.lines, line)
		}
	}
	x.lines = append(x.lines, believed(l, f)...)
	late := plural(f.Tardy, "gap") + " in large part ours, because read late"
	if f.Excluded > 0 {
		late += fmt.Sprintf("; %s of them left out: n %s without, %s with",
			format.Full(f.Excluded), format.Full(f.Gap.N), format.Full(f.Gap.N+f.Excluded))
	}
	add(f.Tardy > 0, late)
	add(f.TTFT.Censored+f.Gap.Censored > 0, fmt.Sprintf("%s and %s ended by a limit: at least that long",
		plural(f.TTFT.Censored, "first token"), plural(f.Gap.Censored, "gap")))
	add(f.Transport.Count > 0, fmt.Sprintf("%s of new connections (their window was full) left out, the longest %s",
		plural(f.Transport.Count, "stop"), format.Dur(f.Transport.Longest)))
	add(l.Suspensions > 0, fmt.Sprintf("not running %s in all: suspended or stopped %s", format.Dur(l.Suspended), times(l.Suspensions)))
	add(l.ClockSteps > 0, "the wall clock was set "+times(l.ClockSteps)+": no figure depends on it")
	add(l.DroppedEvents > 0, plural(l.DroppedEvents, "event")+" dropped: the figures lack them")
	add(l.DroppedTexts > 0, plural(l.DroppedTexts, "text")+" of tokens dropped: no figure needs them")
	probe := probeLine(s, t)
	add(probe != "", probe)
	return x
}

// probeLine is the state of the process that measures, as far as it is known.
func probeLine(s *stats.Snapshot, t *stats.Target) string {
	var parts []string
	if t.RTT > 0 {
		parts = append(parts, fmt.Sprintf("round trip %s ms, least %s ms", format.MSFine(t.RTT), format.MSFine(t.RTTMin)))
	}
	if s.Floor.RSS > 0 {
		parts = append(parts, fmt.Sprintf("the probe at nice %d, %.1f MB, %s", s.Session.Priority,
			float64(s.Floor.RSS)/(1<<20), plural(s.Floor.GC, "collection")))
	}
	return strings.Join(parts, "; ")
}

// maxShifts bounds the changes of level that a report lists.
const maxShifts = 5

// levelFact lists the lasting changes of the level of the gaps, newest last.
func levelFact(t *stats.Target) (fact, bool) {
	x := fact{label: "Level"}
	newest := t.Shifts[max(len(t.Shifts)-maxShifts, 0):]
	if n := len(t.Shifts) - len(newest); n > 0 {
		x.lines = append(x.lines, plural(uint64(n), "change")+" before these")
	}
	for _, c := range newest {
		x.lines = append(x.lines, fmt.Sprintf("after %s the gaps changed for good: %s → %s ms",
			format.Age(time.Duration(c.Since)), format.MSFine(c.From), format.MSFine(c.To)))
	}
	return x, len(newest) > 0
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return format.Full(n) + " times"
}

func stampLine(s *stats.Snapshot) string {
	l := &s.Floor
	line := "stamped by " + cmp.Or(clean(source(s)), "nobody yet")
	switch source(s) {
	case event.SourceKernel:
		line = "stamped by the kernel"
	case event.SourceRead:
		line = "stamped at our read, not by the kernel"
	}
	if l.KernelStreams > 0 && l.ReadStreams > 0 {
		line += fmt.Sprintf(" (%s of %s at our read)", format.Full(l.ReadStreams), plural(l.KernelStreams+l.ReadStreams, "stream"))
	}
	if l.LateMax > 0 {
		line += fmt.Sprintf(", read late by p50 %s ms, p99 %s ms, max %s ms in the last minute; %s late by 1 ms or more",
			format.MSFine(l.LateP50), format.MSFine(l.LateP99), format.MSFine(l.LateMax), plural(l.LateReads, "read"))
	}
	return line
}

// leftOut says what no percentile holds, because we read it too late.
func leftOut(l *stats.Floor, f *stats.Figures) string {
	if f.Merged == 0 && f.MergedTTFT == 0 {
		return "no gap was merged by us"
	}
	left := fmt.Sprintf("%s of ours (%s in all)", plural(f.Merged, "merged gap"), format.Dur(f.MergedSum))
	if f.MergedTTFT > 0 {
		left += " and " + plural(f.MergedTTFT, "first token")
	}
	left += " left out of the percentiles"
	if l.MergedReads > 0 {
		left += fmt.Sprintf(" (%s in %s)", plural(l.Merged, "event"), plural(l.MergedReads, "read"))
	}
	return left
}

// believed says which percentiles are the server's: those that are ten times
// what this client adds, and more.
func believed(l *stats.Floor, f *stats.Figures) []string {
	if l.SessionP99 == 0 {
		return nil
	}
	part := "p99 " + format.MSFine(l.SessionP99) + " ms"
	var whole, lines []string
	for _, x := range []struct {
		name string
		f    *stats.Figure
	}{{"gap", &f.Gap}, {"ttft", &f.TTFT}} {
		switch ours, theirs := sides(x.f); {
		case len(ours) > 0 && len(theirs) > 0:
			lines = append(lines, "a tenth or more of the "+x.name+"'s "+strings.Join(ours, ", ")+" may be ours (our own "+part+
				"); the server's: "+strings.Join(theirs, ", "))
		case len(ours) > 0:
			lines = append(lines, "a tenth or more of the "+x.name+"'s "+strings.Join(ours, ", ")+" may be ours (our own "+part+")")
		case len(theirs) > 0:
			whole = append(whole, x.name)
		}
	}
	if len(whole) > 0 {
		lines = append([]string{"every " + strings.Join(whole, " and ") + " percentile shown is the server's: ten times our own part (" + part + ") or more"}, lines...)
	}
	return lines
}

// sides names the percentiles of which a tenth or more may be ours, and those
// that are the server's.
func sides(f *stats.Figure) (ours, theirs []string) {
	for i, q := range f.Q {
		switch {
		case f.N == 0 || q.Mark == stats.MarkNone:
		case q.Ours:
			ours = append(ours, quantileNames[i])
		default:
			theirs = append(theirs, quantileNames[i])
		}
	}
	return ours, theirs
}
