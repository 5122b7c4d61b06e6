package chart

import (
	"math"

	"teapot/stats"
)

// Span is the stretch of time that the columns of a chart cover.
type Span struct {
	Start int64 // ns, beginning of the first column
	Width int64 // ns per column
	N     int   // columns
}

// SpanOf is the span of these columns.
func SpanOf(cols []stats.Column, width int64) Span {
	if len(cols) == 0 || width <= 0 {
		return Span{Width: max(width, 1)}
	}
	return Span{Start: cols[0].Start, Width: width, N: len(cols)}
}

// Column is the column that holds an instant; false outside of the span.
func (s Span) Column(at int64) (int, bool) {
	if at < s.Start || s.Width <= 0 {
		return 0, false
	}
	i := (at - s.Start) / s.Width
	return int(min(i, math.MaxInt32)), i < int64(s.N)
}

// Dots draws a dot per request, its time to first token upwards; two and more
// in one cell are a bigger dot. A timeout is × at the top with a line down to
// the axis: it took longer than anything that can be drawn.
func Dots(a Area, dots []stats.Dot, span Span, axis Log, limit int64) {
	x0, h := a.W()-span.N, a.H()
	if h <= 0 {
		return
	}
	for i := range dots {
		d := &dots[i]
		x, ok := span.Column(d.At)
		if !ok || !d.Timeout {
			continue
		}
		for y := 1; y < h; y++ {
			a.Set(x0+x, y, '┊', Bad)
		}
		a.Set(x0+x, 0, '×', Bad)
	}
	for i := range dots {
		d := &dots[i]
		x, ok := span.Column(d.At)
		if !ok || d.Timeout || d.TTFT <= 0 || d.Class.Failed() {
			continue
		}
		y := axis.Row(float64(d.TTFT), h)
		r, role := '•', Dot
		if was := a.Cell(x0+x, y).Rune; was == '•' || was == '●' {
			r = '●'
		}
		switch {
		case d.Warmup:
			r, role = '◦', Dim
		case limit > 0 && d.TTFT > limit:
			role = Bad
		}
		if y == 0 && a.Cell(x0+x, 0).Rune == '×' {
			continue
		}
		a.Set(x0+x, y, r, role)
	}
}

// DotRange is the least and the greatest time to first token in the span, ns;
// 0, 0 when there was none.
func DotRange(dots []stats.Dot, span Span) (lo, hi float64) {
	for i := range dots {
		d := &dots[i]
		if _, ok := span.Column(d.At); !ok || d.Timeout || d.TTFT <= 0 || d.Class.Failed() {
			continue
		}
		v := float64(d.TTFT)
		if lo == 0 || v < lo {
			lo = v
		}
		hi = max(hi, v)
	}
	return lo, hi
}

// laneRank orders what wins a column of the lane when several things happened.
var laneRank = [...]int{
	stats.LaneMark: 7, stats.LaneError: 5, stats.LaneHostStall: 3, stats.LaneRestart: 6,
	stats.LaneDown: 6, stats.LaneDropped: 4, stats.LaneSetting: 2,
	stats.LaneShift: 5, stats.LaneSuspended: 6, stats.LaneClock: 1,
	stats.LanePreempted: 4,
}

// Lane draws what happened beside the tokens, on the time axis of the charts:
// marks as their letters, errors ×, host stalls ▼, a target that went away ↓ or
// came back ↑, dropped events !, a level that changed ~, a probe that was not
// running z, a wall clock that was set c, changed settings s, preemptions p.
func Lane(a Area, lane []stats.LaneEvent, span Span, target uint32) {
	best := make([]int, max(span.N, 0))
	for i := range lane {
		e := &lane[i]
		x, ok := span.Column(e.At)
		if !ok || int(e.Kind) >= len(laneRank) || Foreign(e, target) || laneRank[e.Kind] < best[x] {
			continue
		}
		best[x] = laneRank[e.Kind]
		r, role := LaneGlyph(e)
		a.Set(a.W()-span.N+x, 0, r, role)
	}
}

// Foreign tells whether an event belongs to another target than the one shown.
func Foreign(e *stats.LaneEvent, target uint32) bool {
	switch e.Kind {
	case stats.LaneError, stats.LaneRestart, stats.LaneDown, stats.LaneShift, stats.LanePreempted:
		return e.Target != target
	}
	return false
}

// LaneGlyph is the sign of an event on the lane, and its role.
func LaneGlyph(e *stats.LaneEvent) (rune, Role) {
	switch e.Kind {
	case stats.LaneMark:
		if e.Letter > 0x20 && e.Letter < 0x7f {
			return rune(e.Letter), MarkRole
		}
		return '?', MarkRole
	case stats.LaneError:
		return '×', Bad
	case stats.LaneHostStall:
		return '▼', Ours
	case stats.LaneRestart:
		return '↑', Good
	case stats.LaneDown:
		return '↓', Bad
	case stats.LaneDropped:
		return '!', Warn
	case stats.LaneShift:
		return '~', Warn
	case stats.LaneSuspended:
		return 'z', Ours
	case stats.LanePreempted:
		return 'p', Warn
	case stats.LaneClock:
		return 'c', Dim
	}
	return 's', Info
}
