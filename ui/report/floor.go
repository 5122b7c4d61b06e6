package report

import (
	"cmp"
	"fmt"
	"strings"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// floorFact is what this client added itself, what it left out because of it,
// and which percentiles may be called the server's all the same.
func floorFact(s *stats.Snapshot, f *stats.Figures) fact {
	l := &s.Floor
	lines := []string{stampLine(s), leftOut(f) + fmt.Sprintf("; %s over 10 ms, worst oversleep %s",
		plural(l.HostStalls, "host stall"), format.Dur(l.SessionOvershoot))}
	if line := believed(l, f); line != "" {
		lines = append(lines, line)
	}
	if f.Tardy > 0 {
		line := plural(f.Tardy, "gap") + " in large part ours, because read late"
		if f.Excluded > 0 {
			line += fmt.Sprintf("; %s of them left out: n %s without, %s with",
				format.Full(f.Excluded), format.Full(f.Gap.N), format.Full(f.Gap.N+f.Excluded))
		}
		lines = append(lines, line)
	}
	if f.Transport.Count > 0 {
		lines = append(lines, fmt.Sprintf("%s of new connections (their window was full) left out, the longest %s",
			plural(f.Transport.Count, "stop"), format.Dur(f.Transport.Longest)))
	}
	if l.Suspensions > 0 {
		lines = append(lines, fmt.Sprintf("not running %s in all: suspended or stopped %s", format.Dur(l.Suspended), times(l.Suspensions)))
	}
	if l.DroppedEvents > 0 {
		lines = append(lines, format.Full(l.DroppedEvents)+" events were dropped: the figures lack them")
	}
	return fact{"This client", lines}
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
		line += fmt.Sprintf(", read late by p50 %s ms, p99 %s ms, max %s ms",
			format.MSFine(l.LateP50), format.MSFine(l.LateP99), format.MSFine(l.LateMax))
	}
	return line
}

// leftOut says what no percentile holds, because we read it too late.
func leftOut(f *stats.Figures) string {
	if f.Merged == 0 && f.MergedTTFT == 0 {
		return "no gap was merged by us"
	}
	left := fmt.Sprintf("%s of ours (%s in all)", plural(f.Merged, "merged gap"), format.Dur(f.MergedSum))
	if f.MergedTTFT > 0 {
		left += " and " + plural(f.MergedTTFT, "first token")
	}
	return left + " left out of the percentiles"
}

// believed says which percentiles of the gaps are the server's: those that are
// ten times what this client adds, and more.
func believed(l *stats.Floor, f *stats.Figures) string {
	var ours []string
	for i, q := range f.Gap.Q {
		if q.Mark != stats.MarkNone && q.Ours {
			ours = append(ours, quantileNames[i])
		}
	}
	switch {
	case f.Gap.N == 0 || l.SessionP99 == 0:
		return ""
	case len(ours) == 0:
		return "every gap percentile shown is the server's: ten times our own part (p99 " + format.MSFine(l.SessionP99) + " ms) or more"
	}
	return "a tenth or more of the gaps' " + strings.Join(ours, ", ") + " may be ours (our own p99 " + format.MSFine(l.SessionP99) + " ms)"
}
