package ui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

// stopWait is how long the screen waits for the probe to end after a quit.
const stopWait = 5 * time.Second

// quitMsg ends the program from outside of the model.
type quitMsg struct{ outcome Outcome }

// suspendedMsg comes when the program is back from being suspended, or could
// not be.
type suspendedMsg struct {
	orphan bool
	away   time.Duration
}

// Update handles one message. It does no I/O.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case frameMsg:
		if int64(msg) != m.tick {
			return m, nil // of a chain that was replaced
		}
		return m, tea.Batch(m.frame(), m.nextTick())
	case tea.WindowSizeMsg:
		if msg.Width != m.w || msg.Height != m.h {
			m.w, m.h = msg.Width, msg.Height
			m.dirty = dirtyAll
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.FocusMsg:
		m.blurred = false
		m.dirty |= dirtyNumbers | dirtyCharts | dirtyTokens
		m.pull()
		return m, m.nextTick()
	case tea.BlurMsg:
		m.blurred = true
		return m, m.nextTick()
	case sceneMsg:
		m.staged(msg)
	case quitMsg:
		m.outcome = msg.outcome
		return m, tea.Quit
	case suspendedMsg:
		m.dirty = dirtyAll
		if msg.orphan {
			m.say("ctrl+z: nothing here could bring teapot back (no job control), so it goes on")
		} else if msg.away > 0 {
			m.say("was suspended for " + msg.away.Round(time.Second).String() + "; probing went with it")
		}
	}
	return m, nil
}

// frame is the work of one tick.
func (m *model) frame() tea.Cmd {
	m.pull()
	if m.message != "" && !m.cfg.Now().Before(m.messageTill) && !m.asks {
		m.message = ""
		m.dirty |= dirtyNumbers
	}
	finished := m.cfg.Snapshot().Finished != nil || m.ended() != ""
	if !m.quitAt.IsZero() && (finished || m.cfg.Now().Sub(m.quitAt) >= stopWait) {
		return tea.Quit
	}
	if m.cfg.LeaveWhenDone && m.cfg.Snapshot().Finished != nil && m.quitAt.IsZero() {
		m.outcome.Done = true
		return tea.Quit
	}
	if m.out.Lost() {
		m.dirty = dirtyAll
		return tea.ClearScreen
	}
	return nil
}

func (m *model) ended() string {
	if m.cfg.Ended == nil {
		return ""
	}
	return m.cfg.Ended()
}

// press handles a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	m.dirty |= dirtyNumbers
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
	switch {
	case key.Matches(k, m.keys.help):
		m.help, m.helpTop = true, 0
		m.dirty = dirtyAll
	case key.Matches(k, m.keys.freeze):
		m.freeze()
	case key.Matches(k, m.keys.pause):
		m.pauseProbe()
	case key.Matches(k, m.keys.zoomIn):
		m.setZoom(m.zoom - 1)
	case key.Matches(k, m.keys.zoomOut):
		m.setZoom(m.zoom + 1)
	case key.Matches(k, m.keys.window):
		m.window = (m.window + 1) % len(stats.Windows)
		m.dirty = dirtyAll
		m.say("window " + windowName(m.window))
	case key.Matches(k, m.keys.view1):
		m.show(overview)
	case key.Matches(k, m.keys.view2):
		m.show(tail)
	case key.Matches(k, m.keys.view3):
		m.show(words)
	case key.Matches(k, m.keys.view5):
		m.show(client)
	case key.Matches(k, m.keys.tab):
		m.nextView()
	case key.Matches(k, m.keys.reset):
		m.reset(false)
	case key.Matches(k, m.keys.resetAll):
		m.asks = true
		m.message = "empty the whole session's statistics? y / n"
	case key.Matches(k, m.keys.text):
		m.text = !m.text
		m.dirty = dirtyAll
		m.say("words " + onOff(m.text))
	case key.Matches(k, m.keys.theme):
		m.theme = newTheme(m.theme.next(), m.depth)
		m.dirty = dirtyAll
		m.say("theme " + m.theme.name)
	case key.Matches(k, m.keys.mark):
		if m.can("mark") {
			m.do(event.Control{Do: event.DoMark})
			m.say("marked")
		}
	case m.tune(k):
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

// quit asks the probe to stop and waits for its last event; a second press, or
// a probe that is gone, ends at once.
func (m *model) quit() tea.Cmd {
	if m.outcome.Quit {
		m.outcome.Aborted = true
		m.do(event.Control{Do: event.DoAbort})
		return tea.Quit
	}
	m.outcome.Quit, m.quitAt, m.frozen = true, m.cfg.Now(), nil
	if m.cfg.Control == nil || m.ended() != "" || m.cfg.Snapshot().Finished != nil {
		return tea.Quit
	}
	m.do(event.Control{Do: event.DoStop})
	m.message, m.messageTill = "stopping; q again aborts", m.quitAt.Add(time.Hour)
	return nil
}

// freeze holds the picture still, or lets it go.
func (m *model) freeze() {
	m.dirty = dirtyAll
	if m.frozen != nil {
		m.frozen = nil
		m.pull()
		return
	}
	m.frozen, m.frozenAt = m.snap, m.cfg.Now()
}

// pauseProbe pauses probing or resumes it, by the state the target is in.
func (m *model) pauseProbe() {
	if !m.can("pause") {
		return
	}
	if m.shown().Info.State == event.StatePaused {
		m.do(event.Control{Do: event.DoResume})
		m.say("probing goes on")
		return
	}
	m.do(event.Control{Do: event.DoPause})
	m.say("probing pauses; p goes on")
}

func (m *model) can(what string) bool {
	if m.cfg.Control == nil {
		m.say("there is no probe to " + what + ": this is a replay")
		return false
	}
	return true
}

func (m *model) setZoom(i int) {
	m.dirty = dirtyAll
	switch {
	case i < 0:
		m.say("this is the finest: 1 s per column")
	case i >= len(zooms):
		m.say("this is the coarsest: 60 s per column")
	default:
		m.zoom = i
		m.say("1 column = " + per(m.zoomNS()))
	}
}

func (m *model) zoomNS() int64 { return zooms[m.zoom] * int64(time.Second) }

func (m *model) show(v view) {
	m.view, m.help = v, false
	m.dirty = dirtyAll
}

// nextView goes from the overview to the tail, to the words, to this client,
// and from there to the next target's overview.
func (m *model) nextView() {
	switch m.view {
	case overview:
		m.show(tail)
		return
	case tail:
		m.show(words)
		return
	case words:
		m.show(client)
		return
	}
	if n := len(m.snap.Targets); n > 1 {
		m.target = (m.target + 1) % n
	}
	m.show(overview)
}

func (m *model) reset(session bool) {
	if m.cfg.Feed == nil {
		m.say("nothing to reset here")
		return
	}
	m.axes = map[uint32]*axes{}
	m.dirty = dirtyAll
	if session {
		m.cfg.Feed.Do(func(a *stats.Aggregator) { a.ResetSession() })
		m.say("session emptied")
		return
	}
	m.cfg.Feed.Do(func(a *stats.Aggregator) { a.ResetWindow() })
	m.say("window emptied")
}

// messageRole is how the bottom row's message looks.
func (m *model) messageRole() chart.Role {
	if m.asks || m.outcome.Quit {
		return chart.Warn
	}
	return chart.Info
}
