package report

import (
	"strings"

	"teapot/stats"
	"teapot/ui/format"
)

const (
	textWidth  = 79
	labelWidth = 13 // of a fact
	rowLabel   = 7  // of a row of the table
)

// Text writes the report for a terminal or a log, 79 columns wide where the
// words allow it, ended by a newline. It holds no escape sequence.
func Text(s *stats.Snapshot, o Options) string { return text(s, o, stats.Read) }

func text(s *stats.Snapshot, o Options, read reader) string {
	var b strings.Builder
	for i, t := range s.Targets {
		if i > 0 {
			b.WriteString("\n" + strings.Repeat("─", textWidth) + "\n\n")
		}
		textTarget(&b, s, t, read)
	}
	if len(s.Targets) == 0 {
		b.WriteString("nothing was measured: " + runLine(s) + "\n")
	}
	if c := Within(s); c != nil {
		b.WriteString("\n" + strings.Repeat("─", textWidth) + "\n\nB against A\n")
		b.WriteString(c.Text(Options{}))
	}
	for i, n := range loud(s) {
		if i == 0 {
			b.WriteString("\n")
		}
		writeFact(&b, fact{n.Level, []string{n.Text}})
	}
	if o.ASCII {
		return format.ASCII(b.String())
	}
	return b.String()
}

func textTarget(b *strings.Builder, s *stats.Snapshot, t *stats.Target, read reader) {
	f := &t.Session
	for _, line := range []string{name(t), engineLine(t), loadLine(s), runLine(s)} {
		b.WriteString(strings.Join(wrap(line, textWidth), "\n  ") + "\n")
	}
	b.WriteString("\n")
	if s.Load.Passive {
		textPassive(b, s, t)
		return
	}
	rs, why := rows(f)
	writeRow(b, figureHead)
	for _, r := range rs {
		writeRow(b, r)
	}
	if m := marks(rs); m != "" {
		why = append([]string{m}, why...)
	}
	for _, line := range why {
		b.WriteString(strings.Join(wrap(line, textWidth), "\n") + "\n")
	}
	b.WriteString("\n")
	for _, x := range facts(s, t) {
		writeFact(b, x)
	}
	textCauses(b, t)
	b.WriteString("\nReading\n")
	sentences := read(t, f)
	for _, r := range sentences {
		b.WriteString("  " + strings.Join(wrap("- "+clean(r.Text), textWidth-4), "\n    ") + "\n")
	}
	if len(sentences) == 0 {
		b.WriteString("  nothing to read: too few samples\n")
	}
}

// writeRow writes a row of right-aligned cells in columns of eight; a number
// that needs more takes it from the room of the next.
func writeRow(b *strings.Builder, r row) {
	line := format.Left(r[0], rowLabel)
	w := rowLabel
	for i, c := range r[1:] {
		cw := format.Width(c)
		pad := max(1, rowLabel+8*(i+1)-w-cw)
		line += strings.Repeat(" ", pad) + c
		w += pad + cw
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func writeFact(b *strings.Builder, x fact) {
	label := x.label
	for _, line := range x.lines {
		for _, l := range wrap(line, textWidth-labelWidth) {
			b.WriteString(format.Left(label, labelWidth) + l + "\n")
			label = ""
		}
	}
}

// loud are the notes that are no mere information.
func loud(s *stats.Snapshot) []note {
	var out []note
	for _, n := range s.Notes {
		if n.Level != "info" {
			out = append(out, note{seconds(n.At), clean(n.Level), clean(n.Text)})
		}
	}
	return out
}

// wrap breaks text at blanks into lines of at most width columns; what has no
// blank stays whole.
func wrap(s string, width int) []string {
	var lines []string
	line, w := "", 0
	for _, word := range strings.Fields(s) {
		ww := format.Width(word)
		if line != "" && w+1+ww > width {
			lines, line, w = append(lines, line), "", 0
		}
		if line != "" {
			line, w = line+" ", w+1
		}
		line, w = line+word, w+ww
	}
	return append(lines, line)
}
