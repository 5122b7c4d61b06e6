package format

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain", "llama-3.3-70b", "llama-3.3-70b"},
		{"lines", "one\r\ntwo\tthree  four ", "one two three four"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"clipboard, ended by ST", "a\x1b]52;c;aGk=\x1b\\b", "ab"},
		{"C1 in UTF-8", "a\u009b2Jb", "a2Jb"},
		{"C1 raw", "a\x9b2Jb", "a\ufffd2Jb"},
		{"bell and backspace", "a\a\bb", "ab"},
		{"delete", "a\x7fb", "ab"},
		{"bidi override", "abc\u202edcba\u202c", "abcdcba"},
		{"bidi isolate", "\u2066x\u2069", "x"},
		{"line separator", "a\u2028b\u2029c\u0085d", "a b c d"},
		{"zero width", "a\u200bb\ufeffc\u2060d\u00ade", "abcde"},
		{"broken UTF-8", "a\xe2\x82b", "a\ufffdb"},
		{"tags", "x\U000e0041\U000e007f", "x"},
		{"private use", "a\ue0b0b", "ab"},
		{"mark without base", "\u0301\u0301abc", "abc"},
		{"many marks", "e" + strings.Repeat("\u0301", 50), "e" + strings.Repeat("\u0301", maxMarks)},
		{"emoji with joiner", "👩\u200d💻 ok", "👩\u200d💻 ok"},
		{"joiner at the end", "a\u200d", "a"},
		{"wide", "模型 テスト", "模型 テスト"},
		{"right to left", "שלום", "שלום"},
		{"only controls", "\x00\x01\x02", ""},
	}
	for _, c := range cases {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: %+q, want %+q", c.name, got, c.want)
		}
	}
}

func checkClean(t interface{ Fatalf(string, ...any) }, in string) {
	s := Clean(in)
	if !utf8.ValidString(s) {
		t.Fatalf("%+q: not UTF-8: %+q", in, s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			t.Fatalf("%+q: %U came through in %+q", in, r, s)
		}
	}
	if again := Clean(s); again != s {
		t.Fatalf("%+q: cleaned twice %+q is %+q", in, s, again)
	}
	for _, w := range []int{0, 1, 2, 3, 7, 20} {
		for _, cut := range []string{Cut(s, w), CutMiddle(s, w)} {
			if Width(cut) > w || !utf8.ValidString(cut) {
				t.Fatalf("%+q cut to %d columns is %+q, %d wide", s, w, cut, Width(cut))
			}
		}
		if got := Width(Left(s, w)); got != w {
			t.Fatalf("%+q filled to %d columns has %d", s, w, got)
		}
		if got := Width(Right(s, w)); got != w {
			t.Fatalf("%+q filled to %d columns has %d", s, w, got)
		}
	}
	for i, c := range []byte(ASCII(s)) {
		if c >= 0x80 {
			t.Fatalf("%+q as ASCII has %#x at %d", s, c, i)
		}
	}
}

func TestCleanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkClean(t, rapid.String().Draw(t, "s")) })
	rapid.Check(t, func(t *rapid.T) {
		checkClean(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "abc", "\x1b[31mred", "\x1b]0;t", "\x1bP\x1b\\", "e\u0301\u0301", "👨‍👩‍👧‍👦", "🇩🇪🇩", "a\xff\xc2", "ᄀᆞᆫ", "​‮"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkClean(t, s) })
}

func TestCut(t *testing.T) {
	cases := []struct{ name, got, want string }{
		{"fits", Cut("abc", 3), "abc"},
		{"too long", Cut("abcdef", 4), "abc…"},
		{"one column", Cut("abcdef", 1), "…"},
		{"none", Cut("abcdef", 0), ""},
		{"negative", Cut("abcdef", -1), ""},
		{"wide character does not fit", Cut("模型模型", 4), "模…"},
		{"middle", CutMiddle("meta-llama/Llama-3.3-70B-Instruct", 15), "meta-ll…nstruct"},
		{"middle fits", CutMiddle("abc", 15), "abc"},
		{"left", Left("ab", 4), "ab  "},
		{"right", Right("ab", 4), "  ab"},
		{"right cuts", Right("abcdef", 4), "abc…"},
		{"ascii", ASCII("– 5 ms ≈ ×2 │ ▼ ≤ 模"), "- 5 ms ~ x2 | v <= ??"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}
