package probe

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"teapot/probe/event"
)

// Bounds of what a control may ask for.
const (
	maxConcurrency = 4096
	maxRate        = 1e5 // requests/s
	maxLength      = 1 << 24
)

// settings is the part of the load that can change while a run goes on. It is
// immutable: a change makes a new one.
type settings struct {
	serial       int // counts the changes
	paused       bool
	rate         float64 // requests/s; 0 is the closed loop
	concurrency  int
	maxTokens    int
	promptTokens int
}

// settingsOf takes the load as configured.
func settingsOf(l event.Load) settings {
	return settings{rate: l.Rate, concurrency: l.Concurrency, maxTokens: l.MaxTokens, promptTokens: l.PromptTokens}
}

// change applies a control. name is "" if the control changes no setting; the
// error says why a value cannot be had.
func (s settings) change(c event.Control) (next settings, name, from, to string, err error) {
	next = s
	switch c.Do {
	case event.DoPause, event.DoResume:
		next.paused = c.Do == event.DoPause
		return next, "paused", strconv.FormatBool(s.paused), strconv.FormatBool(next.paused), nil
	case event.DoRate:
		if !(c.Value >= 0) || c.Value > maxRate {
			return s, "", "", "", fmt.Errorf("a rate of %v requests/s cannot be had: 0 to %v", c.Value, maxRate)
		}
		next.rate = c.Value
		return next, "rate", number(s.rate), number(next.rate), nil
	case event.DoConcurrency:
		next.concurrency, err = whole(c, maxConcurrency)
		return next, "concurrency", strconv.Itoa(s.concurrency), strconv.Itoa(next.concurrency), err
	case event.DoMaxTokens:
		next.maxTokens, err = whole(c, maxLength)
		return next, "max_tokens", strconv.Itoa(s.maxTokens), strconv.Itoa(next.maxTokens), err
	case event.DoPromptTokens:
		next.promptTokens, err = whole(c, maxLength)
		return next, "prompt_tokens", strconv.Itoa(s.promptTokens), strconv.Itoa(next.promptTokens), err
	}
	return s, "", "", "", nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// whole takes the value of a control that must be a number from 1 to most.
func whole(c event.Control, most int) (int, error) {
	if !(c.Value >= 1 && c.Value <= float64(most)) || c.Value != math.Trunc(c.Value) {
		return 0, fmt.Errorf("%s %v cannot be had: 1 to %d", c.Do, c.Value, most)
	}
	return int(c.Value), nil
}

// Defaults of a load and of the limits.
const (
	defaultTokens  = 256
	defaultPrompt  = 128
	defaultConnect = 5 * time.Second
	defaultFirst   = 30 * time.Second
	defaultIdle    = 30 * time.Second
	defaultTotal   = 10 * time.Minute
	defaultGrace   = 10 * time.Second
	defaultReady   = 15 * time.Minute
)

// withDefaults fills what was left open and bounds what was not.
func withDefaults(c event.Config) event.Config {
	l := &c.Load
	l.Concurrency = min(max(l.Concurrency, 1), maxConcurrency)
	if !usable(l.Rate) {
		l.Rate = 0
	}
	l.Rate = min(l.Rate, maxRate)
	if l.MaxTokens <= 0 {
		l.MaxTokens = defaultTokens
	}
	l.MaxTokens = min(l.MaxTokens, maxLength)
	if l.PromptTokens <= 0 && len(c.Prompts) == 0 {
		l.PromptTokens = defaultPrompt
	}
	l.PromptTokens = min(l.PromptTokens, maxLength)
	l.Requests, l.Warmup, l.MaxTotal = max(l.Requests, 0), max(l.Warmup, 0), max(l.MaxTotal, 0)
	l.Pause, l.Duration = max(l.Pause, 0), max(l.Duration, 0)
	for _, d := range []struct {
		have  *time.Duration
		other time.Duration
	}{
		{&c.Limits.Connect, defaultConnect}, {&c.Limits.First, defaultFirst}, {&c.Limits.Idle, defaultIdle},
		{&c.Limits.Total, defaultTotal}, {&c.Limits.Grace, defaultGrace}, {&c.Limits.Ready, defaultReady},
	} {
		if *d.have <= 0 {
			*d.have = d.other
		}
	}
	return c
}
