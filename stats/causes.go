package stats

import (
	"cmp"
	"slices"
)

// counted is how a spike stands in the table of causes.
type counted struct {
	cause   Cause
	verdict Verdict
	length  int64
	row     *CauseRow // nil: in none
}

// causes is the table of causes. It holds one row a cause and no spike twice.
type causes struct {
	rows  map[Cause]*CauseRow
	worst map[Cause]*spike
	shown []CauseRow // nil when it is to be made anew
}

// account enters a spike as it is judged now, in place of how it was before.
func (c *causes) account(s *spike) {
	if s.Why == nil {
		return
	}
	if c.rows == nil {
		c.rows, c.worst = map[Cause]*CauseRow{}, map[Cause]*spike{}
	}
	old := s.counted
	if old.row != nil && c.rows[old.cause] != old.row {
		return // it was found before the session was reset, and is no part of this one
	}
	c.shown = nil
	now := counted{s.Why.Cause, s.Why.Verdict, s.Length, nil}
	if r := old.row; r != nil {
		r.Count--
		r.Total -= old.length
		r.By[old.verdict]--
		if c.worst[old.cause] == s && old.cause != now.cause {
			delete(c.worst, old.cause)
		}
	}
	r := c.rows[now.cause]
	if r == nil {
		r = &CauseRow{Cause: now.cause}
		c.rows[now.cause] = r
	}
	r.Count++
	r.Total += now.length
	r.By[now.verdict]++
	now.row = r
	s.counted = now
	if w := c.worst[now.cause]; w == nil || worse(s, w) < 0 {
		c.worst[now.cause] = s
	}
}

// causesView is the table, the costliest cause first and what is unexplained
// last.
func (s *spikes) causesView() []CauseRow {
	c := &s.causes
	if c.shown != nil || c.rows == nil {
		return c.shown
	}
	c.shown = make([]CauseRow, 0, len(c.rows))
	for _, r := range c.rows {
		if r.Count == 0 {
			continue
		}
		row := *r
		row.Worst = s.worstOf(r.Cause)
		if row.Worst.Why != nil {
			row.Advice = row.Worst.Why.Advice
		}
		c.shown = append(c.shown, row)
	}
	slices.SortFunc(c.shown, costlier)
	return c.shown
}

// costlier orders the rows of the table.
func costlier(a, b CauseRow) int {
	if unknown := a.Cause == CauseUnknown; unknown != (b.Cause == CauseUnknown) {
		if unknown {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Cause, b.Cause))
}

// worstOf is the longest spike of a cause. Where a revision took it out of the
// row, the longest of those that are still kept stands for it.
func (s *spikes) worstOf(cause Cause) Spike {
	if w := s.causes.worst[cause]; w != nil {
		return w.Spike
	}
	var best Spike
	for _, n := range slices.Concat(s.newest.items, s.view()) {
		if n.Why != nil && n.Why.Cause == cause && n.Length > best.Length {
			best = n
		}
	}
	return best
}
