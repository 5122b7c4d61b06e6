package export

import (
	"io"
	"slices"
	"strconv"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"teapot/probe/event"
	"teapot/stats"
)

// intervals writes HdrHistogram's log: a histogram of each second for each
// quantity, tagged by its name, values in nanoseconds. Timeouts are in it at
// their limit.
type intervals struct {
	log    *hdr.HistogramLogWriter
	a      *stats.Aggregator
	before map[string]map[int64]uint64 // by tag: counts by value so far
	wall   int64                       // Unix ns of the session's time 0
	from   int64                       // ns of the session where the interval began
	began  bool
	err    error
}

const interval = int64(1e9)

func newIntervals(out io.Writer, a *stats.Aggregator) writer {
	return &intervals{log: hdr.NewHistogramLogWriter(out), a: a, before: map[string]map[int64]uint64{}}
}

func (w *intervals) ended(uint32, *stats.Trace) {}

func (w *intervals) event(ev event.Event) error {
	if s, ok := ev.(*event.Session); ok && !w.began {
		w.wall = s.Wall
		w.head()
	}
	if at := ev.Time(); at >= w.from+interval {
		w.cut(at / interval * interval)
	}
	return w.err
}

// head writes what a reader needs first.
func (w *intervals) head() {
	w.began = true
	w.note(w.log.OutputComment("[teapot: ns; timeouts count at their limit]"))
	w.note(w.log.OutputLogFormatVersion())
	w.note(w.log.OutputBaseTime(w.wall / 1e6))
	w.note(w.log.OutputStartTime(w.wall / 1e6))
	w.note(w.log.OutputLegend())
	w.log.SetBaseTime(w.wall / 1e6)
}

func (w *intervals) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

// cut writes the interval that ends at the instant to.
func (w *intervals) cut(to int64) {
	if !w.began {
		w.head()
	}
	list := w.a.Distributions()
	several := slices.ContainsFunc(list, func(d stats.Distribution) bool { return d.Target != list[0].Target })
	for i := range list {
		d := &list[i]
		tag := d.Name
		if several {
			tag = "t" + strconv.FormatUint(uint64(d.Target), 10) + "-" + d.Name
		}
		h := w.grown(tag, d)
		if h.TotalCount() == 0 {
			continue
		}
		h.SetTag(tag)
		h.SetStartTimeMs((w.wall + w.from) / 1e6)
		h.SetEndTimeMs((w.wall + to) / 1e6)
		w.note(w.log.OutputIntervalHistogram(h))
	}
	w.from = to
}

// grown is what a distribution gained since the last cut. After the session was
// emptied it is all that there is.
func (w *intervals) grown(tag string, d *stats.Distribution) *hdr.Histogram {
	h := hdr.New(1, int64(3600e9), 3)
	now := map[int64]uint64{}
	for _, list := range [...][]stats.Bucketed{d.Buckets, d.Censored} {
		for _, b := range list {
			now[min(b.Value, int64(3600e9))] += b.N
		}
	}
	before := w.before[tag]
	for v, n := range before {
		if now[v] < n {
			before = nil
			break
		}
	}
	for v, n := range now {
		if n > before[v] {
			w.note(h.RecordValues(v, int64(n-before[v])))
		}
	}
	w.before[tag] = now
	return h
}

func (w *intervals) end() error {
	if s := w.a.Snapshot(); s.Now > w.from {
		w.cut(s.Now)
	}
	if !w.began {
		w.head()
	}
	return w.err
}
