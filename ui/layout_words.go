package ui

import "image"

// layClient lists what this client adds, above the gaps that it struck.
func (p *plan) layClient(w, h int, served bool) {
	s := share{left: h}
	title, keys := s.take(1), s.take(1)
	slo, strips := s.take(1), 0
	if served { // a line on the server that says nothing
		strips = s.take(1)
	}
	floor := s.take(min(s.left, floorHeight(w)))
	gap, lane, axis := 0, 0, 0
	if s.left >= 6 {
		lane, axis = s.take(1), s.take(1)
		gap = s.take(min(s.left, 16))
	}
	floor += s.take(s.left)
	p.plotW = w - chartGutter
	y := 0
	next := func(rows int) image.Rectangle {
		r := rect(0, y, w, rows)
		y += rows
		return r
	}
	p.title, p.slo, p.strips, p.floor = next(title), next(slo), next(strips), next(floor)
	p.gap, p.lane, p.axis = next(gap), next(lane), next(axis)
	p.keys = rect(0, h-keys, w, keys)
}

// layWords shows one, two or four streams side by side, or four as two by two.
func (p *plan) layWords(w, h, streams int) {
	s := share{left: h}
	title, keys := s.take(1), s.take(1)
	slo, ruler, smooth := 0, 0, 0
	if h >= 12 {
		slo, smooth = s.take(1), s.take(1)
	}
	if h >= 14 {
		ruler = s.take(2)
	}
	if h >= 20 {
		ruler += s.take(1)
	}
	body := s.left
	cols, rows := paneGrid(w, body, streams)
	p.title, p.slo = rect(0, 0, w, title), rect(0, title, w, slo)
	y := title + slo
	p.ruler = rect(0, y, w, ruler)
	y += ruler
	for r := range rows {
		y0, y1 := y+body*r/rows, y+body*(r+1)/rows
		for c := range cols {
			x0, x1 := (w+1)*c/cols, (w+1)*(c+1)/cols-1
			p.panes = append(p.panes, rect(x0, y0, x1-x0, y1-y0))
			if r == 0 && c > 0 {
				p.bars = append(p.bars, x0-1)
			}
		}
	}
	p.smooth = rect(0, h-keys-smooth, w, smooth)
	p.keys = rect(0, h-keys, w, keys)
}

// paneGrid is how many panes stand beside and above each other: each at least
// 36 columns wide and 5 rows high.
func paneGrid(w, h, streams int) (cols, rows int) {
	switch {
	case streams >= 3 && w >= 4*36 && h >= 5:
		return 4, 1
	case streams >= 3 && w >= 2*36 && h >= 12:
		return 2, 2
	case streams >= 2 && w >= 2*36:
		return 2, 1
	case streams >= 2 && h >= 14:
		return 1, 2
	}
	return 1, 1
}
