package stats

import (
	"slices"

	"teapot/probe/event"
)

// How looks are held against a spike.
const (
	// A counter may move a moment before its effect is seen, and show it a moment
	// after it is over.
	lookSlack = int64(20e6)
	// Growth over a longer span than this says too little of one spike.
	lookSpan = 30 * second
	// A state is as old as its look; an older one is no sign.
	lookAge = 3 * second
)

// sourceIndex numbers the sources of signals that rules ask.
type sourceIndex int

const (
	fromMetrics sourceIndex = iota
	fromSlots
	fromLoaded
	fromPerf
	fromIterations
	fromGPU
	fromExporter
	nSources
)

var sourceNames = [nSources]string{
	event.SignalMetrics, event.SignalSlots, event.SignalLoaded, event.SignalPerf, event.SignalIterations,
	event.SignalGPU, event.SignalExporter,
}

// lookPair are the looks of one source around a spike: the last before it, those
// during it, and the first that can know of all of it.
type lookPair struct {
	looks  []event.Signal // oldest first
	before bool           // the first of them is the one before
	after  bool           // the last of them is the one after
}

// around finds the looks of a source around from..to.
func (w *watch) around(source string, from, to int64) (p lookPair) {
	if w == nil || w.sources[source] == nil {
		return p
	}
	all := w.looks.items
	i, _ := slices.BinarySearchFunc(all, from-lookSlack, func(e event.Signal, at int64) int {
		if e.At < at {
			return -1
		}
		return 1
	})
	for j := i - 1; j >= 0 && all[j].At > from-lookSpan; j-- {
		if all[j].Source == source {
			p.looks, p.before = append(p.looks, all[j]), true
			break
		}
	}
	for ; i < len(all) && all[i].At < to+lookSpan && !p.after; i++ {
		if all[i].Source == source {
			p.looks = append(p.looks, all[i])
			p.after = all[i].At-max(all[i].Took, all[i].Age) >= to+lookSlack
		}
	}
	return p
}

// newer are the looks that can have seen growth of the spike's time.
func (p *lookPair) newer() []event.Signal {
	if p.before {
		return p.looks[1:]
	}
	return p.looks
}

// grew is by how much a counter grew over the looks that cover the spike, and
// over which span; false where the server does not say.
func (p *lookPair) grew(name string) (sum float64, span int64, ok bool) {
	for _, look := range p.newer() {
		if v, have := sampleOf(&look, name, ""); have && look.Span > 0 && look.Span <= lookSpan {
			sum, span, ok = sum+v.Delta, span+look.Span, true
		}
	}
	return sum, span, ok
}

// had is by how much a counter grew in the look before the spike.
func (p *lookPair) had(name string) (v float64, ok bool) {
	if !p.before || p.looks[0].Span == 0 {
		return 0, false
	}
	s, ok := sampleOf(&p.looks[0], name, "")
	return s.Delta, ok
}

// most is the highest that a state reached in the looks close to from..to, and
// how far from it that was heard, ns, negative before from.
func (p *lookPair) most(name string, from, to int64) (v float64, apart int64, ok bool) {
	for i := range p.looks {
		look := &p.looks[i]
		if look.At < from-lookAge || look.At > to+lookAge {
			continue
		}
		for j := range look.Values {
			if s := &look.Values[j]; s.Name == name && (!ok || s.Value > v) {
				v, apart, ok = s.Value, look.At-from, true
			}
		}
	}
	return v, apart, ok
}

// restarted tells whether counters began anew, and when that was heard.
func (p *lookPair) restarted() (at int64, ok bool) {
	for _, look := range p.newer() {
		if look.Restart {
			return look.At, true
		}
	}
	return 0, false
}

// slowest is the longest that an answer took while the spike went on.
func (p *lookPair) slowest(from, to int64) (took int64) {
	for i := range p.looks {
		if look := &p.looks[i]; look.At >= from && look.At-look.Took <= to {
			took = max(took, look.Took)
		}
	}
	return took
}

// shownNames are the values that stand with a spike.
var shownNames = [...]string{
	"running", "waiting", "swapped", "kv_used", "preemptions", "prefill_tokens", "step_tokens_sum", "step_tokens_count",
	"gen_tokens", "recomputed", "prefilling", "prefill_left", "python_gc", "loaded", "step_max", "step_max_prefill",
	"queue_sum", "queue_count", "gpu.util", "gpu.clock", "gpu.throttle", "gpu.temp",
}

// signals finds the looks around a spike, and tells whether all of them are in
// that can be hoped for.
func (t *target) signals(s *spike) (whole bool) {
	whole = true
	from, to := s.began, s.At
	if a := s.Around; a != nil {
		from, to = a.From, a.To
	}
	var shown []Look
	for i, name := range sourceNames {
		p := t.watch.around(name, from, to)
		if len(p.looks) == 0 {
			p = t.machine.around(name, from, to)
		}
		s.pair[i] = p
		whole = whole && (p.after || len(p.looks) == 0)
		for j := range p.looks {
			// The first and the last few tell most of it.
			if j == 0 || j >= len(p.looks)-3 {
				shown = append(shown, shownLook(&p.looks[j], s.At))
			}
		}
	}
	if s.Around != nil {
		s.Around.Looks = shown
	}
	return whole
}

func shownLook(look *event.Signal, at int64) Look {
	out := Look{Source: look.Source, At: look.At, Took: look.Took, Apart: look.At - at, Restart: look.Restart}
	for i := range look.Values {
		if slices.Contains(shownNames[:], look.Values[i].Name) && len(out.Values) < 64 {
			out.Values = append(out.Values, look.Values[i])
		}
	}
	return out
}
