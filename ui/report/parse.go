package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

// The file reads a JSON report back, as far as two runs are compared by it.

// ErrNotReport is what Parse says of something that is no JSON report.
var ErrNotReport = errors.New("neither a recording nor a JSON report of teapot")

// Parse makes a Snapshot of a report that JSON wrote: the settings and, of every
// endpoint, the figures of the whole run, endings, stalls, throughput and causes.
// Nothing else is in it. What a report written by an older teapot lacks stays
// zero. Errors: ErrNotReport, and a report of a newer teapot.
func Parse(b []byte) (*stats.Snapshot, error) {
	var d document
	if err := json.Unmarshal(b, &d); err != nil || d.Version == 0 || d.Targets == nil {
		return nil, ErrNotReport
	}
	var all any
	if json.Unmarshal(b, &all) != nil || !sane(all) {
		return nil, errors.New("a report with a number in it that no run can have")
	}
	if d.Version > 1 {
		return nil, fmt.Errorf("a report of version %d, made by a newer teapot; this one reads version 1", d.Version)
	}
	s := &stats.Snapshot{
		Now: nsOf(d.ElapsedS * 1e3), Load: loadOf(&d.Settings), Damaged: text0(d.Damaged),
		Session: event.Session{Version: text0(d.Teapot), Source: text0(d.StampSource)},
	}
	s.Load.Seed = d.Settings.Seed
	s.Floor.Source = s.Session.Source
	if at, err := time.Parse(time.RFC3339, text0(d.Started)); err == nil {
		s.Wall = at
	}
	if d.Reason != nil {
		s.Finished = &event.Finished{At: s.Now, Reason: clean(*d.Reason), Complete: d.Complete}
	}
	for i := range d.Targets {
		s.Targets = append(s.Targets, targetOf(uint32(i+1), &d.Targets[i], s.Now))
	}
	return s, nil
}

// most is more than any number in a report is.
const most = 1e17

// sane tells whether every number of a document is one that a run can have.
func sane(v any) bool {
	switch v := v.(type) {
	case float64:
		return v > -most && v < most
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !sane(x) })
	case map[string]any:
		for _, x := range v {
			if !sane(x) {
				return false
			}
		}
	}
	return true
}

// nsOf is a duration in ms as ns, within what a run can hold.
func nsOf(ms float64) int64 {
	if !(ms > 0) {
		return 0
	}
	return int64(math.Round(min(ms*1e6, 1e18)))
}

// share0 keeps a number finite and not negative.
func share0(v *float64) float64 {
	if v == nil || !(*v >= 0) || *v > 1e18 {
		return 0
	}
	return *v
}

func text0(s *string) string {
	if s == nil {
		return ""
	}
	return clean(*s)
}

func ns0(v *float64) int64 { return nsOf(share0(v)) }

func loadOf(j *settings) event.Load {
	l := event.Load{
		Concurrency: j.Concurrency, Rate: share0(&j.Rate), Arrival: text0(j.Arrival), Pause: time.Duration(nsOf(j.PauseMS)),
		Requests: j.Requests, Duration: time.Duration(nsOf(j.DurationS * 1e3)), MaxTotal: j.MaxTotalTokens,
		Warmup: j.Warmup, MaxTokens: j.MaxTokens, Cold: j.Cache == "cold", Passive: j.Passive,
	}
	if j.PromptTokens != nil {
		l.PromptTokens = *j.PromptTokens
	}
	return l
}

func targetOf(id uint32, j *jTarget, span int64) *stats.Target {
	t := &stats.Target{Info: event.Target{
		ID: id, URL: clean(j.URL), Engine: text0(j.Engine), Version: text0(j.EngineVersion), Model: text0(j.Model), API: text0(j.API), State: event.State(clean(j.State)),
	}}
	f := &t.Session
	f.Span = span
	f.TTFT, f.TTFO, f.Gap = figureOf(&j.Figures.TTFT), figureOf(&j.Figures.TTFO), figureOf(&j.Figures.Gap)
	f.ITL, f.TPOT, f.E2E = figureOf(&j.Figures.ITL), figureOf(&j.Figures.TPOT), figureOf(&j.Figures.E2E)
	f.ITLWhy = text0(j.ITLWhy)
	if j.FromSchedule != nil {
		f.SchedTTFT, f.SchedE2E, f.Late = figureOf(&j.FromSchedule.TTFT), figureOf(&j.FromSchedule.E2E), figureOf(&j.FromSchedule.Late)
	}
	r := &j.Requests
	f.Requests = stats.Requests{OK: r.OK, Failed: r.Failed, Aborted: r.Aborted, Short: r.Short, Warmup: r.Warmup, Skipped: r.Skipped, ByClass: map[event.Class]uint64{}}
	for c, n := range r.ByClass {
		f.Requests.ByClass[event.Class(clean(c))] = n
	}
	f.Buffered, f.ErrorRate = r.Buffered, share0(r.ErrorRate)
	p := &j.Throughput
	f.OutputTokens, f.PromptTokens, f.Approx = p.OutputTokens, p.PromptTokens, p.Approx
	f.OutputRate, f.PromptRate, f.RequestRate = share0(p.OutputRate), share0(p.PromptRate), share0(p.RequestRate)
	if p.OutputRate == nil {
		f.Span = 0
	}
	k := &j.Stalls
	f.Stalls = stats.Stalls{Count: k.Count, Total: nsOf(k.Total), Longest: ns0(k.Longest), PerKTok: share0(k.PerKTok), Stutters: k.Stutters, StutterTotal: nsOf(k.StutterTotal)}
	for i := range j.Causes {
		t.Causes = append(t.Causes, causeOf(&j.Causes[i]))
	}
	return t
}

func figureOf(j *figure) stats.Figure {
	f := stats.Figure{
		N: j.N, Min: ns0(j.Min), Max: ns0(j.Max), Mean: share0(j.Mean) * 1e6, MeanErr: share0(j.MeanErr) * 1e6,
		Censored: j.Censored, Clipped: j.Clipped,
	}
	values, ranges, spreads := j.values(), j.CI.ranges(), j.Spread.places()
	for i := range f.Q {
		q, ci := &f.Q[i], *ranges[i]
		if *values[i] == nil || f.N == 0 {
			continue
		}
		*q = stats.Quantile{Value: ns0(*values[i]), Mark: stats.MarkOK, Spread: share0(*spreads[i])}
		if slices.Contains(j.Approx, quantileNames[i]) {
			q.Mark = stats.MarkApprox
		}
		q.Censored, q.Ours = slices.Contains(j.AtLeast, quantileNames[i]), slices.Contains(j.Ours, quantileNames[i])
		q.Lo, q.Hi, q.LoOpen, q.HiOpen = q.Value, q.Value, true, true
		if len(ci) == 2 && ci[0] != nil {
			q.Lo, q.LoOpen = min(ns0(ci[0]), q.Value), stats.Endless(i, f.N)
		}
		if len(ci) == 2 && ci[1] != nil {
			q.Hi, q.HiOpen = max(ns0(ci[1]), q.Value), false
		}
	}
	return f
}

func causeOf(j *cause) stats.CauseRow {
	c := stats.CauseRow{Cause: stats.Cause(text0(j.Cause)), Count: j.Spikes, Total: nsOf(j.Total), Advice: text0(j.Advice)}
	c.By[stats.Proven], c.By[stats.Likely], c.By[stats.Ours] = j.By.Proven, j.By.Likely, j.By.Ours
	c.By[stats.Transport], c.By[stats.Unexplained] = j.By.Transport, j.By.Unexplained
	w := &j.Worst
	c.Worst = stats.Spike{At: nsOf(w.AtS * 1e3), Length: nsOf(w.Length), Request: w.Request, Token: w.Token, First: w.First, Merged: w.Merged, Peers: w.Peers, Transport: w.Transport}
	return c
}
