package stats

import (
	"fmt"
	"math"
	"strings"
)

// Sentence is one statement about a distribution with the rule it follows from.
type Sentence struct {
	Rule, Text string
}

// What a person perceives, in ns and tok/s.
const (
	frame60    = int64(16.7e6) // one frame at 60 per second
	frame24    = stallFrame    // one frame of film
	instant    = int64(100e6)  // felt as instant up to here
	blink      = int64(300e6)  // a blink lasts from here
	blinkEnd   = int64(400e6)  // to here
	slowReader = 5.0           // tok/s of silent reading
	fastReader = 10.0
)

// Shares and ratios from which a rule speaks.
const (
	skewed      = 1.5  // mean/median
	floorPart   = 10   // a percentile is the server's when our lateness is under a tenth of it
	tailApart   = 2.0  // medians from which on a long gap is out of the ordinary
	levelApart  = 3.0  // P95/P50 of two levels
	levelFlat   = 1.2  // P99/P95 of the upper one
	comfortable = 2.0  // times a fast reader's speed
	tokensApart = 1.05 // tokens per event that tell events from tokens
)

// tailRead is what the rules look at: one horizon, and in it the figure that is
// nearest to a token.
type tailRead struct {
	t    *Target
	f    *Figures
	fig  *Figure
	unit string // what one sample is
}

// rule says one thing, or "" where it does not apply.
type rule struct {
	name string
	// needs is the number of samples without which there is nothing to say.
	needs uint64
	say   func(*tailRead) string
}

// Read puts a horizon's tail into words. Every sentence follows from a rule and
// from the figures alone: where samples are too few it says so, and it names no
// cause without evidence.
func Read(t *Target, f *Figures) []Sentence {
	r := &tailRead{t: t, f: f, fig: &f.Gap, unit: "event"}
	if f.ITL.N > 0 {
		r.fig, r.unit = &f.ITL, "token"
	}
	var out []Sentence
	for _, rule := range readingRules {
		if r.fig.N < rule.needs {
			continue
		}
		if text := rule.say(r); text != "" {
			out = append(out, Sentence{Rule: rule.name, Text: text})
		}
	}
	return out
}

// readingRules in the order in which they are read.
var readingRules = [...]rule{
	{"failures", 0, sayFailures},
	{"buffered", 0, sayBuffered},
	{"samples", 0, saySamples},
	{"tokens per event", 1, sayTokensPerEvent},
	{"speed", 2, saySpeed},
	{"skew", 2, saySkew},
	{"reader", 2, sayReader},
	{"eye", 100, sayEye},
	{"amplification", 100, sayAmplification},
	{"levels", 100, sayLevels},
	{"hitch", 1, sayHitch},
	{"stalls", 1, sayStalls},
	{"ours", 0, sayOurs},
	{"transport", 0, sayTransport},
	{"floor", 2, sayFloor},
	{"cause", 1, sayCause},
	{"advice: mean", 2, adviseMean},
	{"advice: cause", 1, adviseCause},
	{"advice: tail", 100, adviseTail},
	{"advice: rare tail", 1, adviseRare},
	{"advice: slo", 0, adviseSLO},
}

func (r *tailRead) q(i int) Quantile { return r.fig.Q[i] }

// has tells whether the sample rule lets percentile i be spoken of.
func (r *tailRead) has(i int) bool { return r.fig.N > 0 && r.fig.Q[i].Mark != MarkNone }

// over is percentile i in medians; 0 when either is missing.
func (r *tailRead) over(i int) float64 {
	if !r.has(i) {
		return 0
	}
	return r.inMedians(r.q(i).Value)
}

func (r *tailRead) inMedians(ns int64) float64 {
	return share(float64(ns), float64(r.q(P50).Value))
}

// rarest is the longest thing the samples vouch for: P99.99 where it exists,
// else the maximum, with its name.
func (r *tailRead) rarest() (ns int64, name string) {
	if r.has(P9999) {
		return r.q(P9999).Value, quantileNames[P9999]
	}
	return r.fig.Max, "the longest"
}

var quantileNames = [len(Quantiles)]string{"the median", "P90", "P95", "P99", "P99.9", "P99.99"}

// show writes percentile i with the marks of the sample rule.
func (r *tailRead) show(i int) string {
	q, pre := r.q(i), ""
	switch {
	case q.Censored:
		pre = ">"
	case q.Mark == MarkApprox:
		pre = "~"
	}
	return pre + span(q.Value)
}

// span writes ns to three digits with its unit.
func span(ns int64) string {
	ms := float64(ns) / 1e6
	switch {
	case ms >= 999.5:
		return digits(ms/1000) + " s"
	case ms >= 0.1 || ns == 0:
		return digits(ms) + " ms"
	}
	return digits(ms*1000) + " µs"
}

// digits writes a number to three significant digits, and never as a power.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// times writes a ratio: 2.2×, 75×.
func times(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.1f×", v)
	}
	return fmt.Sprintf("%.0f×", v)
}

// about writes a ratio that is known only roughly, since readers differ.
func about(v float64) string {
	if v >= 20 {
		v = math.Round(v/10) * 10
	}
	return times(v)
}

// per100 writes a share in percent.
func per100(v float64) string { return digits(v*100) + " %" }

// tokS is the speed at ns per token.
func tokS(ns int64) string {
	if ns <= 0 {
		return "no speed"
	}
	return digits(1e9/float64(ns)) + " tok/s"
}

// list joins words: "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// count writes "1 stall", "3 stalls".
func count(n uint64, word string) string {
	stem, y := strings.CutSuffix(word, "y")
	switch {
	case n == 1:
	case y:
		word = stem + "ies"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
