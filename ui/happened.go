package ui

import (
	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// happenedFor is how long the newest mark is named on the row above the keys.
const happenedFor = int64(60e9)

// newestMark is the newest mark on the lane, nil for none.
func newestMark(s *stats.Snapshot) *stats.LaneEvent {
	for i := len(s.Lane) - 1; i >= 0; i-- {
		if s.Lane[i].Kind == stats.LaneMark {
			return &s.Lane[i]
		}
	}
	return nil
}

// sayMark says on the bottom row that a mark was made which the operator did not
// just ask for: a change took effect, a server answers again. What is said
// already stays.
func (m *model) sayMark() {
	e := newestMark(m.snap)
	at := int64(0)
	if e != nil {
		at = e.At
	}
	fresh := m.markKnown && at > m.markAt && m.message == ""
	m.markAt, m.markKnown = at, true
	if fresh {
		m.say(markText(e) + ": what is sent from now on is held against what was before")
	}
}

// markText is a mark with what it stands for: "A concurrency 4 → 6".
func markText(e *stats.LaneEvent) string {
	text := labelURL(e.Text)
	if text == "" {
		text = "mark"
	}
	return string(rune(e.Letter)) + " " + text
}

// happened names the newest mark, as long as it is fresh: "A 12s ago: it answers
// again".
func happened(fr *frame) string {
	e := newestMark(fr.s)
	if e == nil || fr.s.Now-e.At > happenedFor || e.Text == "" {
		return ""
	}
	return string(rune(e.Letter)) + " " + format.Dur(max(fr.s.Now-e.At, 0)/1e9*1e9) + " ago: " + labelURL(e.Text)
}

// drawHappened draws the newest mark and the newest error beside it; false where
// there is neither.
func drawHappened(a chart.Area, fr *frame) bool {
	mark, failure := happened(fr), recentError(fr)
	if mark == "" && failure == "" {
		return false
	}
	if mark != "" && chart.Width(mark)+chart.Width(failure)+2 > a.W() {
		mark = cut(mark, a.W()/2)
	}
	x := a.Text(0, 0, mark, chart.MarkRole)
	if x > 0 {
		x += 2
	}
	a.Text(x, 0, cut(failure, a.W()-x), chart.Bad)
	return true
}
