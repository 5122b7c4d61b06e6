package ui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"teapot/ui/chart"
)

// harmless fails when a string could do anything to a terminal but show text.
func harmless(t *testing.T, in, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Fatalf("%q became %q, which is not UTF-8", in, out)
	}
	for _, r := range out {
		switch {
		case r == '\n':
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			t.Fatalf("%q became %q with the control character %U", in, out, r)
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f:
			t.Fatalf("%q became %q with the bidi control %U", in, out, r)
		case r == 0x200d || r >= 0xfe00 && r <= 0xfe0f:
			t.Fatalf("%q became %q with %U", in, out, r)
		}
	}
}

var nasty = []string{
	"", "plain text", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07after", "\x1b]52;c;AAAA\x1b\\after", "\x1bPq#0\x1b\\x",
	"\u202eevil\u202c", "a\r\nb\tc", "\xff\xfe broken", "日本語", "👩‍👩‍👧 🇩🇪 👍🏽 1️⃣", "Z\u0334\u0335\u0336\u0337algo",
	"\u009b31m csi", "\x9b31m", "\x1b[", "\x1b", "tail \xe6\x97", "\u0007\u0008\u007f", "\x1b[2J\x1b[H",
}

func FuzzLabel(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := label(s)
		harmless(t, s, out)
		if strings.Contains(out, "\n") {
			t.Fatalf("%q became two lines", s)
		}
	})
}

func FuzzScrubber(f *testing.F) {
	for _, s := range nasty {
		f.Add(s, 1)
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		var whole, parts scrubber
		want := whole.token(s)
		harmless(t, s, want)
		got := ""
		for len(s) > 0 {
			n := min(max(cut%5, 1), len(s))
			got += parts.token(s[:n])
			s = s[n:]
		}
		harmless(t, s, got)
		if got != want {
			t.Fatalf("in pieces it reads %q, at once %q", got, want)
		}
	})
}

func TestScrubberAcrossTokens(t *testing.T) {
	cases := []struct {
		name   string
		tokens []string
		want   string
	}{
		{"a rune in two tokens", []string{"a\xe6\x97", "\xa5b"}, "a日b"},
		{"an escape sequence in three", []string{"x\x1b", "[3", "1my"}, "xy"},
		{"a title in two", []string{"x\x1b]0;ow", "ned\x07y"}, "xy"},
		{"a rune that never ends", []string{"a\xe6", "b"}, "a?b"},
		{"a flag", []string{"🇩", "🇪"}, "DE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s scrubber
			got := ""
			for _, tok := range c.tokens {
				got += s.token(tok)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnUnterminatedStringHidesNoReply(t *testing.T) {
	var s scrubber
	got := s.token("\x1b]0;" + strings.Repeat("a", 1000) + " the reply")
	if !strings.Contains(got, "the reply") {
		t.Errorf("a control string without an end swallowed the rest: %q", got)
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range nasty {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		s, w = label(s), w%40
		for _, out := range []string{cut(s, w), cutMiddle(s, w)} {
			if !utf8.ValidString(out) || chart.Width(out) > max(w, 0) {
				t.Fatalf("%q in %d columns: %q is %d wide", s, w, out, chart.Width(out))
			}
		}
	})
}
