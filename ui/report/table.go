package report

import (
	"fmt"
	"strings"
	"time"

	"teapot/stats"
	"teapot/ui/format"
)

// maxTableLines bounds the table that stays in the scrollback.
const maxTableLines = 12

// Table is the short table that stays in the scrollback when a screen closes:
// at most 12 lines of at most 79 columns over the whole session, without an
// escape sequence, ended by a newline. With several endpoints each has fewer
// rows.
func Table(s *stats.Snapshot) string {
	if len(s.Targets) == 0 {
		return "teapot: nothing was measured in " + elapsed(s) + "\n"
	}
	if s.Load.Passive {
		return passiveTable(s)
	}
	lines := []string{tableLine(figureHead)}
	room := maxTableLines - len(lines)
	shown := s.Targets
	if len(shown)*2 > room {
		shown = shown[:(room-1)/2]
	}
	for _, t := range shown {
		block := tableTarget(s, t)
		lines = append(lines, block[:min(len(block), room/len(shown))]...)
	}
	if n := len(s.Targets) - len(shown); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(format.Cut(l, textWidth), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// tableTarget is one endpoint's block, the most important lines first.
func tableTarget(s *stats.Snapshot, t *stats.Target) []string {
	f := &t.Session
	r := &f.Requests
	tail := fmt.Sprintf("  %s  ok %s  err %s", elapsed(s), format.Count(r.OK), format.Count(r.Failed))
	room := textWidth - format.Width(tail)
	who := name(t)
	if model := clean(t.Info.Model); model != "" {
		at := " @ " + who
		who = format.CutMiddle(model, max(12, room-format.Width(at))) + at
	}
	lines := []string{format.Cut(who, room) + tail}
	for _, x := range []struct {
		name string
		f    *stats.Figure
	}{{"gap ms", &f.Gap}, {"ttft ms", &f.TTFT}, {"tpot ms", &f.TPOT}, {"e2e ms", &f.E2E}} {
		lines = append(lines, tableLine(msRow(x.name, x.f)))
	}
	speed := "out " + format.Rate(f.OutputRate) + " tok/s"
	if f.SpeedMedian > 0 {
		speed += ", per stream median " + format.Rate(f.SpeedMedian)
	}
	if f.Stalls.Count > 0 {
		speed += fmt.Sprintf("; %s, longest %s", plural(f.Stalls.Count, "stall"), format.Dur(f.Stalls.Longest))
	}
	lines = append(lines, speed)
	for _, x := range f.SLO {
		if x.NoData || len(lines) >= maxTableLines-2 {
			continue
		}
		line := clean(x.Expr) + ": " + format.Percent(x.Attained)
		if x.Metric == "err" {
			line = clean(x.Expr) + ": " + format.Percent(f.ErrorRate) + " failed"
		}
		switch {
		case Complete(s) && x.OK:
			line += ", met"
		case Complete(s):
			line += ", missed"
		}
		lines = append(lines, line)
	}
	if t.LastError != "" {
		lines = append(lines, "last error "+format.Age(time.Duration(s.Now-t.LastErrorAt))+" ago: "+clean(t.LastError))
	}
	return lines
}

func tableLine(r row) string {
	var b strings.Builder
	writeRow(&b, r)
	return strings.TrimSuffix(b.String(), "\n")
}
