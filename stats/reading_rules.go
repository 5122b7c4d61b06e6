package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"teapot/probe/event"
)

func sayFailures(r *tailRead) string {
	q := r.f.Requests
	if q.Failed == 0 {
		return ""
	}
	type kind struct {
		class event.Class
		n     uint64
	}
	var kinds []kind
	for c, n := range q.ByClass {
		if c.Failed() {
			kinds = append(kinds, kind{c, n})
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.class, b.class)) })
	var words []string
	for _, k := range kinds[:min(len(kinds), 3)] {
		words = append(words, fmt.Sprintf("%s %d", strings.ReplaceAll(string(k.class), "_", " "), k.n))
	}
	s := fmt.Sprintf("%d of %s failed (%s)", q.Failed, count(q.OK+q.Failed, "request"), list(words))
	if n := r.f.TTFT.Censored + r.f.Gap.Censored; n > 0 {
		s += fmt.Sprintf("; %s stand in the figures as at least the limit that passed", count(n, "timeout"))
	}
	return s + "."
}

func sayBuffered(r *tailRead) string {
	n := r.f.Buffered
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s arrived all at once after a wait: something between here and the engine buffers. Their gaps and speeds say nothing and are left out.",
		upper(count(n, "reply")))
}

func saySamples(r *tailRead) string {
	if r.fig.N == 0 {
		return "No gap has been measured: there is no tail to read."
	}
	var none, few []string
	for i := range Quantiles {
		switch r.q(i).Mark {
		case MarkNone:
			none = append(none, quantileNames[i])
		case MarkApprox:
			few = append(few, quantileNames[i])
		}
	}
	s := fmt.Sprintf("%s, one per %s", upper(count(r.fig.N, "sample")), r.unit)
	if len(none) > 0 {
		s += ": too few to speak of " + list(none)
	}
	if len(few) > 0 {
		s += "; " + list(few) + " " + verb(few, "is", "are") + " approximate"
	}
	return s + "."
}

func sayTokensPerEvent(r *tailRead) string {
	if r.unit == "token" || r.f.TokensPerEvent < tokensApart {
		return ""
	}
	return fmt.Sprintf("An event holds %s tokens on average, so these gaps are between events, not between tokens.", digits(r.f.TokensPerEvent))
}

func saySpeed(r *tailRead) string {
	med := r.q(P50).Value
	if r.unit != "token" {
		return fmt.Sprintf("Half of the gaps are at most %s; the mean is %s.", r.show(P50), span(int64(r.fig.Mean)))
	}
	return fmt.Sprintf("Half of the tokens come within %s (%s); the mean is %s (%s).",
		r.show(P50), tokS(med), span(int64(r.fig.Mean)), tokS(int64(r.fig.Mean)))
}

func (r *tailRead) skew() float64 { return share(r.fig.Mean, float64(r.q(P50).Value)) }

func saySkew(r *tailRead) string {
	switch s := r.skew(); {
	case s == 0:
		return ""
	case s >= skewed:
		return fmt.Sprintf("The distribution is right-skewed: the mean is %s the median, dragged up by a few slow ones.", times(s))
	default:
		return fmt.Sprintf("The distribution is not skewed to speak of: the mean is %s the median.", times(s))
	}
}

// pace is the median speed in tok/s. Where only events are known, each counts
// for the tokens it holds on average.
func (r *tailRead) pace() float64 {
	v := share(1e9, float64(r.q(P50).Value))
	if r.unit != "token" && r.f.TokensPerEvent > 1 {
		v *= r.f.TokensPerEvent
	}
	return v
}

func sayReader(r *tailRead) string {
	v := r.pace()
	switch {
	case v == 0:
		return ""
	case v < slowReader:
		return fmt.Sprintf("At the median it is slower than a person reads: %s tok/s against %g to %g.", digits(v), slowReader, fastReader)
	case v < fastReader:
		return fmt.Sprintf("At the median it keeps pace with a person who reads: %s tok/s against %g to %g.", digits(v), slowReader, fastReader)
	}
	return fmt.Sprintf("The median is about %s a fast reader's speed (%g tok/s) and %s a slow one's (%g tok/s).",
		about(v/fastReader), fastReader, about(v/slowReader), slowReader)
}

func sayEye(r *tailRead) string {
	switch v := r.q(P99).Value; {
	case r.q(P99).Censored || v > frame24:
		return fmt.Sprintf("P99, %s, is longer than a frame of film (41.7 ms): one in a hundred is a visible step.", r.show(P99))
	case v > frame60:
		return fmt.Sprintf("P99, %s, is under a frame of film (41.7 ms) and over one at 60 fps (16.7 ms): film-smooth.", r.show(P99))
	default:
		return fmt.Sprintf("P99, %s, is under a frame at 60 fps (16.7 ms): smooth to the eye.", r.show(P99))
	}
}

func sayAmplification(r *tailRead) string {
	if r.over(P99) == 0 {
		return ""
	}
	s := "P99 is " + times(r.over(P99)) + " the median"
	if r.has(P9999) {
		s += ", P99.99 " + times(r.over(P9999))
	} else {
		s += ", the longest " + times(r.inMedians(r.fig.Max))
	}
	return s + "."
}

// sayLevels tells a second level from a tail: a share of the gaps that is longer
// than the rest, and much alike among themselves.
func sayLevels(r *tailRead) string {
	if r.over(P95) < levelApart || share(float64(r.q(P99).Value), float64(r.q(P95).Value)) > levelFlat {
		return ""
	}
	return fmt.Sprintf("There are two levels: most gaps lie near %s, at least one in twenty near %s. Decode steps that carry other requests' prefill look like this.",
		r.show(P50), r.show(P95))
}

// felt says what a person makes of one gap.
func felt(ns int64) string {
	switch {
	case ns < instant:
		return "under 100 ms, which feels instant: unnoticed"
	case ns < blink:
		return "over the 100 ms that feel instant and under a blink (300 to 400 ms): a hitch"
	case ns <= blinkEnd:
		return "as long as a blink (300 to 400 ms): a hitch"
	}
	return "longer than a blink (300 to 400 ms): a visible stop"
}

func sayHitch(r *tailRead) string {
	v, name := r.rarest()
	s := fmt.Sprintf("%s, %s, is %s", upper(name), span(v), felt(v))
	if name == quantileNames[P9999] && felt(r.fig.Max) != felt(v) {
		s += fmt.Sprintf("; the longest, %s, is %s", span(r.fig.Max), felt(r.fig.Max))
	}
	return s + "."
}

func sayStalls(r *tailRead) string {
	s := r.f.Stalls
	if s.Count == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s of every thousand tokens, the longest %s, together %s",
		upper(count(s.Count, "stall")), digits(s.PerKTok), span(s.Longest), span(s.Total))
	if v := r.f.Smooth.Stalled10; v >= 0.0005 {
		text += fmt.Sprintf("; a reader at %g tok/s had nothing to read in %s of the time", fastReader, per100(v))
	} else {
		text += "; a reader with what had come before noticed none"
	}
	return text + "."
}

func sayOurs(r *tailRead) string {
	if r.f.Merged+r.f.MergedTTFT == 0 {
		return ""
	}
	what := fmt.Sprintf("%s of this client's own making (%s in all)", count(r.f.Merged, "gap"), span(r.f.MergedSum))
	switch {
	case r.f.Merged == 0:
		what = count(r.f.MergedTTFT, "first token")
	case r.f.MergedTTFT > 0:
		what += " and " + count(r.f.MergedTTFT, "first token")
	}
	return upper(what) + " left out of the percentiles: read too late to tell the server's part."
}

func sayTransport(r *tailRead) string {
	x := r.f.Transport
	if x.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s in all) left out of the percentiles as the transport's: on a new connection the first window was full, and the server had to wait one round trip.",
		upper(count(x.Count, "gap")), span(x.Total))
}

func sayFloor(r *tailRead) string {
	if r.t.Floor == nil || r.t.Floor.LateP99 == 0 {
		return ""
	}
	late := r.t.Floor.LateP99
	var names []string
	for i := range Quantiles {
		if r.has(i) && late*floorPart >= r.q(i).Value {
			names = append(names, quantileNames[i])
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("This client's own lateness (P99 %s) is a tenth or more of %s: %s cannot be called the server's alone.",
		span(late), list(names), verb(names, "it", "they"))
}

// tailed tells whether there is a tail whose cause is worth asking for.
func (r *tailRead) tailed() bool {
	v, _ := r.rarest()
	return v >= instant && r.inMedians(v) >= tailApart || r.f.Stalls.Count > 0 || r.over(P99) >= levelApart
}

func verb(words []string, one, many string) string {
	if len(words) == 1 {
		return one
	}
	return many
}

// upper writes the first letter large.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
