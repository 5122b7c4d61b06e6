package chart

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas"
)

// tint carries a Role through the drawing kit, which knows only colours.
type tint Role

// RGBA makes a tint a color.Color. Nothing reads it.
func (t tint) RGBA() (r, g, b, a uint32) { return 0, 0, 0, 0xffff }

var _ color.Color = tint(0)

// style is a kit style that stands for a role.
func style(r Role) lipgloss.Style { return lipgloss.NewStyle().Foreground(tint(r)) }

// onKit lets draw work on a canvas of the size of the area, and copies what it
// drew into the area. The kit panics on a size of 0, so nothing is drawn then.
func onKit(a Area, draw func(m *canvas.Model)) {
	w, h := a.W(), a.H()
	if w <= 0 || h <= 0 {
		return
	}
	m := canvas.New(w, h)
	draw(&m)
	for y := range h {
		for x := range w {
			c := m.Cell(canvas.Point{X: x, Y: y})
			if c.Rune == 0 || c.Rune == ' ' {
				continue
			}
			role := Plain
			if t, ok := c.Style.GetForeground().(tint); ok {
				role = Role(t)
			}
			a.Set(x, y, c.Rune, role)
		}
	}
}
