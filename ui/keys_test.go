package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"teapot/probe/event"
	"teapot/stats"
)

func press(m *model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k}
		switch k {
		case "space":
			msg = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
		case "tab":
			msg = tea.KeyPressMsg{Code: tea.KeyTab}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "backspace":
			msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
		case "left", "right", "up", "down", "home", "end", "shift+left", "shift+right":
			name, shift := strings.CutPrefix(k, "shift+")
			msg = tea.KeyPressMsg{Code: map[string]rune{
				"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
			}[name]}
			if shift {
				msg.Mod = tea.ModShift
			}
		case "pgdown":
			msg = tea.KeyPressMsg{Code: tea.KeyPgDown}
		case "pgup":
			msg = tea.KeyPressMsg{Code: tea.KeyPgUp}
		case "ctrl+c", "ctrl+l", "ctrl+z":
			msg = tea.KeyPressMsg{Code: rune(k[5]), Mod: tea.ModCtrl}
		default:
			msg.Code = rune(k[0])
		}
		_, cmd = m.Update(msg)
	}
	return cmd
}

func TestKeys(t *testing.T) {
	var did []string
	m := still(busy(), Config{Control: func(event.Control) {}})
	m.do = func(c event.Control) { did = append(did, c.Do) }
	screenOf(m, 80, 24, overview)
	for _, v := range []view{tail, words, requests, client, overview} {
		if press(m, "tab"); m.view != v {
			t.Errorf("tab leads to view %d, not to %d", m.view, v)
		}
	}
	for k, v := range map[string]view{"1": overview, "2": tail, "3": words, "4": requests} {
		if press(m, k); m.view != v {
			t.Errorf("%s shows view %d", k, m.view)
		}
	}
	press(m, "5")
	if m.view != client {
		t.Error("5 does not show this client")
	}
	press(m, "1")
	press(m, "-", "-")
	if m.zoomNS() != 5e9 {
		t.Errorf("two steps out are %d ns per column", m.zoomNS())
	}
	press(m, "+", "+", "+")
	if m.zoomNS() != 1e9 || !strings.Contains(m.message, "finest") {
		t.Errorf("zoom %d, message %q", m.zoomNS(), m.message)
	}
	press(m, "w")
	if m.window != 2 {
		t.Errorf("window %d", m.window)
	}
	press(m, "m", "p")
	if strings.Join(did, " ") != "mark pause" {
		t.Errorf("controls %v", did)
	}
	press(m, "?")
	if !m.help {
		t.Error("no help")
	}
	press(m, "esc")
	if m.help {
		t.Error("esc leaves the help open")
	}
	before := m.theme.name
	press(m, "t", "T", "2", "4", "5", "x")
	if m.theme.name == before || m.text {
		t.Errorf("theme %s, text %v", m.theme.name, m.text)
	}
	press(m, "space")
	if m.frozen == nil {
		t.Error("space does not freeze")
	}
	press(m, "space")
	if m.frozen != nil {
		t.Error("space does not let go")
	}
}

func TestTheHelpMovesByPages(t *testing.T) {
	m := still(busy(), Config{Theme: "mono"})
	shown := func(want int) {
		t.Helper()
		screenOf(m, 40, 8, overview)
		if m.helpTop != want {
			t.Errorf("the help begins at row %d, want %d", m.helpTop, want)
		}
	}
	press(m, "?")
	shown(0)
	press(m, "pgdown", "pgdown")
	shown(12)
	press(m, "pgup")
	shown(6)
	press(m, "G", "pgdown")
	shown(m.helpMost)
	if out := screenOf(m, 40, 8, overview); strings.Contains(out, "…") || !strings.Contains(out, "strip held several") {
		t.Errorf("the end of the help:\n%s", out)
	}
	press(m, "g", "pgup")
	shown(0)
}

func TestResetOfTheSessionAsks(t *testing.T) {
	f := &countingFeed{}
	m := still(busy(), Config{Feed: f})
	press(m, "R", "x", "n")
	if f.n != 0 {
		t.Error("it reset without a yes")
	}
	press(m, "R", "y")
	if f.n != 1 {
		t.Errorf("%d resets after a yes", f.n)
	}
	press(m, "r")
	if f.n != 2 {
		t.Errorf("r does not reset the window")
	}
}

type countingFeed struct{ n int }

func (c *countingFeed) Put(event.Event) { c.n++ }

func TestFreezeHoldsTheViewNotTheMeasurement(t *testing.T) {
	w := newWorld(1, 2)
	w.run(20e9)
	s := w.snapshot()
	m := still(s, Config{Theme: "mono"})
	c := newClock()
	m.cfg.Now = c.now
	m.cfg.Snapshot = func() *stats.Snapshot { return s }
	press(m, "space")
	w.run(37e9)
	s = w.snapshot()
	c.at = c.at.Add(17 * time.Second)
	m.Update(frameMsg(m.tick))
	out := screenOf(m, 80, 24, overview)
	if !strings.Contains(out, "PAUSED +17s, ") || strings.Contains(out, ", 0 new") {
		t.Errorf("first line %q", strings.SplitN(out, "\n", 2)[0])
	}
	if m.snap.Now != 20e9 {
		t.Errorf("the view shows %d", m.snap.Now)
	}
}

func TestQuitStopsTheProbeFirst(t *testing.T) {
	s := busy()
	var did []string
	m := still(s, Config{Control: func(event.Control) {}})
	m.do = func(c event.Control) { did = append(did, c.Do) }
	if isQuit(press(m, "q")) {
		t.Error("it leaves before the probe has stopped")
	}
	done := *s
	done.Seq++
	done.Finished = &event.Finished{Reason: "stopped"}
	m.cfg.Snapshot = func() *stats.Snapshot { return &done }
	if !isQuit(m.frame()) {
		t.Error("it stays after the probe has stopped")
	}
	if !m.outcome.Quit || m.outcome.Aborted || strings.Join(did, " ") != "stop" {
		t.Errorf("outcome %+v, controls %v", m.outcome, did)
	}
}

func TestASecondQuitAborts(t *testing.T) {
	var did []string
	m := still(busy(), Config{Control: func(event.Control) {}})
	m.do = func(c event.Control) { did = append(did, c.Do) }
	press(m, "q")
	if !isQuit(press(m, "ctrl+c")) || !m.outcome.Aborted || strings.Join(did, " ") != "stop abort" {
		t.Errorf("outcome %+v, controls %v", m.outcome, did)
	}
}

func TestTheProbesDeathIsShownAndSurvived(t *testing.T) {
	m := still(busy(), Config{Theme: "mono", Control: func(event.Control) {}})
	m.cfg.Ended = func() string { return "probe ended: signal killed" }
	m.Update(frameMsg(m.tick))
	if out := screenOf(m, 120, 40, overview); !strings.Contains(out, "PROBE ENDED: signal killed") {
		t.Errorf("first line %q", strings.SplitN(out, "\n", 2)[0])
	}
	if !isQuit(press(m, "q")) {
		t.Error("q waits for a probe that is gone")
	}
}

func isQuit(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

func TestPaceOfTheFrames(t *testing.T) {
	local := still(busy(), Config{})
	if local.pace() != 100*time.Millisecond {
		t.Errorf("local: %v", local.pace())
	}
	ssh := still(busy(), Config{Env: vars("SSH_TTY", "/dev/pts/3")})
	if ssh.pace() != time.Second/3 {
		t.Errorf("over SSH: %v", ssh.pace())
	}
	local.Update(tea.BlurMsg{})
	if local.pace() != time.Second {
		t.Errorf("unfocused: %v", local.pace())
	}
	old := frameMsg(local.tick)
	local.Update(tea.FocusMsg{})
	if _, cmd := local.Update(old); cmd != nil {
		t.Error("a tick of the old chain goes on beside the new one")
	}
}
