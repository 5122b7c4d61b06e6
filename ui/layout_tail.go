package ui

// layTail is the tail at length: the heatmap over its time axis, the nines
// curve beside or under it, and below both the worst with what is known of them.
// What is short of room goes in the order curve, heatmap.
func (p *plan) layTail(w, h int) {
	s := share{left: h}
	title, keys := s.take(1), s.take(1)
	slo := s.take(1)
	p.title, p.slo = rect(0, 0, w, title), rect(0, title, w, slo)
	p.keys = rect(0, h-keys, w, keys)
	y, body := title+slo, s.left
	if w >= 109 && body >= 18 {
		top := min(max(body*3/5, 14), 28)
		left := w - sideW - 1
		p.bars = []int{left}
		p.layHeat(left, y, top)
		p.curve = rect(left+1, y, sideW, top)
		causes := 0
		if body-top >= 12 {
			causes = min(causeRows+1+(body-top-12)/2, causeMost)
		}
		p.causes = rect(0, y+top, w, causes)
		p.worst = rect(0, y+top+causes, w, body-top-causes)
		return
	}
	worst := min(body, 5)
	if body >= 24 {
		worst = body / 3
	}
	body -= worst
	causes := 0
	if body >= 15 && w >= causeWide {
		causes = causeRows
		if worst == 5 { // a row for what follows
			worst, body = worst-1, body+1
		}
		body -= causes
	}
	curve := 0
	if body >= 13 {
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
	p.causes = rect(0, y+heat+curve, w, causes)
	p.worst = rect(0, y+heat+curve+causes, w, worst)
}

// layHeat is the heatmap with the lane and the time axis under it.
func (p *plan) layHeat(w, y, rows int) {
	p.plotW = w - chartGutter
	p.heat = rect(0, y, w, rows-2)
	p.lane, p.axis = rect(0, y+rows-2, w, 1), rect(0, y+rows-1, w, 1)
}
