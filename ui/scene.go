package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
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
	return func() tea.Msg {
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
