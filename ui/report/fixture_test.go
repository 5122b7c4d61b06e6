package report

import (
	"math"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

// Snapshots of runs that never were, fixed to the last digit.

// figure makes a figure of n samples with the given mean, percentiles, maximum
// and minimum in ms, marked by the sample rule.
func makeFigure(n uint64, lo, mean float64, q [6]float64, hi float64) stats.Figure {
	ns := func(v float64) int64 { return int64(math.Round(v * 1e6)) }
	f := stats.Figure{N: n, Min: ns(lo), Mean: mean * 1e6, Max: ns(hi)}
	for i, p := range stats.Quantiles {
		x := stats.Quantile{Value: ns(q[i]), Lo: ns(q[i] * 0.97), Hi: ns(q[i] * 1.05), Mark: stats.MarkOK}
		switch {
		case float64(n) < 1/(1-p)-1e-6:
			x = stats.Quantile{}
		case float64(n) < 10/(1-p)-1e-6:
			x.Mark, x.HiOpen = stats.MarkApprox, p >= 0.999
		}
		x.LoOpen = x.Mark != stats.MarkNone && stats.Endless(i, n)
		f.Q[i] = x
	}
	return f
}

// article is a complete run of 40 s with the distribution everybody knows.
func article() *stats.Snapshot {
	f := stats.Figures{
		Span: 40e9,
		Requests: stats.Requests{OK: 273, Aborted: 8, Short: 2, Warmup: 1,
			ByClass: map[event.Class]uint64{event.OKFull: 271, event.OKShort: 2, event.Aborted: 8}},
		TTFT:        makeFigure(273, 11.2, 14.9, [6]float64{14.2, 18.8, 20.3, 31.7, 0, 0}, 33.1),
		TTFO:        makeFigure(273, 11.2, 14.9, [6]float64{14.2, 18.8, 20.3, 31.7, 0, 0}, 33.1),
		Gap:         makeFigure(70000, 0.9, 3.47, [6]float64{1.60, 7.2157, 9.3, 12.88, 39.7, 120.22}, 180),
		ITL:         makeFigure(70000, 0.9, 3.47, [6]float64{1.60, 7.2157, 9.3, 12.88, 39.7, 120.22}, 180),
		TPOT:        makeFigure(273, 3.1, 3.47, [6]float64{3.44, 3.71, 3.8, 4.2, 0, 0}, 4.4),
		E2E:         makeFigure(273, 802, 901, [6]float64{898, 960, 981, 1080, 0, 0}, 1137),
		SpeedMedian: 290.7, SpeedSlow10: 269.5, SpeedSlow10Mark: stats.MarkOK,
		OutputTokens: 70273, PromptTokens: 35100, OutputRate: 1756.8, PromptRate: 877.5, RequestRate: 6.825,
		TokensPerEvent: 1,
		Phases: stats.Phases{TCP: stats.Span{N: 8, P50: 90e3, P90: 120e3}, Send: stats.Span{N: 273, P50: 30e3, P90: 60e3},
			Wait: stats.Span{N: 273, P50: 2.1e6, P90: 3.2e6}, First: stats.Span{N: 273, P50: 12.1e6, P90: 16e6}, Reused: 0.9707},
		Stalls: stats.Stalls{Count: 64, Total: 5.2e9, Longest: 180e6, PerKTok: 0.911},
		Smooth: stats.Smooth{Stalled5: 0, Stalled10: 0.00002, Fluidity: 0.99996, FluidityN: 70273, Jitter: 2.9e6, CV: 1.42},
		SLO: []stats.SLOResult{
			{Expr: "gap<=50ms:99%", Metric: "gap", Limit: 50e6, Goal: 0.99, N: 70000, Met: 69951, Attained: 0.9993, OK: true},
			{Expr: "ttft<=500ms:99%", Metric: "ttft", Limit: 500e6, Goal: 0.99, N: 273, Met: 273, Attained: 1, OK: true},
		},
		Merged: 12, MergedSum: 41e6, Goodput: 1,
		Served: stats.Served{Prefill: stats.Span{N: 273, P50: 11.9e6, P90: 15e6}, Decode: stats.Span{N: 273, P50: 884e6, P90: 940e6},
			RestFirst: stats.Span{N: 273, P50: 2.3e6, P90: 3.1e6}, RestDecode: stats.Span{N: 273, P50: 40e3, P90: 90e3}},
	}
	return &stats.Snapshot{
		Seq: 99, Now: 40.2e9, Wall: time.Date(2026, 11, 30, 12, 4, 31, 0, time.UTC),
		Session: event.Session{Version: "0.1.0", Source: event.SourceKernel},
		Load:    event.Load{Concurrency: 8, Duration: 40e9, Warmup: 1, MaxTokens: 256, PromptTokens: 128, Seed: 7, Cold: true},
		Targets: []*stats.Target{{
			Info: event.Target{ID: 1, URL: "http://127.0.0.1:41234", Model: "teapot-article", Engine: "teapot engine",
				Version: "0.1.0", API: "chat", State: event.StateDone},
			Session: f,
			Worst:   []stats.Spike{{At: 12.1e9, Length: 180e6, Request: 88, Token: 41}, {At: 30e9, Length: 33.1e6, Request: 200, First: true, Peers: 2}},
		}},
		Floor: stats.Floor{Source: event.SourceKernel, LateP50: 18e3, LateP99: 61e3, LateMax: 420e3, Overshoot: 300e3,
			SessionOvershoot: 1.4e6, Merged: 12, Reads: 69000, GC: 3, RTT: 40e3, RSS: 14e6, Word: "ok",
			P99: 61e3, SessionP99: 66e3, KernelStreams: 281},
		Finished: &event.Finished{At: 40.2e9, Complete: true, Reason: "duration"},
	}
}

// few is a run of seven requests with a slow open loop.
func few() *stats.Snapshot {
	s := article()
	f := &s.Targets[0].Session
	*f = stats.Figures{
		Span:         7e9,
		Requests:     stats.Requests{OK: 7, Warmup: 1, Skipped: 2, ByClass: map[event.Class]uint64{event.OKFull: 7}},
		TTFT:         makeFigure(7, 150, 171, [6]float64{171, 0, 0, 0, 0, 0}, 188),
		TTFO:         makeFigure(5, 900, 960, [6]float64{950, 0, 0, 0, 0, 0}, 1010),
		Gap:          makeFigure(98, 12, 13.1, [6]float64{13, 15, 19, 0, 0, 0}, 61),
		TPOT:         makeFigure(7, 14, 14.9, [6]float64{14.8, 0, 0, 0, 0, 0}, 16.2),
		E2E:          makeFigure(7, 350, 361, [6]float64{360, 0, 0, 0, 0, 0}, 377),
		SchedTTFT:    makeFigure(7, 151, 190, [6]float64{180, 0, 0, 0, 0, 0}, 260),
		SchedE2E:     makeFigure(7, 351, 380, [6]float64{370, 0, 0, 0, 0, 0}, 450),
		Late:         makeFigure(7, 0.2, 19, [6]float64{1.1, 0, 0, 0, 0, 0}, 72),
		ITLWhy:       "the stream does not say how many tokens an event holds",
		SpeedMedian:  67.6,
		OutputTokens: 105, PromptTokens: 0, Approx: true, OutputRate: 15, RequestRate: 1,
		Smooth: stats.Smooth{Fluidity: 1, FluidityN: 98, Jitter: 1.2e6, CV: 0.4},
	}
	s.Load = event.Load{Concurrency: 128, Rate: 2.5, Arrival: "poisson", Requests: 7, Warmup: 1, MaxTokens: 15}
	s.Finished.Reason = "requests"
	s.Floor = stats.Floor{Source: event.SourceRead, HostStalls: 2, SessionOvershoot: 15e6, Word: "ok"}
	s.Targets[0].Worst = nil
	s.Notes = []event.Note{{At: 1e9, Level: "info", Text: "not shown"}, {At: 2e9, Level: "warn", Text: "2 requests were not sent in time"}}
	return s
}

// failed is a run in which no request was answered.
func failed() *stats.Snapshot {
	s := article()
	t := s.Targets[0]
	t.Info = event.Target{ID: 1, URL: "http://gpu07:8000", State: event.StateDown, Detail: "connection refused, next try in 4 s"}
	t.Session = stats.Figures{
		Span:      30e9,
		Requests:  stats.Requests{Failed: 9, ByClass: map[event.Class]uint64{event.ErrRefused: 7, event.ErrAuth: 1, event.ErrDNS: 1}},
		ErrorRate: 1, ITLWhy: "no gaps yet",
		SLO: []stats.SLOResult{
			{Expr: "gap<=50ms:99%", Metric: "gap", Limit: 50e6, Goal: 0.99, NoData: true},
			{Expr: "err<=1%", Metric: "err", Limit: 10000, Goal: 0.99, N: 9},
		},
	}
	t.Worst, t.LastError, t.LastErrorAt = nil, "dial tcp 10.0.0.7:8000: connect: connection refused", 29e9
	s.Floor = stats.Floor{}
	s.Finished.Reason = "duration"
	return s
}

// timeouts is a run whose tail lies among the timeouts.
func timeouts() *stats.Snapshot {
	s := article()
	f := &s.Targets[0].Session
	f.Requests = stats.Requests{OK: 990, Failed: 13, ByClass: map[event.Class]uint64{event.OKFull: 990, event.ErrFirst: 12, event.ErrOverload: 1}}
	f.TTFT = makeFigure(1002, 150, 530, [6]float64{171, 240, 290, 30000, 30000, 0}, 30000)
	f.TTFT.Censored = 12
	f.TTFT.Q[stats.P99].Censored, f.TTFT.Q[stats.P999].Censored = true, true
	f.E2E = makeFigure(1002, 350, 900, [6]float64{600, 700, 800, 600000, 600000, 0}, 600000)
	f.E2E.Censored, f.E2E.Clipped = 12, 1
	f.E2E.Q[stats.P99].Censored, f.E2E.Q[stats.P999].Censored = true, true
	f.ErrorRate = 13.0 / 1003
	f.SLO = []stats.SLOResult{
		{Expr: "ttft<=500ms:99%", Metric: "ttft", Limit: 500e6, Goal: 0.99, N: 1002, Met: 986, Attained: 986.0 / 1002},
		{Expr: "err<=1%", Metric: "err", Limit: 10000, Goal: 0.99, N: 1003, Met: 990, Attained: 990.0 / 1003},
	}
	f.Goodput = 986.0 / 1003
	f.Buffered, f.MergedTTFT = 1, 2
	s.Targets[0].LastError, s.Targets[0].LastErrorAt = "503 overloaded", 31e9
	return s
}

// two has two endpoints, the second of which is timeouts's.
func two() *stats.Snapshot {
	s, o := article(), timeouts()
	o.Targets[0].Info = event.Target{ID: 2, URL: "https://gpu07.example.com/v1", Model: "meta-llama/Llama-3.3-70B-Instruct",
		Engine: "vLLM", Version: "0.11.0", API: "completions", State: event.StateDone}
	s.Targets = append(s.Targets, o.Targets[0])
	return s
}

// incomplete is timeouts, interrupted.
func incomplete() *stats.Snapshot {
	s := timeouts()
	s.Finished = &event.Finished{At: 40.2e9, Reason: "interrupted"}
	return s
}

const secret = "s3cr3t"

// hostile has text in it that wants to be more than text.
func hostile() *stats.Snapshot {
	s := timeouts()
	t := s.Targets[0]
	t.Info.URL = "http://ann:" + secret + "@gpu07:8000/v1?key=" + secret
	t.Info.Model = "模型\x1b[31m|red|\u202egnp.exe\u202c`x` <b>*b*</b> [l](http://evil) 👩\u200d💻\x9b2J\r\nSet: x"
	t.Info.Engine = "\x1b]0;owned\x07vLLM|"
	t.Info.Version = "1\t2\u2028" + string([]byte{0xff, 0xfe})
	t.Info.Detail = "Get \"http://ann:" + secret + "@gpu07/?k=" + secret + "\": \x1b[2Jgone"
	t.LastError = "503 \x1b[5;31m{\"error\":\"http://u:" + secret + "@h/\"}\r\n<script>| a | b |"
	s.Notes = []event.Note{{At: 3e9, Level: "error", Text: "see https://u:" + secret + "@h/?q=" + secret + "\x07 _now_"}}
	s.Damaged = "block 7\x1b[1m is cut"
	t.Session.Requests.ByClass["odd\x1b[31m|class"] = 1
	t.Session.SLO[0].Expr = "ttft<=5\x1b[0m|00ms:99%"
	t.Causes = causes().Targets[0].Causes
	t.Causes[0].Worst.Why.Evidence = []string{"it was away (dial http://u:" + secret + "@h/?q=1 \x1b[2J| `x` <b>)"}
	t.Server = &stats.Server{
		Values:  []stats.ServerValue{{Name: "evil\x1b[31m|name", Of: "\u202e0", Value: math.Inf(1)}},
		Missing: []string{"a\x07b"}, Sources: []stats.ServerSource{{Name: "metrics\x9b", Detail: "http://u:" + secret + "@h"}},
	}
	return s
}

func empty() *stats.Snapshot { return &stats.Snapshot{} }

type flavour struct {
	name string
	s    *stats.Snapshot
}

func flavours() []flavour {
	return []flavour{
		{"article", article()}, {"few", few()}, {"failed", failed()}, {"timeouts", timeouts()},
		{"two", two()}, {"causes", causes()}, {"incomplete", incomplete()}, {"hostile", hostile()}, {"empty", empty()},
	}
}

// fixedReading stands for the reading of a tail, whose words are not the
// report's to test.
func fixedReading(t *stats.Target, f *stats.Figures) []stats.Sentence {
	if f.Gap.N < 100 {
		return nil
	}
	return []stats.Sentence{
		{Rule: "skew", Text: "The mean is 2.2 times the median: a few slow tokens drag it up, so the tail is worth work and the mean is not."},
		{Rule: "hitch", Text: "One token in 10,000 takes 120 ms, 75 times the median."},
	}
}
