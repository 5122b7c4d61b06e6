package stats

import "teapot/probe/event"

// Marked is what came of the requests that were sent since the newest mark,
// beside what there was before it. That a target came back is a mark, too.
type Marked struct {
	At     int64 // ns of the mark
	Letter byte  // as on the lane; 0 where the target came back
	Label  string
	// Before covers the requests between the mark before and this one, and those
	// since the session's start where there was none before. Where a mark came so
	// soon that nothing could be said of the time before it, Before is that of
	// the mark before.
	//
	// Of both, these are filled in: TTFT, Gap, ITL, TPOT, E2E, Requests, Span,
	// OutputTokens, OutputRate, ErrorRate and the speeds.
	Before, After Figures
}

// A time can be compared with from so many gaps or first tokens on.
const (
	beforeGaps  = 200
	beforeFirst = 5
)

// sinceMetrics are the figures that are kept since a mark.
var sinceMetrics = [...]metric{mTTFT, mGap, mITL, mTPOT, mE2E}

// pile is a distribution without windows: of all that was added since it was
// emptied.
type pile struct {
	h     window
	c     cell
	fig   Figure
	dirty bool
}

func (p *pile) add(v int64, n uint64, sum int64) {
	v, sum = max(v, 0), max(sum, 0)
	if p.h.counts == nil {
		p.h = newWindow(fine)
	}
	if v > hour {
		p.c.clipped += n
	}
	p.h.add(p.h.geom.index(min(v, hour)), n)
	p.c.add(v, n, sum)
	p.dirty = true
}

func (p *pile) censor(v int64) {
	v = max(v, 0)
	p.c.add(v, 1, v)
	p.c.censored.add(v, 1)
	p.dirty = true
}

func (p *pile) figure() Figure {
	if p.dirty {
		p.dirty, p.fig = false, figure(&p.h, &p.c)
	}
	return p.fig
}

func (p *pile) reset() {
	if p.h.counts != nil {
		p.h.reset()
	}
	p.c.reset()
	p.fig, p.dirty = Figure{}, false
}

// sinceMark gathers what comes of the requests that were sent since a mark. A
// request that was under way then belongs to neither side of it: what it goes
// through is half of the one and half of the other.
type sinceMark struct {
	on    bool
	of    int64 // when the request at work was sent
	mark  Marked
	piles [nMetrics]*pile
	count tally
	begun bool
	first int64 // when the first of them was sent, once begun
}

// takes tells whether the request at work belongs to the time since the mark.
func (s *sinceMark) takes() bool { return s.on && s.of >= s.mark.At }

func (s *sinceMark) sample(m metric, v int64, n uint64, sum int64) {
	if p := s.pile(m); p != nil {
		p.add(v, n, sum)
	}
}

func (s *sinceMark) censor(m metric, v int64) {
	if p := s.pile(m); p != nil {
		p.censor(v)
	}
}

func (s *sinceMark) pile(m metric) *pile {
	if !s.takes() {
		return nil
	}
	return s.piles[m]
}

// sent notes a request that is measured.
func (s *sinceMark) sent() {
	if s.takes() && !s.begun {
		s.begun, s.first = true, s.of
	}
}

// ended counts how a request ended, and its tokens.
func (s *sinceMark) ended(c event.Class, tokens int64) {
	if s.takes() {
		s.count.countEnd(c)
		s.count.out += max(tokens, 0)
	}
}

// marked begins anew at a mark. What was sent since a mark that m amends is left
// out: it was half of a change.
func (t *target) marked(m Marked, amends bool) {
	s := &t.compared
	m.Before = s.mark.Before
	if !s.on {
		m.Before = t.sessionNow(m.At)
	} else if after := s.figures(m.At); !amends && (after.Gap.N >= beforeGaps || after.TTFT.N >= beforeFirst) {
		m.Before = after
	}
	s.on, s.begun, s.count = true, false, tally{}
	s.mark = m
	for _, m := range sinceMetrics {
		if s.piles[m] == nil {
			s.piles[m] = &pile{}
		}
		s.piles[m].reset()
	}
}

// sessionNow is the session so far, as far as it can be compared.
func (t *target) sessionNow(at int64) Figures {
	var f Figures
	for _, m := range sinceMetrics {
		*f.of(m) = t.d[m].query(at / second)[horizons-1]
	}
	f.Requests = t.book.all.requests()
	f.OutputTokens = uint64(max(t.book.all.out, 0))
	if t.measured {
		f.Span = max(at-t.first, 0)
	}
	f.paced()
	return f
}

func (s *sinceMark) figures(now int64) Figures {
	var f Figures
	for _, m := range sinceMetrics {
		*f.of(m) = s.piles[m].figure()
	}
	f.Requests = s.count.requests()
	f.OutputTokens = uint64(s.count.out)
	if s.begun {
		f.Span = max(now-s.first, 0)
	}
	f.paced()
	return f
}

// of is the place of a figure that is kept since a mark.
func (f *Figures) of(m metric) *Figure {
	switch m {
	case mTTFT:
		return &f.TTFT
	case mITL:
		return &f.ITL
	case mTPOT:
		return &f.TPOT
	case mE2E:
		return &f.E2E
	}
	return &f.Gap
}

// paced fills in what follows from the rest.
func (f *Figures) paced() {
	f.SpeedMedian = speed(f.TPOT.Q[P50].Value)
	f.SpeedSlow10, f.SpeedSlow10Mark = speed(f.TPOT.Q[P90].Value), f.TPOT.Q[P90].Mark
	f.OutputRate = share(float64(f.OutputTokens), float64(f.Span)/1e9)
	f.ErrorRate = share(float64(f.Requests.Failed), float64(f.Requests.OK+f.Requests.Failed))
}

// view is nil while there is no mark.
func (s *sinceMark) view(now int64) *Marked {
	if !s.on {
		return nil
	}
	m := s.mark
	m.After = s.figures(now)
	return &m
}
