// Package format writes teapot's numbers and other people's text for a person
// to read: milliseconds, counts, rates, ages, the marks of the sample rule, and
// text of untrusted origin made harmless.
//
// It is shared by the screen, the plain lines and the reports, so that one
// number reads the same everywhere. It must not compute a statistic, know a
// colour or a layout, or write anything itself.
package format

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// None stands where there is no value. It is one column wide.
const None = "–"

// MS writes a duration in ns as milliseconds without a unit, in three
// significant digits: "0.042", "1.60", "15.1", "182", "4620". Nothing longer
// than seven columns comes out below three hours. A negative duration, which no
// measurement has, reads as None.
func MS(ns int64) string { return millis(ns, 1) }

// MSFine is MS with one digit more, for reports: "0.0420", "1.60", "12.88",
// "120.2", "4620". Four digits are what a histogram of three can carry.
func MSFine(ns int64) string { return millis(ns, 2) }

// millis writes ns as milliseconds. From 10 ms on digits stand behind the
// point, one less from 100 ms on, and so forth; below that there are at least
// the two or three that three significant digits want.
func millis(ns int64, digits int) string {
	if ns < 0 {
		return None
	}
	ms := float64(ns) / 1e6
	switch {
	case ms == 0:
		return "0"
	case ms < 0.9995:
		return trimTo(ms, 3)
	case ms < 9.995:
		return trimTo(ms, 2)
	}
	for most := 100.0; digits > 0; most *= 10 {
		// At the edge a value is written as it will be rounded.
		if ms < most-0.5*math.Pow10(-digits) {
			return trimTo(ms, digits)
		}
		digits--
	}
	return trimTo(ms, 0)
}

// Dur writes a duration in ns with its unit, in three significant digits:
// "0s", "42us", "1.6ms", "812ms", "4.2s", "3m20s".
func Dur(ns int64) string {
	switch {
	case ns < 0:
		return None
	case ns == 0:
		return "0s"
	case ns < 999500:
		return short(float64(ns)/1e3) + "us"
	case ns < 999_500_000:
		return short(float64(ns)/1e6) + "ms"
	case ns < 99_950_000_000:
		return short(float64(ns)/1e9) + "s"
	}
	return Age(time.Duration(ns))
}

// Age writes how long something lasts or how old it is, in at most two units
// of whole numbers: "0s", "41s", "12m41s", "3h05m", "2d07h".
func Age(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := int64(d / time.Second)
	two := func(n int64) string {
		if n < 10 {
			return "0" + strconv.FormatInt(n, 10)
		}
		return strconv.FormatInt(n, 10)
	}
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch {
	case s < 60:
		return num(s) + "s"
	case s < 3600:
		return num(s/60) + "m" + two(s%60) + "s"
	case s < 86400:
		return num(s/3600) + "h" + two(s/60%60) + "m"
	}
	return num(s/86400) + "d" + two(s/3600%24) + "h"
}

// Count writes a number of things in at most five columns: "83", "1051" stays
// whole below ten thousand, then "15.8k", "198k", "2.41M".
func Count(n uint64) string {
	if n < 10000 {
		return strconv.FormatUint(n, 10)
	}
	v := float64(n)
	for _, unit := range []string{"k", "M", "G", "T", "P", "E"} {
		v /= 1000
		if v < 999.5 {
			return short(v) + unit
		}
	}
	return strconv.FormatUint(n, 10)
}

// Full writes a number of things whole, its thousands set off by commas.
func Full(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Rate writes a number per second in three significant digits: "0.25", "67.6",
// "271", "1520". What is not a finite number of zero or more reads as None.
func Rate(v float64) string {
	if !finite(v) || v < 0 {
		return None
	}
	switch {
	case v == 0:
		return "0"
	case v < 9.995:
		return trimTo(v, 2)
	case v < 99.95:
		return trimTo(v, 1)
	case v < 1e15:
		return trimTo(v, 0)
	}
	return strconv.FormatFloat(v, 'e', 2, 64)
}

// Speed is the tokens per second of a time per token in ns, 1e9/ns; None when
// there is no such time.
func Speed(ns int64) string {
	if ns <= 0 {
		return None
	}
	return Rate(1e9 / float64(ns))
}

// Percent writes a share between 0 and 1: "98.6%", "99.95%", "100%". It never
// rounds up to "100%" or down to "0%" what is neither.
func Percent(share float64) string {
	p := share * 100
	if !finite(p) || p < 0 || p > 1e6 {
		return None
	}
	if p == 0 {
		return "0%" // also for a negative zero
	}
	digits := 1
	if p > 99.9 && p < 100 {
		digits = 2
	}
	s := trimZeros(strconv.FormatFloat(p, 'f', digits, 64))
	switch {
	case s == "100" && p < 100:
		return "99.99%"
	case s == "0":
		return "<0.1%"
	}
	return s + "%"
}

// Factor writes a ratio: "2.2×", "75×"; None when it is not a finite number
// above zero.
func Factor(v float64) string {
	if !finite(v) || v <= 0 {
		return None
	}
	if v < 9.95 {
		return trimTo(v, 1) + "×"
	}
	return trimTo(v, 0) + "×"
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// short keeps three significant digits of a number of 0 or more and drops the
// zeros that say nothing.
func short(v float64) string {
	switch {
	case v < 9.995:
		return trimZeros(trimTo(v, 2))
	case v < 99.95:
		return trimZeros(trimTo(v, 1))
	}
	return trimTo(v, 0)
}

func trimTo(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
