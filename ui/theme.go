package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"

	"teapot/ui/chart"
)

// theme turns roles into SGR sequences. It is made once and only read.
type theme struct {
	name  string
	depth depth
	sgr   [chart.Roles << 3]string // by role and the three attribute bits
	blank [chart.Roles << 3]bool   // whether it shows on a blank, being underlined or reversed
}

// ink is how a role looks: a colour (#rrggbb, "" for the terminal's own), its
// stand-in among the 16 colours, and attributes.
type ink struct {
	hex   string
	ansi  int8 // 0-15; -1 for the terminal's own
	attrs string
}

// Attributes of an ink, as SGR parameters.
const (
	bold      = "1"
	underline = "4"
	reverse   = "7"
)

func newTheme(name string, d depth) *theme {
	t := &theme{name: name, depth: d}
	if name == "mono" {
		t.depth = mono
	}
	inks := palette(name)
	for i := range t.sgr {
		role, bits := chart.Role(i>>3), i&7
		t.sgr[i], t.blank[i] = t.sequence(inks[role], monoAttrs[role], bits)
	}
	return t
}

// of returns the sequence that starts a run of cells of this role.
func (t *theme) of(r chart.Role) string {
	i := int(r.Base())<<3 | int(r>>8)&7
	if i >= len(t.sgr) {
		return reset
	}
	return t.sgr[i]
}

// shows tells whether a role can be seen on a blank.
func (t *theme) shows(r chart.Role) bool {
	i := int(r.Base())<<3 | int(r>>8)&7
	return i < len(t.blank) && t.blank[i]
}

// sequence builds "\x1b[0;…m", which stands alone: it needs no reset before it.
// It also tells whether it shows on a blank.
func (t *theme) sequence(k ink, monoAttrs string, bits int) (string, bool) {
	attrs := k.attrs
	if t.depth == mono {
		attrs = monoAttrs
	}
	p, shows := []string{"0"}, false
	add := func(a string) {
		p = append(p, a)
		shows = shows || a == underline || a == reverse
	}
	if attrs != "" {
		for _, a := range strings.Split(attrs, ";") {
			add(a)
		}
	}
	for i, a := range [...]string{underline, bold, reverse} {
		if bits&(1<<i) != 0 && !slices.Contains(p, a) {
			add(a)
		}
	}
	if c := t.colour(k); c != "" {
		p = append(p, c)
	}
	if len(p) == 1 {
		return reset, false
	}
	return "\x1b[" + strings.Join(p, ";") + "m", shows
}

func (t *theme) colour(k ink) string {
	switch {
	case t.depth == mono || k.hex == "":
		return ""
	case t.depth == ansi16:
		if k.ansi < 0 {
			return ""
		}
		if k.ansi < 8 {
			return strconv.Itoa(30 + int(k.ansi))
		}
		return strconv.Itoa(90 + int(k.ansi) - 8)
	}
	c, err := colorful.Hex(k.hex)
	if err != nil {
		return ""
	}
	if t.depth == ansi256 {
		if i, ok := colorprofile.ANSI256.Convert(c).(ansi.IndexedColor); ok {
			return "38;5;" + strconv.Itoa(int(i))
		}
		return ""
	}
	r, g, b := c.RGB255()
	return "38;2;" + strconv.Itoa(int(r)) + ";" + strconv.Itoa(int(g)) + ";" + strconv.Itoa(int(b))
}

// next is the theme after a press of the theme key: dark, light, contrast,
// mono, and around.
func (t *theme) next() string {
	order := [...]string{"dark", "light", "contrast", "mono"}
	for i, n := range order {
		if n == t.name {
			return order[(i+1)%len(order)]
		}
	}
	return order[0]
}
