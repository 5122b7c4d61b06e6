package ui

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/lucasb-eyer/go-colorful"

	"teapot/ui/chart"
)

// contrast is the ratio of WCAG 2 between two colours.
func contrast(a, b colorful.Color) float64 {
	lum := func(c colorful.Color) float64 {
		r, g, b := c.LinearRgb()
		return 0.2126*r + 0.7152*g + 0.0722*b
	}
	x, y := lum(a), lum(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		theme string
		least float64
	}{{"dark", 4.5}, {"light", 4.5}, {"contrast", 7}} {
		inks := palette(c.theme)
		for role, k := range inks {
			if k.hex == "" {
				continue
			}
			exact, err := colorful.Hex(k.hex)
			if err != nil {
				t.Fatalf("%s: role %d: %v", c.theme, role, err)
			}
			near, _ := colorful.MakeColor(colorprofile.ANSI256.Convert(exact))
			for i, bg := range backgrounds(c.theme) {
				back, _ := colorful.Hex(bg)
				if r := contrast(exact, back); r < c.least {
					t.Errorf("%s: role %d %s on %s: %.2f", c.theme, role, k.hex, bg, r)
				}
				// a terminal of 256 colours has the nearest; on pure black and white
				// it has to be readable too
				if r := contrast(near, back); i == 0 && r < 4.5 {
					t.Errorf("%s, 256 colours: role %d %s on %s: %.2f", c.theme, role, near.Hex(), bg, r)
				}
			}
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	for _, th := range []*theme{newTheme("mono", trueColor), newTheme("dark", mono), newTheme("light", mono)} {
		for r := range chart.Roles {
			for _, bits := range []chart.Role{0, chart.Underline, chart.Bold | chart.Reverse} {
				for _, p := range strings.Split(strings.Trim(th.of(r|bits), "\x1b[m"), ";") {
					if p != "" && p != "0" && p != "1" && p != "4" && p != "7" {
						t.Errorf("theme %s: role %d has %q", th.name, r, th.of(r))
					}
				}
			}
		}
	}
}

func TestEveryJudgementHasAnotherSign(t *testing.T) {
	m := monoAttrs
	if m[chart.TokSlow] == m[chart.TokFast] || m[chart.TokLate] == m[chart.TokSlow] || m[chart.BadgeBad] == m[chart.BadgeGood] {
		t.Error("without colour a judgement looks like another")
	}
}

func TestEveryGlyphHasAStandIn(t *testing.T) {
	if a, b := utf8.RuneCountInString(fancyGlyphs), len(asciiGlyphs); a != b {
		t.Fatalf("%d glyphs, %d stand-ins", a, b)
	}
	for _, r := range fancyGlyphs {
		if b := asciiOf(r); b < ' ' || b >= 0x7f || b == '?' {
			t.Errorf("%q becomes %q", r, b)
		}
		if chart.RuneWidth(r) != 1 {
			t.Errorf("%q is %d columns wide", r, chart.RuneWidth(r))
		}
	}
}

func TestColours(t *testing.T) {
	cases := []struct {
		name, flag string
		env        []string
		want       depth
	}{
		{"truecolor", "auto", []string{"TERM", "xterm-256color", "COLORTERM", "truecolor"}, trueColor},
		{"tmux", "auto", []string{"TERM", "tmux-256color"}, ansi256},
		{"screen", "auto", []string{"TERM", "screen-256color"}, ansi256},
		{"COLORTERM wins in tmux", "auto", []string{"TERM", "screen-256color", "COLORTERM", "24bit"}, trueColor},
		{"old", "auto", []string{"TERM", "xterm"}, ansi16},
		{"NO_COLOR=1", "auto", []string{"TERM", "xterm-256color", "NO_COLOR", "1"}, mono},
		{"NO_COLOR=yes", "auto", []string{"TERM", "xterm-256color", "NO_COLOR", "yes", "COLORTERM", "truecolor"}, mono},
		{"NO_COLOR=0", "auto", []string{"TERM", "xterm-256color", "NO_COLOR", "0"}, mono},
		{"NO_COLOR empty", "auto", []string{"TERM", "xterm-256color", "NO_COLOR", ""}, ansi256},
		{"always beats NO_COLOR", "always", []string{"TERM", "xterm-256color", "NO_COLOR", "1"}, ansi256},
		{"always on a dumb one", "always", []string{"TERM", "dumb"}, ansi256},
		{"never", "never", []string{"TERM", "xterm-256color"}, mono},
		{"dumb", "auto", []string{"TERM", "dumb"}, mono},
	}
	for _, c := range cases {
		if got := colours(c.flag, vars(c.env...)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestGlyphSet(t *testing.T) {
	cases := []struct {
		name, flag string
		env        []string
		want       chart.Glyphs
	}{
		{"LC_ALL=C", "auto", []string{"LC_ALL", "C", "LANG", "en_US.UTF-8"}, chart.ASCII},
		{"LC_ALL beats LANG", "auto", []string{"LC_ALL", "C.UTF-8", "LANG", "C"}, chart.Blocks},
		{"LC_CTYPE beats LANG", "auto", []string{"LC_CTYPE", "POSIX", "LANG", "en_US.utf8"}, chart.ASCII},
		{"LANG", "auto", []string{"LANG", "de_DE.UTF-8"}, chart.Blocks},
		{"latin1", "auto", []string{"LANG", "de_DE.ISO-8859-1"}, chart.ASCII},
		{"nothing set", "auto", nil, chart.Blocks},
		{"dumb", "auto", []string{"TERM", "dumb", "LANG", "de_DE.UTF-8"}, chart.ASCII},
		{"asked for", "braille", []string{"LC_ALL", "C"}, chart.Braille},
		{"ascii asked for", "ascii", []string{"LANG", "de_DE.UTF-8"}, chart.ASCII},
	}
	for _, c := range cases {
		if got := glyphSet(c.flag, vars(c.env...)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestThemeName(t *testing.T) {
	for v, want := range map[string]string{"15;0": "dark", "0;15": "light", "0;7": "light", "7;8": "dark", "12;default;0": "dark", "": "dark", "x;y": "dark"} {
		if got := themeName("auto", vars("COLORFGBG", v)); got != want {
			t.Errorf("COLORFGBG=%s: %s", v, got)
		}
	}
	if themeName("contrast", vars("COLORFGBG", "0;15")) != "contrast" {
		t.Error("the flag does not win")
	}
}
