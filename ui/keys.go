package ui

import "charm.land/bubbles/v2/key"

// keyMap is every key of the screen. The help is made from it, so a key that is
// not here does not exist.
type keyMap struct {
	help, quit, freeze, pause, zoomIn, zoomOut, window     key.Binding
	view1, view2, view3, view5, tab, reset, resetAll, text key.Binding
	theme, mark, scene, redraw, suspend, back              key.Binding
	slower, faster, fewer, more                            key.Binding
	shorter, longer, lessPrompt, morePrompt                key.Binding
	up, down, pageUp, pageDown, top, bottom, yes, no       key.Binding
}

func newKeys() keyMap {
	b := func(help, desc string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
	}
	return keyMap{
		help:       b("?", "this help; esc closes it", "?"),
		quit:       b("q, ctrl+c", "stop probing, write what was asked for and leave; again: at once", "q", "ctrl+c"),
		freeze:     b("space", "hold the picture still, never the measurement", "space"),
		pause:      b("p", "pause probing itself, and go on", "p"),
		zoomIn:     b("+", "fewer seconds per column", "+", "="),
		zoomOut:    b("-", "more seconds per column: 1, 2, 5, 15, 60", "-", "_"),
		window:     b("w", "next window: 10 s, 1 min, 5 min, 15 min", "w"),
		view1:      b("1", "overview", "1"),
		view2:      b("2", "the tail: every gap, the nines curve, the worst", "2"),
		view3:      b("3", "streams: the words as they come", "3"),
		view5:      b("5", "this client: what it adds, and what it left out", "5"),
		tab:        b("tab", "next view, and with several targets the next target", "tab"),
		reset:      b("r", "empty the window", "r"),
		resetAll:   b("R", "empty the session (asks first)", "R"),
		text:       b("T", "words of the streams on or off", "T"),
		theme:      b("t", "next theme: dark, light, contrast, mono", "t"),
		mark:       b("m", "mark this instant on the time axis", "m"),
		slower:     b("[ ]", "requests a second, less and more", "["),
		faster:     b("]", "more requests a second", "]"),
		fewer:      b("{ }", "streams in flight, fewer and more", "{"),
		more:       b("}", "more streams in flight", "}"),
		shorter:    b("< >", "output tokens, half and double", "<"),
		longer:     b(">", "twice the output tokens", ">"),
		lessPrompt: b(", .", "prompt tokens, half and double", ","),
		morePrompt: b(".", "twice the prompt tokens", "."),
		scene:      b("S", "next scene of the demo", "S"),
		redraw:     b("ctrl+l", "draw everything anew", "ctrl+l"),
		suspend:    b("ctrl+z", "suspend teapot; fg brings it back", "ctrl+z"),
		back:       b("esc", "close what is open", "esc"),
		up:         b("↑", "scroll this help up", "up", "k"),
		down:       b("↓", "scroll this help down", "down", "j"),
		pageUp:     b("pgup pgdn", "scroll this help by a page", "pgup"),
		pageDown:   b("pgdn", "scroll this help by a page", "pgdown"),
		top:        b("g G", "its beginning, its end", "g", "home"),
		bottom:     b("G", "its end", "G", "end"),
		yes:        b("y", "yes", "y", "Y"),
		no:         b("n", "no", "n", "N"),
	}
}

// all lists the bindings in the order of the help. Two of a pair that share a
// row are listed once.
func (k *keyMap) all() []key.Binding {
	return []key.Binding{
		k.help, k.quit, k.freeze, k.pause, k.zoomIn, k.zoomOut, k.window, k.view1, k.view2, k.view3, k.view5, k.tab,
		k.slower, k.fewer, k.shorter, k.lessPrompt, k.mark, k.reset, k.resetAll, k.text, k.theme, k.scene, k.redraw, k.suspend, k.back, k.up, k.down,
		k.pageUp, k.top,
	}
}

// hints is the row at the bottom, most needed first.
func (k *keyMap) hints() [][2]string {
	return [][2]string{
		{"?", "help"}, {"q", "quit"}, {"space", "freeze"}, {"w", "window"}, {"+/-", "zoom"}, {"tab", "view"},
		{"m", "mark"}, {"p", "pause"}, {"T", "text"}, {"t", "theme"}, {"r", "reset"},
	}
}
