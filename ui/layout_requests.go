package ui

// layRequests is the list of requests, or one of them, between the title and
// the keys.
func (p *plan) layRequests(w, h int, open bool) {
	slo := 0
	if h >= 16 {
		slo = 1
	}
	p.title, p.slo = rect(0, 0, w, 1), rect(0, 1, w, slo)
	body := rect(0, 1+slo, w, h-2-slo)
	if open {
		p.inspect = body
	} else {
		p.list = body
	}
	p.keys = rect(0, h-1, w, 1)
}
