package stats

import (
	"testing"

	"teapot/probe/event"
)

// What a server says of its work stands beside what we saw, and the rest is
// told; of a server that says nothing there is nothing.
func TestServedBesideOurs(t *testing.T) {
	s := newScript(Config{})
	for i := range int64(20) {
		id, at := uint64(i+1), i*2000
		s.start(id, at)
		s.tok(id, at+120, 1)
		s.tok(id, at+620, 1)
		end := &event.End{At: (at + 630) * ms, Target: 1, Request: id, Class: event.OKFull, N: 2, Count: event.CountUsage}
		if i%2 == 0 {
			end.Server = &event.ServerTimings{Queue: 10 * ms, Prompt: 90 * ms, Decode: 480 * ms}
		}
		s.a.Add(end)
	}
	f := s.target().Session.Served
	if f.N() != 10 {
		t.Errorf("%d requests served", f.N())
	}
	near := func(what string, got Span, want int64) {
		t.Helper()
		if got.N != 10 || got.P50 < want*98/100 || got.P50 > want*102/100 {
			t.Errorf("%s: %+v, want 10 of %d", what, got, want)
		}
	}
	near("queue", f.Queue, 10*ms)
	near("prefill", f.Prefill, 90*ms)
	near("decode", f.Decode, 480*ms)
	near("the rest before the first token", f.RestFirst, 20*ms)
	near("the rest of decoding", f.RestDecode, 20*ms)
	if n := (&Served{}).N(); n != 0 {
		t.Errorf("nothing is %d", n)
	}
}
