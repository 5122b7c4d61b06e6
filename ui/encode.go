package ui

import (
	"strings"

	"teapot/ui/chart"
)

// reset ends every attribute.
const reset = "\x1b[m"

// encode writes a grid as lines: one SGR sequence per run of cells of the same
// role, no blanks at the end of a line, every line closed with a reset when it
// needs one. With ascii every byte is below 0x80 and no column moves.
func encode(b *strings.Builder, g *chart.Grid, t *theme, ascii bool) {
	for y := range g.H {
		if y > 0 {
			b.WriteByte('\n')
		}
		encodeRow(b, g, y, t, ascii)
	}
}

func encodeRow(b *strings.Builder, g *chart.Grid, y int, t *theme, ascii bool) {
	end := g.W
	for end > 0 && blank(g.At(end-1, y), t) {
		end--
	}
	pen, shows := reset, false
	for x := 0; x < end; x++ {
		c := g.At(x, y)
		if c.Rune == chart.Cont {
			continue // its character has written both columns
		}
		if c.Rune == 0 {
			c = chart.Cell{Rune: ' ', Role: chart.Plain}
		}
		if s := t.of(c.Role); s != pen && (c.Rune != ' ' || t.shows(c.Role) || shows) {
			b.WriteString(s)
			pen, shows = s, t.shows(c.Role)
		}
		if !ascii {
			b.WriteRune(c.Rune)
			b.WriteString(c.Marks)
			continue
		}
		for range max(chart.RuneWidth(c.Rune), 1) {
			b.WriteByte(asciiOf(c.Rune))
		}
	}
	if pen != reset {
		b.WriteString(reset)
	}
}

// blank tells whether a cell shows nothing, so that it needs no writing at the
// end of a line.
func blank(c chart.Cell, t *theme) bool {
	return (c.Rune == 0 || c.Rune == ' ') && !t.shows(c.Role)
}

// The glyphs that the screen uses and their stand-ins, one column each and in
// the same order. A test holds the two together.
const (
	fancyGlyphs = "▁▂▃▄▅▆▇█·░▒▓•●◦×✗✓▼▲↑↓→←›‹‖┊┄─│┤├┼╭╮╯╰┌┐└┘…–—≤≥≈□°µ∙⏎“”‘’✕■┃▏━◇"
	asciiGlyphs = "..:-=+*#.:+%o@ox!+v^^v><><|:.-|||+....++++.--<>~oou..\"\"''x#||=L"
)

// asciiOf is the stand-in of a rune: itself when it is ASCII, "?" when there is
// none.
func asciiOf(r rune) byte {
	if r >= ' ' && r < 0x7f {
		return byte(r)
	}
	i := 0
	for _, f := range fancyGlyphs {
		if f == r {
			return asciiGlyphs[i]
		}
		i++
	}
	if r >= 0x2800 && r < 0x2900 {
		return ':'
	}
	return '?'
}
