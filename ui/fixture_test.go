package ui

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

// world is a small simulation of a probed endpoint that builds Snapshots: a
// fixed clock, a seed, spikes, timeouts, stalls, marks, and text that a terminal
// must never see raw. It is the fixture of the screen's tests.
type world struct {
	rng     *rand.Rand
	now     int64
	seq     uint64
	request uint64
	streams []*simStream
	target  *stats.Target
	lane    []stats.LaneEvent
	notes   []event.Note
	gaps    []sample
	ttfts   []sample
	tpots   []sample
	e2es    []sample
	tokens  uint64
	classes map[event.Class]uint64
	slos    bool
	marks   byte
	noText  bool
	beat    float64 // median gap of a stream, ns
	figured int64   // when the figures were computed
	session stats.Figures
	windows [len(stats.Windows)]stats.Figures
	traces  []stats.Trace // of finished requests, the newest last
	worst   []stats.Trace
	marked  *stats.Marked
}

type sample struct {
	at, v    int64
	censored bool
}

type simStream struct {
	stats.Stream
	due    int64
	left   int
	first  int64
	maxGap int64
	all    []stats.Cell // of the request, none forgotten
	stalls int
	merged int64
	wordAt int
	end    int64 // of the pause after a request
	doomed bool
}

const prose = "The kettle sings before it boils, and a good cup is patient. " +
	"Pour over leaves, wait three minutes, then taste: bright, grassy, a little sweet. " +
	"日本の茶は静かな時間です。 Émile said “naïve” — and smiled 🙂.\n\n" +
	"1. Warm the pot.\n2. Measure the leaves.\n3. \x1b[31mNever\x1b[0m hurry. \x1b]0;owned\x07" +
	"A right-to-left \u202eoverride\u202c stays harmless, so does Z\u0334\u0335\u0336\u0337\u0338algo. "

var proseTokens = splitTokens(prose)

func splitTokens(s string) []string {
	var out []string
	cur := ""
	for _, r := range s {
		if r == ' ' && cur != "" {
			out, cur = append(out, cur), ""
		}
		cur += string(r)
		if len(cur) >= 7 {
			out, cur = append(out, cur), ""
		}
	}
	return append(out, cur)
}

func newWorld(seed uint64, c int) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), classes: map[event.Class]uint64{}, slos: true, beat: 13.4e6}
	w.target = &stats.Target{
		Info: event.Target{
			ID: 1, URL: "http://gpu07:8000/v1", Model: "meta-llama/Llama-3.3-70B-Instruct", Engine: "vLLM",
			Version: "0.10.2", API: "chat", State: event.StateLive, At: 1,
		},
		Since: 1, Series: stats.NewSeries(int64(16 * time.Minute)),
	}
	w.request = 1000
	for i := range c {
		w.streams = append(w.streams, &simStream{Stream: stats.Stream{Slot: uint32(i)}, end: int64(i) * 3e8})
	}
	return w
}

func (w *world) lognormal(median, sigma float64) int64 {
	return int64(median * math.Exp(sigma*w.rng.NormFloat64()))
}

// run lets the world go on to the instant to.
func (w *world) run(to int64) {
	for w.now < to {
		at := to
		for _, s := range w.streams {
			at = min(at, max(s.due, s.end))
		}
		w.now = max(at, w.now)
		w.seq++
		for _, s := range w.streams {
			if max(s.due, s.end) <= w.now {
				w.step(s)
			}
		}
		if at >= to {
			break
		}
	}
	w.now = to
	w.seq++
}

func (w *world) step(s *simStream) {
	switch {
	case s.left == 0 && s.EndAt == 0 && s.Request != 0:
		w.finish(s)
	case s.Request == 0 || s.EndAt > 0:
		w.request++
		slot := s.Slot
		*s = simStream{Stream: stats.Stream{Slot: slot, Request: w.request, Sent: w.now}, left: 40 + w.rng.IntN(220), wordAt: w.rng.IntN(len(proseTokens))}
		s.due = w.now + w.lognormal(182e6, 0.25)
		if w.rng.IntN(60) == 0 {
			s.doomed, s.due = true, w.now+5e9
		}
		if w.rng.IntN(25) == 0 {
			s.due = w.now + w.lognormal(600e6, 0.2)
		}
	case s.doomed:
		w.fail(s)
	default:
		w.token(s)
	}
}

func (w *world) fail(s *simStream) {
	s.EndAt, s.Class, s.left = w.now, event.ErrFirst, 0
	s.end = w.now + 25e7
	w.classes[s.Class]++
	w.ttfts = append(w.ttfts, sample{w.now, 5e9, true})
	w.target.Series.At(w.now).Timeouts++
	w.target.Dots = append(w.target.Dots, stats.Dot{At: w.now, TTFT: 5e9, Timeout: true, Class: s.Class, Request: s.Request})
	w.lane = append(w.lane, stats.LaneEvent{At: w.now, Kind: stats.LaneError, Target: 1})
	w.target.LastError, w.target.LastErrorAt = "timeout_first: no token within 5 s", w.now
	r := stats.Request{ID: s.Request, Slot: s.Slot, Class: s.Class, Message: "no token within 5 s", Sent: s.Sent, End: w.now, Asked: 256, Prompt: 512}
	w.ended(r, s)
}

func (w *world) finish(s *simStream) {
	s.EndAt, s.Class = w.now, event.OKFull
	s.end = w.now + 25e7
	w.classes[s.Class]++
	e2e := s.LastAt - s.Sent
	w.e2es = append(w.e2es, sample{w.now, e2e, false})
	w.tpots = append(w.tpots, sample{w.now, s.TPOT, false})
	w.ended(w.told(s), s)
}

func (w *world) token(s *simStream) {
	c := w.target.Series.At(w.now)
	cell := stats.Cell{At: w.now, K: 1}
	if s.FirstAt == 0 {
		s.FirstAt, s.first = w.now, w.now-s.Sent
		cell.Gap = s.first
		c.TTFT.Add(s.first)
		w.ttfts = append(w.ttfts, sample{w.now, s.first, false})
		w.target.Dots = append(w.target.Dots, stats.Dot{At: w.now, TTFT: s.first, Class: event.OKFull, Request: s.Request})
	} else {
		cell.Gap = w.now - s.LastAt
		cell.Stall = cell.Gap >= 150e6
		if w.rng.IntN(40) == 0 {
			cell.K = 3
		}
		cell.Merged = cell.Stall && w.rng.IntN(6) == 0
		w.gap(s, c, &cell)
	}
	if !w.noText {
		cell.Text = proseTokens[s.wordAt%len(proseTokens)]
	}
	s.wordAt++
	s.LastAt = w.now
	s.Tokens += int(cell.K)
	s.Events++
	s.Cells = append(s.Cells, cell)
	s.all = append(s.all, cell)
	if len(s.Cells) > 512 {
		s.Cells = s.Cells[len(s.Cells)-512:]
	}
	if s.Tokens > 1 {
		s.TPOT = (s.LastAt - s.FirstAt) / int64(s.Tokens-1)
	}
	s.Median = medianGap(s.Cells)
	for i, pace := range paces {
		s.Through[i] = max(s.Through[i], w.now) + int64(cell.K)*pace
	}
	c.Tokens += uint64(cell.K)
	w.tokens += uint64(cell.K)
	s.left--
	gap := w.lognormal(w.beat, 0.22)
	switch n := w.rng.IntN(4000); {
	case n < 4:
		gap = w.lognormal(500e6, 0.4)
	case n < 14:
		gap = w.lognormal(70e6, 0.5)
	}
	s.due = w.now + gap
}

func (w *world) gap(s *simStream, c *stats.Column, cell *stats.Cell) {
	if cell.Merged {
		s.merged += cell.Gap
		c.Ours.Add(cell.Gap)
		w.lane = append(w.lane, stats.LaneEvent{At: w.now, Kind: stats.LaneHostStall})
	} else {
		c.Gap.Add(cell.Gap)
		c.Heat[stats.HeatRow(cell.Gap)]++
		if cell.Gap > 50e6 {
			c.Over++
		}
		w.gaps = append(w.gaps, sample{w.now, cell.Gap, false})
		s.maxGap = max(s.maxGap, cell.Gap)
	}
	if cell.Stall {
		s.stalls++
		w.target.Worst = append(w.target.Worst, stats.Spike{
			At: w.now, Length: cell.Gap, Request: s.Request, Slot: s.Slot, Token: s.Events, Merged: cell.Merged,
			Peers: w.rng.IntN(3),
		})
		slices.SortFunc(w.target.Worst, func(a, b stats.Spike) int { return int(b.Length - a.Length) })
		w.target.Worst = w.target.Worst[:min(len(w.target.Worst), 50)]
	}
}

// mark drops a mark at the present.
func (w *world) mark() {
	w.lane = append(w.lane, stats.LaneEvent{At: w.now, Kind: stats.LaneMark, Letter: 'A' + w.marks})
	w.marks++
}

func medianGap(cells []stats.Cell) int64 {
	if len(cells) < 4 {
		return 0
	}
	var v []int64
	for _, c := range cells[max(1, len(cells)-64):] {
		v = append(v, c.Gap)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// snapshot builds what a screen is given.
func (w *world) snapshot() *stats.Snapshot {
	t := *w.target
	t.Series = w.target.Series.View()
	if w.figured == 0 || w.now-w.figured >= 5e8 { // sorting everything takes its time
		w.figured, w.session = w.now, w.figures(0, w.now)
		for i, d := range stats.Windows {
			w.windows[i] = w.figures(max(w.now-int64(d), 0), w.now)
		}
	}
	t.Session, t.Windows = w.session, w.windows
	t.Streams, t.Traces = nil, &stats.Traces{Finished: slices.Clone(w.traces), Worst: w.worst}
	for _, s := range w.streams {
		st := s.Stream
		st.Cells = slices.Clone(s.Cells)
		if st.EndAt == 0 && st.Request != 0 {
			t.InFlight++
			t.Traces.Running = append(t.Traces.Running, stats.NewTrace(w.told(s), true, s.all))
		}
		t.Streams = append(t.Streams, st)
	}
	if w.marked != nil {
		m := *w.marked
		m.After = w.figures(m.At, w.now)
		t.Marked = &m
	}
	return &stats.Snapshot{
		Seq: w.seq, Now: w.now, Wall: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), Targets: []*stats.Target{&t},
		Load: event.Load{Concurrency: len(w.streams), PromptTokens: 512, MaxTokens: 256},
		Floor: stats.Floor{
			Source: "kernel", Word: "ok", LateP50: 21e3, LateP99: 40e3, LateMax: 310e3, P99: 40e3, SessionP99: 44e3,
			Reads: w.tokens, Overshoot: 1200e3, SessionOvershoot: 2400e3, RSS: 4 << 20, KernelStreams: w.request,
		},
		Lane: slices.Clone(w.lane), Notes: w.notes,
	}
}

func (w *world) figures(from, to int64) stats.Figures {
	f := stats.Figures{
		Span: to - from, TTFT: figure(w.ttfts, from), Gap: figure(w.gaps, from),
		TPOT: figure(w.tpots, from), E2E: figure(w.e2es, from),
	}
	f.TTFO = f.TTFT
	f.Requests = stats.Requests{OK: w.classes[event.OKFull], Failed: w.classes[event.ErrFirst], ByClass: w.classes}
	sec := float64(f.Span) / 1e9
	for _, c := range w.target.Series.Columns(to-1, int64(time.Second), int(sec)) {
		f.OutputTokens += c.Tokens
	}
	f.OutputRate, f.RequestRate = float64(f.OutputTokens)/sec, float64(f.E2E.N)/sec
	if f.TPOT.N > 0 {
		f.SpeedMedian = 1e9 / float64(f.TPOT.Q[stats.P50].Value)
		f.SpeedSlow10, f.SpeedSlow10Mark = f.SpeedMedian*0.91, f.TPOT.Q[stats.P90].Mark
	}
	f.Phases = stats.Phases{
		DNS: stats.Span{N: 1}, TCP: stats.Span{N: 1, P50: 1e6, P90: 2e6}, TLS: stats.Span{N: 1},
		Send: stats.Span{N: 9, P50: 2e4, P90: 1e6}, Wait: stats.Span{N: 9, P50: 152e6, P90: 218e6},
		First: stats.Span{N: 9, P50: 18e6, P90: 20e6},
	}
	f.Stalls = stats.Stalls{Count: uint64(len(w.target.Worst)), Longest: f.Gap.Max, Total: 2 * f.Gap.Max, PerKTok: 0.9}
	f.Smooth = stats.Smooth{Stalled10: 0.004, Fluidity: 0.992, FluidityN: f.Gap.N, Jitter: 2.1e6, CV: 1.4}
	f.TokensPerEvent = 1.05
	if w.slos {
		f.SLO = []stats.SLOResult{slo("ttft<=500ms:95%", "ttft", 500e6, .95, w.ttfts, from), slo("gap<=50ms:99%", "gap", 50e6, .99, w.gaps, from)}
	}
	return f
}

func slo(expr, metric string, limit int64, goal float64, all []sample, from int64) stats.SLOResult {
	r := stats.SLOResult{Expr: expr, Metric: metric, Limit: limit, Goal: goal, For: 14e9}
	for _, s := range all {
		if s.at >= from {
			r.N++
			if s.v <= limit && !s.censored {
				r.Met++
			}
		}
	}
	if r.N > 0 {
		r.Attained = float64(r.Met) / float64(r.N)
	}
	r.OK, r.NoData = r.Attained >= goal, r.N == 0
	return r
}

func figure(all []sample, from int64) stats.Figure {
	var v []sample
	for i := len(all) - 1; i >= 0 && all[i].at >= from; i-- {
		v = append(v, all[i])
	}
	f := stats.Figure{N: uint64(len(v))}
	if len(v) == 0 {
		return f
	}
	slices.SortFunc(v, func(a, b sample) int { return int(a.v - b.v) })
	f.Min, f.Max = v[0].v, v[len(v)-1].v
	for i, q := range stats.Quantiles {
		k := max(int(math.Ceil(q*float64(len(v))-1e-9)), 1)
		f.Q[i].Value, f.Q[i].Censored = v[k-1].v, v[k-1].censored
		f.Q[i].Lo, f.Q[i].Hi, f.Q[i].HiOpen = interval(v, k, q)
		switch n := float64(len(v)) * (1 - q); {
		case n >= 10-1e-9:
			f.Q[i].Mark = stats.MarkOK
		case n >= 1-1e-9:
			f.Q[i].Mark = stats.MarkApprox
		}
	}
	return f
}

// busy is the fixed snapshot of the goldens: 100 seconds of four streams.
func busy() *stats.Snapshot {
	w := newWorld(3, 4)
	w.run(60e9)
	w.mark()
	w.run(100_300e6)
	return w.snapshot()
}

// empty is a screen before anything came.
func empty() *stats.Snapshot { return &stats.Snapshot{} }
