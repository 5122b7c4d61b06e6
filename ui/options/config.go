package options

import (
	"fmt"
	"os"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

const (
	gentlePause    = 250 * time.Millisecond // between two requests of a stream, unless a load was asked for
	reportDuration = 30 * time.Second       // of a report that was given no limit
	// How long a self-test, and each load of the accuracy measurement, streams.
	selfTestDuration = 10 * time.Second
	accuracyDuration = 2 * time.Second
	quickDuration    = 500 * time.Millisecond
	grace            = 10 * time.Second // for requests in flight when the run's limit is reached
)

// Pause is the time between two requests of one stream: 250 ms as long as
// nobody asked for a load with -c, -n, -d or --rate, else 0.
func (o *Options) Pause() time.Duration {
	for _, name := range []string{"concurrency", "requests", "duration", "rate"} {
		if o.Given(name) {
			return 0
		}
	}
	return gentlePause
}

// Config returns what the probe is told, for the given endpoints: those of
// URLs, with each demo: URL replaced by that of its engine. It holds userinfo
// and headers and goes to a probe alone.
func (o *Options) Config(urls []string) event.Config {
	cold := o.Cache == "cold"
	c := event.Config{
		Load: event.Load{
			Concurrency: o.Concurrency, Rate: o.Rate, Pause: o.Pause(),
			Requests: o.Requests, Duration: o.Duration, MaxTotal: o.MaxTotalTokens, Warmup: o.Warmup,
			MaxTokens: o.MaxTokens, PromptTokens: o.PromptTokens, Seed: o.runSeed, Cold: cold, Passive: o.Passive,
		},
		Limits: event.Limits{
			Connect: o.ConnectTimeout, First: o.TTFTTimeout, Idle: o.IdleTimeout, Total: o.Timeout, Grace: grace, Ready: o.ReadyTimeout,
		},
		Text:    o.Command == Watch || o.SaveText,
		GiveUp:  o.Command == Report,
		Prompts: o.Prompts,
		Verbose: o.Verbose,
		Version: Release,

		MetricsTable: o.MetricsTable, GPU: o.GPU == event.MetricsAuto,
	}
	if page(o.GPU) {
		c.Exporter = o.GPU
	}
	if o.Rate > 0 {
		c.Load.Arrival = o.Arrival
	}
	if len(o.Prompts) > 0 {
		c.Load.PromptTokens = 0
	}
	for _, u := range urls {
		c.Targets = append(c.Targets, event.TargetConfig{
			URL: u, Model: o.Model, API: o.API, Headers: o.Header, KeyEnv: o.keyEnv,
			Insecure: o.Insecure, CACert: o.CACert, Cold: cold, Metrics: o.ServerMetrics,
		})
	}
	return c
}

// Stats returns what the statistics are told.
func (o *Options) Stats() stats.Config {
	c := stats.Config{MaxErrorRate: -1, Retention: o.Retention, ExcludeLate: o.ExcludeLate}
	seen := map[string]bool{}
	for _, raw := range o.SLO {
		slos, _ := ParseSLOs(raw) // checked when it was read
		for _, s := range slos {
			if !seen[s.Expr] {
				seen[s.Expr] = true
				c.SLO = append(c.SLO, s)
			}
		}
	}
	if o.MaxErrorRate != "" {
		if share, err := parseShare(o.MaxErrorRate); err == nil {
			c.MaxErrorRate = share
		}
	}
	return c
}

// WindowIndex is the index into stats.Windows of the window shown first.
func (o *Options) WindowIndex() int {
	d, _ := time.ParseDuration(o.Window)
	for i, w := range stats.Windows {
		if w == d {
			return i
		}
	}
	return 1
}

// RunSeed is the seed of this run: the one given, else one drawn by Parse.
func (o *Options) RunSeed() uint64 { return o.runSeed }

// WantsReport tells whether a report is written at the end: always by report,
// and without a terminal; after a live screen only when a file or a format was
// asked for. "none" means never.
func (o *Options) WantsReport(screen bool) bool {
	if o.OutputFormat == "none" {
		return false
	}
	return !screen || o.Command == Report || o.Given("output") || o.Given("output-format")
}

// ReportFormat is the form of the report: "text", "json", "markdown" or "none".
func (o *Options) ReportFormat() string { return o.OutputFormat }

// ASCII tells whether plain lines and reports keep to bytes below 0x80: asked
// for by --glyphs ascii, or by a terminal or locale that has nothing else. A
// locale that is not set at all is taken for UTF-8.
func (o *Options) ASCII() bool { return o.Glyphs == "ascii" || o.Glyphs == "auto" && o.narrow }

// narrow reads the locale: LC_ALL before LC_CTYPE before LANG.
func narrow(env func(string) string) bool {
	if env("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// loadPrompts gathers the prompts given on the command line and in a file.
func (o *Options) loadPrompts() error {
	if o.Prompt != "" {
		o.Prompts = append(o.Prompts, o.Prompt)
	}
	if o.PromptFile == "" {
		return nil
	}
	text, err := readSmall(o.PromptFile, 16<<20)
	if err != nil {
		return fmt.Errorf("--prompt-file: %w", err)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			o.Prompts = append(o.Prompts, strings.ToValidUTF8(line, "\uFFFD"))
		}
	}
	if len(o.Prompts) == 0 {
		return fmt.Errorf("--prompt-file: %s has no prompt in it", quote(o.PromptFile))
	}
	return nil
}

// readable tells why a path is not that of a file that can be read.
func readable(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", path)
	}
	return err
}
