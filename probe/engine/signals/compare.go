package signals

import (
	"bytes"
	"fmt"
	"net/http"

	"teapot/probe/event"
)

// state is what the look before saw of everything that counts.
type state struct {
	at       int64
	seen     bool
	counters map[string]float64
	buckets  map[string]*buckets
	first    map[string]*buckets // of the first look since the server was started
	started  float64             // of the process, Unix seconds; 0 unknown
}

// severalServers is said where the looks reach different processes by turns.
const severalServers = "several servers answer at this address by turns: growths are not known"

// compare fills a signal with the figures and what has grown since the look
// before. A counter that fell, or a later start of the process, is a restart:
// nothing is compared across it. A start that goes back means that another
// server answered.
func (s *state) compare(sig *event.Signal, figures []figure) {
	next := state{at: sig.At, seen: true, counters: map[string]float64{}, buckets: map[string]*buckets{}, first: s.first}
	fell := false
	for _, f := range figures {
		switch {
		case f.kind == counter:
			next.counters[f.name] = f.value
			old, have := s.counters[f.name]
			fell = fell || have && f.value < old
		case f.buckets != nil:
			next.buckets[f.name] = f.buckets
			old := s.buckets[f.name]
			fell = fell || old != nil && f.buckets.count < old.count
		case f.name == "started":
			next.started = f.value
		}
	}
	both := s.started > 0 && next.started > 0
	switch {
	case both && next.started < s.started:
		sig.Detail = severalServers
	case fell, both && next.started > s.started:
		sig.Restart = true
	case s.seen:
		sig.Span = max(sig.At-s.at, 0)
	}
	if next.first == nil || sig.Restart {
		next.first, s.first = map[string]*buckets{}, nil
	}
	for _, f := range figures {
		if f.buckets != nil && next.first[f.name] == nil {
			next.first[f.name] = f.buckets
		}
		sig.Values = append(sig.Values, s.samples(f, sig.Span > 0)...)
	}
	*s = next
}

// samples are a figure as it is written down. compared tells whether growth
// means anything.
func (s *state) samples(f figure, compared bool) []event.Sample {
	if f.buckets != nil {
		return s.histogram(f, compared)
	}
	out := event.Sample{Name: f.name, Of: f.of, Value: f.value}
	if old, have := s.counters[f.name]; compared && have && f.kind == counter {
		out.Delta = f.value - old
	}
	return []event.Sample{out}
}

// histogram is a histogram as it is written down.
func (s *state) histogram(f figure, compared bool) []event.Sample {
	b := f.buckets
	out := []event.Sample{{Name: f.name + "_sum", Value: b.sum}, {Name: f.name + "_count", Value: b.count}}
	old := s.buckets[f.name]
	if !compared || old == nil {
		return out
	}
	d, ok := b.since(old)
	if !ok {
		return out
	}
	out[0].Delta, out[1].Delta = d.sum, d.count
	out = append(out, d.quantiles(f.name, "", d.quantile)...)
	if first := s.first[f.name]; first != nil {
		if all, ok := b.since(first); ok {
			out = append(out, all.quantiles(f.name, "_all", all.edge)...)
		}
	}
	return out
}

// quantiles are those that are written down of a histogram.
func (b *buckets) quantiles(name, end string, at func(q float64) (float64, bool)) (out []event.Sample) {
	if v, ok := at(.5); ok {
		out = append(out, event.Sample{Name: name + "_p50" + end, Value: v})
	}
	if v, ok := at(.99); ok {
		out = append(out, event.Sample{Name: name + "_p99" + end, Value: v})
	}
	return out
}

// readPage reads a page in the Prometheus text format.
func (w *Watcher) readPage(body []byte, _ http.Header) ([]figure, error) {
	start := bytes.TrimSpace(body)
	switch {
	case len(start) == 0:
		return nil, &Absent{Why: w.where() + " is empty"}
	case start[0] == '<':
		return nil, &Absent{Why: w.where() + " answers HTML, no metrics"}
	case start[0] == '[' || start[0] == '{':
		return nil, &Absent{Why: w.where() + " answers JSON, no metrics in the Prometheus format"}
	}
	p := readPage(body, w.cfg.Table.wanted)
	p.keep(w.cfg.Model)
	figures := w.cfg.Table.figures(p)
	if len(figures) == 0 {
		return nil, &Absent{Why: fmt.Sprintf("%s has %d metrics, none of which is known", w.where(), p.lines)}
	}
	return figures, nil
}
