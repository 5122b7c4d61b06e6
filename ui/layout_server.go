package ui

import "image"

// stripValue is the room right of a strip, for its newest and its largest value.
const stripValue = 14

// layServer is the server beside its gaps: what it says of itself as strips
// under the gaps they explain, on one time axis, then the words, then what this
// client adds. Without a server that says anything, layClient takes its place.
// What is short of room goes in the order client, gap chart, words; the strips
// stay.
func (p *plan) layServer(w, h, strips, gpus int) {
	s := share{left: h}
	title, keys := s.take(1), s.take(1)
	slo := s.take(1)
	p.title, p.slo = rect(0, 0, w, title), rect(0, title, w, slo)
	p.keys = rect(0, h-keys, w, keys)
	y, side := title+slo, 0
	if w >= 109 && s.left >= 20 {
		side = sideW
	}
	axes := 0
	if s.left >= min(strips, leastStrips)+4 {
		axes = s.take(2)
	}
	stripRows := s.take(min(1+strips, s.left))
	gap := 0
	if axes > 0 {
		gap = s.take(min(max(s.left/3, 5), s.left, 9))
		if gap < 3 {
			s.left, gap = s.left+gap, 0
		}
	}
	told := 0
	if side == 0 {
		told = s.take(min(s.left, 7))
		if s.left > 0 && s.left < 4 { // no client in less
			told += s.take(s.left)
		}
	}
	left := w
	if side > 0 {
		left = w - side - 1
		p.bars = []int{left}
		if want := floorHeight(w) - 1; s.left > want {
			more := s.left - want
			gap += s.take(min(more, 8))
			stripRows += s.take(min(s.left-want, gpus))
			stripRows += s.take(min(s.left-want, strips+gpus))
		}
	}
	p.plotW = left - chartGutter - stripValue
	top := y
	next := func(wide, rows int) image.Rectangle {
		r := rect(0, y, wide, rows)
		y += rows
		return r
	}
	p.gap = next(left-stripValue, gap)
	p.strips = next(left, stripRows)
	p.lane, p.axis = next(left-stripValue, axes/2), next(left-stripValue, axes/2)
	if side > 0 {
		p.told = rect(left+1, top, side, y-top)
	} else {
		p.told = next(w, told)
	}
	p.floor = next(w, s.left)
}

// leastStrips is how many strips go before the time axis does.
const leastStrips = 6

// layPassive is the screen where nothing is asked for tokens: the server's own
// figures in place of ours, and strips as tall as the room allows.
func (p *plan) layPassive(w, h, strips, most int) {
	s := share{left: h}
	title, keys := s.take(1), s.take(1)
	p.title, p.keys = rect(0, 0, w, title), rect(0, h-keys, w, keys)
	axes := 0
	if s.left >= min(strips, leastStrips)+4 {
		axes = s.take(2)
	}
	told := min(max(s.left-1-strips, 0), most)
	if told < 2 { // no heading alone; the means at least, where there is room
		if told = 0; s.left >= leastStrips+3 {
			told = 2
		}
	}
	rows := s.left - told
	p.plotW = w - chartGutter - stripValue
	p.told = rect(0, title, w, told)
	y := title + told
	p.strips = rect(0, y, w, rows)
	p.lane = rect(0, y+rows, w-stripValue, axes/2)
	p.axis = rect(0, y+rows+axes/2, w-stripValue, axes/2)
}
