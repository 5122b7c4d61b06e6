package export

import (
	"fmt"
	"io"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"teapot/probe/event"
	"teapot/stats"
)

const (
	second  = int64(1e9)
	longest = int64(3600e9) // ns: what the session's histograms hold
	digits  = 3             // significant ones, as theirs
)

// Log writes an interval log in HdrHistogram's own format: for every second of
// the session one histogram a figure, in nanoseconds, tagged with the figure's
// name: gap, ttft, tpot. Those of a second target are tagged gap-2. The intervals
// are the differences of the session's histograms, so that they add up to it; a
// gap that the statistics held back at first is in the second that took it, and a
// timeout counts at its limit.
type Log struct {
	log   *hdr.HistogramLogWriter
	began bool
	wall  int64 // Unix ns of the session's time 0
	sec   int64 // of the session, the one under way
	past  map[tag]counts
	err   error
}

// tag is one kind of lines.
type tag struct {
	target uint32
	name   string
}

// counts are a distribution as it was at the last interval.
type counts struct {
	n   uint64
	sum int64
	by  map[int64]uint64 // value to samples
}

// NewLog returns a log that is written to w.
func NewLog(w io.Writer) *Log {
	return &Log{log: hdr.NewHistogramLogWriter(w), past: map[tag]counts{}}
}

// Follow passes the events of a session on and writes an interval whenever one
// is over. do gives the numbers of all events that were passed on before.
func (l *Log) Follow(next func() (event.Event, error), do func(func(*stats.Aggregator))) func() (event.Event, error) {
	return func() (event.Event, error) {
		ev, err := next()
		if ev != nil && l.due(ev) {
			do(func(a *stats.Aggregator) { l.interval(a, ev.Time()/second) })
		}
		return ev, err
	}
}

// End writes the last interval. The result is the first error of all.
func (l *Log) End(a *stats.Aggregator) error {
	l.interval(a, l.sec+1)
	if l.err != nil {
		return fmt.Errorf("write the interval log: %w", l.err)
	}
	return nil
}

// due tells whether an event is of a later second.
func (l *Log) due(ev event.Event) bool {
	if s, ok := ev.(*event.Session); ok && !l.began {
		l.wall = s.Wall
	}
	return ev.Time()/second > l.sec
}

func (l *Log) keep(err error) {
	if l.err == nil {
		l.err = err
	}
}

// head writes what stands before the first line. The base is a whole second,
// which is all that the format keeps of it.
func (l *Log) head() {
	l.began = true
	base := l.wall / second * 1000
	l.log.SetBaseTime(base)
	l.keep(l.log.OutputLogFormatVersion())
	l.keep(l.log.OutputComment("[teapot: nanoseconds; a tag is a figure]"))
	l.keep(l.log.OutputBaseTime(base))
	l.keep(l.log.OutputStartTime(base))
	l.keep(l.log.OutputLegend())
}

// interval writes what came since the last one, which ends where the second to
// begins.
func (l *Log) interval(a *stats.Aggregator, to int64) {
	if !l.began {
		l.head()
	}
	order := map[uint32]int{}
	for _, d := range a.Distributions() {
		if order[d.Target] == 0 {
			order[d.Target] = len(order) + 1
		}
		h := l.grown(&d)
		if h == nil {
			continue
		}
		name := d.Name
		if n := order[d.Target]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		h.SetTag(name)
		h.SetStartTimeMs((l.wall + l.sec*second) / 1e6)
		h.SetEndTimeMs((l.wall + to*second) / 1e6)
		l.keep(l.log.OutputIntervalPackedHistogram(h))
	}
	l.sec = max(l.sec, to)
}

// grown is what a distribution holds more than it did at the last interval, nil
// for nothing. After the session was reset that is all of it.
func (l *Log) grown(d *stats.Distribution) *hdr.PackedHistogram {
	k := tag{d.Target, d.Name}
	before := l.past[k]
	if d.N == before.n && d.Sum == before.sum {
		return nil
	}
	now := map[int64]uint64{}
	for _, b := range d.All() {
		now[min(b.Value, longest)] += b.N
	}
	l.past[k] = counts{d.N, d.Sum, now}
	for v, n := range before.by {
		if now[v] < n {
			before.by = nil
			break
		}
	}
	h := hdr.NewPacked(1, longest, digits)
	for v, n := range now {
		if n > before.by[v] {
			l.keep(h.RecordValues(v, int64(n-before.by[v])))
		}
	}
	return h
}

// recorded is the log of a recording: its aggregator is at hand.
type recorded struct {
	*Log
	a *stats.Aggregator
}

func (r recorded) before(ev event.Event) error {
	if r.due(ev) {
		r.interval(r.a, ev.Time()/second)
	}
	return r.err
}

func (recorded) event(event.Event) error { return nil }

func (recorded) ended(uint32, *stats.Trace) {}

func (r recorded) end() error {
	r.interval(r.a, r.sec+1)
	return r.err
}
