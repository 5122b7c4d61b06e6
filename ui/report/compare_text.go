package report

import (
	"fmt"
	"math"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// The size of the chart of the nines in text.
const (
	ninesW = 72
	ninesH = 12
)

// signsMean explains the signs of a comparison.
const signsMean = "▲ longer, ▼ shorter: the 99 % intervals lie apart, even so far as each run wobbled; ≈ within chance; – nothing can be said"

// Text writes the comparison for a terminal or a log, ended by a newline.
func (c *Comparison) Text(o Options) string {
	var b strings.Builder
	c.textHead(&b)
	for _, v := range c.Pairs {
		c.textPair(&b, v)
	}
	c.textEnd(&b)
	if o.ASCII {
		return format.ASCII(b.String())
	}
	return b.String()
}

func (c *Comparison) textHead(b *strings.Builder) {
	if !c.within {
		for _, r := range c.runs() {
			writeFact(b, r)
		}
		b.WriteString("\n")
	}
	switch {
	case len(c.Settings) > 0:
		b.WriteString("Settings that differ\n")
		for _, s := range c.Settings {
			b.WriteString("  " + strings.Join(wrap(s.Name+": "+s.A+" → "+s.B, textWidth-2), "\n    ") + "\n")
		}
	case !c.within:
		b.WriteString("Settings: the same\n")
	}
	for _, line := range c.Alone {
		b.WriteString("  not compared, " + line + "\n")
	}
}

// runs describe A and B.
func (c *Comparison) runs() []fact {
	var out []fact
	for i, r := range [...]Run{c.A, c.B} {
		lines := []string{clean(r.Name), runLine(r.Snap), loadLine(r.Snap)}
		for _, t := range r.Snap.Targets {
			lines = append(lines, name(t)+": "+engineLine(t))
		}
		out = append(out, fact{"AB"[i : i+1], lines})
	}
	return out
}

func (c *Comparison) textPair(b *strings.Builder, v *stats.Versus) {
	if c.within || len(c.Pairs) > 1 {
		b.WriteString("\n" + strings.Join(wrap("A "+name(v.A), textWidth), "\n  ") + "\n" + strings.Join(wrap("B "+name(v.B), textWidth), "\n  ") + "\n")
	}
	b.WriteString("\n" + moveLine("ms", "", "A", "B", "change", "", "") + "\n")
	for i := range v.Figures {
		label := v.Figures[i].Name
		for j := range v.Figures[i].Moves {
			if r, ok := moveRow(&v.Figures[i].Moves[j]); ok {
				b.WriteString(moveLine(label, r[0], r[1], r[2], r[3], r[4], r[5]) + "\n")
				label = ""
			}
		}
		b.WriteString(moveLine(label, "n", format.Count(v.Figures[i].A.N), format.Count(v.Figures[i].B.N), "", "", "") + "\n")
	}
	for _, line := range wrap(signsMean, textWidth) {
		b.WriteString(line + "\n")
	}
	if chart := ninesChart(v); chart != "" {
		b.WriteString("\nGaps, ms by nines: ─ B, • A\n" + chart)
	}
	b.WriteString("\n")
	for _, x := range besides(v) {
		writeFact(b, x)
	}
	if len(v.Causes) > 0 {
		b.WriteString("\nWhy it spiked" + strings.Repeat(" ", 23) + "A" + strings.Repeat(" ", 23) + "B\n")
		for i := range v.Causes {
			p := &v.Causes[i]
			b.WriteString("  " + format.Left(format.Cut(clean(p.Cause.String()), 28), 28) + format.Right(causeCell(p.A), 19) + "  " + format.Right(causeCell(p.B), 24) + "\n")
		}
	}
	b.WriteString("\n")
	writeFact(b, fact{"Verdict", []string{verdict(v)}})
}

func (c *Comparison) textEnd(b *strings.Builder) {
	if len(c.Pairs) == 0 {
		b.WriteString("\n")
		writeFact(b, fact{"Verdict", []string{"nothing to compare: a run without an endpoint"}})
	}
	for i := range c.Judged {
		label := "Fail if"
		if i > 0 {
			label = ""
		}
		writeFact(b, fact{label, []string{judgedLine(&c.Judged[i])}})
	}
}

// moveRow is one number of a figure: its name, A, B, the change in ms and in
// percent, its sign. ok is false where neither run has it.
func moveRow(m *stats.Move) (r [6]string, ok bool) {
	if !m.HasA && !m.HasB {
		return r, false
	}
	r = [6]string{m.Name, moveValue(m.A, m.HasA, m.MoreA), moveValue(m.B, m.HasB, m.MoreB), "", "", m.Change.String()}
	if m.HasA && m.HasB {
		sign := "+"
		if m.B < m.A {
			sign = "-"
		}
		r[3] = sign + format.MSFine(int64(math.Abs(m.B-m.A)+0.5))
		if m.B == m.A {
			r[3] = "0"
		}
		if p, known := m.Ratio(); known {
			r[4] = percentChange(p)
		}
	}
	return r, true
}

func moveLine(figure, name, a, b, change, percent, sign string) string {
	line := format.Left(figure, 12) + format.Left(name, 8) + format.Right(a, 10) + format.Right(b, 10) +
		format.Right(change, 11) + format.Right(percent, 10) + "  " + sign
	return strings.TrimRight(line, " ")
}

// besides are the numbers beside the figures.
func besides(v *stats.Versus) []fact {
	a, b := &v.A.Session, &v.B.Session
	line := fmt.Sprintf("%s of %s failed → %s of %s (%s)", format.Full(a.Requests.Failed), format.Full(attempts(a)),
		format.Full(b.Requests.Failed), format.Full(attempts(b)), changeWords(&v.Errors))
	if v.Errors.Change != stats.ChangeUnknown {
		line += " " + v.Errors.Change.String()
	}
	lines := []string{line}
	for _, p := range v.Classes {
		lines = append(lines, fmt.Sprintf("%s: %s → %s", clean(string(p.Class)), format.Full(p.A), format.Full(p.B)))
	}
	out := []fact{{"Errors", lines}}
	out = append(out, fact{"Stalls", []string{
		fmt.Sprintf("%s → %s; per 1,000 tokens %s → %s; longest %s → %s", format.Full(a.Stalls.Count), format.Full(b.Stalls.Count),
			plain(v.Stalls.A, v.Stalls.HasA), plain(v.Stalls.B, v.Stalls.HasB), format.Dur(a.Stalls.Longest), format.Dur(b.Stalls.Longest)),
	}})
	rate := fmt.Sprintf("%s → %s tok/s out", plain(v.Speed.A, v.Speed.HasA), plain(v.Speed.B, v.Speed.HasB))
	if r, ok := v.Speed.Ratio(); ok {
		rate += " (" + percentChange(r) + ")"
	}
	return append(out, fact{"Throughput", []string{rate}})
}

func plain(v float64, has bool) string {
	if !has {
		return format.None
	}
	return format.Rate(v)
}

// causeCell is one run's row of a cause: how many spikes, their time in all.
func causeCell(r *stats.CauseRow) string {
	if r == nil {
		return format.None
	}
	return format.Full(r.Count) + ", " + format.Dur(r.Total) + " (" + r.Verdict().String() + ")"
}

// ninesChart draws the nines curves of the gaps over each other as text; "" when
// there is none.
func ninesChart(v *stats.Versus) string {
	var a, b []chart.Point
	for i := range v.Figures {
		if v.Figures[i].Name == "gap" {
			a, b = chart.Curve(v.Figures[i].A), chart.Curve(v.Figures[i].B)
		}
	}
	lo, hi := chart.CurveRange(a, b)
	if lo <= 0 || len(a) < 2 && len(b) < 2 {
		return ""
	}
	axis := chart.Log{}.Fit(lo, hi, 0)
	g := chart.NewGrid(ninesW, ninesH+1)
	all := g.All()
	chart.YAxis(all.Sub(0, 0, chart.Gutter, ninesH), axis.Labels(ninesH))
	in := all.Sub(chart.Gutter, 0, ninesW-chart.Gutter, ninesH)
	chart.Nines(in, b, nil, a, axis, chart.Blocks)
	end := 0
	for i, q := range stats.Quantiles {
		label := strings.TrimPrefix(quantileNames[i], "p")
		x := max(min(chart.Gutter+chart.CurveColumn(q, in.W())-len(label)/2, ninesW-len(label)), chart.Gutter)
		if x > end {
			end = all.Text(x, ninesH, label, chart.Dim)
		}
	}
	var out strings.Builder
	for y := range g.H {
		line := ""
		for x := range g.W {
			if r := g.At(x, y).Rune; r > 0 {
				line += string(r)
			} else {
				line += " "
			}
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}
