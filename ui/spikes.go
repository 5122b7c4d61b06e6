package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// spikeKey finds a spike again in a later snapshot. The zero one is none.
type spikeKey struct {
	request uint64
	token   int
	at      int64
}

func keyOf(s *stats.Spike) spikeKey { return spikeKey{s.Request, s.Token, s.At} }

// spikesIn are the spikes that ended within from..to, worst first: the worst of
// the session, and the newest of all kinds.
func spikesIn(t *stats.Target, from, to int64) []stats.Spike {
	var out []stats.Spike
	seen := map[spikeKey]bool{}
	for _, list := range [...][]stats.Spike{t.Worst, t.Spikes} {
		for i := range list {
			if s := &list[i]; s.At >= from && s.At < to && !seen[keyOf(s)] {
				seen[keyOf(s)] = true
				out = append(out, *s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b stats.Spike) int {
		return cmp.Or(cmp.Compare(b.Length, a.Length), cmp.Compare(a.At, b.At), cmp.Compare(a.Request, b.Request))
	})
	return out
}

// findSpike looks a spike up; nil when it is no longer kept.
func findSpike(t *stats.Target, k spikeKey) *stats.Spike {
	for _, list := range [...][]stats.Spike{t.Worst, t.Spikes} {
		for i := range list {
			if keyOf(&list[i]) == k {
				return &list[i]
			}
		}
	}
	return nil
}

// chooseSpike takes the keys that go from spike to spike; false for any other.
// n and N go by length among those on screen, up and down through the list of
// the session's worst, wherever on the time axis they are.
func (m *model) chooseSpike(k tea.KeyPressMsg) bool {
	list, by := m.shown().Worst, 1
	switch {
	case key.Matches(k, m.keys.previous, m.keys.up):
		by = -1
	case !key.Matches(k, m.keys.next, m.keys.down):
		return false
	}
	switch {
	case key.Matches(k, m.keys.up, m.keys.down):
		if m.plan.worst.Dy() < 2 || len(list) == 0 {
			return false
		}
	case m.plan.plotW <= 0:
		return false
	default:
		list = m.spikesOnScreen()
		if len(list) == 0 {
			m.say("no stall and no slow first token among what is on screen")
			return true
		}
	}
	i := slices.IndexFunc(list, func(s stats.Spike) bool { return keyOf(&s) == m.spike })
	switch {
	case i < 0 && by < 0:
		i = len(list) - 1
	case i < 0:
		i = 0
	default:
		i = (i + by + len(list)) % len(list)
	}
	m.put(list[i].At)
	m.spike = keyOf(&list[i])
	m.spikeAt = strconv.Itoa(i+1) + "/" + strconv.Itoa(len(list))
	m.message = ""
	return true
}

// spikesOnScreen are those in the columns that the charts show, worst first.
func (m *model) spikesOnScreen() []stats.Spike {
	z, last := m.zoomNS(), m.lastColumn()
	return spikesIn(m.shown(), (last+1-int64(m.plan.plotW))*z, (last+1)*z)
}

// evidence are the lines on one spike: what is known of where it came from, and
// where and when it was.
func evidence(fr *frame, s *stats.Spike) []string {
	out := []string{struck(s)}
	if s.Why != nil {
		for _, e := range s.Why.Evidence {
			out = append(out, labelURL(e))
		}
	}
	switch {
	case s.Phase == stats.PhaseOutage:
	case s.First:
		out = append(out, firstEvidence(fr, s))
	default:
		out = append(out, "before token event "+strconv.Itoa(s.Token)+tokenEvidence(fr, s))
	}
	for _, e := range laneIn(fr, s.At-s.Length, s.At+1) {
		out = append(out, "meanwhile: "+e.text)
	}
	return slices.DeleteFunc(out, func(l string) bool { return l == "" })
}

// verdict is what is thought to have made a spike, and how sure that is.
func verdict(w *stats.Why) string {
	text := w.Verdict.String()
	if w.Verdict == stats.Likely || w.Verdict == stats.Proven {
		text += ": " + label(w.Cause.String())
	}
	if !w.Settled {
		text += " (so far)"
	}
	return text
}

// struck says what made a spike, or, where nobody judged it, what it struck.
func struck(s *stats.Spike) string {
	switch {
	case s.Why != nil && (s.Why.Verdict == stats.Likely || s.Why.Verdict == stats.Proven || s.Why.Verdict == stats.Unexplained):
		return verdict(s.Why)
	case s.Late:
		return "◇ read late here: in large part this client's, and in the percentiles"
	case s.Merged:
		return "□ this client's own stop: no latency of the server's"
	case oursBy(s):
		return "□ this client's own stop, for most of it"
	case s.Transport:
		return "□ the transport's: a new connection's first window was full"
	case s.First:
		return ""
	case s.Shared():
		return strconv.Itoa(s.Peers+1) + " of " + strconv.Itoa(s.Of) + " streams stood still at the same instant: what they share did it"
	case s.Peers > 0:
		return others(s.Peers) + " stood still at the same instant"
	case s.Of > 1:
		return others(s.Of-1) + " went on: it struck this request alone"
	}
	return "no other stream stood still at the same instant"
}

// oursBy tells whether a spike is this client's own, by its read or by the
// verdict.
func oursBy(s *stats.Spike) bool {
	return s.Merged || s.Why != nil && s.Why.Verdict == stats.Ours
}

// others counts streams beside the one that is spoken of.
func others(n int) string {
	if n == 1 {
		return "1 other stream"
	}
	return format.Count(uint64(n)) + " other streams"
}

// firstEvidence says in which phase a first token was late.
func firstEvidence(fr *frame, s *stats.Spike) string {
	r, _ := lookUp(fr.t, s.Request)
	if r == nil || r.Headers <= r.Sent || r.Headers > s.At {
		return "before the first token"
	}
	return "before the first token: " + format.Dur(r.Headers-r.Sent) + " to the headers, " + format.Dur(s.At-r.Headers) + " after them"
}

// tokenEvidence says in which part of its reply a token was late, and what was
// usual there.
func tokenEvidence(fr *frame, s *stats.Spike) string {
	trace := fr.t.Traces.Find(s.Request)
	if trace == nil {
		return ""
	}
	cells := trace.Cells()
	if s.Token < 1 || s.Token > len(cells) {
		return ""
	}
	text := " of " + strconv.Itoa(max(trace.Request.Events, len(cells))) + ", in the " + cells[s.Token-1].Channel.String()
	var gaps []int64
	for _, c := range cells[1:] {
		if !c.Merged {
			gaps = append(gaps, c.Gap)
		}
	}
	if len(gaps) > 2 {
		slices.Sort(gaps)
		text += "; usual there: " + format.Dur(gaps[len(gaps)/2])
	}
	return text
}

// spikeLine is what the bottom row says of a chosen spike.
func spikeLine(fr *frame, s *stats.Spike, which string) []part {
	out := []part{
		{text: which, role: chart.Dim, rank: 3},
		{text: fr.clock(s.At), role: chart.Dim, rank: 4},
		{text: spikeText(s), role: chart.Strong, rank: 0},
	}
	for i, e := range evidence(fr, s) {
		out = append(out, part{text: e, role: chart.Plain, rank: min(1+i, 9)})
	}
	if s.Request == 0 {
		return out
	}
	return append(out, part{text: "enter opens it", role: chart.Dim, rank: 5})
}

// wrap breaks a text between words into rows of at most w columns.
func wrap(text string, w int) []string {
	var out []string
	row := ""
	for _, word := range strings.Fields(text) {
		if row != "" && chart.Width(row)+1+chart.Width(word) > w {
			out = append(out, row)
			row = ""
		}
		row = strings.TrimPrefix(row+" "+word, " ")
	}
	return append(out, cut(row, max(w, 0)))
}

// fitWords is the beginning of a text in w columns, cut between words: no number
// is halved.
func fitWords(text string, w int) string {
	if chart.Width(text) <= w {
		return text
	}
	return cut(wrap(text, w-1)[0]+"…", w)
}
