package ui

import (
	"strings"
	"time"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// lagWorthSaying is how late a request has to be sent for the screen to say so,
// ns.
const lagWorthSaying = int64(5e6)

// drawSLO draws the service levels with their attainment, then what this client
// itself adds: its lateness, the stamp source, host stalls, its bytes.
func drawSLO(a chart.Area, fr *frame) {
	var parts []part
	if fr.scene.Title != "" {
		a = drawScene(a, fr.scene)
	} else if len(fr.f.SLO) > 0 {
		parts = append(parts, part{text: "SLO", role: chart.Head, rank: 0})
		for i := range fr.f.SLO {
			text, role := sloText(&fr.f.SLO[i])
			parts = append(parts, part{text: text, role: role, rank: min(1+i, 5)})
		}
	} else if fr.staged {
		parts = append(parts, part{text: "demo: S goes from scene to scene of what can go wrong", role: chart.Info, rank: 5})
	} else {
		parts = append(parts, part{text: "no SLO set: gaps coloured from 100 and 400 ms", role: chart.Dim, rank: 5})
	}
	fl := &fr.s.Floor
	if fl.LateP99 > 0 {
		parts = append(parts, part{text: "late p99 " + format.Dur(fl.LateP99), role: chart.Plain, rank: 6})
	}
	if fl.Lag >= lagWorthSaying {
		parts = append(parts, part{text: "schedule lag " + format.Dur(fl.Lag), role: chart.Warn, rank: 4})
	}
	if fl.Source != "" {
		parts = append(parts, part{text: label(fl.Source) + " stamps", role: chart.Dim, rank: 7})
	}
	if fl.DroppedEvents > 0 {
		parts = append(parts, part{text: "dropped " + format.Count(fl.DroppedEvents), role: chart.Bad, rank: 2})
	}
	stall := chart.Plain
	if fl.HostStalls > 0 {
		stall = chart.Ours
	}
	parts = append(parts, part{text: "host stall " + format.Count(fl.HostStalls), role: stall, rank: 4})
	if fl.Merged > 0 {
		parts = append(parts, part{text: "merged " + format.Count(fl.Merged), role: chart.Ours, rank: 6})
	}
	if fr.rate > 0 {
		parts = append(parts, part{text: "ui " + format.Count(uint64(fr.rate+999)/1000) + " KB/s", role: chart.Dim, rank: 8})
	}
	drawParts(a, parts, -1)
}

// sloText is one service level: "gap≤50ms 98.6% ✗ goal 99% for 14s", or
// "ttft≤500ms 83/83 ok" when every sample met it.
func sloText(r *stats.SLOResult) (string, chart.Role) {
	expr, _, _ := strings.Cut(r.Expr, ":")
	expr = label(strings.ReplaceAll(expr, "<=", "≤"))
	goal := " goal " + format.Percent(r.Goal)
	switch {
	case r.NoData || r.N == 0:
		return expr + " " + format.None, chart.Dim
	case !r.OK:
		s := expr + " " + format.Percent(r.Attained) + " ✗" + goal
		if r.For > 0 {
			s += " for " + format.Age(time.Duration(r.For))
		}
		return s, chart.Bad
	case r.Met == r.N:
		return expr + " " + format.Count(r.Met) + "/" + format.Count(r.N) + " ok", chart.Good
	}
	return expr + " " + format.Percent(r.Attained) + " ok", chart.Good
}
