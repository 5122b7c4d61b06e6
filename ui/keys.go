package ui

import "charm.land/bubbles/v2/key"

// keyMap is every key of the screen. The help is made from it, so a key that is
// not here does not exist.
type keyMap struct {
	help, quit, freeze, pause, zoomIn, zoomOut, window key.Binding
	view1, view2, view3, view4, view5, tab             key.Binding
	reset, resetAll, text, log, baseline, uncompared   key.Binding
	left, right, farLeft, farRight, home, end          key.Binding
	next, previous, enter, sort, filter                key.Binding
	theme, mark, scene, redraw, suspend, back          key.Binding
	slower, faster, fewer, more                        key.Binding
	shorter, longer, lessPrompt, morePrompt            key.Binding
	jump, start                                        key.Binding
	up, down, pageUp, pageDown, top, bottom, yes, no   key.Binding
}

func newKeys() keyMap {
	b := func(help, desc string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
	}
	return keyMap{
		help:       b("?", "this help; esc closes it", "?"),
		quit:       b("q, ctrl+c", "stop probing, write what was asked for and leave; again: at once", "q", "ctrl+c"),
		freeze:     b("space", "hold the picture still, never the measurement", "space"),
		pause:      b("p", "pause probing itself, or the replay, and go on", "p"),
		zoomIn:     b("+", "fewer seconds per column", "+", "="),
		zoomOut:    b("-", "more seconds per column: 1, 2, 5, 15, 60", "-", "_"),
		window:     b("w", "next window: 10 s, 1 min, 5 min, 15 min", "w"),
		view1:      b("1", "overview", "1"),
		view2:      b("2", "the tail: every gap, the nines curve, the worst", "2"),
		view3:      b("3", "streams: the words as they come", "3"),
		view4:      b("4", "requests: list, filter, one request's waterfall and gaps", "4"),
		view5:      b("5", "server: what it says of itself, and what this client adds; again: this client alone", "5"),
		tab:        b("tab", "next view; with two targets: both, the first, the second", "tab"),
		reset:      b("r", "empty the window", "r"),
		resetAll:   b("R", "empty the session (asks first)", "R"),
		text:       b("T", "words of the streams on or off", "T"),
		theme:      b("t", "next theme: dark, light, contrast, mono", "t"),
		mark:       b("m", "mark: I changed something now; figures show their change since", "m"),
		baseline:   b("b", "baseline: keep the window's figures, and compare with them", "b"),
		uncompared: b("B", "end the comparison", "B"),
		left:       b("← →", "cursor on the time axis; with shift ten columns", "left"),
		right:      b("→", "cursor to the right", "right"),
		farLeft:    b("shift+←", "ten columns to the left", "shift+left"),
		farRight:   b("shift+→", "ten columns to the right", "shift+right"),
		home:       b("home end", "cursor to the left edge and beyond; back to live", "home"),
		end:        b("end", "back to live", "end"),
		next:       b("n N", "next, previous spike on screen, worst first", "n"),
		previous:   b("N", "previous spike", "N"),
		enter:      b("enter", "into the request of the spike, the column or the list", "enter"),
		log:        b("l", "gaps and first tokens on a log or a linear scale", "l"),
		sort:       b("s", "in the list of requests: sort it by something else", "s"),
		filter:     b("/", "filter requests: gap>200 status:err ttft>500 tok<10 class:reset stream:3", "/"),
		slower:     b("[ ]", "requests a second, less and more; in a replay half and double speed", "["),
		faster:     b("]", "more requests a second", "]"),
		fewer:      b("{ }", "streams in flight, fewer and more; in a replay a minute back and forth", "{"),
		more:       b("}", "more streams in flight", "}"),
		shorter:    b("< >", "output tokens, half and double; in a replay 10 s back and forth", "<"),
		longer:     b(">", "twice the output tokens", ">"),
		lessPrompt: b(", .", "prompt tokens, half and double; in a replay 1 s back and forth", ","),
		morePrompt: b(".", "twice the prompt tokens", "."),
		jump:       b("J 0", "in a replay: to the cursor, to the beginning", "J"),
		start:      b("0", "to the beginning", "0"),
		scene:      b("S", "next scene of the demo", "S"),
		redraw:     b("ctrl+l", "draw everything anew", "ctrl+l"),
		suspend:    b("ctrl+z", "suspend teapot; fg brings it back", "ctrl+z"),
		back:       b("esc", "close what is open; take cursor and filter away", "esc"),
		up:         b("↑ ↓ k j", "in lists (the worst, the requests) and in this help", "up", "k"),
		down:       b("↓", "down", "down", "j"),
		pageUp:     b("pgup pgdn", "by a page", "pgup"),
		pageDown:   b("pgdn", "down by a page", "pgdown"),
		top:        b("g G", "beginning and end of a list", "g", "home"),
		bottom:     b("G", "its end", "G", "end"),
		yes:        b("y", "yes", "y", "Y"),
		no:         b("n", "no", "n", "N"),
	}
}

// all lists the bindings in the order of the help. Two of a pair that share a
// row are listed once.
func (k *keyMap) all() []key.Binding {
	return []key.Binding{
		k.help, k.quit, k.freeze, k.pause, k.view1, k.view2, k.view3, k.view4, k.view5, k.tab,
		k.left, k.home, k.next, k.enter, k.back, k.zoomIn, k.zoomOut, k.window, k.log,
		k.slower, k.fewer, k.shorter, k.lessPrompt, k.jump, k.mark, k.baseline, k.uncompared,
		k.filter, k.sort, k.up, k.pageUp, k.top,
		k.reset, k.resetAll, k.text, k.theme, k.scene, k.redraw, k.suspend,
	}
}

// hints is the row at the bottom, most needed first. With scenes the key that
// goes through them comes early; in a replay the keys that steer it do.
func (k *keyMap) hints(staged, replay bool) [][2]string {
	out := [][2]string{{"?", "help"}, {"q", "quit"}}
	if replay {
		return append(out, [][2]string{
			{"p", "pause"}, {"[ ]", "speed"}, {"< >", "10 s"}, {"{ }", "1 min"}, {", .", "1 s"}, {"0", "beginning"},
			{"←→", "cursor"}, {"J", "to it"}, {"n", "spike"}, {"w", "window"}, {"+/-", "zoom"}, {"tab", "view"},
			{"space", "freeze"}, {"/", "filter"}, {"l", "log"}, {"T", "text"}, {"t", "theme"},
		}...)
	}
	if staged {
		out = append(out, [2]string{"S", "scene"})
	}
	return append(out, [][2]string{
		{"space", "freeze"}, {"w", "window"}, {"+/-", "zoom"}, {"tab", "view"},
		{"←→", "cursor"}, {"n", "spike"}, {"m", "mark"}, {"b", "baseline"}, {"/", "filter"}, {"l", "log"},
		{"p", "pause"}, {"T", "text"}, {"t", "theme"}, {"r", "reset"},
	}...)
}
