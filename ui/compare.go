package ui

import (
	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// baseline is what somebody wanted to be compared with: the figures of every
// window at an instant.
type baseline struct {
	at      int64
	windows [len(stats.Windows)]stats.Figures
}

// comparison is two stretches of time that are held against each other.
type comparison struct {
	name          string // "vs A" of a mark, "base" of a baseline
	at            int64  // when the earlier one ended
	before, after *stats.Figures
	sent          bool // after holds only requests that were sent since a mark
}

// keepBaseline keeps now as what to compare with.
func (m *model) keepBaseline() {
	m.bases = map[uint32]*baseline{}
	for _, t := range m.snap.Targets {
		if t != nil {
			m.bases[t.Info.ID] = &baseline{at: m.snap.Now, windows: t.Windows}
		}
	}
	m.dirty = dirtyAll
	m.say("baseline kept: ▲ longer, ▼ shorter, ≈ no more than chance; B ends the comparison")
}

// endComparison goes back to figures without their changes, until the next mark
// or baseline.
func (m *model) endComparison() {
	m.bases, m.dismissed = nil, m.snap.Now
	m.dirty = dirtyAll
	m.say("no comparison, until the next mark or baseline")
}

// comparison is the one to show of a target: with its baseline, else with the
// time before the newest mark; nil for none. A mark that came after the baseline
// says when something was changed: from then on only what was sent since counts.
func (m *model) comparison(t *stats.Target) *comparison {
	k := t.Marked
	if b := m.bases[t.Info.ID]; b != nil {
		c := &comparison{name: "base", at: b.at, before: &b.windows[m.window], after: &t.Windows[m.window]}
		if k != nil && k.At >= b.at {
			c.after, c.sent = &k.After, true
		}
		return c
	}
	if k == nil || k.At <= m.dismissed || k.Before.Gap.N == 0 && k.Before.TTFT.N == 0 {
		return nil
	}
	return &comparison{name: "vs " + letter(k), at: k.At, before: &k.Before, after: &k.After, sent: true}
}

// letter is the sign of a mark on the lane: ↑ where a target came back.
func letter(k *stats.Marked) string {
	if k.Letter > ' ' && k.Letter < 0x7f {
		return string(rune(k.Letter))
	}
	return "↑"
}

// pair are a figure of the two stretches, by its row in the table.
func (c *comparison) pair(name string) (before, after *stats.Figure) {
	b, a := c.before, c.after
	switch name {
	case "ttft":
		return &b.TTFT, &a.TTFT
	case "itl":
		return &b.ITL, &a.ITL
	case "tpot":
		return &b.TPOT, &a.TPOT
	case "e2e":
		return &b.E2E, &a.E2E
	}
	return &b.Gap, &a.Gap
}

// delta is the change of one quantile in w columns: "+9.1▲", "-3▼", "+0.2≈".
func delta(before, after *stats.Quantile, w int) (string, chart.Role) {
	c := stats.Compare(*before, *after)
	role := chart.Dim
	switch c {
	case stats.ChangeUnknown:
		return format.None, chart.Dim
	case stats.ChangeUp:
		role = chart.Bad
	case stats.ChangeDown:
		role = chart.Good
	}
	by, sign := after.Value-before.Value, "+"
	if by < 0 {
		by, sign = -by, "-"
	}
	return fitMS(by, sign, c.String(), w), role
}

// title is what the comparison is with, for the title: "vs A 41s, 83 since".
func (c *comparison) title(now int64) string {
	text := c.name + " " + format.Dur(max(now-c.at, 0)/1e9*1e9)
	if c.sent {
		text += ", n " + format.Count(c.after.TTFT.N)
	}
	return text
}
