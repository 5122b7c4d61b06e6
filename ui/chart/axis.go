package chart

import (
	"strconv"
	"time"
)

// Gutter is the width of the labels left of a plot, with their line.
const Gutter = 6

// YAxis draws the labels of a plot, one per row, right-aligned before a line.
func YAxis(a Area, labels []string) {
	w := a.W()
	for y := range a.H() {
		if y < len(labels) {
			a.Right(w-1, y, labels[y], Dim)
		}
		a.Set(w-1, y, '┤', Rule)
	}
}

// TimeAxis draws how long ago the columns were, and the time of day in the
// middle. back is how long ago, ns, the newest column was the newest of all; it
// is "now" below one column. wall is the time of day of the session's 0; a zero
// one leaves the time of day out.
func TimeAxis(a Area, span Span, wall time.Time, back int64) {
	if span.N <= 0 || a.H() <= 0 {
		return
	}
	x0 := max(a.W()-span.N, 0)
	now := "now"
	if back >= span.Width {
		now = "-" + ago(back)
	} else {
		back = 0
	}
	end := a.Text(x0, 0, "-"+ago(int64(span.N)*span.Width+back), Dim)
	right := a.W() - Width(now)
	if right <= end {
		return
	}
	a.Text(right, 0, now, Dim)
	if wall.IsZero() {
		return
	}
	mid := span.N / 2
	at := wall.Add(time.Duration(span.Start + int64(mid)*span.Width))
	text := at.Format("15:04:05")
	if x := x0 + mid; x > end+1 && x+len(text)+1 < right {
		a.Text(x, 0, text, Dim)
	}
}

// ago writes a duration of whole seconds: 64s, 16m, 2h40m.
func ago(ns int64) string {
	s := ns / 1e9
	switch {
	case s < 120:
		return strconv.FormatInt(s, 10) + "s"
	case s < 7200:
		t := strconv.FormatInt(s/60, 10) + "m"
		if s%60 != 0 {
			t += strconv.FormatInt(s%60, 10) + "s"
		}
		return t
	}
	t := strconv.FormatInt(s/3600, 10) + "h"
	if m := s / 60 % 60; m != 0 {
		t += strconv.FormatInt(m, 10) + "m"
	}
	return t
}
