package ui

import (
	"strconv"
	"strings"

	"teapot/ui/chart"
)

// depth is how many colours the terminal can show.
type depth uint8

const (
	mono depth = iota // attributes, no colours
	ansi16
	ansi256
	trueColor
)

// colours decides the depth from the --color flag and the environment: "never"
// and a NO_COLOR of any non-empty value mean none, and "always" beats NO_COLOR.
func colours(flag string, env func(string) string) depth {
	if flag == "never" || flag != "always" && (env("NO_COLOR") != "" || env("TERM") == "dumb") {
		return mono
	}
	term := env("TERM")
	switch strings.ToLower(env("COLORTERM")) {
	case "truecolor", "24bit":
		return trueColor
	}
	for _, t := range [...]string{"-direct", "kitty", "ghostty", "alacritty", "wezterm", "foot", "contour", "rio"} {
		if strings.Contains(term, t) {
			return trueColor
		}
	}
	switch {
	case env("WT_SESSION") != "":
		return trueColor
	case strings.Contains(term, "256color"), env("TERM_PROGRAM") == "Apple_Terminal":
		return ansi256
	case flag == "always" && (term == "" || term == "dumb"):
		return ansi256
	}
	return ansi16
}

// glyphSet decides what to draw with from the --glyphs flag and the locale:
// LC_ALL before LC_CTYPE before LANG, and ASCII when the first of them that is
// set does not name UTF-8. With none of them set UTF-8 is assumed, as a
// container has none and the terminal in front of it nearly always has UTF-8.
func glyphSet(flag string, env func(string) string) chart.Glyphs {
	switch flag {
	case "ascii":
		return chart.ASCII
	case "braille":
		return chart.Braille
	case "block":
		return chart.Blocks
	}
	if env("TERM") == "dumb" {
		return chart.ASCII
	}
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := strings.ToLower(env(name))
		if v == "" {
			continue
		}
		if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
			return chart.Blocks
		}
		return chart.ASCII
	}
	return chart.Blocks
}

// themeName decides the theme for "auto" from COLORFGBG, which some terminals
// set to "foreground;background". The terminal is not asked: its reply could
// arrive after the program is gone.
func themeName(flag string, env func(string) string) string {
	switch flag {
	case "dark", "light", "mono", "contrast":
		return flag
	}
	v := env("COLORFGBG")
	if i := strings.LastIndexByte(v, ';'); i >= 0 {
		if bg, err := strconv.Atoi(v[i+1:]); err == nil && (bg == 7 || bg >= 9 && bg <= 15) {
			return "light"
		}
	}
	return "dark"
}

// remote tells whether the terminal is at the other end of an SSH session.
func remote(env func(string) string) bool {
	return env("SSH_TTY") != "" || env("SSH_CONNECTION") != ""
}
