package stats

import "strconv"

// SLO is one service level: at least Goal of the samples of Metric are no more
// than Limit.
type SLO struct {
	Expr   string  // as a person would write it: "gap<=50ms:99%"
	Metric string  // ttft, ttfo, gap, itl, tpot, e2e, late, sched_ttft, sched_e2e, or err
	Limit  int64   // ns; for err the highest share of failures, in parts per million
	Goal   float64 // 0.99; not used for err
}

// errMetric is the service level that counts requests and not samples.
const errMetric = "err"

// levels are the service levels of a configuration, ready to be asked.
type levels struct {
	list       []SLO
	by         [nMetrics][]int // indexes into list
	perGap     bool            // one of them is about gaps or tokens
	gap, first int64           // limits for gaps and TTFT; 0 when there is none
}

func newLevels(c Config) *levels {
	l := &levels{list: append([]SLO(nil), c.SLO...)}
	limited := false
	for _, s := range l.list {
		limited = limited || s.Metric == errMetric
	}
	if c.MaxErrorRate >= 0 && !limited && c.MaxErrorRate <= 1 {
		l.list = append(l.list, SLO{
			Expr:   "err<=" + strconv.FormatFloat(c.MaxErrorRate*100, 'g', 6, 64) + "%",
			Metric: errMetric, Limit: int64(c.MaxErrorRate*million + 0.5),
		})
	}
	for i, s := range l.list {
		for m, name := range metricNames {
			if s.Metric == name {
				l.by[m] = append(l.by[m], i)
			}
		}
		switch {
		case s.Metric == metricNames[mGap] && l.gap == 0:
			l.gap = s.Limit
		case s.Metric == metricNames[mTTFT] && l.first == 0:
			l.first = s.Limit
		}
	}
	l.perGap = len(l.by[mGap])+len(l.by[mITL]) > 0
	return l
}

// deadline is the deadline of one token for fluidity, ns.
func (l *levels) deadline() int64 {
	if l.gap > 0 {
		return l.gap
	}
	return defaultDeadline
}

// judge scores n samples of value v; a censored one meets nothing, since it may
// be of any length.
func (l *levels) judge(m metric, v int64, n uint64, censored bool, to []score) {
	for _, i := range l.by[m] {
		to[i].n += n
		if v <= l.list[i].Limit && !censored {
			to[i].met += n
		}
	}
}

// good tells whether a request that ended well met every level. A level about
// gaps is met when its goal is met within the request; a figure that the
// request does not have breaks none.
func (l *levels) good(own []score, value func(metric) (int64, bool)) bool {
	for m := range metric(nMetrics) {
		for _, i := range l.by[m] {
			if m == mGap || m == mITL {
				if own[i].n > 0 && !reached(own[i], l.list[i].Goal) {
					return false
				}
				continue
			}
			if v, ok := value(m); ok && v > l.list[i].Limit {
				return false
			}
		}
	}
	return true
}

func reached(s score, goal float64) bool {
	return float64(s.met) >= goal*float64(s.n)-1e-9
}

// results tells how one horizon stands.
func (l *levels) results(t *tally) []SLOResult {
	out := make([]SLOResult, 0, len(l.list))
	for i, s := range l.list {
		r := SLOResult{Expr: s.Expr, Metric: s.Metric, Limit: s.Limit, Goal: s.Goal}
		if s.Metric == errMetric {
			r.Goal = 1 - float64(s.Limit)/million
			r.N, r.Met = t.ok+t.failed, t.ok
			// Compared as integers: one failure in a hundred is 1 % exactly.
			r.OK = t.failed*million <= uint64(max(s.Limit, 0))*r.N
		} else if i < len(t.slo) {
			r.N, r.Met = t.slo[i].n, t.slo[i].met
			r.OK = reached(t.slo[i], s.Goal)
		}
		r.Attained = share(float64(r.Met), float64(r.N))
		r.NoData = r.N == 0
		r.OK = r.OK && !r.NoData
		out = append(out, r)
	}
	return out
}

// standing remembers since when the levels of one target are met or missed, per
// horizon. It moves once a second of event time and never with the snapshots,
// so that a replay finds the same instants.
type standing struct {
	state [horizons][]stand
	next  int64 // the second to look at next
}

type stand struct {
	known, ok bool
	since     int64
}

// tick looks at the seconds that have ended before now.
func (s *standing) tick(now int64, l *levels, b *ledger) {
	if len(l.list) == 0 || now < s.next {
		return
	}
	s.next = now + 1
	acc := tally{slo: make([]score, len(l.list))}
	b.walk(now-1, func(t *tally) {
		acc.ok += t.ok
		acc.failed += t.failed
		acc.mergeSLO(t)
	}, func(w int) { s.set(w, now*second, l.results(&acc)) })
	s.set(horizons-1, now*second, l.results(&b.all))
}

func (s *standing) set(h int, at int64, results []SLOResult) {
	if s.state[h] == nil {
		s.state[h] = make([]stand, len(results))
	}
	for i, r := range results {
		if st := &s.state[h][i]; !r.NoData && (!st.known || st.ok != r.OK) {
			*st = stand{known: true, ok: r.OK, since: at}
		}
	}
}

// since fills in For: how long each level has stood where it stands now. A
// change within the current second counts from its start.
func (s *standing) since(h int, now int64, results []SLOResult) {
	for i := range results {
		r := &results[i]
		if r.NoData {
			continue
		}
		from := now / second * second
		if i < len(s.state[h]) && s.state[h][i].known && s.state[h][i].ok == r.OK {
			from = s.state[h][i].since
		}
		r.For = max(now-from, 0)
	}
}
