package chart

import (
	"math"
	"strconv"

	"teapot/stats"
)

// HeatPlan says how the rows and shades of a heatmap are laid out. It has
// memory like an axis: it widens at once and narrows late.
type HeatPlan struct {
	First, Last int       // rows of stats.HeatEdges shown one by one; what lies beyond is folded into them
	Steps       [3]uint32 // counts at which the second, third and fourth shade begin, beyond "exactly one"
	needed      int64
	known       bool
}

// shades, from exactly one gap to the most.
var shades = [...]rune{'·', '░', '▒', '▓', '█'}

// Fit returns the plan for these columns drawn over the given number of rows.
func (p HeatPlan) Fit(cols []stats.Column, rows int, at int64) HeatPlan {
	first, last, most := heatRange(cols)
	if last < first {
		if !p.known {
			p.First, p.Last = defaultHeat(rows)
			p.Steps = heatSteps(0)
		}
		return p
	}
	wide := p.known && (first < p.First || last > p.Last || heatSteps(most) != p.Steps)
	fits := p.known && first == p.First && last == p.Last
	switch {
	case !p.known:
		p.First, p.Last, p.Steps, p.needed = first, last, heatSteps(most), at
	case wide && (first < p.First || last > p.Last):
		p.First, p.Last, p.needed = min(first, p.First), max(last, p.Last), at
		p.Steps = maxSteps(p.Steps, heatSteps(most))
	case fits:
		p.needed = at
		p.Steps = maxSteps(p.Steps, heatSteps(most))
	case at < p.needed || at-p.needed >= holdNS:
		p.First, p.Last, p.Steps, p.needed = first, last, heatSteps(most), at
	default:
		p.Steps = maxSteps(p.Steps, heatSteps(most))
	}
	p.known = true
	return p
}

func maxSteps(a, b [3]uint32) [3]uint32 {
	if b[2] > a[2] {
		return b
	}
	return a
}

// defaultHeat is the range shown before there is data: around 20 ms.
func defaultHeat(rows int) (first, last int) {
	mid := stats.HeatRow(20e6)
	return max(mid-rows/3, 0), min(mid+rows/2, len(stats.HeatEdges)-1)
}

func heatRange(cols []stats.Column) (first, last int, most uint32) {
	first, last = len(stats.HeatEdges), -1
	for i := range cols {
		for r, n := range cols[i].Heat {
			if n > 0 {
				first, last, most = min(first, r), max(last, r), max(most, n)
			}
		}
	}
	return first, last, most
}

// heatSteps spreads the shades evenly over the logarithm of the counts.
func heatSteps(most uint32) [3]uint32 {
	ladder := [...][3]uint32{{4, 8, 16}, {8, 30, 90}, {15, 100, 400}, {30, 300, 2000}, {60, 1000, 10000}, {150, 8000, 200000}}
	for _, s := range ladder {
		if most < s[2]*3 {
			return s
		}
	}
	return ladder[len(ladder)-1]
}

// Window returns the rows of the table of edges that the drawing shows: as many
// as fit, the topmost ones kept, because the tail is what matters.
func (p HeatPlan) window(rows int) (first, last int) {
	first, last = p.First, p.Last
	if n := last - first + 1; n < rows {
		grow := rows - n
		last = min(last+(grow+1)/2, len(stats.HeatEdges)-1)
		first = max(last-rows+1, 0)
		last = min(first+rows-1, len(stats.HeatEdges)-1)
	} else if n > rows {
		first = last - rows + 1
	}
	return first, last
}

// HeatCells sums the counts of one column into the rows of the drawing, top
// first. Nothing is lost: what lies above or below is in the outermost rows.
func (p HeatPlan) HeatCells(c *stats.Column, rows int) []uint32 {
	out := make([]uint32, max(rows, 0))
	if rows <= 0 {
		return out
	}
	first, last := p.window(rows)
	for r, n := range c.Heat {
		row := last - min(max(r, first), last)
		out[min(row, rows-1)] = satAdd(out[min(row, rows-1)], n)
	}
	return out
}

func satAdd(a, b uint32) uint32 {
	if a > math.MaxUint32-b {
		return math.MaxUint32
	}
	return a + b
}

// Heat draws the number of gaps by their length (rows, log) and time (columns).
// A single gap is a dot and always visible. Rows wholly above the limit have
// the roles Hot1 to Hot5, the others Heat1 to Heat5.
func Heat(a Area, cols []stats.Column, p HeatPlan, limit int64) {
	if len(cols) > a.W() {
		cols = cols[len(cols)-a.W():]
	}
	if a.H() <= 0 {
		return
	}
	_, last := p.window(a.H())
	for i := range cols {
		for y, n := range p.HeatCells(&cols[i], a.H()) {
			if n == 0 {
				continue
			}
			k := p.shade(n)
			role := Heat1 + Role(k)
			if e := last - y; limit > 0 && e > 0 && stats.HeatEdges[e-1] >= limit {
				role = Hot1 + Role(k)
			}
			a.Set(a.W()-len(cols)+i, y, shades[k], role)
		}
	}
}

func (p HeatPlan) shade(n uint32) int {
	if n <= 1 {
		return 0
	}
	k := 1
	for _, s := range p.Steps {
		if n >= s {
			k++
		}
	}
	return k
}

// Labels returns the label of each row, top first: ≤ and the upper edge of its
// range, which begins at the edge below. The topmost row holds everything beyond
// that, the lowest one everything below its edge.
func (p HeatPlan) Labels(rows int) []string {
	out := make([]string, max(rows, 0))
	if rows <= 0 {
		return out
	}
	first, last := p.window(rows)
	for y := range out {
		e := last - y
		if e < first {
			break
		}
		switch {
		case first == last: // one row holds everything
		case e == last:
			out[y] = "≥" + Short(float64(stats.HeatEdges[e-1]))
		default:
			out[y] = "≤" + Short(float64(stats.HeatEdges[e]))
		}
	}
	return out
}

// Legend names the shades: "·1 ░<8 ▒<30 ▓<90 █".
func (p HeatPlan) Legend() string {
	s := string(shades[0]) + "1"
	for i, n := range p.Steps {
		s += " " + string(shades[i+1]) + "<" + strconv.FormatUint(uint64(n), 10)
	}
	return s + " " + string(shades[4])
}
