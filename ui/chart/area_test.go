package chart

import (
	"testing"
	"unicode"
)

func FuzzAreaText(f *testing.F) {
	for _, s := range []string{"", "plain", "日本語 text", "a\u0301\u0302\u0303b", "\x1b[31mred\x07", "🙂👩‍👩‍👧", "\u202e\ufeff", "\xff\xfe"} {
		f.Add(s, 3, 10)
	}
	f.Fuzz(func(t *testing.T, s string, x, w int) {
		x, w = x%30, w%30
		g := NewGrid(w, 1)
		g.All().Text(x, 0, s, Plain)
		for i := range g.W {
			c := g.At(i, 0)
			switch {
			case c.Rune == Cont:
				if i == 0 || RuneWidth(g.At(i-1, 0).Rune) != 2 {
					t.Fatalf("%q: half of nothing at %d", s, i)
				}
			case c.Rune != 0 && RuneWidth(c.Rune) == 0:
				t.Fatalf("%q: %U has no width", s, c.Rune)
			case RuneWidth(c.Rune) == 2 && g.At(i+1, 0).Rune != Cont:
				t.Fatalf("%q: the wide %q at %d is halved", s, c.Rune, i)
			}
			for _, m := range c.Marks {
				if !unicode.Is(unicode.Mn, m) {
					t.Fatalf("%q: %U is no mark", s, m)
				}
			}
		}
	})
}

func TestAWideCharacterIsNeverHalved(t *testing.T) {
	g := NewGrid(6, 1)
	g.All().Text(0, 0, "茶茶茶", Plain)
	g.All().Text(3, 0, "x", Plain)
	if g.At(2, 0).Rune != ' ' || g.At(3, 0).Rune != 'x' || g.At(4, 0).Rune != '茶' {
		t.Errorf("cells %q", text(g, 0))
	}
	g = NewGrid(5, 1)
	if end := g.All().Text(0, 0, "茶茶茶", Plain); end < 5 || g.At(4, 0).Rune == '茶' {
		t.Errorf("the third character is cut in half: %q", text(g, 0))
	}
}
