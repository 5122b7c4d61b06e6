package report

import (
	"time"

	"teapot/stats"
	"teapot/ui/format"
)

// This file fills the shape of json.go from a Snapshot.

const maxWorst = 10 // worst spikes in the JSON report

func newDocument(s *stats.Snapshot, o Options, read reader) document {
	d := document{
		Version: 1, Complete: Complete(s), Teapot: str(s.Session.Version), Started: started(s),
		ElapsedS: seconds(s.Now), Settings: newSettings(s, o), StampSource: str(source(s)),
		Damaged: str(s.Damaged), Notes: []note{}, Targets: []jTarget{},
	}
	if s.Finished != nil {
		d.Reason = str(s.Finished.Reason)
	}
	for _, n := range s.Notes {
		if n.Level != "info" {
			d.Notes = append(d.Notes, note{seconds(n.At), clean(n.Level), clean(n.Text)})
		}
	}
	for _, t := range s.Targets {
		d.Targets = append(d.Targets, newTarget(s, t, read))
	}
	if c := Within(s); c != nil {
		d.Compared = c.document()
	}
	return d
}

// source is the stamp source in use, or the one the session began with.
func source(s *stats.Snapshot) string {
	if s.Floor.Source != "" {
		return s.Floor.Source
	}
	return s.Session.Source
}

func newSettings(s *stats.Snapshot, o Options) settings {
	l := s.Load
	j := settings{
		Concurrency: l.Concurrency, Arrival: str(l.Arrival),
		PauseMS: ms(int64(l.Pause)), Requests: l.Requests, DurationS: seconds(int64(l.Duration)),
		MaxTotalTokens: l.MaxTotal, Warmup: l.Warmup, MaxTokens: l.MaxTokens, Cache: "warm", Seed: l.Seed, Passive: l.Passive,
	}
	if r := num(l.Rate, true); r != nil {
		j.Rate = *r
	}
	if l.PromptTokens > 0 {
		j.PromptTokens = &l.PromptTokens
	}
	if l.Cold {
		j.Cache = "cold"
	}
	of := s.Session.Limits
	if of == nil {
		of = o.Limits
	}
	if of != nil {
		j.Limits = &limits{
			Connect: ms(int64(of.Connect)), First: ms(int64(of.First)),
			Idle: ms(int64(of.Idle)), Total: ms(int64(of.Total)),
		}
	}
	return j
}

func newTarget(s *stats.Snapshot, t *stats.Target, read reader) jTarget {
	f := &t.Session
	j := jTarget{
		URL: name(t), Engine: str(t.Info.Engine), EngineVersion: str(t.Info.Version),
		Model: str(t.Info.Model), API: str(t.Info.API), State: clean(string(t.Info.State)),
		Requests: newRequests(f),
		Figures: figures{
			TTFT: newFigure(&f.TTFT), TTFO: newFigure(&f.TTFO), Gap: newFigure(&f.Gap),
			ITL: newFigure(&f.ITL), TPOT: newFigure(&f.TPOT), E2E: newFigure(&f.E2E),
		},
		ITLWhy: str(f.ITLWhy), FromSchedule: newScheduled(f), Phases: newPhases(f), Served: newServed(f), SLO: newSLOs(f, Complete(s)),
		Throughput: newThroughput(f), Stalls: newStalls(f), Smoothness: newSmoothness(f),
		Cold: cold{f.Cold, newFigure(&f.ColdTTFT)},
		Merged: merged{
			Gaps: f.Merged, Total: ms(f.MergedSum), TTFT: f.MergedTTFT, Late: f.Tardy, Excluded: f.Excluded, Paused: f.Paused,
		},
		Transport: apart{f.Transport.Count, ms(f.Transport.Total), num(ms(f.Transport.Longest), f.Transport.Count > 0)}, Shifts: []shift{},
		Worst: []spike{}, Causes: newCauses(t), Unlisted: t.Unlisted, Server: newServer(t.Server), Floor: newFloor(s), Reading: []sentence{}, LastError: str(t.LastError),
	}
	for i, w := range t.Worst {
		if i == maxWorst {
			break
		}
		j.Worst = append(j.Worst, newSpike(&w))
	}
	for _, c := range t.Shifts {
		j.Shifts = append(j.Shifts, shift{seconds(c.At), seconds(c.Since), ms(c.From), ms(c.To), num(c.Ratio, true)})
	}
	for _, r := range read(t, f) {
		j.Reading = append(j.Reading, sentence{clean(r.Rule), clean(r.Text)})
	}
	return j
}

func newRequests(f *stats.Figures) requests {
	r := &f.Requests
	j := requests{
		OK: r.OK, Failed: r.Failed, Aborted: r.Aborted, Short: r.Short, Warmup: r.Warmup, Skipped: r.Skipped,
		Buffered: f.Buffered, ErrorRate: num(f.ErrorRate, r.OK+r.Failed > 0), ByClass: map[string]uint64{},
	}
	for class, n := range r.ByClass {
		j.ByClass[clean(string(class))] += n
	}
	return j
}

func newFigure(f *stats.Figure) figure {
	j := figure{
		N: f.N, Min: num(ms(f.Min), f.N > 0), Mean: num(f.Mean/1e6, f.N > 0), Max: num(ms(f.Max), f.N > 0),
		Approx: []string{}, AtLeast: []string{}, Ours: []string{}, Censored: f.Censored, Clipped: f.Clipped,
	}
	j.MeanErr = num(f.MeanErr/1e6, f.MeanErr > 0)
	values, ranges, spreads := j.values(), j.CI.ranges(), j.Spread.places()
	for i, q := range f.Q {
		if f.N == 0 || q.Mark == stats.MarkNone {
			continue
		}
		*values[i] = num(ms(q.Value), true)
		*ranges[i] = []*float64{num(ms(q.Lo), true), num(ms(q.Hi), !q.HiOpen)}
		*spreads[i] = num(q.Spread, q.Spread > 0)
		if q.Mark == stats.MarkApprox {
			j.Approx = append(j.Approx, quantileNames[i])
		}
		if q.Censored {
			j.AtLeast = append(j.AtLeast, quantileNames[i])
		}
		if q.Ours {
			j.Ours = append(j.Ours, quantileNames[i])
		}
	}
	return j
}

// quantileNames are the keys of stats.Quantiles.
var quantileNames = [len(stats.Quantiles)]string{"p50", "p90", "p95", "p99", "p99.9", "p99.99"}

func newScheduled(f *stats.Figures) *scheduled {
	if f.SchedTTFT.N == 0 && f.SchedE2E.N == 0 && f.Late.N == 0 {
		return nil
	}
	return &scheduled{newFigure(&f.SchedTTFT), newFigure(&f.SchedE2E), newFigure(&f.Late)}
}

func newSpan(s stats.Span) span {
	return span{s.N, num(ms(s.P50), s.N > 0), num(ms(s.P90), s.N >= 10)}
}

func newPhases(f *stats.Figures) phases {
	p, one := &f.Phases, newSpan
	return phases{one(p.DNS), one(p.TCP), one(p.TLS), one(p.Send), one(p.Wait), one(p.First), num(p.Reused, attempts(f) > 0)}
}

func newServed(f *stats.Figures) *served {
	s, one := &f.Served, newSpan
	if s.N() == 0 {
		return nil
	}
	return &served{one(s.Queue), one(s.Prefill), one(s.Decode), one(s.RestFirst), one(s.RestDecode)}
}

// attempts is the number of requests that were sent and count.
func attempts(f *stats.Figures) uint64 { return f.Requests.OK + f.Requests.Failed }

func newSLOs(f *stats.Figures, complete bool) []slo {
	out := []slo{}
	for _, r := range f.SLO {
		j := slo{Expr: clean(r.Expr), Metric: clean(r.Metric), N: r.N, Met: r.Met, Goal: num(r.Goal, true), Attained: num(r.Attained, !r.NoData)}
		if r.Metric == "err" {
			j.Share = num(float64(r.Limit)/1e6, true)
		} else {
			j.Limit = num(ms(r.Limit), true)
		}
		if complete && !r.NoData {
			ok := r.OK
			j.OK = &ok
		}
		out = append(out, j)
	}
	return out
}

func newThroughput(f *stats.Figures) throughput {
	elapsed := f.Span > 0
	return throughput{
		OutputTokens: f.OutputTokens, PromptTokens: f.PromptTokens, Approx: f.Approx,
		OutputRate: num(f.OutputRate, elapsed), PromptRate: num(f.PromptRate, elapsed), RequestRate: num(f.RequestRate, elapsed),
		TokensPerEvent: num(f.TokensPerEvent, f.TokensPerEvent > 0),
		Bursts:         f.Bursts, BurstShare: num(f.BurstShare, f.TokensPerEvent > 0),
		StreamMedian: num(f.SpeedMedian, f.SpeedMedian > 0),
		StreamSlow10: num(f.SpeedSlow10, f.SpeedSlow10 > 0 && f.SpeedSlow10Mark != stats.MarkNone),
		Goodput:      num(f.Goodput, attempts(f) > 0 && len(f.SLO) > 0),
	}
}

func newStalls(f *stats.Figures) stalls {
	return stalls{
		Count: f.Stalls.Count, Total: ms(f.Stalls.Total), Longest: num(ms(f.Stalls.Longest), f.Stalls.Count > 0),
		PerKTok:  num(f.Stalls.PerKTok, f.OutputTokens > 0),
		Stutters: f.Stalls.Stutters, StutterTotal: ms(f.Stalls.StutterTotal),
	}
}

func newSmoothness(f *stats.Figures) smoothness {
	gaps := f.Gap.N > 0
	return smoothness{
		Stalled5: num(f.Smooth.Stalled5, gaps), Stalled10: num(f.Smooth.Stalled10, gaps),
		Fluidity: num(f.Smooth.Fluidity, f.Smooth.FluidityN > 0), FluidityN: f.Smooth.FluidityN,
		QoE5: num(f.Smooth.QoE5, gaps), QoE10: num(f.Smooth.QoE10, gaps),
		Jitter: num(f.Smooth.Jitter/1e6, f.Gap.N > 1), CV: num(f.Smooth.CV, f.Gap.N > 1),
	}
}

func newFloor(s *stats.Snapshot) floor {
	f := &s.Floor
	stamped := f.LateMax > 0
	j := floor{
		Source: str(source(s)), LateP50: num(ms(f.LateP50), stamped), LateP99: num(ms(f.LateP99), stamped), LateMax: num(ms(f.LateMax), stamped),
		Overshoot: ms(f.Overshoot), SessionOvershoot: ms(f.SessionOvershoot), Lag: ms(f.Lag),
		Merged: f.Merged, Reads: f.Reads, DroppedTexts: f.DroppedTexts, DroppedEvents: f.DroppedEvents,
		HostStalls: f.HostStalls, GC: f.GC, RTT: num(ms(f.RTT), f.RTT > 0), Word: str(f.Word),
		P99: ms(f.P99), SessionP99: ms(f.SessionP99), LateReads: f.LateReads, MergedReads: f.MergedReads,
		LagN: f.LagN, LagP50: num(ms(f.LagP50), f.LagN > 0), LagP99: num(ms(f.LagP99), f.LagN > 0),
		KernelStreams: f.KernelStreams, ReadStreams: f.ReadStreams,
		Suspensions: f.Suspensions, Suspended: ms(f.Suspended), ClockSteps: f.ClockSteps, Nice: s.Session.Priority,
	}
	if f.RSS > 0 {
		j.RSS = &f.RSS
	}
	return j
}

// elapsed is how long the run took, for a person.
func elapsed(s *stats.Snapshot) string { return format.Age(time.Duration(s.Now)) }
