package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"teapot/probe/event"
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
	m.view, m.help, m.open = v, false, 0
	m.list.typing = false
	m.dirty = dirtyAll
}

// nextView goes from view to view, and from the last one to the next target's
// overview; with two targets from both to the one and to the other.
func (m *model) nextView() {
	if m.nextSide() {
		return
	}
	order := [...]view{overview, tail, words, requests, client}
	for i, v := range order[:len(order)-1] {
		if v == m.view {
			m.show(order[i+1])
			return
		}
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
		m.cfg.Feed.Put(&event.Reset{At: m.snap.Now, Session: true})
		m.say("session emptied")
		return
	}
	m.cfg.Feed.Put(&event.Reset{At: m.snap.Now})
	m.say("window emptied")
}

// messageRole is how the bottom row's message looks.
func (m *model) messageRole() chart.Role {
	if m.asks || m.outcome.Quit {
		return chart.Warn
	}
	return chart.Info
}
