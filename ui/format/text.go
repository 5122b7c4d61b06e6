package format

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxMarks is the number of combining marks kept on one character. Languages
// need up to three or four; what has dozens is meant to smear over other rows.
const maxMarks = 4

// Clean makes text of untrusted origin (a model, a server, an error message)
// fit for one line of a terminal: escape sequences, control characters, bidi
// controls and other invisible format characters are gone, every run of white
// space is one blank, broken UTF-8 is U+FFFD. What comes out is valid UTF-8 and
// is its own Clean.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	return squeeze(strings.ToValidUTF8(ansi.Strip(strings.ToValidUTF8(s, "\uFFFD")), "\uFFFD"))
}

// plain tells whether s is what Clean would return, for the common case of
// printable ASCII without doubled blanks.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

func squeeze(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space, marks, base := false, 0, false
	for _, r := range s {
		if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			space = true
			continue
		}
		if invisible(r) {
			continue
		}
		if joins(r) {
			// A mark belongs to the character before it, and only a few do.
			if !base || space || marks >= maxMarks {
				continue
			}
			marks++
			b.WriteRune(r)
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space, marks, base = false, 0, true
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), "\u200d")
}

// joins tells the characters that a terminal draws into the one before: marks,
// the joiner and the skin tones of emoji, the voicing marks of narrow kana.
func joins(r rune) bool {
	return unicode.Is(unicode.M, r) || r == '\u200d' ||
		r >= '\U0001f3fb' && r <= '\U0001f3ff' || r == '\uff9e' || r == '\uff9f'
}

// invisible tells the characters that have no place in a line: controls,
// format characters (bidi controls, zero-width space, tags, byte order mark;
// not the joiner of emoji), surrogates, private use and what Unicode does not
// assign.
func invisible(r rune) bool {
	if r == '\u200d' || r == utf8.RuneError {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co) ||
		r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' ||
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)
}

// Width is the number of columns that s takes on a terminal.
func Width(s string) int { return ansi.StringWidth(s) }

// Cut shortens s to at most width columns, with "…" for what is gone. It cuts
// between whole characters as a terminal draws them, never inside one.
func Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	return head(s, width-1) + "…"
}

// CutMiddle shortens s to at most width columns and keeps both of its ends,
// which is where names of models and hosts differ.
func CutMiddle(s string, width int) string {
	w := Width(s)
	if w <= width || width < 3 {
		return Cut(s, width)
	}
	front := head(s, width/2)
	rest := s[len(front):]
	for over := Width(rest) - (width - 1 - Width(front)); over > 0; {
		c, cw := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		rest = rest[len(c):]
		over -= cw
	}
	return front + "…" + rest
}

// head returns the longest prefix of whole characters of s that fits.
func head(s string, width int) string {
	n := 0
	for n < len(s) {
		c, w := ansi.FirstGraphemeCluster(s[n:], ansi.GraphemeWidth)
		if len(c) == 0 || w > width {
			break
		}
		width -= w
		n += len(c)
	}
	return s[:n]
}

// Left fills s with blanks on its right up to width columns, cutting what is
// longer.
func Left(s string, width int) string {
	s = Cut(s, width)
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Right fills s with blanks on its left up to width columns, cutting what is
// longer.
func Right(s string, width int) string {
	s = Cut(s, width)
	return strings.Repeat(" ", max(0, width-Width(s))) + s
}

// asciiFor holds the stand-ins of the glyphs teapot itself uses. Those of one
// column stay one column, so that a table keeps its shape.
var asciiFor = strings.NewReplacer(
	"–", "-", "—", "-", "─", "-", "━", "-", "│", "|", "┤", "|", "├", "|", "┼", "+",
	"×", "x", "·", ".", "•", "*", "●", "*", "…", ".", "≈", "~", "µ", "u", "σ", "s", "Σ", "S",
	"▼", "v", "▲", "^", "→", ">", "←", "<", "✗", "x", "✓", "+", "‖", "|", "’", "'",
	"≤", "<=", "≥", ">=", "≠", "!=",
)

// ASCII writes s with bytes below 0x80 alone, for a terminal whose locale has
// nothing else: teapot's own glyphs get their stand-ins, any other character
// becomes "?" in each of its columns.
func ASCII(s string) string {
	s = asciiFor.Replace(s)
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if s[0] < utf8.RuneSelf {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		b.WriteString(strings.Repeat("?", Width(s[:size])))
		s = s[size:]
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
