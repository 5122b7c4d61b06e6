package chart

import (
	"math"

	"teapot/stats"
	"teapot/ui/format"
)

// A token is slow from slowAt times its stream's median gap on, and late from
// lateAt times on.
const (
	slowAt = 1.7
	lateAt = 3.5
)

// Pace tells the role of a token by its gap against the median of its stream,
// both in ns. Without a median every token is at pace.
func Pace(gap, median int64) Role {
	if median <= 0 {
		return TokFast
	}
	switch r := float64(gap) / float64(median); {
	case r >= lateAt:
		return TokLate
	case r >= slowAt:
		return TokSlow
	}
	return TokFast
}

// StallLabel is how a stall stands in a strip or between words.
func StallLabel(gap int64) string { return "‖" + format.Dur(gap) + "‖" }

// cadenceWidth is the number of columns a cell takes in a strip w wide.
func cadenceWidth(c *stats.Cell, w int) int {
	if c.Stall && !c.Merged {
		if n := Width(StallLabel(c.Gap)); n <= w {
			return n
		}
	}
	return 1
}

// CadenceNext lays cells out from index from on in w columns and returns the
// index of the first one that no longer fits; len(cells) when all do.
func CadenceNext(cells []stats.Cell, from, w int) int {
	x := 0
	for i := max(from, 0); i < len(cells); i++ {
		x += cadenceWidth(&cells[i], w)
		if x > w {
			return i
		}
	}
	return len(cells)
}

// Cadence draws the token events of one stream from index from on, one column
// each: the height is the logarithm of the gap against the stream's median, a
// stall shows its length, an event of several tokens is underlined, what this
// client caused is hollow, what it read late a
// diamond. The request's first event, whose gap is its time to
// first token, is a start mark when first says that cells[0] is that one. It
// returns the column after the last one.
func Cadence(a Area, cells []stats.Cell, from int, median int64, first bool) int {
	x := 0
	for i := max(from, 0); i < len(cells); i++ {
		c := &cells[i]
		n := cadenceWidth(c, a.W())
		if x+n > a.W() {
			break
		}
		var attr Role
		if c.K > 1 {
			attr = Underline
		}
		switch {
		case first && i == 0:
			a.Set(x, 0, '›', Dim|attr)
		case c.Merged:
			a.Set(x, 0, '□', Ours|attr)
		case c.Late && !c.Stall:
			a.Set(x, 0, '◇', Ours|attr)
		case n > 1:
			a.Text(x, 0, StallLabel(c.Gap), Bad)
		case c.Stall:
			a.Set(x, 0, '‖', Bad)
		case c.Burst:
			a.Set(x, 0, '▁', Dim|attr)
		default:
			a.Set(x, 0, blocks[paceHeight(c.Gap, median)], Pace(c.Gap, median)|attr)
		}
		x += n
	}
	return x
}

var blocks = [...]rune{'▁', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// paceHeight is the height, in eighths from 1 to 8, of a gap: 3 at the median
// and two more for each doubling.
func paceHeight(gap, median int64) int {
	if gap <= 0 {
		return 1
	}
	if median <= 0 {
		return 3
	}
	h := 3 + 2*math.Log2(float64(gap)/float64(median))
	return int(min(max(math.Round(h), 1), 8))
}
