package accuracy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// selfLoad is what a self-test asks for: eight streams at 625 tok/s.
func selfLoad(span time.Duration) Load {
	return Load{Model: string(Constant), Streams: 8, Tokens: max(int(span/usualBeat), 2*settle), Spread: spread}
}

// Floor is what a self-test finds: what this machine and this probe add to the
// gaps of a server. Times are milliseconds.
type Floor struct {
	Machine   []string `json:"machine"`
	Source    string   `json:"stamp_source"`
	Nice      int      `json:"nice"`
	Realtime  bool     `json:"server_realtime"` // the server's writing thread had real-time priority
	Streams   int      `json:"streams"`
	Tokens    int      `json:"tokens"`
	ErrorP50  float64  `json:"error_p50_ms"` // of a gap, against the server's own log
	ErrorP99  float64  `json:"error_p99_ms"`
	ErrorMax  float64  `json:"error_max_ms"`
	LateP50   float64  `json:"late_p50_ms"` // from the kernel's stamp to the probe's read
	LateP99   float64  `json:"late_p99_ms"`
	LateMax   float64  `json:"late_max_ms"`
	LateError float64  `json:"late_error_p99_ms"` // of that lateness, against the log
	Overshoot float64  `json:"overshoot_ms"`      // the worst oversleep of a 1 ms ticker
	Disowned  float64  `json:"disowned_share"`
	Together  float64  `json:"together_share"`
	CPU       float64  `json:"cpu_us_per_token"`
	RSS       int64    `json:"rss_anon_bytes"`
	Trust     float64  `json:"trusted_from_ms"` // ten times the 99th percentile of the error
	Missing   int      `json:"tokens_missing"`
}

// SelfTest reads the scheduled server with the probe for span and writes what
// was found to out, as text or as one JSON document.
func SelfTest(ctx context.Context, span time.Duration, asJSON bool, out io.Writer) error {
	srv, err := startTarget(ctx, HTTP)
	if err != nil {
		return err
	}
	defer srv.stop()
	f, err := selfTest(ctx, srv, bare(), selfLoad(span))
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(f)
	}
	_, err = io.WriteString(out, f.text())
	return err
}

// selfTest has a client take the load, and sums up.
func selfTest(ctx context.Context, srv *target, c client, l Load) (Floor, error) {
	r, told, err := measured(ctx, c, srv, l)
	if err != nil {
		return Floor{}, err
	}
	if told.probe == nil {
		return Floor{}, errors.New("a self-test is the probe's")
	}
	var late []int64
	for _, h := range told.heard {
		late = append(late, h.Late...)
	}
	slices.Sort(late)
	ms := func(v []int64, p float64) float64 { return micros(rank(v, p)) / 1e3 }
	tokens := float64(max(r.Tokens, 1))
	return Floor{
		Machine: machine(), Source: told.probe.source, Nice: told.probe.nice, Realtime: r.Realtime, Streams: r.Streams, Tokens: r.Tokens, Missing: r.Missing,
		ErrorP50: ms(r.Errors, 0.5), ErrorP99: ms(r.Errors, 0.99), ErrorMax: ms(r.Errors, 1),
		LateP50: ms(late, 0.5), LateP99: ms(late, 0.99), LateMax: ms(late, 1), LateError: ms(r.LateError, 0.99),
		Overshoot: micros(told.probe.overshoot) / 1e3, Disowned: float64(r.Disowned) / tokens, Together: float64(r.Together) / tokens,
		CPU: micros(r.CPU) / tokens, RSS: r.RSS, Trust: 10 * ms(r.Errors, 0.99),
	}, nil
}

// text says it for a person.
func (f Floor) text() string {
	var b strings.Builder
	p := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-22s%s\n", name, fmt.Sprintf(format, args...))
	}
	p("machine", "%s", strings.Join(f.Machine, "; "))
	p("measured", "%d streams, %d tokens, against the write log of the server", f.Streams, f.Tokens)
	if !f.Realtime {
		p("server", "without real-time priority: its log is as exact, its pace is not")
	}
	source := "the time of the read: this system gives no receive times"
	if f.Source == "kernel" {
		source = "the kernel's receive time"
	}
	p("stamps", "%s", source)
	p("error of a gap", "P50 %.4f ms · P99 %.4f ms · max %.4f ms", f.ErrorP50, f.ErrorP99, f.ErrorMax)
	p("read late by", "P50 %.3f ms · P99 %.3f ms · max %.3f ms (which the stamp takes out)", f.LateP50, f.LateP99, f.LateMax)
	p("oversleep", "at most %.3f ms, of a 1 ms ticker", f.Overshoot)
	p("disowned", "%.2f %% of the gaps: two tokens taken late in one read (%.2f %% of the tokens shared one)", 100*f.Disowned, 100*f.Together)
	p("probe", "%.0f µs of CPU a token · %.1f MB · nice %d", f.CPU, float64(f.RSS)/(1<<20), f.Nice)
	b.WriteByte('\n')
	fmt.Fprintf(&b, "Believe a gap percentile on this machine from about %s on: the floor's P99 is under a tenth of it.\n", show(f.Trust))
	switch {
	case f.Missing > 0:
		fmt.Fprintf(&b, "%d tokens are missing: do not believe anything.\n", f.Missing)
	case f.Disowned > 0.01:
		b.WriteString("This machine is busy: what it keeps the probe from reading in time is left out of the percentiles, and counted.\n")
	case f.Source != "kernel":
		b.WriteString("Without the kernel's stamps whatever keeps the probe from reading stands in its gaps.\n")
	}
	return b.String()
}

func show(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
