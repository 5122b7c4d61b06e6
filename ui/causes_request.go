package ui

import (
	"slices"
	"strings"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// signed are the lines that say why, for under a spike: the evidence, what the
// server said before, during and after it, and what follows.
func signed(s *stats.Spike) []string {
	var out []string
	for _, e := range s.Why.Evidence {
		out = append(out, labelURL(e))
	}
	out = append(out, serverAround(s)...)
	if s.Why.Advice != "" {
		out = append(out, "→ "+s.Why.Advice)
	}
	return out
}

// serverAround are the looks at the server nearest to a spike: the last before
// it began, the first during it, and the first after it.
func serverAround(s *stats.Spike) []string {
	if s.Around == nil {
		return nil
	}
	var before, during, after *stats.Look
	for i := range s.Around.Looks {
		l := &s.Around.Looks[i]
		if l.Source == event.SignalGPU || l.Source == event.SignalExporter || lookText(l) == "" {
			continue
		}
		switch {
		case l.Apart <= -s.Length:
			if before == nil || l.Apart > before.Apart {
				before = l
			}
		case l.Apart <= 0:
			if during == nil || l.Apart < during.Apart {
				during = l
			}
		case after == nil || l.Apart < after.Apart:
			after = l
		}
	}
	var out []string
	for _, l := range [...]*stats.Look{before, during, after} {
		if l == nil {
			continue
		}
		when := format.Dur(max(l.Apart, -l.Apart)) + " after its end"
		if l.Apart <= 0 {
			when = format.Dur(max(l.Apart, -l.Apart)) + " before its end"
		}
		out = append(out, "server "+when+": "+lookText(l))
	}
	return out
}

// lookText is a look's load in a few words; "" where it has none.
func lookText(l *stats.Look) string {
	var parts []string
	for _, st := range loadStrips {
		i := slices.IndexFunc(l.Values, func(v event.Sample) bool { return v.Name == st.name })
		if i < 0 {
			continue
		}
		v := l.Values[i].Value
		if st.kind == stripCount {
			v = l.Values[i].Delta
		}
		if v >= 0 && v <= 1e15 { // and no NaN
			parts = append(parts, st.label+" "+st.text(v))
		}
	}
	if l.Restart {
		parts = append(parts, "restarted")
	}
	return strings.Join(parts, dot)
}

// firstLine is the wait for a request's first token, where it is a spike.
func firstLine(fr *frame, trace *stats.Trace) (string, *stats.Spike) {
	cells := trace.Cells()
	if len(cells) == 0 {
		return "", nil
	}
	s := findSpike(fr.t, spikeKey{trace.ID, 1, cells[0].At})
	if s == nil || !s.First {
		return "", nil
	}
	text := format.Dur(s.Length) + " before the first token " + fr.clock(s.At)
	if what := struck(s); what != "" {
		text += "  ‖ " + what
	}
	return text, s
}

// reasons are the lines of evidence that were not given yet, indented and broken
// into rows of w columns. Spikes of one cause often share theirs.
type reasons struct {
	w     int
	given map[string]bool
}

func (r *reasons) of(s *stats.Spike) []string {
	if s == nil || s.Why == nil {
		return nil
	}
	lines := signed(s)
	key := strings.Join(lines, "\n")
	if r.given[key] {
		return []string{"  for the same reasons"}
	}
	r.given[key] = true
	var out []string
	for _, l := range lines {
		for _, row := range wrap(l, max(r.w-2, 1)) {
			out = append(out, "  "+row)
		}
	}
	return out
}
