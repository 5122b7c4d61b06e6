package ui

import "teapot/stats"

// row is one figure over one horizon.
type row struct {
	name string
	f    *stats.Figure
	now  int64 // the newest sample, ns; 0 for none
	dim  bool  // a session row under its window row
	// before makes it a row of changes: from there to f.
	before *stats.Figure
	sess   *stats.Figure // the session's, of a figure that has no row for it
	change stats.Change  // of P99, where there is no row of changes
}

// rows are the figures of the table. With session there is a row for the
// session under each of the window's, and under the first few one of changes.
func (fr *frame) rows(session, perToken bool, changes int) []row {
	f, s := fr.f, &fr.t.Session
	type pair struct {
		name   string
		win, a *stats.Figure
		now    int64
	}
	pairs := []pair{
		{"ttft", &f.TTFT, &s.TTFT, fr.lastTTFT()},
		{"gap", &f.Gap, &s.Gap, fr.lastGap()},
	}
	if perToken {
		pairs = append(pairs, pair{"itl", &f.ITL, &s.ITL, 0})
	}
	tpot, e2e := fr.lastRequest()
	pairs = append(pairs, pair{"tpot", &f.TPOT, &s.TPOT, tpot}, pair{"e2e", &f.E2E, &s.E2E, e2e})
	var out []row
	for _, p := range pairs {
		r := row{name: p.name, f: p.win, now: p.now, dim: fr.old(), sess: p.a}
		if fr.compared != nil && changes <= 0 {
			before, after := fr.compared.pair(p.name)
			r.change = stats.Compare(before.Q[stats.P99], after.Q[stats.P99])
		}
		out = append(out, r)
		if session {
			out = append(out, row{name: "·session", f: p.a, dim: true})
		}
		if fr.compared != nil && changes > 0 {
			before, after := fr.compared.pair(p.name)
			out = append(out, row{name: "·" + fr.compared.name, f: after, before: before, dim: true})
			changes--
		}
	}
	return out
}

// lastTTFT, lastGap and lastRequest are the newest samples of what is measured:
// a warm-up request is not.
func (fr *frame) lastTTFT() int64 {
	for i := len(fr.t.Dots) - 1; i >= 0; i-- {
		if d := &fr.t.Dots[i]; !d.Warmup && !d.Timeout && d.TTFT > 0 && !d.Class.Failed() {
			return d.TTFT
		}
	}
	return 0
}

func (fr *frame) lastGap() int64 {
	var at, gap int64
	for i := range fr.t.Streams {
		c := fr.t.Streams[i].Cells
		if n := len(c); n > 1 && c[n-1].At > at && !fr.t.Streams[i].Warmup {
			at, gap = c[n-1].At, c[n-1].Gap
		}
	}
	return gap
}

func (fr *frame) lastRequest() (tpot, e2e int64) {
	for i := len(fr.t.Recent) - 1; i >= 0 && (tpot == 0 || e2e == 0); i-- {
		r := &fr.t.Recent[i]
		if r.Warmup || !r.Class.OK() {
			continue
		}
		if tpot == 0 {
			tpot = r.TPOT
		}
		if e2e == 0 {
			e2e = r.E2E
		}
	}
	return tpot, e2e
}
