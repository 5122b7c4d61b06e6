package chart

import (
	"math"
	"strconv"
)

// Log is a logarithmic axis with memory. Its bounds widen at once, so that no
// value is ever cut off, and narrow only after Hold without need, so that one
// spike does not make the picture jump twice. The zero Log has no bounds yet.
//
// It is a value: Fit returns the axis for the next drawing.
type Log struct {
	Lo, Hi   float64 // ns, both of 1-2-5 steps
	Hold     int64   // ns of the session's clock
	Straight bool    // drawn from 0 and in even steps instead
	straight Linear
	loNeeded int64 // when each bound was last needed
	hiNeeded int64
}

// Bounds of every log axis, ns.
const (
	floorNS = 1e3  // 1 µs
	ceilNS  = 1e12 // 1 000 s
	holdNS  = 20e9 // default of Hold
	needsLo = 1.6  // a value stands at least this far above the lower bound
	maxLin  = 1e15 // a linear axis ends here
)

// Fit returns the axis for values between lo and hi ns at the instant at. Values
// that are not positive and finite are ignored.
func (l Log) Fit(lo, hi float64, at int64) Log {
	if l.Hold <= 0 {
		l.Hold = holdNS
	}
	if !(lo > 0) || !(hi >= lo) || math.IsInf(hi, 0) {
		return l
	}
	lo, hi = min(max(lo, floorNS), ceilNS), min(max(hi, floorNS), ceilNS)
	l.straight = l.straight.Fit(hi, at)
	wantLo, wantHi := stepDown(lo/needsLo), decadeUp(hi)
	if wantHi < wantLo*10 {
		wantHi = decadeUp(wantLo * 10)
	}
	if l.Hi <= l.Lo { // the first fit
		l.Lo, l.Hi, l.loNeeded, l.hiNeeded = wantLo, wantHi, at, at
		return l
	}
	if wantLo <= l.Lo {
		l.Lo, l.loNeeded = wantLo, at
	} else if at < l.loNeeded || at-l.loNeeded >= l.Hold {
		l.Lo, l.loNeeded = wantLo, at
	}
	if wantHi >= l.Hi {
		l.Hi, l.hiNeeded = wantHi, at
	} else if at < l.hiNeeded || at-l.hiNeeded >= l.Hold {
		l.Hi, l.hiNeeded = max(wantHi, l.Lo*10), at
	}
	return l
}

// Known tells whether the axis has bounds.
func (l Log) Known() bool { return l.Hi > l.Lo && l.Lo > 0 }

// Pos is the place of a value on the axis, from 0 at the bottom to 1 at the
// top; what lies outside is clamped, and no value has place 0.
func (l Log) Pos(v float64) float64 {
	if l.Straight && l.Known() && l.straight.Hi > 0 && v > 0 {
		return min(v/l.straight.Hi, 1)
	}
	if !l.Known() || !(v > l.Lo) {
		return 0
	}
	if v >= l.Hi {
		return 1
	}
	return math.Log(v/l.Lo) / math.Log(l.Hi/l.Lo)
}

// Row is the row, counted from the top, in which a value stands when the axis
// is drawn over the given number of rows.
func (l Log) Row(v float64, rows int) int {
	r := rows - 1 - int(l.Pos(v)*float64(rows))
	return min(max(r, 0), max(rows-1, 0))
}

// Labels returns one label per row, top first; "" where no 1-2-5 step falls
// into the row. Decades win over fives, fives over twos.
func (l Log) Labels(rows int) []string {
	out := make([]string, max(rows, 0))
	if !l.Known() || rows <= 0 {
		return out
	}
	if l.Straight {
		return l.even(out)
	}
	for _, lead := range [...]float64{2, 5, 1} {
		if lead != 1 && float64(rows) < 1.8*math.Log10(l.Hi/l.Lo) {
			continue // too crowded for more than decades
		}
		for d := math.Floor(math.Log10(l.Lo)); d <= math.Ceil(math.Log10(l.Hi)); d++ {
			v := lead * math.Pow(10, d)
			if v >= l.Lo*0.999 && v < l.Hi*0.999 {
				out[l.Row(v*1.0001, rows)] = Short(v)
			}
		}
	}
	if out[0] == "" {
		out[0] = Short(l.Hi)
	}
	return out
}

// even labels an axis from 0: its top, its middle where there is room, and 0.
func (l Log) even(out []string) []string {
	rows := len(out)
	out[0] = Short(l.straight.Hi)
	if rows > 4 {
		out[l.Row(l.straight.Hi/2, rows)] = Short(l.straight.Hi / 2)
	}
	if rows > 1 {
		out[rows-1] = "0"
	}
	return out
}

// Word is how the axis is divided: "log" or "linear".
func (l Log) Word() string {
	if l.Straight {
		return "linear"
	}
	return "log"
}

// Short writes a step of an axis: 0.5, 20 (both ms), 2s.
func Short(ns float64) string {
	if ns >= 1e9*0.999 {
		return strconv.FormatFloat(roundTo(ns/1e9), 'g', 4, 64) + "s"
	}
	return strconv.FormatFloat(roundTo(ns/1e6), 'g', 4, 64)
}

func roundTo(v float64) float64 {
	if v >= 1 {
		return math.Round(v)
	}
	return math.Round(v*1e4) / 1e4
}

// stepDown is the largest of 1, 2 and 5 times a power of ten that is ≤ v.
func stepDown(v float64) float64 {
	d := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, lead := range [...]float64{5, 2} {
		if v >= lead*d*0.999999 {
			return lead * d
		}
	}
	return d
}

// decadeUp is the smallest power of ten that is ≥ v.
func decadeUp(v float64) float64 {
	return math.Pow(10, math.Ceil(math.Log10(v)-1e-9))
}

// Linear is an axis from 0 with the same memory as Log.
type Linear struct {
	Hi     float64
	Hold   int64 // ns
	needed int64
}

// Fit returns the axis for values up to hi at the instant at.
func (l Linear) Fit(hi float64, at int64) Linear {
	if l.Hold <= 0 {
		l.Hold = holdNS
	}
	if !(hi > 0) || hi > maxLin {
		return l
	}
	want := stepUp(hi)
	if want >= l.Hi || at < l.needed || at-l.needed >= l.Hold {
		l.Hi, l.needed = want, at
	}
	return l
}

// stepUp is the smallest of 1, 1.5, 2, 3, 4, 5, 6 and 8 times a power of ten
// that is ≥ v.
func stepUp(v float64) float64 {
	d := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, lead := range [...]float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
		if v <= lead*d*1.000001 {
			return lead * d
		}
	}
	return 10 * d
}
