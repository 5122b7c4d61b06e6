package report

import (
	"fmt"
	"slices"
	"strings"

	"teapot/stats"
	"teapot/ui/format"
)

// This file says in a line what a comparison comes to.

// maxNamed changes are named in a verdict; the others are counted.
const maxNamed = 4

// verdict is the comparison of two endpoints in one line.
func verdict(v *stats.Versus) string {
	up, down := v.Changed()
	word := ""
	switch {
	case v.A.Session.Gap.N == 0 || v.B.Session.Gap.N == 0:
		if v.Errors.Change == stats.ChangeUnknown {
			return "nothing to compare: a run without tokens"
		}
		word = "B and A differ"
	case len(up)+len(down) == 0:
		return "no change beyond chance"
	case len(down) == 0:
		word = "B is slower"
	case len(up) == 0:
		word = "B is faster"
	default:
		word = "B is slower here and faster there"
	}
	if len(down) == 0 && len(up) == 1 && up[0].Figure == "" {
		word = "B fails more often"
	}
	if len(up) == 0 && len(down) == 1 && down[0].Figure == "" {
		word = "B fails less often"
	}
	all := append(slices.Clone(up), down...)
	telling := func(n stats.NamedMove) bool { return n.Name == "p50" || n.Name == "p99" || n.Figure == "" }
	slices.SortStableFunc(all, func(x, y stats.NamedMove) int {
		switch {
		case telling(x) == telling(y):
			return 0
		case telling(x):
			return -1
		}
		return 1
	})
	if len(all) == 0 {
		return "no change beyond chance"
	}
	var parts []string
	for _, n := range all[:min(len(all), maxNamed)] {
		parts = append(parts, n.String()+" "+changeWords(n.Move))
	}
	line := word + ": " + strings.Join(parts, ", ")
	if more := len(all) - maxNamed; more > 0 {
		line += fmt.Sprintf(", and %d more", more)
	}
	return line
}

// changeWords is a change as "+10.1 %", or, where there is no ratio, both values.
func changeWords(m *stats.Move) string {
	if m.Name == "errors" {
		return format.Percent(m.A) + " → " + format.Percent(m.B)
	}
	if r, ok := m.Ratio(); ok {
		return percentChange(r)
	}
	return format.MSFine(int64(m.A)) + " → " + format.MSFine(int64(m.B)) + " ms"
}

// percentChange writes a ratio − 1: "+10.1%", "-0.3%", "×12".
func percentChange(r float64) string {
	if r >= 9 {
		return format.Factor(r + 1)
	}
	s := fmt.Sprintf("%+.1f%%", 100*r)
	if s == "-0.0%" || s == "+0.0%" {
		return "0.0%"
	}
	return s
}

// Verdict is the exit code of a comparison and, unless it is ExitOK, one line
// that says why: ExitMissed where a condition holds, ExitFailed where one asks
// for a number that a run does not have.
func (c *Comparison) Verdict() (code int, why string) {
	var held, missing []string
	for i := range c.Judged {
		switch j := &c.Judged[i]; j.Outcome {
		case stats.Holds:
			held = append(held, judgedLine(j))
		case stats.NoNumbers:
			missing = append(missing, judgedLine(j))
		}
	}
	switch {
	case len(held) > 0:
		return ExitMissed, strings.Join(held, "; ")
	case len(missing) > 0:
		return ExitFailed, strings.Join(missing, "; ")
	}
	return ExitOK, ""
}

// judgedLine says what became of a condition, with its numbers.
func judgedLine(j *Judged) string {
	line := clean(j.Expr) + ": " + j.Outcome.String()
	if m := j.Pair.Find(j.Metric, j.Of); m != nil && j.Outcome != stats.NoNumbers {
		if j.Metric == "err" {
			return line + ", " + changeWords(m)
		}
		line += ", " + moveValue(m.A, m.HasA, m.MoreA) + " → " + moveValue(m.B, m.HasB, m.MoreB) + " ms"
		if r, ok := m.Ratio(); ok {
			line += " (" + percentChange(r) + ")"
		}
	}
	return line
}

// moveValue is a number of a figure as ms.
func moveValue(ns float64, has, more bool) string {
	if !has {
		return format.None
	}
	text := format.MSFine(int64(ns + 0.5))
	if more {
		text = ">" + text
	}
	return text
}
