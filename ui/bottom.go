package ui

import (
	"strings"

	"teapot/ui/chart"
)

// drawBottom draws the bottom row: a filter that is typed, a message or a
// question, what is chosen, or the keys.
func (m *model) drawBottom(a chart.Area, fr *frame) {
	charts := m.open == 0 && m.plan.plotW > 0
	switch {
	case m.list.typing:
		drawPrompt(a, &m.list)
	case m.message != "":
		drawKeys(a, &m.keys, fr, m.message, m.messageRole())
	case charts && fr.spike != nil && m.plan.health.Empty():
		drawParts(a, spikeLine(fr, fr.spike, fr.spikeAt), -1)
	case charts && fr.cursorColumn() >= 0:
		drawParts(a, readout(fr), -1)
	default:
		drawKeys(a, &m.keys, fr, "", chart.Plain)
	}
}

// drawChosen is the row above it in the wide layout while a spike is chosen.
func drawChosen(a chart.Area, fr *frame) {
	x := a.Text(0, 0, fr.spikeAt+" ", chart.Dim)
	x = a.Text(x, 0, spikeText(fr.spike)+" ", chart.Strong)
	if room := a.W() - x; room > 8 {
		a.Text(x, 0, fitWords(strings.Join(evidence(fr, fr.spike), dot), room), chart.Plain)
	}
}
