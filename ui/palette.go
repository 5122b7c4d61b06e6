package ui

import "teapot/ui/chart"

// backgrounds are the terminal backgrounds a theme is made for. Its colours
// keep a contrast of 4.5 to 1 against all of them.
func backgrounds(name string) []string {
	if name == "light" {
		return []string{"#ffffff", "#fafafa", "#f5f1e6"}
	}
	return []string{"#000000", "#101418", "#1e1e2e", "#282828"}
}

type inks [chart.Roles]ink

// palette returns the inks of a theme; an unknown name is the dark one.
func palette(name string) inks {
	switch name {
	case "light":
		return lightInks()
	case "contrast":
		return contrastInks()
	}
	return darkInks()
}

// darkInks: the judgements are blue-green, amber and a light red, which people
// with red-green blindness tell apart by lightness and hue.
func darkInks() inks {
	return inks{
		chart.Plain:        {"", -1, ""},
		chart.Dim:          {"#9aa5b1", 7, ""},
		chart.Strong:       {"#f2f5f8", 15, bold},
		chart.Rule:         {"#84909c", 8, ""},
		chart.Head:         {"#8fb8de", 12, ""},
		chart.Good:         {"#5fd7a7", 10, ""},
		chart.Warn:         {"#f2c14e", 11, ""},
		chart.Bad:          {"#ff8a7a", 9, bold},
		chart.Info:         {"#7cc7ff", 14, ""},
		chart.MarkRole:     {"#e0aaff", 13, bold},
		chart.Ours:         {"#c9a6e8", 13, ""},
		chart.Bar:          {"#4fb3bf", 6, ""},
		chart.BarWarn:      {"#f2c14e", 11, ""},
		chart.BarBad:       {"#ff8a7a", 9, ""},
		chart.Dot:          {"#8fd3a8", 10, ""},
		chart.Speed:        {"#7fa7e8", 12, ""},
		chart.CurveWindow:  {"#5fd7d7", 14, ""},
		chart.CurveSession: {"#a0a8b4", 7, ""},
		chart.Heat1:        {"#7e93ad", 4, ""},
		chart.Heat2:        {"#6aa0c8", 12, ""},
		chart.Heat3:        {"#53b4cf", 6, ""},
		chart.Heat4:        {"#5ccfc4", 14, ""},
		chart.Heat5:        {"#8fe6d2", 15, ""},
		chart.Hot1:         {"#e8a15c", 11, ""},
		chart.Hot2:         {"#f09a5a", 11, ""},
		chart.Hot3:         {"#f58f62", 9, ""},
		chart.Hot4:         {"#fb8a72", 9, ""},
		chart.Hot5:         {"#ffb0a8", 9, bold},
		chart.TokFast:      {"#8fd3a8", 10, ""},
		chart.TokSlow:      {"#f2c14e", 11, underline},
		chart.TokLate:      {"#ff8a7a", 9, bold + ";" + underline},
		chart.TokThought:   {"#9aa5b1", 7, ""},
		chart.Key:          {"#f2f5f8", 15, bold},
		chart.BadgeGood:    {"#5fd7a7", 10, bold},
		chart.BadgeWarn:    {"#f2c14e", 11, bold},
		chart.BadgeBad:     {"#ff8a7a", 9, bold},
	}
}

func lightInks() inks {
	return inks{
		chart.Plain:        {"", -1, ""},
		chart.Dim:          {"#55606c", 8, ""},
		chart.Strong:       {"#10161c", 0, bold},
		chart.Rule:         {"#626d79", 8, ""},
		chart.Head:         {"#1f4e8c", 4, ""},
		chart.Good:         {"#0a6b47", 2, ""},
		chart.Warn:         {"#855300", 3, ""},
		chart.Bad:          {"#b3261e", 1, bold},
		chart.Info:         {"#0b5cad", 4, ""},
		chart.MarkRole:     {"#7a2fa0", 5, bold},
		chart.Ours:         {"#7a4a9e", 5, ""},
		chart.Bar:          {"#126d7a", 6, ""},
		chart.BarWarn:      {"#8f5a00", 3, ""},
		chart.BarBad:       {"#b3261e", 1, ""},
		chart.Dot:          {"#0f7048", 2, ""},
		chart.Speed:        {"#3a62a8", 4, ""},
		chart.CurveWindow:  {"#0d6a75", 6, ""},
		chart.CurveSession: {"#5c6672", 8, ""},
		chart.Heat1:        {"#5a6e83", 8, ""},
		chart.Heat2:        {"#3f6f96", 4, ""},
		chart.Heat3:        {"#22698f", 4, ""},
		chart.Heat4:        {"#0d5f80", 6, ""},
		chart.Heat5:        {"#063f5c", 4, bold},
		chart.Hot1:         {"#9a5a1e", 3, ""},
		chart.Hot2:         {"#a2501c", 3, ""},
		chart.Hot3:         {"#a8421c", 1, ""},
		chart.Hot4:         {"#ad331c", 1, ""},
		chart.Hot5:         {"#8f1410", 1, bold},
		chart.TokFast:      {"#0f7048", 2, ""},
		chart.TokSlow:      {"#855300", 3, underline},
		chart.TokLate:      {"#b3261e", 1, bold + ";" + underline},
		chart.TokThought:   {"#55606c", 8, ""},
		chart.Key:          {"#10161c", 0, bold},
		chart.BadgeGood:    {"#0a6b47", 2, bold},
		chart.BadgeWarn:    {"#855300", 3, bold},
		chart.BadgeBad:     {"#b3261e", 1, bold},
	}
}

// contrastInks is for bad projectors and tired eyes: 7 to 1 on black.
func contrastInks() inks {
	k := darkInks()
	for r := range k {
		k[r].attrs = bold
	}
	set := func(hex string, code int8, roles ...chart.Role) {
		for _, r := range roles {
			k[r].hex, k[r].ansi = hex, code
		}
	}
	set("#ffffff", 15, chart.Dim, chart.Strong, chart.Rule, chart.Head, chart.Key, chart.CurveSession, chart.TokThought)
	set("#7cffb2", 10, chart.Good, chart.BadgeGood, chart.Dot, chart.TokFast)
	set("#ffe066", 11, chart.Warn, chart.BadgeWarn, chart.BarWarn, chart.TokSlow, chart.Hot1, chart.Hot2)
	set("#ffa99e", 9, chart.Bad, chart.BadgeBad, chart.BarBad, chart.TokLate, chart.Hot3, chart.Hot4, chart.Hot5)
	set("#8fe9ff", 14, chart.Info, chart.Bar, chart.CurveWindow, chart.Speed, chart.Heat2, chart.Heat3)
	set("#c8d4e0", 7, chart.Heat1)
	set("#ffffff", 15, chart.Heat4, chart.Heat5)
	set("#f0c2ff", 13, chart.MarkRole, chart.Ours)
	k[chart.Plain] = ink{"", -1, ""}
	k[chart.TokSlow].attrs = underline
	k[chart.TokLate].attrs = bold + ";" + underline
	return k
}

// monoAttrs is what stands in for colour where there is none.
var monoAttrs = [chart.Roles]string{
	chart.Strong: bold, chart.Bad: bold, chart.MarkRole: bold, chart.Key: bold,
	chart.BarBad: bold, chart.Hot5: bold,
	chart.TokSlow: underline, chart.TokLate: bold + ";" + underline,
	chart.BadgeGood: bold, chart.BadgeWarn: reverse, chart.BadgeBad: bold + ";" + reverse,
}
