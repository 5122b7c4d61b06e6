// Package confusion holds the causes that stats found against the truth of an
// engine whose faults were made on purpose, and counts what was taken for what.
//
// It is used by tests and by whoever wants to know how far a verdict can be
// trusted. It reads a truth log and snapshots; it runs nothing.
package confusion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"teapot/stats"
)

// Kinds of faults, as the built-in engine names them, and one of this client's.
const (
	Prefill    = "prefill"
	Preemption = "preemption"
	GC         = "gc"
	Burst      = "burst"
	SlowClient = "slow-client"
	Stall      = "stall"
	Restart    = "restart"
	Ours       = "ours"
)

// Setting is what there was to tell causes by.
type Setting struct {
	Streams int
	Metrics bool
	// Look is how far apart the looks at the metrics are, and how late they are
	// heard, together, ns. What happened between the same two looks, no counter
	// keeps apart.
	Look int64
}

// right are the answers that are right for a fault. Where neither a metric nor
// a second stream can tell, that is only "unexplained".
func (s Setting) right(kind string) []string {
	switch kind {
	case Burst, SlowClient:
		return []string{string(stats.CausePath)}
	case Ours:
		return []string{string(stats.CauseOurs)}
	case Restart:
		return []string{string(stats.CauseRestart), string(stats.CauseOutage)}
	case Prefill:
		// What a client sends itself at one instant is computed together.
		right := []string{string(stats.CausePrefill), string(stats.CausePrompt)}
		switch {
		case s.Metrics:
			return right
		case s.Streams > 1: // in one piece it is a stop like any other
			return append(right, string(stats.CauseEngine))
		}
	case GC:
		switch {
		case s.Metrics:
			return []string{string(stats.CauseServerGC)}
		case s.Streams > 1:
			return []string{string(stats.CauseEngine)}
		}
	case Preemption:
		switch {
		case s.Metrics:
			return []string{string(stats.CausePreemption)}
		case s.Streams > 1:
			return []string{oneAlone}
		}
	case Stall:
		if s.Streams > 1 {
			return []string{oneAlone}
		}
	}
	return []string{stats.Unexplained.String()}
}

// oneAlone is said of a spike whose cause is not known, but that other streams
// did not have.
const oneAlone = "one request alone"

// answer is what was said of a spike.
func answer(s *stats.Spike) string {
	switch {
	case s.Why == nil:
		return "nothing"
	case s.Why.Cause == stats.CauseUnknown && !s.First && s.Around.Alone():
		return oneAlone
	}
	return s.Why.Cause.String()
}

// Matrix counts what was taken for what.
type Matrix struct {
	Reach        int64                     // how far a fault's effect may be from it, ns; 0 for 30 ms
	Cells        map[string]map[string]int // by fault, by answer
	Right, Wrong int                       // spikes of faults
	Shared       int                       // of the right ones: called by another fault between the same two looks
	Natural      int                       // spikes that no fault made
	Accused      int                       // of those, the ones that got a cause
	Missed       map[string]int            // faults without any spike, by kind
	Wrongs       []string                  // a line for each of the first few that are wrong
}

// Add takes the spikes of a target and the faults it suffered.
func (m *Matrix) Add(spikes []stats.Spike, faults []Fault, s Setting) {
	if m.Cells == nil {
		m.Cells, m.Missed = map[string]map[string]int{}, map[string]int{}
	}
	seen := make([]bool, len(faults))
	for i := range spikes {
		m.spike(&spikes[i], faults, seen, s)
	}
	for i := range faults {
		if !seen[i] {
			m.Missed[faults[i].Kind]++
		}
	}
}

func (m *Matrix) spike(s *stats.Spike, faults []Fault, seen []bool, setting Setting) {
	kinds, right := m.truth(s, faults, seen, setting)
	said := answer(s)
	kind := strings.Join(kinds, "+")
	if kind == "" {
		kind = "none"
	}
	if m.Cells[kind] == nil {
		m.Cells[kind] = map[string]int{}
	}
	m.Cells[kind][said]++
	switch accused := said != oneAlone && said != stats.Unexplained.String(); {
	case kind == "none":
		m.Natural++
		if accused {
			m.Accused++
			m.wrong(kind, said, s)
		}
	case slices.Contains(right, said):
		m.Right++
	case slices.Contains(between(s, faults, setting), said):
		m.Right++
		m.Shared++
	default:
		m.Wrong++
		m.wrong(kind, said, s)
	}
}

// truth is which faults made a spike, and what may be said of it.
func (m *Matrix) truth(s *stats.Spike, faults []Fault, seen []bool, setting Setting) (kinds, right []string) {
	reach := m.Reach
	if reach == 0 {
		reach = int64(30 * time.Millisecond)
	}
	lone := Setting{Streams: 1}
	nobody := s.First || s.Around == nil || s.Around.Receiving == 0 // no second stream was there to tell
	for i := range faults {
		f := &faults[i]
		if f.Start > s.At || f.End+f.reach(reach) < s.At-s.Length {
			continue
		}
		seen[i] = true
		kinds = append(kinds, f.Kind)
		right = append(right, setting.right(f.Kind)...)
		right = append(right, waiting(f.Kind, s, setting)...)
		if nobody && (!setting.Metrics || f.Kind == Stall) {
			right = append(right, lone.right(f.Kind)...)
		}
	}
	if len(kinds) > 1 && !setting.Metrics && setting.Streams == 2 {
		// Each of the two has its own trouble, and neither tells of the other.
		for _, k := range kinds {
			right = append(right, lone.right(k)...)
		}
	}
	return kinds, right
}

// fresh is for how long after a restart spikes are its doing: everybody who
// waited comes back at once, to a server without a warm cache.
const fresh = int64(2 * time.Second)

// reach is how far from a fault a spike may be its doing.
func (f *Fault) reach(usual int64) int64 {
	if f.Kind == Restart {
		return max(fresh, usual)
	}
	return usual
}

// waiting is what else may be said of a request that a fault held up: of a first
// token that it was queued meanwhile, where the server's own figures say so, and
// after a restart that many prompts came at once.
func waiting(kind string, s *stats.Spike, setting Setting) []string {
	switch {
	case kind == Restart:
		return []string{string(stats.CausePrompt), string(stats.CausePrefill), string(stats.CauseQueue)}
	case s.First && setting.Metrics && (kind == Prefill || kind == GC || kind == Preemption):
		return []string{string(stats.CauseQueue)}
	}
	return nil
}

// between are the answers that the counters give for other faults which came
// between the same two looks as a spike.
func between(s *stats.Spike, faults []Fault, setting Setting) (right []string) {
	if !setting.Metrics || setting.Look <= 0 {
		return nil
	}
	for i := range faults {
		f := &faults[i]
		if f.Start > s.At+setting.Look || f.End < s.At-s.Length-setting.Look {
			continue
		}
		switch f.Kind {
		case Prefill, GC, Preemption:
			right = append(right, setting.right(f.Kind)...)
		}
	}
	return right
}

func (m *Matrix) wrong(kind, said string, s *stats.Spike) {
	if len(m.Wrongs) < 40 {
		line := fmt.Sprintf("%s taken for %s: %v at %v, request %d", kind, said, time.Duration(s.Length), time.Duration(s.At), s.Request)
		if s.Why != nil {
			line += ": " + strings.Join(s.Why.Evidence, "; ")
		}
		m.Wrongs = append(m.Wrongs, line)
	}
}

// Share is the share of the faults' spikes that got the right answer; 1 when
// there were none.
func (m *Matrix) Share() float64 {
	if m.Right+m.Wrong == 0 {
		return 1
	}
	return float64(m.Right) / float64(m.Right+m.Wrong)
}

// Told tells of how many spikes that one kind of fault alone made, and how many
// of them got an answer.
func (m *Matrix) Told(kind string, answer stats.Cause) (right, all int) {
	for said, n := range m.Cells[kind] {
		all += n
		if said == answer.String() {
			right += n
		}
	}
	return right, all
}

// String writes the matrix, one fault a line.
func (m *Matrix) String() string {
	var b strings.Builder
	for _, k := range sorted(m.Cells) {
		fmt.Fprintf(&b, "%-24s", k)
		for _, said := range sorted(m.Cells[k]) {
			fmt.Fprintf(&b, "  %s %d", said, m.Cells[k][said])
		}
		if n := m.Missed[k]; n > 0 {
			fmt.Fprintf(&b, "  no spike %d", n)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "right %.1f %% of %d, %d of them by another fault between the same looks; accused %d of %d others\n", 100*m.Share(), m.Right+m.Wrong, m.Shared, m.Accused, m.Natural)
	return b.String()
}

func sorted[V any](of map[string]V) (keys []string) {
	for k := range of {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
