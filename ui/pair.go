package ui

import (
	"slices"

	"teapot/ui/chart"
)

// Two targets stand side by side, in the views that are about what happens now:
// each half is the whole screen of one of them, at half the width, on axes that
// they share, and below both stands what differs.

// side is which of two targets is shown.
type side uint8

const (
	bothSides side = iota
	firstSide
	secondSide
)

// The smallest screen that two targets share.
const (
	pairW = 100
	pairH = 20
)

// pair is what is kept from frame to frame while two targets are on screen.
type pair struct {
	side   side
	on     bool // both were drawn last
	halves [2]half
	axes   *axes  // that both are drawn on
	common *shape // of the half that is being drawn, nil outside of one
}

// half is one target's part of the screen.
type half struct {
	grid *chart.Grid
	plan plan
}

// splits tells whether the view can show two targets at once, and there are two.
func (m *model) splits() bool {
	return len(m.snap.Targets) == 2 && m.snap.Targets[0] != nil && m.snap.Targets[1] != nil && !m.snap.Load.Passive &&
		(m.view == overview || m.view == words) && m.open == 0 && m.w >= pairW && m.h >= pairH
}

// paired tells whether two targets are shown now.
func (m *model) paired() bool { return m.pair.side == bothSides && m.splits() }

// nextSide goes from both targets to the first and to the second; where both
// cannot be shown, from one to the other. It is false without two targets.
func (m *model) nextSide() bool {
	if len(m.snap.Targets) != 2 {
		return false
	}
	switch {
	case m.splits():
		m.pair.side = (m.pair.side + 1) % 3
	case m.target == 0:
		m.pair.side = secondSide
	default:
		m.pair.side = firstSide
	}
	m.target = 0
	if m.pair.side == secondSide {
		m.target = 1
	}
	m.help, m.open = false, 0
	m.dirty = dirtyAll
	return true
}

// drawPair draws both targets, and what differs.
func (m *model) drawPair() {
	m.target = 0
	foot := pairFoot(m.h)
	if m.grid == nil || m.grid.W != m.w || m.grid.H != m.h || m.dirty&dirtyLayout != 0 {
		m.grid = chart.NewGrid(m.w, m.h)
		m.dirty, m.pair.halves = dirtyAll, [2]half{}
	}
	left := (m.w - 2) / 2
	widths := [2]int{left, left} // of the same width, so that as much fits into both
	// One shape for both, so that what belongs together stands at one height.
	common := m.half(0, widths[0], foot).shape()
	other := m.half(1, widths[1], foot).shape()
	common.streams, common.compared = max(common.streams, other.streams), common.compared || other.compared
	common.strips, common.told = max(common.strips, other.strips), max(common.told, other.told)
	m.pair.common = &common
	if m.dirty&dirtyCharts != 0 {
		m.fitPair(widths, foot)
	}
	x := 0
	for i, w := range widths {
		sub := m.half(i, w, foot)
		shared := *m.pair.axes
		sub.axes = map[uint32]*axes{sub.shown().Info.ID: &shared}
		sub.draw()
		m.pair.halves[i] = half{sub.grid, sub.plan}
		if i == 0 {
			m.plan, m.cursor = sub.plan, sub.cursor
		}
		blit(m.grid, sub.grid, x, m.h-foot)
		x += w + 1
	}
	m.pair.common = nil
	if m.dirty&dirtyNumbers != 0 {
		m.drawFoot(left, foot)
	}
	m.dirty = 0
}

// half is a model of one target alone, on a screen of its own whose last row,
// that of the keys, is not shown. What it draws into is kept from frame to frame.
func (m *model) half(i, w, foot int) *model {
	sub := *m
	sub.target, sub.w, sub.h, sub.help, sub.pair.side = i, w+1, m.h-foot+1, false, firstSide+side(i)
	sub.grid, sub.plan = m.pair.halves[i].grid, m.pair.halves[i].plan
	return &sub
}

// fitPair brings the axes up to date with what both targets show.
func (m *model) fitPair(widths [2]int, foot int) {
	if m.pair.axes == nil {
		m.pair.axes = &axes{}
	}
	var frames [2]*frame
	rows := 0
	for i, w := range widths {
		sub := m.half(i, w, foot)
		sub.axes = map[uint32]*axes{}
		sub.plan = layout(sub.w, sub.h, sub.view, sub.shape())
		rows = max(sub.plan.heat.Dy()-1, 0)
		frames[i] = sub.frameFor()
	}
	all, t := *frames[0], *frames[0].t
	all.cols = slices.Concat(frames[0].cols, frames[1].cols)
	t.Dots = slices.Concat(frames[0].t.Dots, frames[1].t.Dots)
	all.t, all.axes = &t, m.pair.axes
	m.pair.axes.fit(&all, rows)
	if lo, hi := chart.CurveRange(append(curves(frames[0]), curves(frames[1])...)...); lo > 0 {
		m.pair.axes.curve = m.pair.axes.curve.Fit(lo, hi, all.end)
	}
}

// blit copies the first rows of a grid into another one, from column x on.
func blit(to, from *chart.Grid, x, rows int) {
	for y := range min(rows, from.H) {
		for i := range from.W - 1 {
			to.Put(x+i, y, from.At(i, y))
		}
	}
}

// drawFoot draws the line between the halves, what differs, and the keys.
func (m *model) drawFoot(left, foot int) {
	all := m.grid.All()
	all.Sub(left, 0, 1, m.h-foot).Fill('│', chart.Rule)
	fr := m.frameFor()
	a := all.Sub(0, m.h-foot, m.w-1, foot-1)
	a.Clear()
	drawAgainst(a, m.snap.Targets[0], m.snap.Targets[1], m.window)
	keys := all.Sub(0, m.h-1, m.w-1, 1)
	keys.Clear()
	m.drawBottom(keys, fr)
}
