package stats

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"teapot/probe/event"
)

// Bounds on what is kept of signals.
const (
	signalSpan = 600 * second // looks are kept for so long,
	maxLooks   = 1500         // and so many
	maxValues  = 256          // of one look
	maxNames   = 512          // different ones, of one target
	maxName    = 64           // bytes
	maxSources = 16
)

// wanted are the names without which a rule is blind.
var wanted = [...]string{
	"running", "waiting", "kv_used", "preemptions", "prefill_tokens", "step_tokens_count", "gen_tokens",
	"prefix_hits", "ttft_count", "itl_count", "queue_count",
}

// watch keeps what one server, or this machine, says of itself. Bounded.
type watch struct {
	looks   log[event.Signal] // oldest first
	sources map[string]*ServerSource
	names   map[string]string // one copy of each
	newest  map[valueKey]ServerValue
	figures [len(serverFigures)]ServerFigure

	restarts  int
	restartAt int64
	shown     *Server // as of the last look; nil when that is not shown yet
}

type valueKey struct{ name, of string }

// serverFigures are the histograms that are shown beside our own figures.
var serverFigures = [...]string{"ttft", "itl", "tpot", "queue", "prefill", "e2e"}

func newWatch() *watch {
	return &watch{
		looks: log[event.Signal]{keep: maxLooks}, sources: map[string]*ServerSource{},
		names: map[string]string{}, newest: map[valueKey]ServerValue{},
	}
}

// take keeps one look. What has no name, or no finite value, is let be.
func (w *watch) take(ev *event.Signal) {
	src := w.source(ev)
	if src == nil {
		return
	}
	w.shown = nil
	look := *ev
	look.Source, look.Detail = src.Name, oneLine(ev.Detail)
	look.Took, look.Age, look.Span = within(ev.Took), within(ev.Age), within(ev.Span)
	look.Values = w.values(ev.Values)
	if ev.Restart {
		src.Restarts++
		w.restarts++
		w.restartAt = max(w.restartAt, ev.At)
	}
	i := len(w.looks.items)
	for i > 0 && w.looks.items[i-1].At > look.At {
		i--
	}
	w.looks.insert(i, look)
	for n := range look.Values {
		v := &look.Values[n]
		key := valueKey{v.Name, v.Of}
		old, have := w.newest[key]
		highest, grown := v.Value, old.Grown
		if have {
			highest = max(highest, old.Max)
		}
		if look.Span > 0 {
			grown = min(grown+max(v.Delta, 0), 1e18)
		}
		w.newest[key] = ServerValue{
			Name: v.Name, Of: v.Of, Source: look.Source, Value: v.Value, Delta: v.Delta, Span: look.Span, At: look.At, Age: look.Age,
			Max: highest, Grown: grown,
		}
	}
	w.histograms(&look)
	w.prune(look.At)
}

func within(ns int64) int64 { return min(max(ns, 0), maxTime) }

// source counts a look for where it came from; nil for one too many.
func (w *watch) source(ev *event.Signal) *ServerSource {
	src := w.sources[ev.Source]
	if src == nil {
		name := w.name(ev.Source)
		if len(w.sources) >= maxSources || name == "" {
			return nil
		}
		src = &ServerSource{Name: name}
		w.sources[name] = src
	}
	if src.Looks > 0 && ev.At > src.At {
		src.Every = ev.At - src.At
	}
	src.At = max(src.At, ev.At)
	src.Took = within(ev.Took)
	src.TookSum = within(src.TookSum + src.Took)
	src.Bytes += uint64(max(ev.Bytes, 0))
	src.Looks++
	if ev.Effect != "" {
		src.Effect = oneLine(ev.Effect)
	}
	src.Detail = oneLine(ev.Detail)
	return src
}

// name returns the one copy of a name, "" for a new one too many.
func (w *watch) name(s string) string {
	if one, ok := w.names[s]; ok {
		return one
	}
	if len(s) > maxName || len(w.names) >= maxNames || oneLine(s) != s {
		return ""
	}
	one := strings.Clone(s)
	w.names[one] = one
	return one
}

// values copies those that mean something.
func (w *watch) values(in []event.Sample) []event.Sample {
	out := make([]event.Sample, 0, min(len(in), maxValues))
	for i := range in {
		v := in[i]
		if v.Name = w.name(v.Name); v.Name == "" || len(out) == maxValues || !sane(v.Value) || !sane(v.Delta) {
			continue
		}
		if v.Of != "" {
			if v.Of = w.name(v.Of); v.Of == "" {
				continue
			}
		}
		out = append(out, v)
	}
	return out
}

// sane values can be added up without end.
func sane(v float64) bool { return math.Abs(v) <= 1e18 }

// histograms takes the growth of those that are shown.
func (w *watch) histograms(look *event.Signal) {
	for i, name := range serverFigures {
		n, ok := sampleOf(look, name+"_count", "")
		if !ok || n.Delta <= 0 || look.Span == 0 {
			continue
		}
		sum, _ := sampleOf(look, name+"_sum", "")
		old := &w.figures[i]
		f := ServerFigure{
			At: look.At, Span: look.Span, N: n.Delta, Mean: nanos(sum.Delta / n.Delta),
			AllN: min(old.AllN+n.Delta, 1e18), sum: min(max(old.sum+sum.Delta, 0), 1e18), AllP50: old.AllP50, AllP99: old.AllP99,
		}
		f.AllMean = nanos(f.sum / f.AllN)
		if q, ok := sampleOf(look, name+"_p50_all", ""); ok {
			f.AllP50 = edge(q.Value)
		}
		if q, ok := sampleOf(look, name+"_p99_all", ""); ok {
			f.AllP99 = edge(q.Value)
		}
		if q, ok := sampleOf(look, name+"_p50", ""); ok {
			f.P50 = nanos(q.Value)
		}
		if q, ok := sampleOf(look, name+"_p99", ""); ok {
			f.P99 = nanos(q.Value)
		}
		w.figures[i] = f
	}
}

// nanos turns seconds into ns.
// edge is that of a bucket in ns, negative where something lies beyond it.
func edge(s float64) int64 {
	if s < 0 {
		return -nanos(-s)
	}
	return nanos(s)
}

func nanos(s float64) int64 { return int64(min(max(s, 0), 1e9) * 1e9) }

func (w *watch) prune(now int64) {
	n := 0
	for n < len(w.looks.items) && w.looks.items[n].At < now-signalSpan {
		n++
	}
	w.looks.drop(n)
}

// view tells all as of the last look; nil before there was any.
func (w *watch) view() *Server {
	if w == nil || len(w.sources) == 0 {
		return nil
	}
	if w.shown != nil {
		return w.shown
	}
	s := &Server{Restarts: w.restarts, RestartAt: w.restartAt, looks: w.looks.view()}
	for _, src := range w.sources {
		one := *src
		one.MinuteLooks, one.MinuteBytes = w.cost(src.Name)
		s.Sources = append(s.Sources, one)
	}
	slices.SortFunc(s.Sources, func(a, b ServerSource) int { return cmp.Compare(a.Name, b.Name) })
	for _, v := range w.newest {
		s.Values = append(s.Values, v)
	}
	slices.SortFunc(s.Values, func(a, b ServerValue) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Of, b.Of)) })
	for i, to := range []*ServerFigure{&s.TTFT, &s.ITL, &s.TPOT, &s.Queue, &s.Prefill, &s.E2E} {
		*to = w.figures[i]
		to.MinuteN, to.MinuteMean = w.minute(serverFigures[i])
	}
	s.Missing = w.missing()
	w.shown = s
	return s
}

// minute sums up a histogram's growth over the last minute of looks.
func (w *watch) minute(name string) (n float64, mean int64) {
	sum := 0.0
	for i := len(w.looks.items) - 1; i >= 0; i-- {
		look := &w.looks.items[i]
		if look.At <= w.looks.items[len(w.looks.items)-1].At-60*second {
			break
		}
		if v, ok := sampleOf(look, name+"_count", ""); ok && look.Span > 0 && v.Delta > 0 {
			s, _ := sampleOf(look, name+"_sum", "")
			n, sum = n+v.Delta, sum+s.Delta
		}
	}
	return n, nanos(share(sum, n))
}

// cost is what asking one source came to in the last minute of looks.
func (w *watch) cost(name string) (looks, bytes uint64) {
	for i := len(w.looks.items) - 1; i >= 0; i-- {
		look := &w.looks.items[i]
		if look.At <= w.looks.items[len(w.looks.items)-1].At-60*second {
			break
		}
		if look.Source == name {
			looks++
			bytes += uint64(max(look.Bytes, 0))
		}
	}
	return looks, bytes
}

// missing lists what would help and no page has.
func (w *watch) missing() (out []string) {
	if page := w.sources[event.SignalMetrics]; page == nil || len(w.newest) == 0 {
		return nil
	}
	for _, name := range wanted {
		if _, ok := w.newest[valueKey{name: name}]; !ok {
			out = append(out, strings.TrimSuffix(name, "_count"))
		}
	}
	return out
}

// signal takes what a server, or this machine, says of itself.
func (a *Aggregator) signal(ev *event.Signal) {
	if ev.Target == 0 {
		a.machine.take(ev)
		for _, t := range a.order {
			t.reconsider(a.now, true)
		}
		return
	}
	t := a.target(ev.Target)
	if t == nil {
		return
	}
	if t.watch == nil {
		t.watch = newWatch()
	}
	t.watch.take(ev)
	if ev.Restart {
		a.lane.put(ev.At, LaneRestart, ev.Target, "its counters began anew")
	}
	if v, ok := ev.Value("preemptions"); ok && ev.Span > 0 && v.Delta >= 1 {
		a.lane.put(ev.At, LanePreempted, ev.Target, count(uint64(min(v.Delta, 1e15)), "preemption"))
	}
	t.reconsider(a.now, true)
}
