// Package chart draws what the statistics hold: log-scaled columns that keep
// every spike, the heatmap of gaps, the dots of first tokens, the speed area,
// the curve over the nines, the cadence of one stream and the lane of events.
//
// Every chart is a pure function from numbers to the cells of a rectangle. A
// chart knows no terminal, no colour and no clock: it names the role of a cell,
// and a theme decides how that role looks. It must not read histograms, must
// not average, and must not panic on any size, NaN or Inf.
package chart

import (
	"image"
	"math"
)

// Role says what a cell is for. Its low byte is one of the constants below, the
// bits above add attributes.
type Role uint16

// The roles.
const (
	Plain        Role = iota // text
	Dim                      // labels and units
	Strong                   // the figure to look at
	Rule                     // lines between panes
	Head                     // headings
	Good                     // within the service level
	Warn                     // near it
	Bad                      // beyond it
	Info                     // an accent without judgement
	MarkRole                 // the operator's marks
	Ours                     // caused by this client
	Bar                      // a gap column within the limit
	BarWarn                  // near or just above it
	BarBad                   // far above it
	Dot                      // one first token
	Speed                    // tok/s
	CurveWindow              // nines curve of the window
	CurveSession             // nines curve of the session
	Heat1                    // few gaps in a cell, within the limit
	Heat2                    //
	Heat3                    //
	Heat4                    //
	Heat5                    // the most
	Hot1                     // few gaps in a cell, above the limit
	Hot2                     //
	Hot3                     //
	Hot4                     //
	Hot5                     // the most
	TokFast                  // a token at or below the stream's median gap
	TokSlow                  // a token well above it
	TokLate                  // a token far above it
	TokThought               // a token of a reasoning channel
	Key                      // a key's name
	BadgeGood                // the state of a target: live
	BadgeWarn                // waiting, paused, stale
	BadgeBad                 // down
	Roles                    // how many there are
)

// Attributes that may be added to a role.
const (
	Underline Role = 1 << (8 + iota)
	Bold
	Reverse
)

// Base is the role without its attributes.
func (r Role) Base() Role { return r & 0xff }

// Cell is one column of one row. The zero Cell is a blank.
type Cell struct {
	Rune  rune   // 0 is a blank; Cont is the right half of the wide one before
	Role  Role   //
	Marks string // combining marks that sit on Rune, at most a few
}

// Cont marks the second column of a wide character.
const Cont rune = -1

// Glyphs is a set of glyphs to draw with.
type Glyphs uint8

// The sets. ASCII draws the blocks and leaves it to the writer to turn every
// glyph into one of less than 0x80, so that columns stay where they are.
const (
	Blocks Glyphs = iota
	Braille
	ASCII
)

// Grid is a rectangle of cells.
type Grid struct {
	W, H  int
	cells []Cell
}

// NewGrid returns a blank grid. Sizes below 0 count as 0.
func NewGrid(w, h int) *Grid {
	w, h = max(w, 0), max(h, 0)
	return &Grid{W: w, H: h, cells: make([]Cell, w*h)}
}

// At returns the cell in column x of row y, a blank outside of the grid.
func (g *Grid) At(x, y int) Cell {
	if x < 0 || y < 0 || x >= g.W || y >= g.H {
		return Cell{}
	}
	return g.cells[y*g.W+x]
}

// Put sets the cell in column x of row y, which must come from another grid of
// the same columns or replace no half of a wide character.
func (g *Grid) Put(x, y int, c Cell) {
	if x >= 0 && y >= 0 && x < g.W && y < g.H {
		g.cells[y*g.W+x] = c
	}
}

// Area returns the part of the grid inside r.
func (g *Grid) Area(r image.Rectangle) Area {
	return Area{g: g, r: r.Intersect(image.Rect(0, 0, g.W, g.H))}
}

// All returns the whole grid as an area.
func (g *Grid) All() Area { return g.Area(image.Rect(0, 0, g.W, g.H)) }

// finite returns v, or 0 when it is NaN or infinite.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
