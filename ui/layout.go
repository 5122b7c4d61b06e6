package ui

import (
	"image"
	"reflect"
)

// view is which screen is shown.
type view uint8

const (
	overview view = 1
	tail     view = 2
	words    view = 3
	requests view = 4
	client   view = 5
)

// The smallest screen that shows a table; below it there is one line.
const (
	leastW = 40
	leastH = 8
)

// plan says where every pane stands. A pane without room has an empty
// rectangle. It is a function of the size, the view and the number of streams
// alone, so nothing moves when data comes.
type plan struct {
	w, h    int
	oneLine image.Rectangle

	title, slo, table   image.Rectangle
	heat, gap, ttft     image.Rectangle // with their headings; ttft is one row in the small layout
	over, speed         image.Rectangle
	lane, axis          image.Rectangle
	split, curve, worst image.Rectangle // worst is one row in the small layout, a list in the wide one
	recent, health      image.Rectangle
	floor               image.Rectangle // what this client adds
	causes              image.Rectangle // of the spikes, summed up
	strips, told        image.Rectangle // what the server says of itself
	served              image.Rectangle // its load, in the overview
	streams             image.Rectangle
	talk                image.Rectangle // the newest stream's words
	keys                image.Rectangle

	list, inspect image.Rectangle // the requests, and one of them
	ruler, smooth image.Rectangle // of the words view
	panes         []image.Rectangle

	wide  bool  // the table has a row for the session under each figure
	bars  []int // columns with a vertical line through the body
	plotW int   // columns of time in the charts
}

// same tells whether two plans place everything alike.
func (p *plan) same(o *plan) bool { return reflect.DeepEqual(p, o) }

func rect(x, y, w, h int) image.Rectangle {
	if w <= 0 || h <= 0 {
		return image.Rectangle{}
	}
	return image.Rect(x, y, x+w, y+h)
}

// shape is what a layout depends on beside size and view.
type shape struct {
	streams  int
	compared bool // figures show their change
	open     bool // one request is looked into
	strips   int  // figures of the server's that have a strip
	more     int  // of its GPUs, for where there is room
	own      bool // this client alone is asked for
	told     int  // lines of what it says beside
	passive  bool // nothing is asked for tokens
}

// layout places the panes on a terminal of w by h. The last column stays free.
func layout(w, h int, v view, s shape) plan {
	p := plan{w: max(w, 0), h: max(h, 0)}
	streams := max(s.streams, 1)
	switch {
	case w <= 1 || h <= 0:
	case w < leastW || h < leastH:
		p.oneLine = rect(0, 0, w-1, 1)
	case s.passive && v != client:
		p.layPassive(w-1, h, max(s.strips, 1), s.told)
	case s.open || v == requests:
		p.layRequests(w-1, h, s.open)
	case v == words:
		p.layWords(w-1, h, streams)
	case v == client && s.strips > 0 && !s.own:
		p.layServer(w-1, h, s.strips, s.more)
	case v == client:
		p.layClient(w-1, h, !s.own)
	case v == tail:
		p.layTail(w-1, h)
	case w >= 110 && h >= 32:
		p.layWide(w-1, h, streams, s.strips, s.compared)
	default:
		p.layCompact(w-1, h, streams, s.compared)
	}
	return p
}

// share hands out rows in small steps, most wanted first.
type share struct{ left int }

// take gives want rows when that many are left, else none.
func (s *share) take(want int) int {
	if want > s.left {
		return 0
	}
	s.left -= want
	return want
}

// tableRows is the height of the small table: a heading, four figures, tok/s.
const tableRows = 6

// layCompact is one column. What is short of room goes in this order: streams,
// the TTFT chart, the gap chart, the SLO line. Title and table stay.
func (p *plan) layCompact(w, h, streams int, compared bool) {
	s := share{left: h}
	title, table, keys := s.take(1), s.take(tableRows), s.take(1)
	slo, worst := s.take(1), s.take(1)
	if compared && s.left >= 9 { // the gap chart goes before the changes
		table += s.take(tableHeight(false, false, true) - tableRows)
	}
	gap := s.take(5) // heading, three rows, time axis
	axis := min(gap, 1)
	gap -= axis
	ttft, lane := 0, 0
	if gap > 0 {
		ttft = s.take(1)
		lane = s.take(1)
	}
	strips := 0
	if lane > 0 {
		strips = s.take(2)
	}
	if strips > 0 {
		for range min(streams, 4) - 1 {
			strips += s.take(1)
		}
	}
	heat, speed := 0, 0
	if strips > 0 && s.left >= 10 {
		heat = s.take(8)
		if s.left >= 8 {
			ttft += s.take(4)
			speed = s.take(3)
		}
	}
	if gap > 0 {
		more := min(s.left, 10)
		gap += s.take(more)
		if heat > 0 {
			heat += s.take(min(s.left, 6))
		}
		if ttft > 1 {
			ttft += s.take(min(s.left, 6))
		}
	}
	p.plotW = w - chartGutter
	y := 0
	next := func(rows int) image.Rectangle {
		r := rect(0, y, w, rows)
		y += rows
		return r
	}
	p.title, p.slo, p.table = next(title), next(slo), next(table)
	p.heat, p.gap, p.ttft, p.speed = next(heat), next(gap), next(ttft), next(speed)
	p.lane, p.axis = next(lane), next(axis)
	p.streams, p.worst = next(strips), next(worst)
	y = h - keys
	p.keys = next(keys)
}

// sideW is the width of the column with the table beside the charts, listW that
// of the second one.
const (
	sideW = 50
	listW = 46
)

// layWide has charts on the left, the table and what belongs to it on the
// right, from 170 columns and 44 rows up in two columns, and the streams along
// the bottom.
func (p *plan) layWide(w, h, streams, served int, compared bool) {
	p.wide = true
	strips := 1 + min(streams, 6)
	talk := 1
	if h >= 38 {
		talk = 2
	}
	top, bottom := 2, 2+strips+talk
	body := h - top - bottom
	for body < 22 && strips > 2 {
		strips, body = strips-1, body+1
	}
	three := w >= 170 && h >= 44
	side, list := sideW, 0
	if three {
		side, list = sideW+6, listW
	}
	left := w - side - 1
	if list > 0 {
		left -= list + 1
	}
	p.title, p.slo = rect(0, 0, w, 1), rect(0, 1, w, 1)
	p.plotW = left - chartGutter
	p.layCharts(left, top, body)
	p.bars = []int{left}
	p.laySide(left+1, side, top, body, three, compared)
	if list > 0 {
		p.bars = append(p.bars, left+1+side)
		p.layList(left+1+side+1, list, top, body, served)
	}
	y := top + body
	p.streams = rect(0, y, w, strips)
	p.talk = rect(0, y+strips, w, talk)
	p.health = rect(0, h-2, w, 1)
	p.keys = rect(0, h-1, w, 1)
}

// layCharts fills a column with the charts over one time axis.
func (p *plan) layCharts(w, y, rows int) {
	rest := rows - 6 // four headings, lane, axis
	over := 0
	if rows >= 36 {
		over, rest = 2, rest-2
	}
	heat := max(rest*10/24, 5)
	gap := max(rest*5/24, 3)
	speed := min(max(rest*2/24, 2), 4)
	ttft := max(rest-heat-gap-speed, 3)
	next := func(n int) image.Rectangle {
		r := rect(0, y, w, n)
		y += n
		return r
	}
	p.heat, p.gap, p.ttft = next(1+heat), next(1+gap), next(1+ttft)
	p.over, p.speed = next(over), next(1+speed)
	p.lane, p.axis = next(1), next(1)
}

// laySide stacks the table, the split of TTFT, the nines curve and, where there
// is no third column, the worst gaps.
func (p *plan) laySide(x, w, y, rows int, roomy, compared bool) {
	next := func(n int) image.Rectangle {
		n = min(n, rows)
		r := rect(x, y, w, n)
		y, rows = y+n, rows-n
		return r
	}
	p.table = next(tableHeight(true, roomy, compared))
	split := 3
	if roomy {
		split = 7
	}
	p.split = next(split)
	curve := max(rows-6, min(rows, 7))
	if roomy {
		curve = min(rows, 14)
	}
	curve = min(curve, 14)
	p.curve = next(curve)
	if !roomy {
		p.worst = next(rows)
		return
	}
	p.smooth = next(rows)
}

// layList stacks the server's load, the worst gaps and the newest requests.
func (p *plan) layList(x, w, y, rows, served int) {
	if served > 0 {
		served = 1 + min(served, servedStrips)
		p.served = rect(x, y, w, served)
		y, rows = y+served, rows-served
	}
	worst := rows / 2
	p.worst = rect(x, y, w, worst)
	p.recent = rect(x, y+worst, w, rows-worst)
}
