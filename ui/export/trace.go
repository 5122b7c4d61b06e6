package export

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// trace writes Chrome's trace event format as Perfetto reads it: a process for
// each endpoint, a track for each stream with a slice for every request, first
// token and gap, spikes with their evidence, the server's counters, and what
// happened beside the tokens.
type trace struct {
	known
	out    io.Writer
	a      *stats.Aggregator
	named  map[[2]uint64]bool // processes and threads that have a name
	n      int                // events written
	spikes map[[2]uint64]bool // written, by target and id
	err    error
}

// traceEvent is one event of the format. Times are microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	TS    json.Number    `json:"ts,omitempty"`
	Dur   json.Number    `json:"dur,omitempty"`
	PID   uint64         `json:"pid"`
	TID   uint64         `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// self is the process of this client and its machine; targets have their ids.
const self = 0

func newTrace(out io.Writer, a *stats.Aggregator) writer {
	t := &trace{out: out, a: a, named: map[[2]uint64]bool{}, spikes: map[[2]uint64]bool{}}
	t.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	t.process(self, "this client and its machine")
	return t
}

func (t *trace) text(s string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.out, s)
	}
}

// micros is an instant or a span in microseconds, to the nanosecond.
func micros(ns int64) json.Number {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	frac := strconv.FormatInt(1000+ns%1000, 10)[1:]
	return json.Number(sign + strconv.FormatInt(ns/1000, 10) + "." + frac)
}

func (t *trace) write(ev traceEvent) {
	b, err := json.Marshal(ev)
	if err != nil {
		if t.err == nil {
			t.err = err
		}
		return
	}
	if t.n > 0 {
		t.text(",")
	}
	t.n++
	t.text("\n" + string(b))
}

func (t *trace) process(pid uint64, name string) {
	t.write(traceEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": name}})
	t.write(traceEvent{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]any{"sort_index": (pid + 1<<32 - 1) % (1 << 32)}})
}

// thread names the track of a stream, and its process, once.
func (t *trace) thread(target uint32, slot uint32) (pid, tid uint64) {
	pid, tid = uint64(target), uint64(slot)+1
	if !t.named[[2]uint64{pid, 0}] {
		t.named[[2]uint64{pid, 0}] = true
		in := t.targets[target]
		t.process(pid, strings.TrimSpace(format.Clean(in.Model)+" @ "+format.Clean(format.Redact(in.URL))))
	}
	if !t.named[[2]uint64{pid, tid}] {
		t.named[[2]uint64{pid, tid}] = true
		t.write(traceEvent{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": "stream " + strconv.FormatUint(uint64(slot), 10)}})
	}
	return pid, tid
}

func (t *trace) ended(target uint32, tr *stats.Trace) {
	pid, tid := t.thread(target, tr.Slot)
	slice := func(name, cat string, from, length int64, args map[string]any) {
		t.write(traceEvent{Name: name, Phase: "X", Cat: cat, TS: micros(from), Dur: micros(max(length, 0)), PID: pid, TID: tid, Args: args})
	}
	end := max(tr.End, tr.Last, tr.Sent)
	args := map[string]any{"result": string(tr.Class), "tokens": tr.N, "warmup": tr.Warmup, "stalls": tr.Stalls}
	if tr.TTFT > 0 {
		args["ttft_ms"] = float64(tr.TTFT) / 1e6
	}
	if tr.TPOT > 0 {
		args["tpot_ms"] = float64(tr.TPOT) / 1e6
	}
	if tr.Message != "" {
		args["message"] = format.Clean(format.RedactText(tr.Message))
	}
	slice("request "+strconv.FormatUint(tr.ID, 10), "request", tr.Sent, end-tr.Sent, args)
	for i, c := range tr.Cells() {
		name := whatOf(i, &c)
		if i == 0 {
			name = "ttft"
		}
		slice(name, "gap", c.At-c.Gap, c.Gap, map[string]any{"event": i + 1, "tokens": c.K, "channel": c.Channel.String()})
	}
}

func (t *trace) event(ev event.Event) error {
	t.take(ev)
	switch ev := ev.(type) {
	case *event.Signal:
		t.counters(ev)
	case *event.Floor:
		t.write(traceEvent{Name: "oversleep ms", Phase: "C", TS: micros(ev.At), PID: self, Args: map[string]any{"value": float64(ev.Overshoot) / 1e6}})
	case *event.Target:
		t.instant(ev.At, uint64(ev.ID), "p", strings.TrimSpace(string(ev.State)+" "+format.Clean(format.RedactText(ev.Detail))))
	case *event.Mark:
		t.instant(ev.At, self, "g", strings.TrimSpace("mark "+format.Clean(format.RedactText(ev.Label))))
	case *event.Setting:
		t.instant(ev.At, self, "g", format.Clean(ev.Name+" "+ev.From+" → "+ev.To))
	}
	return t.err
}

func (t *trace) instant(at int64, pid uint64, scope, name string) {
	t.write(traceEvent{Name: name, Phase: "i", TS: micros(at), PID: pid, Scope: scope})
}

// counters writes what a server or a GPU said of itself, a track for each name.
func (t *trace) counters(ev *event.Signal) {
	for i := range ev.Values {
		v := &ev.Values[i]
		name := v.Name
		if v.Of != "" {
			name += " " + v.Of
		}
		x := v.Value
		if v.Delta != 0 && ev.Span > 0 { // what only counts up is shown as its growth
			name, x = name+" grew", v.Delta
		}
		if x != x || x > 1e300 || x < -1e300 {
			continue
		}
		t.write(traceEvent{Name: format.Clean(name), Phase: "C", TS: micros(ev.At), PID: uint64(ev.Target), Args: map[string]any{"value": x}})
	}
}

// end writes the spikes, whose verdicts stand at last, and closes the document.
func (t *trace) end() error {
	for _, target := range t.a.Snapshot().Targets {
		for _, list := range [...][]stats.Spike{target.Worst, target.Spikes} {
			for i := range list {
				t.spike(uint64(target.Info.ID), &list[i])
			}
		}
	}
	t.text("\n]}\n")
	return t.err
}

// spike writes a spike as a span of its own, which may overlap others.
func (t *trace) spike(pid uint64, s *stats.Spike) {
	key := [2]uint64{pid, s.ID}
	if t.spikes[key] {
		return
	}
	t.spikes[key] = true
	args := map[string]any{"length_ms": float64(s.Length) / 1e6, "request": s.Request, "event": s.Token, "phase": s.Phase.String(), "streams": s.Peers + 1}
	name := "spike"
	if w := s.Why; w != nil {
		name = w.Verdict.String()
		if w.Cause != stats.CauseUnknown {
			name += ": " + w.Cause.String()
		}
		args["evidence"], args["settled"] = strings.Join(clean(w.Evidence), "; "), w.Settled
		if w.Advice != "" {
			args["advice"] = w.Advice
		}
	}
	ev := traceEvent{
		Name: name, Phase: "b", Cat: "spike", TS: micros(s.At - s.Length), PID: pid, TID: uint64(s.Slot) + 1,
		ID: strconv.FormatUint(pid, 10) + "." + strconv.FormatUint(s.ID, 10), Args: args,
	}
	t.write(ev)
	ev.Phase, ev.TS, ev.Args = "e", micros(s.At), nil
	t.write(ev)
}

func clean(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = format.Clean(format.RedactText(l))
	}
	return out
}
