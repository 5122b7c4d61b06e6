package stats

import "fmt"

// candidates are what a tail without evidence may come from.
const candidates = "the candidates, in this order, are KV-cache preemption or swapping, prefill interference in continuous batching, and host effects (garbage collection, network)"

// sayCause says where the tail comes from: the causes that were found, each with
// its number and time, and how much is left without one.
func sayCause(r *tailRead) string {
	if !r.tailed() {
		return ""
	}
	if len(r.t.Causes) == 0 {
		return r.sayWorst()
	}
	var all, none CauseRow
	var seen []string
	for i := range r.t.Causes {
		c := &r.t.Causes[i]
		all.Count += c.Count
		all.Total += c.Total
		if c.Cause == CauseUnknown {
			none = *c
			continue
		}
		if len(seen) < 4 {
			seen = append(seen, fmt.Sprintf("%s %d (%s in all, %s)", c.Cause, c.Count, span(c.Total), c.Verdict()))
		}
	}
	if len(seen) == 0 {
		return fmt.Sprintf("There is no evidence of a cause for %s: %s.", anyOf(none.Count), candidates)
	}
	s := fmt.Sprintf("Of %s, %s in all, the evidence names: %s", count(all.Count, "spike"), span(all.Total), list(seen))
	if none.Count > 0 {
		s += fmt.Sprintf(". For %d of them (%s) there is no evidence of a cause; %s", none.Count, span(none.Total), candidates)
	}
	return s + "."
}

func anyOf(n uint64) string {
	if n == 1 {
		return "the one spike"
	}
	return fmt.Sprintf("any of the %d spikes", n)
}

// adviseCause gives the advice of the costliest cause that has one.
func adviseCause(r *tailRead) string {
	if !r.tailed() {
		return ""
	}
	for i := range r.t.Causes {
		if c := &r.t.Causes[i]; c.Advice != "" && c.By[Likely]+c.By[Proven] > 0 {
			return fmt.Sprintf("Against %s: %s", c.Cause, c.Advice)
		}
	}
	return ""
}

// sayWorst is what can be said where nobody judged the spikes.
func (r *tailRead) sayWorst() string {
	var ours, shared int
	for _, w := range r.t.Worst {
		if w.Merged {
			ours++
		} else if w.Shared() {
			shared++
		}
	}
	var seen []string
	if ours > 0 {
		seen = append(seen, fmt.Sprintf("%d of the %d worst coincide with a stop of this client's host", ours, len(r.t.Worst)))
	}
	if shared > 0 {
		seen = append(seen, fmt.Sprintf("%d of the %d worst struck most streams in the same instant, so their cause lies in what the streams share and not in one request", shared, len(r.t.Worst)))
	}
	if len(seen) == 0 {
		return "There is no evidence of a cause for the tail; " + candidates + "."
	}
	return upper(list(seen)) + ". For the rest there is no evidence of a cause; " + candidates + "."
}
