package report

import (
	"strings"

	"teapot/stats"
	"teapot/ui/format"
)

// This file lays the figures out as rows of cells; text, Markdown and the short
// table share it.

// figureHead is the head of the table of figures.
var figureHead = [...]string{"", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max", "n"}

// row is one row of the table of figures.
type row [len(figureHead)]string

// rows are the figures of a horizon: milliseconds, and tokens a second below
// those that have a speed. why says of the rows that are missing why they are.
func rows(f *stats.Figures) (out []row, why []string) {
	for _, x := range []struct {
		name  string
		f     *stats.Figure
		speed bool
		show  bool
	}{
		{"ttft", &f.TTFT, false, true},
		{"ttfo", &f.TTFO, false, f.TTFO.N > 0 && (f.TTFO.N != f.TTFT.N || f.TTFO.Mean != f.TTFT.Mean)},
		{"gap", &f.Gap, true, true},
		{"itl", &f.ITL, true, f.ITLWhy == ""},
		{"tpot", &f.TPOT, true, true},
		{"e2e", &f.E2E, false, true},
	} {
		if !x.show {
			continue
		}
		out = append(out, msRow(x.name+" ms", x.f))
		if x.speed && x.f.N > 0 {
			out = append(out, speedRow(x.f))
		}
	}
	if f.ITLWhy != "" {
		why = append(why, "itl is not shown: "+clean(f.ITLWhy))
	}
	return out, why
}

func msRow(name string, f *stats.Figure) row {
	r := row{name, format.Mean(f, format.MSFine)}
	for i, q := range f.Q {
		r[2+i] = format.Quantile(q, format.MSFine)
	}
	r[8], r[9] = format.Max(f, format.MSFine), format.Count(f.N)
	if f.N == 0 {
		for i := 2; i < 8; i++ {
			r[i] = format.None
		}
	}
	return r
}

// speedRow is the same in tokens a second. A lower bound of time is an upper
// bound of speed.
func speedRow(f *stats.Figure) row {
	speed := func(ns int64) string { return format.Speed(ns) }
	turn := func(s string) string { return strings.Replace(s, ">", "<", 1) }
	r := row{"  tok/s", turn(format.Mean(f, speed))}
	for i, q := range f.Q {
		r[2+i] = turn(format.Quantile(q, speed))
	}
	r[8] = turn(format.Max(f, speed))
	return r
}

// marks explains the marks that stand in the rows, as far as they do.
func marks(rs []row) string {
	var all strings.Builder
	for _, r := range rs {
		all.WriteString(strings.Join(r[1:9], " ") + " ")
	}
	text := all.String()
	var parts []string
	for _, m := range []struct{ mark, means string }{
		{format.None, "too few samples to exist"},
		{"~", "too few to trust"},
		{">", "at least, a timeout"},
	} {
		if strings.Contains(text, m.mark) {
			parts = append(parts, m.mark+" "+m.means)
		}
	}
	return strings.Join(parts, "; ")
}
