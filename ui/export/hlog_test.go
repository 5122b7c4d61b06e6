package export

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"teapot/stats"
)

// logged reads an interval log back and adds it up by tag.
func logged(t *testing.T, text string) map[string]*hdr.Histogram {
	t.Helper()
	r, sums := hdr.NewHistogramLogReader(strings.NewReader(text)), map[string]*hdr.Histogram{}
	for {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return sums
		}
		if sums[h.Tag()] == nil {
			sums[h.Tag()] = hdr.New(1, longest, digits)
		}
		if dropped := sums[h.Tag()].Merge(h); dropped != 0 {
			t.Errorf("%d samples of %s do not fit", dropped, h.Tag())
		}
	}
}

// The log of a session that goes on is that of its recording, and its sums have
// the session's percentiles; a reset in the middle loses nothing.
func TestTheLogOfASession(t *testing.T) {
	events := session(20, 50)
	for _, reset := range []bool{false, true} {
		var b strings.Builder
		l := NewLog(&b)
		var feed *stats.Feed
		lost := uint64(0)
		next := l.Follow(feeder(events), func(fn func(*stats.Aggregator)) {
			feed.Do(fn)
			if reset && lost == 0 {
				feed.Do(func(a *stats.Aggregator) {
					if lost = a.Snapshot().Targets[0].Session.Gap.N; lost > 0 {
						a.ResetSession()
					}
				})
			}
		})
		feed = stats.NewFeed(stats.Config{}, next, 1<<62)
		if err := feed.Run(); err != nil {
			t.Fatal(err)
		}
		feed.Do(func(a *stats.Aggregator) {
			if err := l.End(a); err != nil {
				t.Fatal(err)
			}
		})
		gap := &feed.Snapshot().Targets[0].Session.Gap
		sum := logged(t, b.String())["gap"]
		if uint64(sum.TotalCount()) != gap.N+lost || reset == (lost == 0) {
			t.Errorf("reset %v: %d gaps in the log, %d and %d in the session", reset, sum.TotalCount(), lost, gap.N)
		}
		if reset {
			continue
		}
		if got := written(t, HLog, events); got != b.String() {
			t.Error("the log of the session is not that of its recording")
		}
		for i, p := range stats.Quantiles {
			v := sum.ValueAtPercentile(100 * math.Ceil(p*float64(gap.N)-1e-9) / float64(gap.N))
			if !sum.ValuesAreEquivalent(v, gap.Q[i].Value) {
				t.Errorf("p%v: %d in the log, %d in the session", 100*p, v, gap.Q[i].Value)
			}
		}
	}
}

// The percentile distribution says of the median what the session does, and ends
// with all samples.
func TestThePercentileDistribution(t *testing.T) {
	one := session(20, 50)
	one = append(one[:2:2], one[3:]...) // the second endpoint is not announced,
	var events = one[:0:0]
	for _, ev := range one { // and never spoken of
		if !strings.Contains(fmt.Sprintf("%+v ", ev), "Target:2 ") {
			events = append(events, ev)
		}
	}
	fig := taken(stats.Config{}, events).a.Snapshot().Targets[0].Session.Gap
	lines, last := 0, uint64(0)
	for line := range strings.Lines(written(t, HGrm, events)) {
		var ms, p float64
		var n uint64
		if _, err := fmt.Sscan(line, &ms, &p, &n); err != nil {
			continue
		}
		lines, last = lines+1, n
		if p == .5 && math.Abs(ms-float64(fig.Q[stats.P50].Value)/1e6) > .001*ms {
			t.Errorf("the median is %v ms, not %d ns", ms, fig.Q[stats.P50].Value)
		}
	}
	if lines < 20 || last != fig.N {
		t.Errorf("%d lines that end with %d of %d", lines, last, fig.N)
	}
	if err := Write(io.Discard, HGrm, feeder(session(2, 9)), stats.Config{}); err == nil {
		t.Error("two endpoints are one distribution")
	}
}

// BenchmarkInterval is the end of a second in which nothing came: what a session
// of two targets pays for its log.
func BenchmarkInterval(b *testing.B) {
	s, l := taken(stats.Config{}, session(20, 50)), NewLog(io.Discard)
	for b.Loop() {
		s.Do(func(a *stats.Aggregator) { l.interval(a, l.sec+1) })
	}
}
