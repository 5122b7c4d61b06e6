package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"teapot/ui/chart"
	"teapot/ui/format"
)

// Everything that comes from a server or a model passes through this file
// before it reaches a cell. Below it stands one more guard: an Area drops every
// character that has no width.

// label makes one line of untrusted text fit for a cell grid.
func label(s string) string { return settle(format.Clean(s)) }

// labelURL is label for text that may hold a URL.
func labelURL(s string) string { return label(format.RedactText(s)) }

// settle removes what makes terminals disagree about the width of a character:
// joiners and selectors of emoji, skin tones, flags made of two letters,
// characters of private use.
func settle(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if r = settled(r); r >= 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// settled returns the rune to show for r, or -1 for none.
func settled(r rune) rune {
	switch {
	case r < ' ' || r == 0x7f, r >= 0x80 && r < 0xa0:
		return -1
	case r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators
		return 'A' + r - 0x1f1e6
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return -1
	case r == utf8.RuneError:
		return '?'
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Me):
		return -1
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return -1
	case r == 0x2028 || r == 0x2029:
		return ' '
	case chart.RuneWidth(r) == 0 && !unicode.Is(unicode.Mn, r):
		return -1
	}
	return r
}

// scrubber cleans the text of one stream, token by token. It keeps what one
// token leaves unfinished for the next: a rune cut in the middle, and an escape
// sequence. The zero scrubber is ready.
type scrubber struct {
	tail []byte // bytes of an unfinished rune
	esc  escState
	n    int // bytes of the escape sequence so far
}

type escState uint8

const (
	escNone escState = iota
	escBegin
	escCSI
	escString    // OSC, DCS, APC, PM, SOS: until BEL or ST
	escStringEnd // ESC inside of one
)

// maxEscape is where an unterminated control string is given up: what follows
// is text again, so that a model cannot hide its reply behind one byte.
const maxEscape = 256

// token returns the text of a token as it may be shown. Line ends stay as "\n",
// tabs are blanks; everything else of no width, but for plain marks, is gone.
func (c *scrubber) token(s string) string {
	if len(c.tail) == 0 && c.esc == escNone && isPlain(s) {
		return s
	}
	if len(c.tail) > 0 {
		s = string(c.tail) + s
		c.tail = c.tail[:0]
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 && !utf8.FullRuneInString(s) {
			c.tail = append(c.tail, s...)
			break
		}
		s = s[n:]
		if r == utf8.RuneError && n == 1 {
			r = '?'
		}
		if c.hidden(r) {
			continue
		}
		switch r {
		case '\n':
			b.WriteByte('\n')
		case '\t':
			b.WriteString("  ")
		default:
			if r = settled(r); r >= 0 {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// hidden tells whether a rune belongs to an escape sequence.
func (c *scrubber) hidden(r rune) bool {
	if c.esc != escNone {
		if c.n++; c.n > maxEscape {
			c.esc, c.n = escNone, 0
			return false
		}
	}
	switch c.esc {
	case escBegin:
		switch {
		case r == '[':
			c.esc = escCSI
		case strings.ContainsRune("]PX^_", r):
			c.esc = escString
		case r >= 0x20 && r <= 0x2f: // an intermediate: one more follows
		default:
			c.esc = escNone
		}
		return true
	case escCSI:
		if r >= 0x40 && r <= 0x7e || r < 0x20 {
			c.esc = escNone
		}
		return true
	case escString:
		switch r {
		case 0x07, 0x9c:
			c.esc = escNone
		case 0x1b:
			c.esc = escStringEnd
		}
		return true
	case escStringEnd:
		c.esc = escNone
		return true
	}
	switch r {
	case 0x1b:
		c.esc, c.n = escBegin, 0
	case 0x9b:
		c.esc, c.n = escCSI, 0
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		c.esc, c.n = escString, 0
	default:
		return false
	}
	return true
}

// cut shortens s to w columns, with … for what is gone. Its measure is that of
// the cell grid.
func cut(s string, w int) string {
	if chart.Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	n, room := 0, w-1
	for i, r := range s {
		rw := chart.RuneWidth(r)
		if rw > room {
			break
		}
		room -= rw
		n = i + utf8.RuneLen(r)
	}
	return s[:n] + "…"
}

// cutMiddle shortens s to w columns and keeps its two ends.
func cutMiddle(s string, w int) string {
	if chart.Width(s) <= w || w < 5 {
		return cut(s, w)
	}
	front := strings.TrimSuffix(cut(s, w/2+1), "…")
	room := w - 1 - chart.Width(front)
	rest := s[len(front):]
	for chart.Width(rest) > room {
		_, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	return front + "…" + rest
}
