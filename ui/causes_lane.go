package ui

import (
	"teapot/stats"
	"teapot/ui/chart"
)

// causeSign is a cause where there is room for a word, or for one column.
type causeSign struct {
	cause stats.Cause
	word  string
	sign  rune
}

// causeSigns are all causes. Their signs stand on the event row beneath the
// spikes; none of them is the sign of another event there, but for preemptions.
var causeSigns = [...]causeSign{
	{stats.CausePreemption, "preempted", 'p'}, {stats.CauseQueue, "queued", 'q'}, {stats.CausePrompt, "prompt", 'i'},
	{stats.CausePrefill, "prefill", 'f'}, {stats.CauseRestart, "restart", 'r'}, {stats.CauseOutage, "outage", 'o'},
	{stats.CauseLoad, "load", 'l'}, {stats.CauseEngine, "engine", 'h'}, {stats.CauseServerGC, "gc", 'g'},
	{stats.CauseKVTraffic, "kv moves", 'k'}, {stats.CauseBlocked, "blocked", 'b'}, {stats.CauseThrottle, "throttle", 't'},
	{stats.CausePath, "path", 'w'}, {stats.CauseRouted, "routed", 'e'},
	{stats.CauseOurs, "ours", '□'}, {stats.CauseTransport, "window", '□'}, {stats.CauseUnknown, "", '?'},
}

// signHelp explains the signs, in the help.
var signHelp = [...][2]string{
	{"p q i f", "on the event row, why a spike was: preempted, queued, its own prompt, others' prompts"},
	{"r o l h", "likewise: restart, outage, model load, the engine stood still"},
	{"g k b t", "likewise: its collector, KV cache moved, API process blocked, GPU throttled"},
	{"w e □ ?", "likewise: held back on the way, routed elsewhere, this client or transport, unexplained"},
}

func shortCause(c stats.Cause) string {
	for _, s := range causeSigns {
		if s.cause == c {
			return s.word
		}
	}
	return ""
}

// signOf is the sign of a verdict; 0 while there is none.
func signOf(s *stats.Spike) (rune, chart.Role) {
	switch w := s.Why; {
	case s.Merged || s.Transport:
		return '□', chart.Ours
	case w == nil, w.Verdict == stats.Unexplained && !w.Settled:
		return 0, chart.Dim
	case w.Verdict == stats.Unexplained:
		return '?', chart.Dim
	case w.Verdict == stats.Ours, w.Verdict == stats.Transport:
		return '□', chart.Ours
	default:
		role := chart.Info
		if w.Verdict == stats.Proven {
			role |= chart.Bold
		}
		for _, c := range causeSigns {
			if c.cause == w.Cause {
				return c.sign, role
			}
		}
	}
	return 0, chart.Dim
}

// drawSpikeSigns puts the cause of the worst spike of each column beneath it,
// where no event stands but a stall of this host: the verdict has weighed that.
func drawSpikeSigns(a chart.Area, fr *frame) {
	if fr.span.N <= 0 {
		return
	}
	last := fr.end + 1
	list := spikesIn(fr.t, last-int64(fr.span.N)*fr.zoom, last)
	for i := range list { // the worst first
		x, ok := fr.span.Column(list[i].At)
		if x += a.W() - fr.span.N; !ok {
			continue
		}
		r, role := signOf(&list[i])
		if had := a.Cell(x, 0).Rune; r != 0 && (had <= ' ' || had == '▼' && r != '?') {
			a.Set(x, 0, r, role)
		}
	}
}
