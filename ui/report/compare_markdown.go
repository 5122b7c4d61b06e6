package report

import (
	"fmt"
	"strings"

	"teapot/stats"
	"teapot/ui/format"
)

// Markdown writes the comparison in GitHub's Markdown, ended by a newline.
func (c *Comparison) Markdown() string {
	var b strings.Builder
	if !c.within {
		b.WriteString("# teapot compare\n\n")
		markdownFacts(&b, c.runs())
		b.WriteString("\n")
	}
	switch {
	case len(c.Settings) > 0:
		b.WriteString("Settings that differ:\n\n")
		for _, s := range c.Settings {
			fmt.Fprintf(&b, "- %s: %s → %s\n", s.Name, escape(s.A), escape(s.B))
		}
	case !c.within:
		b.WriteString("Settings: the same\n")
	}
	for _, line := range c.Alone {
		b.WriteString("\nNot compared: " + escape(line) + "\n")
	}
	for _, v := range c.Pairs {
		c.markdownPair(&b, v)
	}
	for i := range c.Judged {
		b.WriteString("\nFail if " + escape(judgedLine(&c.Judged[i])) + "\n")
	}
	return b.String()
}

func (c *Comparison) markdownPair(b *strings.Builder, v *stats.Versus) {
	if c.within || len(c.Pairs) > 1 {
		fmt.Fprintf(b, "\nA is %s, B is %s\n", escape(name(v.A)), escape(name(v.B)))
	}
	fmt.Fprintf(b, "\n**%s**\n", escape(verdict(v)))
	b.WriteString("\n| ms | | A | B | change | % | |\n|---|---|---:|---:|---:|---:|---|\n")
	for i := range v.Figures {
		label := v.Figures[i].Name
		for j := range v.Figures[i].Moves {
			if r, ok := moveRow(&v.Figures[i].Moves[j]); ok {
				fmt.Fprintf(b, "| %s | %s |\n", label, escapeAll(r[:]))
				label = ""
			}
		}
		fmt.Fprintf(b, "| | n | %s | %s | | | |\n", format.Count(v.Figures[i].A.N), format.Count(v.Figures[i].B.N))
	}
	b.WriteString("\n" + escape(signsMean) + "\n")
	if chart := ninesChart(v); chart != "" {
		b.WriteString("\nGaps, ms by nines: ─ B, • A\n\n```\n" + chart + "```\n")
	}
	b.WriteString("\n")
	markdownFacts(b, besides(v))
	if len(v.Causes) > 0 {
		b.WriteString("\n| cause | A | B |\n|---|---|---|\n")
		for i := range v.Causes {
			p := &v.Causes[i]
			fmt.Fprintf(b, "| %s |\n", escapeAll([]string{clean(p.Cause.String()), causeCell(p.A), causeCell(p.B)}))
		}
	}
}

func escapeAll(cells []string) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escape(c)
	}
	return strings.Join(out, " | ")
}
