package ui

import (
	"math"
	"slices"

	"teapot/stats"
)

// told is the request of a stream, as far as it has come.
func (w *world) told(s *simStream) stats.Request {
	r := stats.Request{
		ID: s.Request, Slot: s.Slot, Class: s.Class, Status: 200, N: s.Tokens, Events: s.Events, Stalls: s.stalls, Merged: s.merged,
		TTFT: s.first, TPOT: s.TPOT, E2E: s.LastAt - s.Sent, MaxGap: s.maxGap,
		Sent: s.Sent, First: s.FirstAt, Last: s.LastAt, End: s.EndAt, Wrote: 21e3, Asked: 256, Prompt: 512,
	}
	if s.FirstAt > 0 {
		r.Headers = s.Sent + s.first*9/10
	}
	if s.Request%10 == 0 {
		r.TCP, r.TLS = 1e6, 4e6
	}
	return r
}

// ended keeps a request, and the gaps of the newest and of the worst.
func (w *world) ended(r stats.Request, s *simStream) {
	w.target.Recent = append(w.target.Recent, r)
	w.traces = append(w.traces, stats.NewTrace(r, false, s.all))
	keep := func(t stats.Trace) bool {
		return slices.ContainsFunc(w.target.Worst, func(s stats.Spike) bool { return s.Request == t.ID })
	}
	if n := len(w.traces) - 40; n > 0 {
		old := w.traces[0]
		w.traces = w.traces[1:]
		if keep(old) {
			w.worst = append(slices.DeleteFunc(slices.Clone(w.worst), func(t stats.Trace) bool { return !keep(t) }), old)
		}
	}
}

// interval is roughly the 95 % confidence interval of a quantile of sorted
// samples, whose rank is k.
func interval(v []sample, k int, q float64) (lo, hi int64, open bool) {
	by := int(math.Ceil(2 * math.Sqrt(float64(len(v))*q*(1-q))))
	l, u := max(k-by, 1), k+by
	if u > len(v) {
		return v[l-1].v, v[len(v)-1].v, true
	}
	return v[l-1].v, v[u-1].v, false
}

// change marks the present, and makes the endpoint faster or slower from here.
func (w *world) change(by float64) {
	w.marked = &stats.Marked{At: w.now, Letter: 'A' + w.marks, Label: "max_num_seqs 64", Before: w.figures(0, w.now)}
	w.mark()
	w.beat *= by
}

// changed is busy with a slower server after its mark.
func changed() *stats.Snapshot {
	w := newWorld(3, 4)
	w.run(60e9)
	w.change(1.3)
	w.run(100_300e6)
	return w.snapshot()
}
