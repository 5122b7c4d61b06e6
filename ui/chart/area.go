package chart

import (
	"image"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Area is a rectangle of a Grid that something draws into. Its coordinates
// start at 0, 0 in its own top left corner; what falls outside is dropped.
type Area struct {
	g *Grid
	r image.Rectangle
}

// W and H are the columns and rows of the area.
func (a Area) W() int { return a.r.Dx() }

// H is the number of rows.
func (a Area) H() int { return a.r.Dy() }

// Sub is the part of the area that starts at x, y and is w by h, as far as it
// lies inside.
func (a Area) Sub(x, y, w, h int) Area {
	if a.g == nil {
		return a
	}
	r := image.Rect(a.r.Min.X+x, a.r.Min.Y+y, a.r.Min.X+x+max(w, 0), a.r.Min.Y+y+max(h, 0))
	return Area{g: a.g, r: r.Intersect(a.r)}
}

// Row is one row of the area.
func (a Area) Row(y int) Area { return a.Sub(0, y, a.W(), 1) }

// Set draws one narrow rune.
func (a Area) Set(x, y int, r rune, role Role) {
	a.put(x, y, Cell{Rune: r, Role: role})
}

// Cell returns what stands at x, y.
func (a Area) Cell(x, y int) Cell {
	if x < 0 || y < 0 || x >= a.W() || y >= a.H() {
		return Cell{}
	}
	return a.g.At(a.r.Min.X+x, a.r.Min.Y+y)
}

func (a Area) put(x, y int, c Cell) {
	if x < 0 || y < 0 || x >= a.W() || y >= a.H() {
		return
	}
	a.mend(x, y)
	a.g.cells[(a.r.Min.Y+y)*a.g.W+a.r.Min.X+x] = c
}

// mend blanks the other half of a wide character that is about to be halved.
func (a Area) mend(x, y int) {
	gx, gy := a.r.Min.X+x, a.r.Min.Y+y
	at := gy*a.g.W + gx
	if a.g.cells[at].Rune == Cont && gx > 0 {
		a.g.cells[at-1] = Cell{Rune: ' ', Role: a.g.cells[at-1].Role}
	}
	if gx+1 < a.g.W && a.g.cells[at].Rune != Cont && a.g.cells[at+1].Rune == Cont {
		a.g.cells[at+1] = Cell{Rune: ' ', Role: a.g.cells[at].Role}
	}
}

// Clear blanks the area.
func (a Area) Clear() { a.Fill(0, Plain) }

// Fill sets every cell to one rune.
func (a Area) Fill(r rune, role Role) {
	for y := range a.H() {
		for x := range a.W() {
			a.Set(x, y, r, role)
		}
	}
}

// Text draws a string from x on and returns the column after it. What does not
// fit is cut off; a wide character that would be halved is left out. Runes of
// no width join the character before them. Whatever else has no width is
// dropped, control characters first of all: no byte below 0x20 gets in here.
func (a Area) Text(x, y int, s string, role Role) int {
	last := -1
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		w := RuneWidth(r)
		switch {
		case w == 0:
			a.Mark(last, y, r)
		case w == 1:
			a.Set(x, y, r, role)
			last, x = x, x+1
		case w == 2:
			if x+1 < a.W() {
				a.Set(x, y, r, role)
				a.put(x+1, y, Cell{Rune: ' ', Role: role})
				if x >= 0 && y >= 0 && y < a.H() {
					a.g.cells[(a.r.Min.Y+y)*a.g.W+a.r.Min.X+x+1].Rune = Cont
				}
			} else if x < a.W() {
				a.Set(x, y, ' ', role)
			}
			last, x = x, x+2
		}
		s = s[n:]
	}
	return x
}

// maxMarks is the number of combining marks kept on one cell.
const maxMarks = 2

// Mark puts a combining mark on the character at x. Selectors of a glyph's
// shape are dropped: terminals disagree on the width they leave behind.
func (a Area) Mark(x, y int, r rune) {
	if x > 0 && a.Cell(x, y).Rune == Cont {
		x--
	}
	if x < 0 || y < 0 || x >= a.W() || y >= a.H() || !unicode.Is(unicode.Mn, r) {
		return
	}
	if r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef {
		return
	}
	c := &a.g.cells[(a.r.Min.Y+y)*a.g.W+a.r.Min.X+x]
	if c.Rune > ' ' && utf8.RuneCountInString(c.Marks) < maxMarks {
		c.Marks += string(r)
	}
}

// Right draws a string so that it ends before column x.
func (a Area) Right(x, y int, s string, role Role) {
	a.Text(x-Width(s), y, s, role)
}

// RuneWidth is the number of columns a rune takes in a terminal: 0, 1 or 2.
// Control characters take none.
func RuneWidth(r rune) int {
	switch {
	case r < 0x20 || r == 0x7f:
		return 0
	case r < 0x7f, r >= 0x2500 && r < 0x25fd, r >= 0x2800 && r < 0x2900:
		return 1
	}
	return min(max(ansi.StringWidthWc(string(r)), 0), 2)
}

// Width is the number of columns of a string without control characters.
func Width(s string) int {
	w := 0
	for _, r := range s {
		w += RuneWidth(r)
	}
	return w
}
