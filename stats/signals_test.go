package stats

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// metricsPage is a look at the metrics with the growth of a histogram in it.
func metricsPage(at int64, n, sum float64) *event.Signal {
	return &event.Signal{
		At: at, Target: 1, Source: event.SignalMetrics, Took: 3 * ms, Age: 3 * ms, Span: second, Bytes: 5000,
		Values: []event.Sample{
			{Name: "running", Value: 4}, {Name: "ttft_count", Value: 100, Delta: n}, {Name: "ttft_sum", Value: 9, Delta: sum},
			{Name: "ttft_p50", Value: .02}, {Name: "ttft_p99", Value: .3}, {Name: "gen_tokens", Value: 1e6, Delta: 500},
		},
	}
}

func TestTheServersView(t *testing.T) {
	s := newScript(Config{})
	if v := s.target().Server; v != nil || s.a.Snapshot().Machine != nil {
		t.Fatalf("before anything was heard: %+v", v)
	}
	for i := range int64(70) {
		s.a.Add(metricsPage(i*second, 10, 1))
	}
	gpu := &event.Signal{At: 70 * second, Source: event.SignalGPU, Values: []event.Sample{{Name: "gpu.util", Of: "0", Value: .9}, {Name: "gpu.util", Of: "1", Value: .1}}}
	s.a.Add(gpu)
	gpu.Values[0].Value = 0 // the event is the caller's again
	restart := metricsPage(71*second, 0, 0)
	restart.Restart, restart.Span = true, 0
	s.a.Add(restart)
	s.a.Add(&event.Signal{At: 72 * second, Target: 1, Source: event.SignalSlots, Detail: "not\x1b there"})
	snap := s.a.Snapshot()
	v := snap.Targets[0].Server
	want := ServerFigure{At: 69 * second, Span: second, N: 10, P50: 20 * ms, P99: 300 * ms, Mean: 100 * ms, MinuteN: 570, MinuteMean: 100 * ms, AllN: 700, AllMean: 100 * ms, sum: 70}
	if v.TTFT != want {
		t.Errorf("ttft %+v, want %+v", v.TTFT, want)
	}
	if v.Restarts != 1 || v.RestartAt != 71*second || snap.Lane[len(snap.Lane)-1].Kind != LaneRestart {
		t.Errorf("restarts %d at %d, lane %+v", v.Restarts, v.RestartAt, snap.Lane)
	}
	if x, ok := v.Value("running"); !ok || x.Value != 4 || x.At != 71*second || x.Age != 3*ms || x.Source != event.SignalMetrics {
		t.Errorf("running %+v", x)
	}
	if x, ok := snap.Machine.Value("gpu.util"); !ok || x.Value != .9 || len(snap.Machine.Values) != 2 {
		t.Errorf("machine %+v", snap.Machine)
	}
	if len(v.Sources) != 2 || v.Sources[0].Looks != 71 || v.Sources[0].Bytes != 355000 || v.Sources[0].TookSum != 213*ms || v.Sources[0].Every != 2*second || v.Sources[1].Detail != "not there" {
		t.Errorf("sources %+v", v.Sources)
	}
	if x, _ := v.Value("gen_tokens"); x.Grown != 70*500 || x.Max != 1e6 {
		t.Errorf("tokens %+v", x)
	}
	if s := v.Sources[0]; s.MinuteLooks != 58 || s.MinuteBytes != 58*5000 || v.Sources[1].MinuteLooks != 1 {
		t.Errorf("what the last minute cost: %+v", v.Sources)
	}
	if !slices.Contains(v.Missing, "preemptions") || slices.Contains(v.Missing, "ttft") || !slices.Contains(v.Missing, "queue") {
		t.Errorf("missing %q", v.Missing)
	}
	if again := s.a.Snapshot().Targets[0].Server; again != v {
		t.Error("it is made anew though nothing was heard")
	}
}

func TestStrips(t *testing.T) {
	s := newScript(Config{})
	for i := range int64(10) {
		ev := metricsPage(i*second+500*ms, 1, 1)
		ev.Values[0].Value = float64(i)
		if i != 5 {
			s.a.Add(ev)
		}
	}
	v := s.target().Server
	cells := v.Strip("running", "", 9900*ms, 2*second, 4)
	for i, want := range []StripCell{
		{Start: 2 * second, Has: true, Value: 3, Max: 3, At: 3500 * ms, Age: 3 * ms},
		{Start: 4 * second, Has: true, Value: 4, Max: 4, At: 4500 * ms, Age: 3 * ms},
		{Start: 6 * second, Has: true, Value: 7, Max: 7, At: 7500 * ms, Age: 3 * ms},
		{Start: 8 * second, Has: true, Value: 9, Max: 9, At: 9500 * ms, Age: 3 * ms},
	} {
		if cells[i] != want {
			t.Errorf("%d: %+v, want %+v", i, cells[i], want)
		}
	}
	if d := v.Strip("gen_tokens", "", 9900*ms, 5*second, 2); d[0].Delta != 2500 || d[1].Delta != 2000 {
		t.Errorf("growths %+v", d)
	}
	if c := v.Strip("running", "", 5900*ms, second, 1); c[0].Has {
		t.Errorf("nothing was heard: %+v", c)
	}
	var none *Server
	if c := none.Strip("running", "", second, second, 3); len(c) != 3 || c[0].Has {
		t.Errorf("%+v", c)
	}
	if _, ok := none.Value("running"); ok {
		t.Error("a value of nobody")
	}
}

// An hour of looks that are as long as they can be, and different each time:
// what is kept does not grow.
func TestSignalsAreBounded(t *testing.T) {
	s := newScript(Config{})
	for i := range int64(3600) {
		sig := &event.Signal{At: i * second, Target: 1, Source: "s" + strconv.FormatInt(i%40, 10), Span: second}
		for n := range int64(300) {
			sig.Values = append(sig.Values, event.Sample{Name: "n" + strconv.FormatInt(n*i, 10), Value: float64(n)})
		}
		s.a.Add(sig)
		s.a.Add(metricsPage(i*second, 1, 1))
	}
	w := s.a.targets[1].watch
	if len(w.looks.items) > maxLooks || len(w.names) > maxNames || len(w.sources) > maxSources || len(w.newest) > maxNames {
		t.Errorf("%d looks, %d names, %d sources, %d values", len(w.looks.items), len(w.names), len(w.sources), len(w.newest))
	}
	for _, l := range w.looks.items {
		if l.At < 3599*second-signalSpan || len(l.Values) > maxValues {
			t.Fatalf("at %d with %d values", l.At, len(l.Values))
		}
	}
	if x := w.newest[valueKey{name: "running"}]; x.At != 3599*second {
		t.Errorf("the newest is of %d", x.At)
	}
}

// Whatever a server says, nothing breaks and nothing undefined is shown.
func TestAnySignals(t *testing.T) {
	names := append([]string{"", "\x1b[2J", "ttft_count", "ttft_sum", "preemptions", "python_gc", "step_tokens_sum", "gpu.throttle", "loaded", "prefilling"}, shownNames[:]...)
	number := rapid.SampledFrom([]float64{0, 1, -1, .5, 1e9, 1e300, -1e300, 1e18, math.NaN(), math.Inf(1), math.Inf(-1)})
	rapid.Check(t, func(r *rapid.T) {
		s := newStage(2)
		for range rapid.IntRange(1, 30).Draw(r, "looks") {
			sig := &event.Signal{
				At: rapid.Int64Range(0, 7_000).Draw(r, "at") * ms, Target: uint32(rapid.IntRange(0, 2).Draw(r, "target")),
				Source: rapid.SampledFrom(append(sourceNames[:], "", "x\x00")).Draw(r, "source"), Restart: rapid.IntRange(0, 9).Draw(r, "restart") == 0,
				Age:  rapid.SampledFrom([]int64{0, ms, -1, math.MaxInt64}).Draw(r, "age"),
				Took: rapid.SampledFrom([]int64{0, ms, -1, math.MaxInt64}).Draw(r, "took"),
				Span: rapid.SampledFrom([]int64{0, second, -1, math.MaxInt64, math.MinInt64}).Draw(r, "span"), Detail: "d\n",
			}
			for range rapid.IntRange(0, 6).Draw(r, "values") {
				sig.Values = append(sig.Values, event.Sample{Name: rapid.SampledFrom(names).Draw(r, "name"), Of: rapid.SampledFrom([]string{"", "0"}).Draw(r, "of"),
					Value: number.Draw(r, "value"), Delta: number.Draw(r, "delta")})
			}
			s.signals = append(s.signals, sig)
		}
		slices.SortFunc(s.signals, func(a, b *event.Signal) int { return int(a.At - b.At) })
		s.play(150)
		s.at += 380
		s.play(100)
		s.idle(s.at + 40_000)
		snap := s.a.Snapshot()
		tg := snap.Targets[0]
		for _, v := range []any{tg.Server, tg.Spikes, tg.Causes, tg.Worst, snap.Machine} {
			finite(r, v)
		}
		for _, x := range tg.Spikes {
			if x.Why == nil || len(x.Why.Evidence) == 0 || !x.Why.Settled {
				r.Errorf("%+v: %+v", x, x.Why)
			}
			for _, line := range x.Why.Evidence {
				if line == "" || line != oneLine(line) && len(line) <= maxLine {
					r.Errorf("evidence %q", line)
				}
			}
		}
	})
}
