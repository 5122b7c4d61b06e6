package ui

import (
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// chartGutter is the width of the labels left of every chart.
const chartGutter = chart.Gutter

// frame is what the panes read while they draw. It is made anew for every
// drawing and holds nothing that changes under it.
type frame struct {
	s        *stats.Snapshot
	t        *stats.Target  // never nil
	f        *stats.Figures // of the window shown
	window   int            // index into stats.Windows
	which    int            // index of the target
	zoom     int64          // ns per chart column
	end      int64          // the newest instant the charts show
	cols     []stats.Column
	span     chart.Span
	lim      chart.Limits
	over     int64 // the service level of gaps, or where they are felt, ns
	back     int64 // how far the charts stay behind the newest column, ns
	cursor   cursor
	spike    *stats.Spike // the chosen one, nil for none
	spikeAt  string
	straight bool
	compared *comparison // nil for none
	glyphs   chart.Glyphs
	axes     *axes
	text     bool          // show the words of a stream
	age      time.Duration // since the viewer last saw anything new
	ended    string        // how the probe ended, "" while it runs
	scene    Scene         // of the demo
	staged   bool          // there are scenes
	played   *played       // of a replay, nil for a measurement
	frozen   *frozen       // nil while live
	stop     bool          // the operator asked to quit
	rate     int64         // bytes per second written to the terminal
}

// frozen is a view held still.
type frozen struct {
	for_    time.Duration
	samples uint64 // new gaps and first tokens since
}

// axes is the memory of the charts' axes.
type axes struct {
	gap, ttft, curve chart.Log
	speed            chart.Linear
	heat             chart.HeatPlan
}

// staleAfter is how long nothing new may come before the screen says so. The
// probe's heartbeat is ten a second.
const staleAfter = 2 * time.Second

// old tells whether the figures are of the past: nothing new comes, or the
// target is down. They are drawn dimmed then, and the badge says why.
func (fr *frame) old() bool {
	return fr.frozen == nil && (fr.age >= staleAfter || fr.state() == event.StateDown || fr.ended != "")
}

// noTarget stands in before the first target is announced.
func noTarget() *stats.Target {
	return &stats.Target{Info: event.Target{State: event.StateConnecting}}
}

// columns returns n columns of the target's series up to the instant end.
func columns(t *stats.Target, end, width int64, n int) []stats.Column {
	if t.Series == nil || n <= 0 || width <= 0 {
		return nil
	}
	return t.Series.Columns(end, width, n)
}

// Without a service level for gaps they are coloured by what a person feels: up
// to 100 ms an answer seems instant, beyond 400 ms it visibly stops.
const (
	feltInstant = int64(100e6)
	feltStop    = int64(400e6)
)

// limits are the thresholds that colour a gap: four fifths of the service level
// and the level itself, or what a person feels.
func limits(f *stats.Figures) chart.Limits {
	if l := limitOf(f, "gap"); l > 0 {
		return chart.Limits{Warn: l / 5 * 4, Bad: l}
	}
	return chart.Limits{Warn: feltInstant, Bad: feltStop}
}

// limitOf is the strictest service level of a metric, ns; 0 when there is none.
func limitOf(f *stats.Figures, metric string) int64 {
	least := int64(0)
	for i := range f.SLO {
		if r := &f.SLO[i]; r.Metric == metric && r.Limit > 0 && (least == 0 || r.Limit < least) {
			least = r.Limit
		}
	}
	return least
}

// fit updates the axes for what is about to be drawn.
func (a *axes) fit(fr *frame, heatRows int) {
	at := fr.end
	a.gap.Straight, a.ttft.Straight = fr.straight, fr.straight
	lo, hi := chart.GapRange(fr.cols)
	if lo == 0 { // nothing yet: show where gaps usually are
		lo, hi = 8e6, 1e9
		if a.gap.Known() {
			lo, hi = a.gap.Lo*1.7, a.gap.Hi
		}
	}
	a.gap = a.gap.Fit(lo, hi, at)
	lo, hi = chart.DotRange(fr.t.Dots, fr.span)
	if lo == 0 {
		lo, hi = 80e6, 1e9
		if a.ttft.Known() {
			lo, hi = a.ttft.Lo*1.7, a.ttft.Hi
		}
	}
	a.ttft = a.ttft.Fit(lo, hi, at)
	most := 0.0
	for i := range fr.cols {
		most = max(most, chart.PerSecond(fr.cols[i].Tokens, fr.zoom))
	}
	a.speed = a.speed.Fit(most, at)
	if heatRows > 0 {
		a.heat = a.heat.Fit(fr.cols, heatRows, at)
	}
	if lo, hi := chart.CurveRange(curves(fr)...); lo > 0 {
		a.curve = a.curve.Fit(lo, hi, at)
	}
}

// clock is the time of day of a session instant, "" when it is not known.
func (fr *frame) clock(at int64) string {
	if fr.s.Wall.IsZero() {
		return ""
	}
	return fr.s.Wall.Add(time.Duration(at)).Format("15:04:05")
}

// windowName is "10s", "60s", "5m", "15m".
func windowName(i int) string {
	d := stats.Windows[i]
	if d <= time.Minute {
		return format.Count(uint64(d/time.Second)) + "s"
	}
	return format.Count(uint64(d/time.Minute)) + "m"
}
