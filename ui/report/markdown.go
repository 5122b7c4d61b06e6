package report

import (
	"fmt"
	"strings"

	"teapot/stats"
)

// Markdown writes the report in GitHub's Markdown, ended by a newline. Text of
// servers and models stays text in it.
func Markdown(s *stats.Snapshot, o Options) string { return markdown(s, o, stats.Read) }

func markdown(s *stats.Snapshot, _ Options, read reader) string {
	var b strings.Builder
	b.WriteString("# teapot report\n\n")
	fmt.Fprintf(&b, "%s  \n%s\n", escape(runLine(s)), escape(loadLine(s)))
	for _, t := range s.Targets {
		markdownTarget(&b, s, t, read)
	}
	if len(s.Targets) == 0 {
		b.WriteString("\nNothing was measured.\n")
	}
	if c := Within(s); c != nil {
		b.WriteString("\n## B against A\n\n" + c.Markdown())
	}
	if notes := loud(s); len(notes) > 0 {
		b.WriteString("\n## Notes\n\n")
		for _, n := range notes {
			fmt.Fprintf(&b, "- %s: %s\n", escape(n.Level), escape(n.Text))
		}
	}
	return b.String()
}

func markdownTarget(b *strings.Builder, s *stats.Snapshot, t *stats.Target, read reader) {
	f := &t.Session
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", escape(name(t)), escape(engineLine(t)))
	if s.Load.Passive {
		markdownPassive(b, s, t)
		return
	}
	rs, why := rows(f)
	markdownRow(b, figureHead)
	b.WriteString("|---|" + strings.Repeat("---:|", len(figureHead)-1) + "\n")
	for _, r := range rs {
		markdownRow(b, r)
	}
	b.WriteString("\n")
	if m := marks(rs); m != "" {
		why = append([]string{m}, why...)
	}
	for _, line := range why {
		b.WriteString(escape(line) + "\n\n")
	}
	markdownFacts(b, facts(s, t))
	markdownCauses(b, t)
	b.WriteString("\n### Reading\n\n")
	sentences := read(t, f)
	for _, r := range sentences {
		fmt.Fprintf(b, "- %s\n", escape(clean(r.Text)))
	}
	if len(sentences) == 0 {
		b.WriteString("Nothing to read: too few samples.\n")
	}
}

func markdownFacts(b *strings.Builder, facts []fact) {
	b.WriteString("| | |\n|---|---|\n")
	for _, x := range facts {
		lines := make([]string, len(x.lines))
		for i, l := range x.lines {
			lines[i] = escape(l)
		}
		fmt.Fprintf(b, "| %s | %s |\n", x.label, strings.Join(lines, "<br>"))
	}
}

func markdownRow(b *strings.Builder, r row) {
	b.WriteString("|")
	for _, c := range r {
		b.WriteString(" " + escape(strings.TrimSpace(c)) + " |")
	}
	b.WriteString("\n")
}

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"|", `\|`, "#", `\#`, "!", `\!`, "~", `\~`,
)

// escape makes one line of text mean itself in Markdown, also in a cell of a
// table. A URL may still be shown as a link to itself.
func escape(s string) string { return escaper.Replace(s) }
