package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"teapot/probe/event"
)

// point of a quantile function: probability, ms.
type point struct{ p, ms float64 }

// law is a log-linear quantile function through points.
type law []point

func (l law) at(p float64) int64 {
	i := 1
	for i < len(l)-1 && p > l[i].p {
		i++
	}
	a, b := l[i-1], l[i]
	x := (p - a.p) / (b.p - a.p)
	return int64(1e6 * math.Exp(math.Log(a.ms)+x*(math.Log(b.ms)-math.Log(a.ms))))
}

// The article's distribution: median 1.60, P99 12.88, P99.99 120.22, mean 3.47.
var article = law{{0, 0.9}, {0.5, 1.60}, {0.9, 7.2157}, {0.99, 12.88}, {0.9999, 120.22}, {1, 180}}

// steady is a law without a tail around one value.
func steady(ms float64) law { return law{{0, ms * 0.98}, {1, ms * 1.02}} }

// stream plays n tokens whose gaps are those of the law, in replies of 256.
func (l law) stream(s *script, n int) {
	gaps := make([]int64, n)
	for i := range gaps {
		gaps[i] = l.at((float64(i) + 0.5) / float64(n))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { gaps[i], gaps[j] = gaps[j], gaps[i] })
	at, req := int64(0), uint64(0)
	for reply := range slices.Chunk(gaps, 255) {
		req++
		s.a.Add(&event.Start{At: at, Target: 1, Request: req, Slot: 0})
		at += 50 * ms
		s.a.Add(&event.Token{At: at, Target: 1, Request: req, K: 1, Late: 20e3})
		for _, g := range reply {
			at += g
			s.a.Add(&event.Token{At: at, Target: 1, Request: req, K: 1, Late: 20e3})
		}
		s.a.Add(&event.End{At: at, Target: 1, Request: req, Class: event.OKFull, N: len(reply) + 1, Count: event.CountUsage})
	}
}

func read(s *script) map[string]string {
	t := s.target()
	out := map[string]string{}
	for _, x := range Read(t, &t.Session) {
		out[x.Rule] = x.Text
	}
	return out
}

func TestTheArticlesFigures(t *testing.T) {
	s := newScript(Config{})
	article.stream(s, 70_000)
	f := s.target().Session.ITL
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean", f.Mean, 3.470e6}, {"median", float64(f.Q[P50].Value), 1.60e6},
		{"P99", float64(f.Q[P99].Value), 12.88e6}, {"P99.99", float64(f.Q[P9999].Value), 120.22e6},
	} {
		if d := c.got/c.want - 1; math.Abs(d) > 0.02 {
			t.Errorf("%s: %.4g ns, want %.4g", c.name, c.got, c.want)
		}
	}
}

func TestReading(t *testing.T) {
	// One in twelve steps carries somebody's prefill.
	prefill := law{{0, 9.8}, {0.915, 10.2}, {0.917, 79}, {1, 81}}
	freezes := law{{0, 9.8}, {0.998, 10.2}, {0.9981, 500}, {1, 900}}
	for _, c := range []struct {
		name   string
		config Config
		play   func(s *script)
		says   map[string][]string // rule: what its sentence holds
		never  []string            // rules that must not speak
	}{
		{"the article", Config{}, func(s *script) { article.stream(s, 70_000) }, map[string][]string{
			"samples":           {"70000 samples", "P99.99 is approximate"},
			"speed":             {"1.60 ms", "625 tok/s", "3.47 ms", "288 tok/s"},
			"skew":              {"right-skewed", "2.2× the median"},
			"reader":            {"60× a fast reader's speed", "120× a slow one's"},
			"eye":               {"P99, 12.9 ms", "under a frame at 60 fps"},
			"amplification":     {"P99 is 8.1×", "P99.99 75×"},
			"hitch":             {"P99.99, 120 ms", "under a blink", "a hitch"},
			"cause":             {"no evidence of a cause", "KV-cache"},
			"advice: mean":      {"mean is not worth optimising"},
			"advice: tail":      {"P99 needs no work"},
			"advice: rare tail": {"Only a strict SLO makes the rare tail worth work"},
		}, []string{"failures", "buffered", "ours", "floor", "levels", "advice: slo"}},
		{"smooth", Config{}, func(s *script) { steady(20).stream(s, 20_000) }, map[string][]string{
			"skew":              {"not skewed"},
			"eye":               {"film-smooth"},
			"reader":            {"5.0× a fast reader's"},
			"hitch":             {"unnoticed"},
			"advice: mean":      {"would not be noticed"},
			"advice: rare tail": {"no rare tail"},
		}, []string{"cause", "stalls", "levels"}},
		{"slower than a reader", Config{}, func(s *script) { steady(400).stream(s, 500) }, map[string][]string{
			"reader":            {"slower than a person reads"},
			"eye":               {"visible step"},
			"advice: mean":      {"median is worth work"},
			"samples":           {"too few to speak of P99.9 and P99.99"},
			"advice: rare tail": {"no rare tail"},
			"hitch":             {"The longest"},
		}, []string{"cause"}},
		{"freezes", Config{SLO: []SLO{{Expr: "gap<=50ms:99.9%", Metric: "gap", Limit: 50 * ms, Goal: 0.999}}},
			func(s *script) { freezes.stream(s, 20_000) }, map[string][]string{
				"hitch":             {"a visible stop"},
				"stalls":            {"stalls", "the longest 8"},
				"cause":             {"no evidence of a cause"},
				"advice: rare tail": {"worth finding the cause of"},
				"advice: slo":       {"gap<=50ms:99.9%", "99.8 %"},
			}, nil},
		{"prefill of others", Config{}, func(s *script) { prefill.stream(s, 20_000) }, map[string][]string{
			"levels": {"near 10.0 ms", "near 79.8 ms", "prefill"},
			"eye":    {"visible step"},
		}, nil},
		{"few samples", Config{}, func(s *script) { article.stream(s, 30) }, map[string][]string{
			"samples":           {"30 samples", "too few to speak of P99, P99.9 and P99.99"},
			"advice: rare tail": {"not known yet"},
		}, []string{"eye", "amplification", "levels", "advice: tail"}},
		{"nothing", Config{}, func(s *script) {}, map[string][]string{
			"samples": {"no tail to read"},
		}, []string{"speed", "skew", "reader", "eye", "hitch", "cause", "advice: rare tail", "advice: mean"}},
		{"buffered", Config{}, func(s *script) {
			s.start(1, 0)
			for i := range int64(100) {
				s.tokNs(1, 2000*ms+i*1000, 1)
			}
			s.end(1, 2010, 100, event.OKFull)
		}, map[string][]string{
			"buffered": {"1 reply", "buffers"}, "samples": {"no tail to read"},
		}, []string{"speed", "reader"}},
		{"failures", Config{}, func(s *script) {
			steady(20).stream(s, 500)
			s.start(900, 60_000)
			s.end(900, 60_010, 0, event.ErrOverload)
			s.start(901, 60_100)
			s.a.Add(&event.End{At: 90_100 * ms, Target: 1, Request: 901, Class: event.ErrFirst, Limit: 30_000 * ms})
		}, map[string][]string{
			"failures": {"2 of 4 requests", "http overload 1", "timeout first 1", "1 timeout"},
		}, nil},
		{"our own lateness", Config{}, func(s *script) {
			s.start(1, 0)
			for i := range int64(300) {
				s.a.Add(&event.Token{At: (100 + 2*i) * ms, Target: 1, Request: 1, Slot: 1, K: 1, Late: ms / 2, Merged: i == 200})
			}
		}, map[string][]string{
			"floor": {"0.50 ms", "cannot be called the server's alone"}, "ours": {"1 gap of this client's own making"},
		}, nil},
		{"events of several tokens", Config{}, func(s *script) {
			s.start(1, 0)
			for i := range int64(200) {
				s.tok(1, 100+20*i, 0)
			}
			s.end(1, 5000, 598, event.OKFull)
		}, map[string][]string{
			"tokens per event": {"3.00 tokens"}, "samples": {"one per event"}, "reader": {"15×"},
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(c.config)
			c.play(s)
			said := read(s)
			for rule, parts := range c.says {
				for _, part := range parts {
					if !strings.Contains(said[rule], part) {
						t.Errorf("%s: %q lacks %q", rule, said[rule], part)
					}
				}
			}
			for _, rule := range c.never {
				if said[rule] != "" {
					t.Errorf("%s speaks: %q", rule, said[rule])
				}
			}
			for rule, text := range said {
				if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, " -") {
					t.Errorf("%s: %q", rule, text)
				}
			}
			if t.Failed() || testing.Verbose() {
				tg := s.target()
				for _, x := range Read(tg, &tg.Session) {
					t.Logf("%s: %s", x.Rule, x.Text)
				}
			}
		})
	}
}
