package ui

import (
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// readout is what the column under the cursor holds, in the order in which it
// matters. Each part is whole or is not there.
func readout(fr *frame) []part {
	x := fr.cursorColumn()
	if x < 0 || x >= len(fr.cols) {
		return nil
	}
	c := &fr.cols[x]
	out := []part{
		{text: fr.clock(c.Start), role: chart.Strong, rank: 0},
		{text: "-" + format.Dur(max(fr.s.Now-c.Start, 0)/1e9*1e9), role: chart.Dim, rank: 3},
	}
	add := func(rank int, role chart.Role, text string) {
		out = append(out, part{text: text, role: role, rank: rank})
	}
	if c.Gap.N > 0 {
		add(0, fr.lim.Column(c.Gap.Max), "gap max "+format.Dur(c.Gap.Max))
		add(5, chart.Dim, "n "+format.Count(c.Gap.N))
	} else {
		add(0, chart.Dim, "no gap")
	}
	if c.Ours.N > 0 {
		add(2, chart.Ours, "□ "+format.Dur(c.Ours.Max)+" not the server's")
	}
	if c.Late.N > 0 {
		add(2, chart.Ours, "◇ "+format.Dur(c.Late.Max)+" read late")
	}
	if c.TTFT.N > 0 {
		add(1, chart.Plain, "ttft "+format.Dur(c.TTFT.Max))
	}
	if c.Timeouts > 0 {
		add(1, chart.Bad, "× timeouts "+format.Count(c.Timeouts))
	}
	if c.Errors > 0 {
		add(1, chart.Bad, "× errors "+format.Count(c.Errors))
	}
	add(2, chart.Plain, format.Rate(chart.PerSecond(c.Tokens, fr.zoom))+" tok/s")
	if s := stripsAt(fr, x); len(s) > 0 {
		add(3, chart.Info, strings.Join(s, " "))
	}
	for _, e := range laneIn(fr, c.Start, c.Start+fr.zoom) {
		e.rank = 3
		out = append(out, e)
	}
	if s := spikesIn(fr.t, c.Start, c.Start+fr.zoom); len(s) > 0 {
		add(1, chart.Info, spikeText(&s[0]))
		if s[0].Why != nil {
			add(2, chart.Info, verdict(s[0].Why))
		}
		if s[0].Request != 0 {
			add(4, chart.Dim, "enter opens #"+strconv.FormatUint(s[0].Request, 10))
		}
	}
	return out
}

// laneMost is how many events of the lane one column names.
const laneMost = 8

// laneIn are the events of the lane within a span of time, with their words.
func laneIn(fr *frame, from, to int64) []part {
	var out []part
	for i := range fr.s.Lane {
		e := &fr.s.Lane[i]
		if e.At < from || e.At >= to || chart.Foreign(e, fr.t.Info.ID) || len(out) >= laneMost {
			continue
		}
		r, role := chart.LaneGlyph(e)
		text := laneWords[min(int(e.Kind), len(laneWords)-1)]
		if e.Text != "" {
			text = labelURL(e.Text)
			if e.Kind == stats.LaneHostStall {
				text = "this host stalled " + text
			}
		}
		out = append(out, part{text: string(r) + " " + cut(text, 48), role: role})
	}
	return out
}

// laneWords say what a sign of the lane means where the event has no text.
var laneWords = [...]string{
	stats.LaneMark: "mark", stats.LaneError: "error", stats.LaneHostStall: "this host stalled", stats.LaneRestart: "back",
	stats.LaneDown: "down", stats.LaneDropped: "events dropped", stats.LaneSetting: "setting changed",
	stats.LaneShift: "the level of the gaps changed", stats.LaneSuspended: "this probe was not running",
	stats.LaneClock: "the wall clock was set", stats.LanePreempted: "the server preempted requests",
}
