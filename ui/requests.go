package ui

import (
	"cmp"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/stats"
	"teapot/ui/chart"
)

// list is the state of the view of requests.
type list struct {
	order  int    // index into orders
	chosen uint64 // the request the cursor is on; 0 follows the first row
	top    int    // row shown first
	rows   int    // rows that fit; as drawn last
	filter filter
	text   string // of the filter
	typing bool   // keys go into draft, until enter or esc
	draft  string
	wrong  string // what is wrong with the draft, one line
}

// order is a way to sort the list; what a request lacks comes last.
type order struct {
	name string
	by   func(r *stats.Request) int64
}

func orders() []order {
	return []order{
		{"newest first", func(r *stats.Request) int64 { return r.Sent }},
		{"longest gap first", func(r *stats.Request) int64 { return r.MaxGap }},
		{"slowest ttft first", func(r *stats.Request) int64 { return r.TTFT }},
		{"slowest tpot first", func(r *stats.Request) int64 { return r.TPOT }},
		{"longest first", func(r *stats.Request) int64 { return r.E2E }},
		{"most tokens first", func(r *stats.Request) int64 { return int64(r.N) }},
		{"failed first", func(r *stats.Request) int64 {
			if r.Class.Failed() {
				return 1
			}
			return 0
		}},
	}
}

// listed are the requests that the list shows, in its order; equals newest
// first.
func (l *list) listed(t *stats.Target) []*stats.Request {
	var out []*stats.Request
	for i := len(t.Recent) - 1; i >= 0; i-- {
		if r := &t.Recent[i]; l.filter.shows(r) {
			out = append(out, r)
		}
	}
	by := orders()[l.order].by
	slices.SortStableFunc(out, func(a, b *stats.Request) int { return cmp.Compare(by(b), by(a)) })
	return out
}

// at is the row of the chosen request, 0 where there is none.
func (l *list) at(rows []*stats.Request) int {
	return max(slices.IndexFunc(rows, func(r *stats.Request) bool { return r.ID == l.chosen }), 0)
}

// pressList takes the keys of the list; false for any other.
func (m *model) pressList(k tea.KeyPressMsg) bool {
	l := &m.list
	rows := l.listed(m.shown())
	i, page := l.at(rows), max(l.rows-1, 1)
	switch {
	case key.Matches(k, m.keys.up):
		i--
	case key.Matches(k, m.keys.down):
		i++
	case key.Matches(k, m.keys.pageUp):
		i -= page
	case key.Matches(k, m.keys.pageDown):
		i += page
	case key.Matches(k, m.keys.top):
		i = 0
	case key.Matches(k, m.keys.bottom):
		i = len(rows) - 1
	case key.Matches(k, m.keys.sort):
		l.order, l.top = (l.order+1)%len(orders()), 0
		m.say("sorted: " + orders()[l.order].name)
		return true
	case key.Matches(k, m.keys.enter):
		if len(rows) > 0 {
			m.openRequest(rows[i].ID)
		}
		return true
	default:
		return false
	}
	if len(rows) == 0 {
		return true
	}
	i = min(max(i, 0), len(rows)-1)
	if l.chosen = rows[i].ID; i == 0 {
		l.chosen = 0 // the top of the list is followed
	}
	return true
}

// startFilter opens the line that a filter is typed into.
func (m *model) startFilter() {
	if m.view != requests || m.open != 0 {
		m.show(requests)
	}
	m.list.typing, m.list.draft, m.list.wrong = true, m.list.text, ""
	m.message = ""
}

// draftMost is how many bytes a filter may have.
const draftMost = 200

// typeFilter takes every key while a filter is typed; only ctrl+c is left to
// others.
func (m *model) typeFilter(k tea.KeyPressMsg) bool {
	l := &m.list
	if !l.typing || k.String() == "ctrl+c" {
		return false
	}
	switch k.String() {
	case "enter":
		f, err := parseFilter(l.draft)
		if err != nil {
			l.wrong = err.Error()
			return true
		}
		l.filter, l.text, l.typing, l.chosen, l.top = f, l.draft, false, 0, 0
	case "esc":
		l.typing = false
	case "backspace":
		if r := []rune(l.draft); len(r) > 0 {
			l.draft = string(r[:len(r)-1])
		}
	case "ctrl+u":
		l.draft = ""
	default:
		if text := settle(k.Text); text != "" && len(l.draft)+len(text) <= draftMost {
			l.draft += text
		}
	}
	l.wrong = ""
	return true
}

// drawPrompt draws that line.
func drawPrompt(a chart.Area, l *list) {
	x := a.Text(0, 0, "/", chart.Key)
	x = a.Text(x, 0, cutMiddle(l.draft, max(a.W()-2, 0)), chart.Strong)
	a.Set(x, 0, '▏', chart.Info)
	note, role := "enter filters, esc leaves: "+filterHelp, chart.Dim
	if l.wrong != "" {
		note, role = "✗ "+label(l.wrong), chart.Bad
	}
	if room := a.W() - x - 3; room >= 12 {
		a.Text(x+3, 0, cut(note, room), role)
	} else if l.wrong != "" {
		a.Clear()
		a.Text(0, 0, cut(note, a.W()), role)
	}
}
