package ui

import (
	"strconv"
	"strings"

	"teapot/ui/chart"
	"teapot/ui/format"
)

// fitMS writes a duration in milliseconds with its signs in w columns. Where
// they are too few it has fewer digits, or another unit, which it names. From 5
// columns on everything between 1 µs and 99 hours fits.
func fitMS(ns int64, before, after string, w int) string {
	room := w - chart.Width(before) - chart.Width(after)
	s := format.MS(ns)
	if chart.Width(s) > room {
		for _, s = range shorter(ns, before != "") {
			if chart.Width(s) <= room {
				break
			}
		}
	}
	return before + s + after
}

// shorter are ever shorter forms of a duration. A bound from below is not
// rounded up to whole units.
func shorter(ns int64, bound bool) []string {
	ms := float64(ns) / 1e6
	fixed := func(digits int) string { return strconv.FormatFloat(ms, 'f', digits, 64) }
	whole := func(unit int64, name string) string {
		n := ns / unit
		if !bound && ns%unit >= unit/2 {
			n++
		}
		return strconv.FormatInt(n, 10) + name
	}
	switch {
	case ns < 100e3:
		return []string{format.Dur(ns), whole(1e3, "us"), strings.TrimPrefix(fixed(2), "0")}
	case ns < 100e6:
		return []string{fixed(2), fixed(1), fixed(0)}
	}
	return []string{format.Dur(ns), whole(1e9, "s"), whole(60e9, "m"), whole(3600e9, "h")}
}

// requestName is the number of a request in at most w columns; of a longer one
// it keeps the end, by which it differs from its neighbours.
func requestName(id uint64, w int) string {
	s := "#" + strconv.FormatUint(id, 10)
	if n := len(s) - w; n > 0 {
		s = "…" + s[n+1:]
	}
	return s
}

// several counts things: "1 read", "2 reads".
func several(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return format.Count(n) + " " + what
}

// withMS writes the unit behind a number, and none behind the sign for none.
func withMS(s string) string {
	if s == format.None {
		return s
	}
	return s + " ms"
}
