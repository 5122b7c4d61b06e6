package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/ui/chart"
)

// cursor is a place on the time axis that somebody looks at. It stands at an
// instant, not in a column: it goes to the left with its time, at every zoom.
type cursor struct {
	on bool
	at int64
	// end is the newest instant that the charts show, 0 while they follow the
	// time. They stop following when the cursor would leave them on the left.
	end int64
}

// leap is how many columns shift and an arrow go.
const leap = 10

// moveCursor takes the keys of the time axis; false for any other key, and in
// views without that axis.
func (m *model) moveCursor(k tea.KeyPressMsg) bool {
	by := int64(0)
	switch {
	case key.Matches(k, m.keys.left):
		by = -1
	case key.Matches(k, m.keys.right):
		by = 1
	case key.Matches(k, m.keys.farLeft):
		by = -leap
	case key.Matches(k, m.keys.farRight):
		by = leap
	case !key.Matches(k, m.keys.home, m.keys.end):
		return false
	}
	n := int64(m.plan.plotW)
	if n <= 0 {
		return false
	}
	m.message = ""
	if key.Matches(k, m.keys.end) {
		m.live()
		return true
	}
	z, last := m.zoomNS(), m.lastColumn()
	col := last
	if m.cursor.on {
		col = m.cursor.at / z
	}
	switch {
	case key.Matches(k, m.keys.home):
		first := last - n + 1
		if m.cursor.on && col <= first {
			first -= n / 2 // once more: further back
		}
		col = first
	case m.cursor.on:
		col += by
	}
	m.spike = spikeKey{}
	m.put(min(max(col, 0), m.liveColumn()) * z)
	return true
}

// live takes the cursor away, and lets the charts follow the time again.
func (m *model) live() {
	m.cursor, m.spike = cursor{}, spikeKey{}
	m.dirty |= dirtyNumbers | dirtyCharts
}

// put sets the cursor to an instant, and moves the charts there if they do not
// show it.
func (m *model) put(at int64) {
	m.cursor.on, m.cursor.at = true, max(at, 0)
	m.dirty |= dirtyNumbers | dirtyCharts
	z, n := m.zoomNS(), int64(m.plan.plotW)
	if n <= 0 {
		return
	}
	col, last := m.cursor.at/z, m.lastColumn()
	switch {
	case col > last:
		last = col + n/4
	case col <= last-n:
		last = col + n - 1 - n/4
	}
	if m.cursor.end = (last+1)*z - 1; last >= m.liveColumn() {
		m.cursor.end = 0
	}
}

// liveColumn is the number of the newest column, and lastColumn that of the
// newest one shown.
func (m *model) liveColumn() int64 {
	z := m.zoomNS()
	return (max(m.snap.Now/1e9*1e9, z) - 1) / z
}

func (m *model) lastColumn() int64 {
	if m.cursor.end > 0 {
		return min(m.cursor.end/m.zoomNS(), m.liveColumn())
	}
	return m.liveColumn()
}

// hold keeps a cursor in view that time would carry off the left edge.
func (m *model) hold() {
	if !m.cursor.on || m.plan.plotW <= 0 {
		return
	}
	z, n := m.zoomNS(), int64(m.plan.plotW)
	if first := m.lastColumn() - n + 1; m.cursor.at/z < first {
		m.cursor.end = (m.cursor.at/z+n)*z - 1
	}
}

// cursorColumn is the column of the charts under the cursor, −1 for none.
func (fr *frame) cursorColumn() int {
	if !fr.cursor.on {
		return -1
	}
	x, ok := fr.span.Column(fr.cursor.at)
	if !ok {
		return -1
	}
	return x
}

// drawCursor draws the line of the cursor through a plot: what stands there is
// shown reversed, and blanks as a line.
func drawCursor(a chart.Area, fr *frame) {
	x := fr.cursorColumn()
	if x < 0 {
		return
	}
	x += a.W() - fr.span.N
	for y := range a.H() {
		c := a.Cell(x, y)
		if c.Rune <= ' ' {
			a.Set(x, y, '┊', chart.Info)
		} else if c.Rune >= '▁' && c.Rune <= '▓' || c.Rune == '#' {
			a.Set(x, y, c.Rune, chart.Info|chart.Bold) // turned round, a bar would be a hole
		} else {
			a.Set(x, y, c.Rune, c.Role|chart.Reverse)
		}
	}
}
