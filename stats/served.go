package stats

import "teapot/probe/event"

// Served sets what a server said of its own work beside what we saw of the
// same requests. Where nothing is said, N is 0.
type Served struct {
	Queue, Prefill, Decode Span // by the server's clock
	// RestFirst is what of the time to first token the server does not account
	// for, and RestDecode what of the time from the first token to the last: the
	// network, whatever stands between, and the client. At least 0.
	RestFirst, RestDecode Span
}

// N is the number of requests of which the server said anything.
func (s *Served) N() uint64 {
	return max(s.Queue.N, s.Prefill.N, s.Decode.N)
}

// served takes the server's own times of a request that succeeded.
func (t *target) served(l *life, ev *event.End, at int64, to [2]*tally) {
	s := ev.Server
	if s == nil || !ev.Class.OK() || l.paused {
		return
	}
	if s.Queue > 0 {
		t.sample(mServedQueue, at, s.Queue, to)
	}
	if s.Prompt > 0 {
		t.sample(mServedPrefill, at, s.Prompt, to)
		if ttft, ok := l.ttft(); ok {
			t.sample(mRestFirst, at, max(ttft-s.Queue-s.Load-s.Prompt, 0), to)
		}
	}
	if s.Decode > 0 {
		t.sample(mServedDecode, at, s.Decode, to)
		if l.events > 1 {
			t.sample(mRestDecode, at, max(l.last-l.first-s.Decode, 0), to)
		}
	}
}
