package ui

import (
	"errors"
	"strings"
	"testing"
)

// S plays the next scene, and its name and what to look for stand on screen in
// every view, whatever else has to go.
func TestScenesOfTheDemo(t *testing.T) {
	list := []Scene{{"prefill interference", "every stream slows down at once"}, {"garbage collection", "one long gap in all streams"}}
	i := -1
	m := still(busy(), Config{Theme: "mono", Scene: func() (Scene, error) {
		if i++; i == len(list) {
			return Scene{}, errors.New("the engine is gone")
		}
		return list[i], nil
	}})
	screenOf(m, 80, 24, overview)
	for _, s := range list {
		cmd := press(m, "S")
		if cmd == nil {
			t.Fatal("S plays nothing")
		}
		m.Update(cmd())
		for _, v := range []view{overview, tail, words, requests, client} {
			if text := screenOf(m, 80, 24, v); !strings.Contains(text, s.Title) || !strings.Contains(text, s.Look) {
				t.Errorf("view %d does not show scene %q:\n%s", v, s.Title, text)
			}
		}
	}
	m.Update(press(m, "S")())
	if !strings.Contains(m.message, "the engine is gone") || m.scene != list[1] {
		t.Errorf("message %q, scene %+v", m.message, m.scene)
	}
	m.cfg.Scene = nil
	if press(m, "S") != nil || !strings.Contains(m.message, "teapot demo") {
		t.Errorf("without a demo S says %q", m.message)
	}
}
