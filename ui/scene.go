package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"teapot/ui/chart"
)

// sceneMsg comes when the engine plays another scene, or could not.
type sceneMsg struct {
	scene Scene
	err   error
}

// nextScene goes on to the next scene of the demo.
func (m *model) nextScene() tea.Cmd {
	if m.cfg.Scene == nil {
		m.say("scenes are the demo's: teapot demo")
		return nil
	}
	next := m.cfg.Scene
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = sceneMsg{err: fmt.Errorf("internal fault: %v", v)}
			}
		}()
		s, err := next()
		return sceneMsg{s, err}
	}
}

// staged shows what is played from now on.
func (m *model) staged(msg sceneMsg) {
	m.dirty |= dirtyNumbers
	if msg.err != nil {
		m.say(fmt.Sprint("no other scene: ", msg.err))
		return
	}
	m.scene = msg.scene
	m.say("scene: " + msg.scene.Title + "; S goes to the next")
}

// drawScene draws what is played and what to look for, as much of it as fits,
// and returns what is left of the row.
func drawScene(a chart.Area, s Scene) chart.Area {
	x := a.Text(0, 0, "scene ", chart.Head)
	x = a.Text(x, 0, cut(label(s.Title), a.W()-x), chart.Strong) + 2
	if room := a.W() - x; room >= 10 {
		x = a.Text(x, 0, fitWords(label(s.Look), room), chart.Info) + 2
	}
	return a.Sub(x, 0, a.W()-x, 1)
}
