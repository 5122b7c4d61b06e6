package stats

import "teapot/probe/event"

// A server may have ten segments on the way on a new connection before the
// first of them is acknowledged (RFC 6928); the next one waits for that. A
// stream of small events fills this window at about its tenth and then stops
// once, though the engine does not: until one round trip after the first
// segment came in. A warm connection does the same when it idled for longer
// than its retransmission timeout (RFC 5681, 4.1).
const (
	windowLow  = 8  // segments that may have filled the window: the headers may
	windowHigh = 14 // have gone ahead, and two events may have shared one

	segment = 1448 // bytes of a segment's payload over Ethernet
	framing = 220  // bytes around the text of an event, about

	rttLeast  = int64(3e6)   // ns: below this the stop is lost among the gaps
	idleRTO   = int64(200e6) // ns: the least retransmission timeout
	stopSlack = int64(1e6)   // ns, beside an eighth of the round trip
	stopsOut  = 2            // times the stream's median a stop is at least long
)

// flight follows the first segments of one reply until the window is past.
type flight struct {
	cold     bool
	rtt      int64
	from     int64 // when the first segment of the flight came in
	segments int
	bytes    int64 // of the newest read
	done     bool
}

// begin opens the flight of a request.
func (f *flight) begin(s *event.Start) {
	f.cold = !s.Reused || s.Idle >= idleRTO
	f.done = !f.cold
}

// headers takes the reply's first segment and the round trip as it was then.
func (f *flight) headers(ev *event.Headers, at int64) {
	f.rtt, f.from, f.segments = ev.RTT, at, 1
	f.done = f.done || f.rtt < rttLeast
}

// token takes one token event and tells whether the gap before it is the stop
// of a full window. usual gives the median of the stream's gaps before it, 0
// where there is none.
func (f *flight) token(a *arrival, bytes uint32, usual func() int64) bool {
	if f.done || f.rtt == 0 {
		return false
	}
	n := int64(bytes) + framing
	if a.shared {
		// The same read, so it may be the same segments.
		f.bytes += n
		if f.bytes > segment {
			f.segments++
			f.bytes -= segment
		}
		return false
	}
	stop := false
	if a.event > 1 && f.segments >= windowLow && f.segments <= windowHigh {
		stop = f.stops(a, usual)
	}
	if a.at-f.from > f.rtt+f.rtt/4 && f.segments > 1 || stop || f.segments > windowHigh {
		f.done = true
		return stop
	}
	if a.event == 1 && a.at-f.from >= f.rtt {
		f.from = a.at // the headers are acknowledged long since
	}
	f.segments += 1 + int(n/segment)
	f.bytes = n % segment
	return stop
}

// stops compares a gap with the stop that the round trip predicts: it ends one
// round trip after the first segment, and so is as long as what is then left of
// it, RTT − ten gaps in a steady stream.
func (f *flight) stops(a *arrival, usual func() int64) bool {
	tolerance := f.rtt/8 + stopSlack
	off := a.at - (f.from + f.rtt)
	if off < -tolerance || off > tolerance {
		return false
	}
	u := usual()
	return u > 0 && a.gap >= stopsOut*u && a.gap >= rttLeast/2
}
