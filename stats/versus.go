package stats

import (
	"cmp"
	"math"
	"slices"

	"teapot/probe/event"
)

// Versus holds two runs against each other, one endpoint of each: B against A,
// over the whole of both.
type Versus struct {
	A, B    *Target
	Figures []Held // those that either has, each once
	Errors  Move   // share of failed requests, 0 to 1
	Stalls  Move   // per 1 000 tokens; nothing tells its chance
	Speed   Move   // output tokens a second of all streams; likewise
	Classes []ClassPair
	Causes  []CausePair // the costliest in either first, unexplained last
}

// Held is one quantity of both runs.
type Held struct {
	Name  string // "ttft", "gap", ... as in service levels
	A, B  *Figure
	Moves []Move // mean, the percentiles, max
}

// Move is one number of both runs and how it changed.
type Move struct {
	Name         string // "mean", "p50", ..., "max"
	A, B         float64
	HasA, HasB   bool
	ALo, AHi     float64 // 99 % confidence intervals; an end that does not exist is endless
	BLo, BHi     float64
	Change       Change // ChangeUnknown where there is no interval
	MoreA, MoreB bool   // at least so much: among the timeouts
}

// ClassPair is how often requests ended in one way.
type ClassPair struct {
	Class event.Class
	A, B  uint64
}

// CausePair is one cause in both runs; nil where it has no spike.
type CausePair struct {
	Cause Cause
	A, B  *CauseRow
}

// Ratio is B/A − 1; false where that says nothing.
func (m *Move) Ratio() (float64, bool) {
	if !m.HasA || !m.HasB || m.A <= 0 {
		return 0, false
	}
	return m.B/m.A - 1, true
}

// MoveNames are the numbers of a figure, in the order of Held.Moves.
var MoveNames = [len(Quantiles) + 2]string{"mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"}

// VersusMetrics are the names of the figures that Hold compares, in its order.
var VersusMetrics = [...]string{"gap", "itl", "ttft", "ttfo", "tpot", "e2e", "sched_ttft", "sched_e2e"}

// figuresOf are the figures of VersusMetrics.
func figuresOf(f *Figures) [len(VersusMetrics)]*Figure {
	return [...]*Figure{&f.Gap, &f.ITL, &f.TTFT, &f.TTFO, &f.TPOT, &f.E2E, &f.SchedTTFT, &f.SchedE2E}
}

// Hold holds the session of one endpoint, b, against that of another, a.
func Hold(a, b *Target) *Versus { return HoldFigures(a, b, &a.Session, &b.Session) }

// HoldFigures does so over other horizons of theirs.
func HoldFigures(a, b *Target, fa, fb *Figures) *Versus {
	v := &Versus{A: a, B: b}
	as, bs := figuresOf(fa), figuresOf(fb)
	for i, name := range VersusMetrics {
		x, y := as[i], bs[i]
		if x.N == 0 && y.N == 0 {
			continue
		}
		// itl is gap, and ttfo ttft, wherever an event is a token and nothing is thought first.
		if of := map[string]int{"itl": 0, "ttfo": 2}; name == "itl" || name == "ttfo" {
			if k := of[name]; alike(x, as[k]) && alike(y, bs[k]) {
				continue
			}
		}
		v.Figures = append(v.Figures, hold(name, x, y))
	}
	v.Errors = errorMove(&fa.Requests, &fb.Requests)
	v.Stalls = plainMove("per 1000 tokens", fa.Stalls.PerKTok, fb.Stalls.PerKTok, fa.OutputTokens > 0, fb.OutputTokens > 0)
	v.Speed = plainMove("tok/s", fa.OutputRate, fb.OutputRate, fa.Span > 0, fb.Span > 0)
	v.Classes = classPairs(&fa.Requests, &fb.Requests)
	v.Causes = causePairs(a.Causes, b.Causes)
	return v
}

func alike(x, y *Figure) bool { return x.N == y.N && x.Mean == y.Mean && x.Max == y.Max }

func plainMove(name string, a, b float64, hasA, hasB bool) Move {
	return Move{Name: name, A: a, B: b, HasA: hasA, HasB: hasB, ALo: math.Inf(-1), AHi: math.Inf(1), BLo: math.Inf(-1), BHi: math.Inf(1)}
}

// hold compares the numbers of one figure.
func hold(name string, a, b *Figure) Held {
	h := Held{Name: name, A: a, B: b}
	m := plainMove(MoveNames[0], a.Mean, b.Mean, a.N > 0, b.N > 0)
	m.MoreA, m.MoreB = a.Censored > 0, b.Censored > 0
	if a.MeanErr > 0 && b.MeanErr > 0 && !m.MoreA && !m.MoreB {
		m.ALo, m.AHi = a.Mean-normal99*a.MeanErr, a.Mean+normal99*a.MeanErr
		m.BLo, m.BHi = b.Mean-normal99*b.MeanErr, b.Mean+normal99*b.MeanErr
		m.Change = apartBy(&m)
	}
	h.Moves = append(h.Moves, m)
	for i := range Quantiles {
		h.Moves = append(h.Moves, quantileMove(a, b, i))
	}
	m = plainMove(MoveNames[1+len(Quantiles)], float64(a.Max), float64(b.Max), a.N > 0, b.N > 0)
	m.MoreA, m.MoreB = a.Censored > 0, b.Censored > 0
	h.Moves = append(h.Moves, m)
	return h
}

// Differ tells whether quantile i of b differs from that of a by more than
// chance, as Versus does: like Compare, with intervals of 99 % and by Spread.
func Differ(a, b *Figure, i int) Change {
	m := quantileMove(a, b, i)
	return m.Change
}

func quantileMove(fa, fb *Figure, i int) Move {
	a, b := &fa.Q[i], &fb.Q[i]
	m := plainMove(MoveNames[1+i], float64(a.Value), float64(b.Value), a.Mark != MarkNone, b.Mark != MarkNone)
	m.MoreA, m.MoreB = a.Censored, b.Censored
	if !m.HasA || !m.HasB {
		return m
	}
	m.ALo, m.AHi = fa.interval(i)
	m.BLo, m.BHi = fb.interval(i)
	m.Change = apartBy(&m)
	return m
}

// apartBy is Compare's rule: two intervals that do not overlap.
func apartBy(m *Move) Change {
	switch {
	case m.BLo > m.AHi:
		return ChangeUp
	case m.BHi < m.ALo:
		return ChangeDown
	}
	return ChangeNone
}

// errorMove compares shares of failed requests by Wilson's score interval.
func errorMove(a, b *Requests) Move {
	na, nb := a.OK+a.Failed, b.OK+b.Failed
	m := plainMove("errors", 0, 0, na > 0, nb > 0)
	if na > 0 {
		m.A = float64(a.Failed) / float64(na)
		m.ALo, m.AHi = wilson(a.Failed, na)
	}
	if nb > 0 {
		m.B = float64(b.Failed) / float64(nb)
		m.BLo, m.BHi = wilson(b.Failed, nb)
	}
	if na > 0 && nb > 0 {
		m.Change = apartBy(&m)
	}
	return m
}

// wilson is the 99 % score interval of a share of k in n (Wilson, JASA 1927).
func wilson(k, n uint64) (lo, hi float64) {
	x, z2 := float64(n), normal99*normal99
	p := float64(k) / x
	mid := p + z2/(2*x)
	half := normal99 * math.Sqrt(p*(1-p)/x+z2/(4*x*x))
	return max((mid-half)/(1+z2/x), 0), min((mid+half)/(1+z2/x), 1)
}

func classPairs(a, b *Requests) []ClassPair {
	var out []ClassPair
	add := func(c event.Class) {
		if c.Failed() && !slices.ContainsFunc(out, func(p ClassPair) bool { return p.Class == c }) && a.ByClass[c]+b.ByClass[c] > 0 {
			out = append(out, ClassPair{c, a.ByClass[c], b.ByClass[c]})
		}
	}
	for c := range a.ByClass {
		add(c)
	}
	for c := range b.ByClass {
		add(c)
	}
	slices.SortFunc(out, func(x, y ClassPair) int {
		return cmp.Or(cmp.Compare(max(y.A, y.B), max(x.A, x.B)), cmp.Compare(x.Class, y.Class))
	})
	return out
}

func causePairs(a, b []CauseRow) []CausePair {
	var out []CausePair
	at := func(c Cause) *CausePair {
		i := slices.IndexFunc(out, func(p CausePair) bool { return p.Cause == c })
		if i < 0 {
			i, out = len(out), append(out, CausePair{Cause: c})
		}
		return &out[i]
	}
	for i := range a {
		at(a[i].Cause).A = &a[i]
	}
	for i := range b {
		at(b[i].Cause).B = &b[i]
	}
	total := func(p *CausePair) (n int64) {
		for _, r := range [...]*CauseRow{p.A, p.B} {
			if r != nil {
				n = max(n, r.Total)
			}
		}
		return n
	}
	slices.SortFunc(out, func(x, y CausePair) int {
		if none := x.Cause == CauseUnknown; none != (y.Cause == CauseUnknown) {
			if none {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(total(&y), total(&x)), cmp.Compare(x.Cause, y.Cause))
	})
	return out
}
