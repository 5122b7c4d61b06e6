package stamp

import (
	"testing"
	"time"

	"teapot/probe/event"
)

func TestMerged(t *testing.T) {
	const k, r = event.SourceKernel, event.SourceRead
	// at is a read taken at 100 ms.
	at := func(late, since, waited int64, parked bool, source string) Read {
		return Read{At: 100*ms - late, Late: late, Since: since, Waited: waited, Parked: parked, Source: source}
	}
	split := func(r Read) Read { r.Split = true; return r }
	tls := func(n int, r Read) Read { r.Records = n; return r }
	cases := []struct {
		name string
		k    int
		read Read
		over int64
		want bool
		gap  int64
	}{
		{"one event, prompt", 1, at(20_000, 90*ms, 0, true, k), 0, false, 0},
		{"one event, taken late, its stamp is exact", 1, at(8*ms, 90*ms, 0, true, k), 8 * ms, false, 0},
		{"one event that lay waiting, its stamp is exact", 1, at(5*ms, 90*ms, 10*ms, false, k), 0, false, 0},
		{"true burst: parked, nothing overslept", 5, at(20_000, 90*ms, 0, true, k), 50_000, false, 0},
		{"burst at the limit", 5, at(20_000, 90*ms, 0, true, k), Tolerance, false, 0},
		{"just over the limit", 5, at(20_000, 90*ms, 0, true, k), Tolerance + 1, true, 0},
		{"process stopped for a second, parked when stopped", 90, at(3*ms, 50*ms-1000*ms, 0, true, k), 990 * ms, true, 0},
		{"last segment late, heartbeat saw nothing", 2, at(2*ms, 90*ms, 0, true, k), 0, true, 0},
		{"oversleep, but the socket was empty 0.2 ms ago", 2, at(20_000, 100*ms-200_000, 0, true, k), 30 * ms, false, 0},
		{"found waiting, empty 0.1 ms ago", 2, at(20_000, 100*ms-100_000, 100_000, false, k), 0, false, 0},
		{"found waiting, empty 4 ms ago", 2, at(20_000, 96*ms, 4*ms, false, k), 0, true, 0},
		{"backlog: read on after a late one", 3, split(at(0, 20*ms, 70*ms, false, k)), 0, true, 0},
		{"backlog of a prompt read goes on", 3, split(at(40_000, 20*ms, 60_000, false, k)), 0, false, 0},
		{"one event of a late backlog has a later one's stamp", 1, split(at(0, 20*ms, 70*ms, false, k)), 0, true, 0},
		{"one event of a prompt read cut by the buffer", 1, split(at(40_000, 20*ms, 0, true, k)), 40_000, false, 0},
		{"one event, but five TLS records came, late", 1, tls(5, at(9*ms, 20*ms, 0, true, k)), 48 * ms, true, 0},
		{"one event, but five TLS records came, prompt", 1, tls(5, at(20_000, 20*ms, 0, true, k)), 0, false, 0},
		{"one event, one TLS record, late", 1, tls(1, at(9*ms, 20*ms, 0, true, k)), 9 * ms, false, 0},
		{"no kernel stamp: one event, prompt", 1, at(0, 90*ms, 0, true, r), 80_000, false, 0},
		{"no kernel stamp: one event after an oversleep is ours", 1, at(0, 90*ms, 0, true, r), 6 * ms, true, 0},
		{"no kernel stamp: one event that lay waiting is ours", 1, at(0, 90*ms, 10*ms, false, r), 0, true, 0},
		{"nothing known of the socket", 2, at(0, 0, 100*ms, false, r), 0, true, 0},
		{"a burst after a long hold, prompt but for 5 ms", 9, at(20_000, 0, 0, true, k), 5 * ms, false, 100 * ms},
		{"a burst after a long hold, and 6 ms", 9, at(20_000, 0, 0, true, k), 6 * ms, true, 100 * ms},
		{"two events at a common pace, 1.5 ms", 2, at(20_000, 86*ms, 0, true, k), 1500_000, true, 14 * ms},
		{"no event at all is as one", 0, at(9*ms, 90*ms, 0, true, k), 9 * ms, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Merged(c.k, c.read, c.over, c.gap); got != c.want {
				t.Errorf("merged %v, want %v", got, c.want)
			}
		})
	}
}

// The reader may ask before the heartbeat has run again, or after; both must
// see a stop, and a stop long past must not taint what came after it.
func TestHeartbeatMergedSeesAStop(t *testing.T) {
	now := int64(0)
	h := NewHeartbeat(func() int64 { return now }, func(time.Duration) {})
	beatAt := func(at int64) { now = at; h.beats.beat(now) }
	for at := ms; at <= 10*ms; at += ms {
		beatAt(at)
	}
	now = 1010 * ms // stopped from 10 ms on; the reader runs first
	r := Read{At: 1009 * ms, Late: ms / 2, Since: 9 * ms, Parked: true, Source: event.SourceKernel}
	if !h.Merged(3, r, 0) {
		t.Error("asked before the beat: not merged")
	}
	beatAt(1010 * ms)
	if !h.Merged(3, r, 0) {
		t.Error("asked after the beat: not merged")
	}
	for at := 1011 * ms; at <= 1200*ms; at += ms {
		beatAt(at)
	}
	r = Read{At: 1200 * ms, Since: 9 * ms, Parked: true, Source: event.SourceKernel}
	if h.Merged(3, r, 0) {
		t.Error("a read that waited on for long after a stop counts as merged")
	}
	if h.Merged(1, Read{Source: event.SourceKernel}, 0) {
		t.Error("one exact event counts as merged")
	}
}
