package ui

// layTail is the tail at length: the heatmap over its time axis, the nines
// curve, and the worst. They stand beside each other where there is room, and
// else below each other; what is short of room goes in the order curve, heatmap.
func (p *plan) layTail(w, h int) {
	s := share{left: h}
	title, keys := s.take(1), s.take(1)
	slo := s.take(1)
	p.title, p.slo = rect(0, 0, w, title), rect(0, title, w, slo)
	p.keys = rect(0, h-keys, w, keys)
	y, body := title+slo, s.left
	if w >= 109 && body >= 16 {
		left := w - sideW - 1
		p.bars = []int{left}
		p.layHeat(left, y, body)
		curve := min(body/2, 16)
		p.curve = rect(left+1, y, sideW, curve)
		p.worst = rect(left+1, y+curve, sideW, body-curve)
		return
	}
	worst := min(body, 4)
	body -= worst
	curve := 0
	if body >= 16 {
		curve = body * 2 / 5
	}
	heat := body - curve
	if heat < 6 {
		worst, heat = worst+heat, 0
	}
	if heat > 0 {
		p.layHeat(w, y, heat)
	}
	p.curve = rect(0, y+heat, w, curve)
	p.worst = rect(0, y+heat+curve, w, worst)
}

// layHeat is the heatmap with the lane and the time axis under it.
func (p *plan) layHeat(w, y, rows int) {
	p.plotW = w - chartGutter
	p.heat = rect(0, y, w, rows-2)
	p.lane, p.axis = rect(0, y+rows-2, w, 1), rect(0, y+rows-1, w, 1)
}
