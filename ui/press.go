package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

// press handles a key. What is open takes it first: a filter that is typed, a
// question, the help; then the view, and then what every view has.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	m.dirty |= dirtyNumbers
	if m.typeFilter(k) {
		return nil
	}
	if key.Matches(k, m.keys.quit) {
		return m.quit()
	}
	if m.asks {
		m.answer(k)
		return nil
	}
	if m.help && m.pressHelp(k) {
		return nil
	}
	if m.pressView(k) || m.pressScreen(k) || m.play(k) || m.tune(k) {
		return nil
	}
	switch {
	case key.Matches(k, m.keys.freeze):
		m.freeze()
	case key.Matches(k, m.keys.pause):
		m.pauseProbe()
	case key.Matches(k, m.keys.reset):
		m.reset(false)
	case key.Matches(k, m.keys.resetAll):
		m.asks = true
		m.message = "empty the whole session's statistics? y / n"
	case key.Matches(k, m.keys.mark):
		if m.can("mark") {
			m.do(event.Control{Do: event.DoMark})
			m.say("marked: what is sent from now on is held against what was before")
		}
	case key.Matches(k, m.keys.baseline):
		m.keepBaseline()
	case key.Matches(k, m.keys.uncompared):
		m.endComparison()
	case key.Matches(k, m.keys.scene):
		return m.nextScene()
	case key.Matches(k, m.keys.redraw):
		m.dirty = dirtyAll
		return tea.ClearScreen
	case key.Matches(k, m.keys.suspend):
		return suspend(m.drained)
	}
	return nil
}

// pressView takes the keys that mean something in the view that is shown.
func (m *model) pressView(k tea.KeyPressMsg) bool {
	switch {
	case key.Matches(k, m.keys.back):
		m.leave()
	case key.Matches(k, m.keys.filter):
		m.startFilter()
	case m.open != 0:
		return false
	case m.view == requests:
		return m.pressList(k)
	case m.moveCursor(k), m.chooseSpike(k):
	case key.Matches(k, m.keys.enter):
		m.enter()
	default:
		return false
	}
	return true
}

// leave closes what was opened last: a request, the cursor, a filter.
func (m *model) leave() {
	m.dirty = dirtyAll
	switch {
	case m.open != 0:
		m.open = 0
	case m.view == requests && m.list.text != "":
		m.list.filter, m.list.text = nil, ""
	default:
		m.live()
		m.dirty = dirtyAll
	}
}

// pressScreen takes the keys that change how the same is shown.
func (m *model) pressScreen(k tea.KeyPressMsg) bool {
	for _, v := range [...]struct {
		b    key.Binding
		view view
	}{{m.keys.view1, overview}, {m.keys.view2, tail}, {m.keys.view3, words}, {m.keys.view4, requests}, {m.keys.view5, client}} {
		if key.Matches(k, v.b) {
			// The key of the server pressed again shows this client alone.
			m.ownOnly = v.view == client && m.view == client && m.open == 0 && !m.ownOnly
			m.show(v.view)
			return true
		}
	}
	switch {
	case key.Matches(k, m.keys.help):
		m.help, m.helpTop = true, 0
	case key.Matches(k, m.keys.tab):
		m.nextView()
	case key.Matches(k, m.keys.zoomIn):
		m.setZoom(m.zoom - 1)
	case key.Matches(k, m.keys.zoomOut):
		m.setZoom(m.zoom + 1)
	case key.Matches(k, m.keys.window):
		m.window = (m.window + 1) % len(stats.Windows)
		m.say("window " + windowName(m.window))
	case key.Matches(k, m.keys.log):
		m.straight = !m.straight
		m.say("gaps and first tokens on a " + chart.Log{Straight: m.straight}.Word() + " scale")
	case key.Matches(k, m.keys.text):
		m.text = !m.text
		m.say("words " + onOff(m.text))
	case key.Matches(k, m.keys.theme):
		m.theme = newTheme(m.theme.next(), m.depth)
		m.say("theme " + m.theme.name)
	default:
		return false
	}
	m.dirty = dirtyAll
	return true
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// pressHelp handles a key while the help is open; false leaves it to the rest.
func (m *model) pressHelp(k tea.KeyPressMsg) bool {
	m.dirty = dirtyAll
	switch {
	case key.Matches(k, m.keys.back), key.Matches(k, m.keys.help):
		m.help = false
	case key.Matches(k, m.keys.up):
		m.helpTop--
	case key.Matches(k, m.keys.down):
		m.helpTop++
	case key.Matches(k, m.keys.pageUp):
		m.helpTop -= m.helpPage
	case key.Matches(k, m.keys.pageDown):
		m.helpTop += m.helpPage
	case key.Matches(k, m.keys.top):
		m.helpTop = 0
	case key.Matches(k, m.keys.bottom):
		m.helpTop = m.helpMost
	default:
		return false
	}
	m.helpTop = min(max(m.helpTop, 0), m.helpMost)
	return true
}

func (m *model) answer(k tea.KeyPressMsg) {
	switch {
	case key.Matches(k, m.keys.yes):
		m.asks = false
		m.reset(true)
	case key.Matches(k, m.keys.no), key.Matches(k, m.keys.back):
		m.asks, m.message = false, ""
	}
}
