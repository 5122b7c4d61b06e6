package stats

import (
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	second = int64(1e9)
	hour   = int64(3600e9) // the longest value a histogram holds; longer ones are clipped and counted
	slots  = 900           // seconds a ring looks back: the longest of Windows
)

// fewSamples of a second go into its packed histogram at once. Only beyond them
// is a dense one faster, for which all its buckets have to be read once a
// second; figures of requests never get there.
const fewSamples = 64

// horizons is the number of places a figure is shown at: the windows, then the
// session.
const horizons = len(Windows) + 1

// slot is one second gone by.
type slot struct {
	sec int64
	h   *hdr.PackedHistogram // its first few samples, and those that came late
	run packed               // all others
	cell
}

// each calls fn with every bucket of the second and its count.
func (s *slot) each(g geometry, fn func(i int, n uint64)) {
	for v, n := range s.h.ForEachBucket {
		fn(g.index(v), uint64(n))
	}
	s.run.each(fn)
}

// dist is the distribution of one quantity over the rolling windows and the
// session. It is owned by one goroutine.
//
// A sample goes into the histograms of the current second, of every window and
// of the session. Each second is kept packed in a ring, so that it can be taken
// out of a window again when it leaves it. Censored samples stand beside the
// histograms: they rank above every exact one.
type dist struct {
	geom   geometry
	now    int64     // the current second
	nowC   cell      // what stands beside it
	cur    window    // its samples after the first few; empty before there were that many
	pages  []byte    // scratch of packing
	all    histogram // nil before the first sample, as is ring
	allC   cell
	ring   []*slot
	wins   [len(Windows)]window
	stash  []*slot // seconds a reset took out of the windows; only quantiles sees them
	sum    window
	newest int64 // the last second with a sample
	dirty  bool
	figs   [horizons]Figure // as of the last query
	figsAt int64
}

func newDist(g geometry) *dist { return &dist{geom: g, newest: -slots} }

// open makes room on the first sample: most targets lack some figures.
func (d *dist) open(sec int64) {
	d.all = histogram{d.geom.dense()}
	d.ring = make([]*slot, slots)
	for w := range d.wins {
		d.wins[w] = newWindow(d.geom)
	}
	d.now = sec
}

// enter finds the cell for a sample at the instant at, nil when it is older
// than every window.
func (d *dist) enter(at int64) (sec int64, c *cell, late *slot) {
	sec = at / second
	if d.ring == nil {
		d.open(sec)
	}
	d.advance(sec)
	d.dirty = true
	d.newest = max(d.newest, sec)
	switch {
	case sec == d.now:
		return sec, &d.nowC, nil
	case sec > d.now-slots:
		// It came late: the second it belongs to is packed already.
		late = d.slot(sec)
		return sec, &late.cell, late
	}
	return sec, nil, nil
}

// record takes n samples of value v, whose exact sum is sum, that were complete
// at the instant at. Values are ns; a negative one is taken as 0.
func (d *dist) record(at, v int64, n uint64, sum int64) {
	v, sum = max(v, 0), max(sum, 0)
	sec, c, late := d.enter(at)
	in, clipped := min(v, hour), uint64(0)
	if v > hour {
		clipped = n
	}
	d.allC.add(v, n, sum)
	d.allC.clipped += clipped
	// In range by construction, so there is no error to handle.
	_ = d.all.RecordValues(in, int64(n))
	if c == nil {
		return
	}
	switch {
	case late != nil:
		_ = late.h.RecordValues(in, int64(n))
	case c.N < fewSamples:
		_ = d.slot(sec).h.RecordValues(in, int64(n))
	default:
		if d.cur.counts == nil {
			d.cur = newWindow(d.geom)
		}
		d.cur.add(d.geom.index(in), n)
	}
	c.add(v, n, sum)
	c.clipped += clipped
	i := d.geom.index(in)
	for w := range d.wins {
		if sec > d.now-int64(Windows[w])/second {
			d.wins[w].add(i, n)
		}
	}
}

// censor takes one sample that is known only to be at least v.
func (d *dist) censor(at, v int64) {
	v = max(v, 0)
	_, c, _ := d.enter(at)
	for _, c := range []*cell{c, &d.allC} {
		if c != nil {
			c.add(v, 1, v)
			c.censored.add(v, 1)
		}
	}
}

// slot returns the ring's slot of a second, emptied if it held another one.
func (d *dist) slot(sec int64) *slot {
	s := d.ring[sec%slots]
	if s == nil {
		s = &slot{sec: sec, h: d.geom.packed()}
		d.ring[sec%slots] = s
	}
	if s.sec != sec {
		s.sec = sec
		s.h.Reset()
		s.run = s.run[:0]
		s.cell.reset()
	}
	return s
}

// held returns the slot of a second when it holds anything.
func (d *dist) held(sec int64) *slot {
	if sec < 0 {
		return nil
	}
	if s := d.ring[sec%slots]; s != nil && s.sec == sec && s.N > 0 {
		return s
	}
	return nil
}

// advance packs the current second away when a later one has begun, and takes
// the seconds that leave out of the windows.
func (d *dist) advance(sec int64) {
	if d.ring == nil || sec <= d.now {
		return
	}
	d.pack()
	for w := range d.wins {
		span := int64(Windows[w]) / second
		if sec-d.now >= span {
			d.wins[w].reset()
			continue
		}
		for out := d.now - span + 1; out <= sec-span; out++ {
			if s := d.held(out); s != nil {
				d.wins[w].sub(s)
			}
		}
	}
	d.now = sec
}

func (d *dist) pack() {
	if d.nowC.N == 0 {
		return
	}
	s := d.slot(d.now)
	if d.cur.total > 0 {
		s.run, d.pages = d.cur.pack(s.run, d.pages)
	}
	s.cell.merge(&d.nowC)
	d.nowC.reset()
}

// query returns the figures as of the second now, the windows first and the
// session last. A window of w seconds is the current second and the w−1 before
// it, so it never covers more than w. One walk from the newest second to the
// oldest sums up what stands beside the histograms.
func (d *dist) query(now int64) *[horizons]Figure {
	d.advance(now)
	if d.ring == nil || !d.dirty && (now == d.figsAt || d.newest <= d.figsAt-slots) {
		return &d.figs
	}
	changed := d.dirty
	d.dirty, d.figsAt = false, now
	acc := cell{}
	acc.merge(&d.nowC)
	w := 0
	for back := int64(0); back < slots; back++ {
		if s := d.held(now - back); s != nil {
			acc.merge(&s.cell)
		}
		if back+1 == int64(Windows[w])/second {
			if w > 0 && acc.N == d.figs[w-1].N {
				d.figs[w] = d.figs[w-1] // nothing more in the longer window
			} else {
				d.figs[w] = figure(&d.wins[w], &acc)
			}
			w++
		}
	}
	if changed {
		d.figs[horizons-1] = figure(d.all, &d.allC)
	}
	return &d.figs
}

// quantiles returns some quantiles, in parts per million, and n over the seconds
// from..to, windows reset or not: the stall rule looks back over them. They are
// over.
func (d *dist) quantiles(from, to int64, ppm ...uint64) (v []int64, n uint64) {
	ranks := make([]uint64, len(ppm))
	if d.ring == nil {
		return make([]int64, len(ppm)), 0
	}
	d.advance(to + 1) // or the last of them may not be packed yet
	if d.sum.counts == nil {
		d.sum = newWindow(d.geom)
	}
	d.sum.reset()
	acc := cell{}
	for sec := max(from, 0, to-slots+1); sec <= to; sec++ {
		if s := d.held(sec); s != nil {
			s.each(d.geom, d.sum.add)
			acc.merge(&s.cell)
		}
	}
	for _, s := range d.stash {
		if s.sec >= from && s.sec <= to {
			s.each(d.geom, d.sum.add)
			acc.merge(&s.cell)
		}
	}
	for i, p := range ppm {
		ranks[i] = nearestRank(p, acc.N)
	}
	return ranked(&d.sum, &acc, ranks...), acc.N
}

// resetWindows starts the windows afresh. The last minute is put aside: what
// is a stall does not change because somebody cleared the table.
func (d *dist) resetWindows() {
	if d.ring == nil {
		return
	}
	d.pack()
	kept := slices.Concat(d.stash, d.ring)
	d.stash = slices.DeleteFunc(kept, func(s *slot) bool {
		return s == nil || s.N == 0 || s.sec < d.now-stallHistory
	})
	clear(d.ring)
	for w := range d.wins {
		d.wins[w].reset()
	}
	d.dirty = true
}

// resetSession forgets everything.
func (d *dist) resetSession() {
	if d.ring == nil {
		return
	}
	d.resetWindows()
	d.all.Reset()
	d.allC.reset()
}
