package report

import (
	"fmt"
	"strings"

	"teapot/stats"
	"teapot/ui/format"
)

// This file says in words what was measured: the server, the load, the run.

// loadLine says what load was made.
func loadLine(s *stats.Snapshot) string {
	l := s.Load
	if l.Passive {
		return "passive: no request is made, the server is only looked at"
	}
	var parts []string
	if l.Rate > 0 {
		parts = append(parts, fmt.Sprintf("open loop, %s requests/s (%s), at most %s in flight",
			format.Rate(l.Rate), clean(l.Arrival), plural(uint64(max(l.Concurrency, 0)), "stream")))
	} else {
		parts = append(parts, "closed loop, "+plural(uint64(max(l.Concurrency, 0)), "stream"))
		if l.Pause > 0 {
			parts = append(parts, "pause "+format.Dur(int64(l.Pause)))
		}
	}
	prompt := "own prompts"
	if l.PromptTokens > 0 {
		prompt = fmt.Sprint(l.PromptTokens)
	}
	cache := "warm cache"
	if l.Cold {
		cache = "cold cache"
	}
	return strings.Join(append(parts, fmt.Sprintf("%s → %d tokens", prompt, l.MaxTokens), cache), ", ")
}

// runLine says when, how long, and whether all of it is there.
func runLine(s *stats.Snapshot) string {
	line := elapsed(s)
	if !s.Wall.IsZero() {
		line = s.Wall.Format("2006-01-02 15:04:05") + ", " + line
	}
	switch {
	case s.Damaged != "":
		return line + ", incomplete: " + clean(s.Damaged)
	case s.Finished == nil:
		return line + ", incomplete: the run was cut short"
	case !s.Finished.Complete:
		return line + ", incomplete: " + clean(s.Finished.Reason)
	}
	return line + ", complete (" + clean(s.Finished.Reason) + ")"
}

// engineLine names the server and the model, as far as they are known.
func engineLine(t *stats.Target) string {
	engine := clean(t.Info.Engine)
	if engine == "" {
		engine = "unknown engine"
	}
	if v := clean(t.Info.Version); v != "" {
		engine += " " + v
	}
	model := clean(t.Info.Model)
	if model == "" {
		model = "unknown model"
	}
	parts := []string{engine, model}
	if api := clean(t.Info.API); api != "" {
		parts = append(parts, api)
	}
	return strings.Join(parts, ", ")
}

// plural is a number with its noun.
func plural(n uint64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return format.Full(n) + " " + stem + "ies"
	}
	return format.Full(n) + " " + word + "s"
}
