package report

import (
	"fmt"
	"slices"

	"teapot/stats"
	"teapot/ui/format"
)

// This file holds two runs against each other: which settings differ, which
// endpoints belong together, and what follows. compare_text.go and its
// neighbours write it down.

// Run is one of the two runs of a comparison.
type Run struct {
	Name string // of the file
	Snap *stats.Snapshot
}

// Comparison is run B against run A.
type Comparison struct {
	A, B     Run
	Settings []Setting
	Pairs    []*stats.Versus
	Alone    []string // endpoints of one run that the other has no counterpart of
	Judged   []Judged
	within   bool // both are endpoints of one run
}

// Setting is something that was not the same in both runs.
type Setting struct{ Name, A, B string }

// Judged is a condition with what the comparison says of it.
type Judged struct {
	stats.Condition
	stats.Outcome
	Pair *stats.Versus
}

// Compare holds run b against run a, endpoint by endpoint: by their URLs where
// both have the same ones, else in their order.
func Compare(a, b Run, conditions []stats.Condition) *Comparison {
	c := &Comparison{A: a, B: b}
	as, bs := a.Snap.Targets, slices.Clone(b.Snap.Targets)
	if sameURLs(as, bs) {
		for i, t := range as {
			bs[i] = b.Snap.Targets[slices.IndexFunc(b.Snap.Targets, func(o *stats.Target) bool { return o.Info.URL == t.Info.URL })]
		}
	}
	n := min(len(as), len(bs))
	for i := range n {
		c.Pairs = append(c.Pairs, stats.Hold(as[i], bs[i]))
	}
	for _, t := range as[n:] {
		c.Alone = append(c.Alone, "A: "+name(t))
	}
	for _, t := range bs[n:] {
		c.Alone = append(c.Alone, "B: "+name(t))
	}
	c.Settings = differing(a.Snap, b.Snap)
	c.judge(conditions)
	return c
}

// Within holds the other endpoints of a run against its first one; nil where
// there are none.
func Within(s *stats.Snapshot) *Comparison {
	if len(s.Targets) < 2 || s.Load.Passive {
		return nil
	}
	c := &Comparison{A: Run{Snap: s}, B: Run{Snap: s}, within: true}
	for _, t := range s.Targets[1:] {
		v := stats.Hold(s.Targets[0], t)
		c.Pairs = append(c.Pairs, v)
	}
	if len(s.Targets) == 2 {
		c.Settings = serverSettings(s.Targets[0], s.Targets[1])
	}
	return c
}

func sameURLs(as, bs []*stats.Target) bool {
	urls := func(ts []*stats.Target) []string {
		var out []string
		for _, t := range ts {
			out = append(out, t.Info.URL)
		}
		slices.Sort(out)
		return out
	}
	x, y := urls(as), urls(bs)
	return slices.Equal(x, y) && len(slices.Compact(x)) == len(y)
}

func (c *Comparison) judge(conditions []stats.Condition) {
	for i := range conditions {
		for _, v := range c.Pairs {
			c.Judged = append(c.Judged, Judged{conditions[i], v.Judge(&conditions[i]), v})
		}
	}
}

// differing are the settings that are not the same, the model first: what
// differs there may be all that the figures show.
func differing(a, b *stats.Snapshot) []Setting {
	var out []Setting
	for i := range min(len(a.Targets), len(b.Targets)) {
		for _, s := range serverSettings(a.Targets[i], b.Targets[i]) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	type text func(*stats.Snapshot) string
	number := func(n func(*stats.Snapshot) int) text {
		return func(s *stats.Snapshot) string { return fmt.Sprint(n(s)) }
	}
	for _, x := range []struct {
		name string
		of   text
	}{
		{"load", func(s *stats.Snapshot) string {
			switch {
			case s.Load.Passive:
				return "none, only looks"
			case s.Load.Rate > 0:
				return "open loop"
			}
			return "closed loop"
		}},
		{"requests a second", func(s *stats.Snapshot) string { return format.Rate(s.Load.Rate) }},
		{"arrival", func(s *stats.Snapshot) string { return orNone(clean(s.Load.Arrival)) }},
		{"streams", number(func(s *stats.Snapshot) int { return s.Load.Concurrency })},
		{"pause", func(s *stats.Snapshot) string { return format.Dur(int64(s.Load.Pause)) }},
		{"prompt tokens", func(s *stats.Snapshot) string {
			if s.Load.PromptTokens <= 0 {
				return "own prompts"
			}
			return fmt.Sprint(s.Load.PromptTokens)
		}},
		{"output tokens", number(func(s *stats.Snapshot) int { return s.Load.MaxTokens })},
		{"cache", func(s *stats.Snapshot) string {
			if s.Load.Cold {
				return "cold"
			}
			return "warm"
		}},
		{"warm-up requests", number(func(s *stats.Snapshot) int { return s.Load.Warmup })},
		{"stamps", func(s *stats.Snapshot) string { return orNone(clean(source(s))) }},
		{"teapot", func(s *stats.Snapshot) string { return orNone(clean(s.Session.Version)) }},
	} {
		if va, vb := x.of(a), x.of(b); va != vb {
			out = append(out, Setting{x.name, va, vb})
		}
	}
	return out
}

// serverSettings are what differs of two endpoints, but for their URLs.
func serverSettings(a, b *stats.Target) []Setting {
	var out []Setting
	for _, x := range []Setting{
		{"model", a.Info.Model, b.Info.Model}, {"engine", a.Info.Engine, b.Info.Engine},
		{"engine's version", a.Info.Version, b.Info.Version}, {"api", a.Info.API, b.Info.API},
	} {
		if x.A, x.B = orNone(clean(x.A)), orNone(clean(x.B)); x.A != x.B {
			out = append(out, x)
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
