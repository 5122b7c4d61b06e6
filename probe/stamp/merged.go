package stamp

import (
	"time"

	"teapot/probe/event"
)

// Tolerance is how long, in ns, the oldest byte of a read may have waited for
// us if the events in it are still to pass for one burst of the server's. It is
// the heartbeat's period: less cannot be seen.
const Tolerance = int64(Period)

// share is which part of the gap before a read the oldest byte may have waited
// as well: a hold of 200 ms that may be wrong by 5 ms is still the server's, and
// hiding it would hide a spike.
const share = 20

// memory is how long, in ns, after an oversleep ended a read that waited in the
// poller can still owe its wake-up to it. A read that waited on for longer was
// woken by what came later.
const memory = int64(50 * time.Millisecond)

// Merged tells whether the k events of a read may have been joined by our being
// late, so that the time before and between them is not the server's. See the
// function Merged; the oversleep is this heartbeat's, asked now, so call it
// soon after the read. A read that is exact by itself is not asked about.
func (h *Heartbeat) Merged(k int, r Read, gap int64) bool {
	if exact(k, r) {
		return false
	}
	return Merged(k, r, h.Overshot(max(r.Since, r.Taken()-memory)), gap)
}

// Merged decides whether the k events of a read are a true burst (false) or may
// have been sent apart and joined by us (true). k counts what the read
// completed, events without tokens included; whoever sees bytes of a further
// event behind adds one. overshoot is the heartbeat's worst oversleep in ns
// while the read waited; gap is the time in ns from the stream's event before
// this read to this read, 0 when there was none.
//
// The bytes of a read arrived between Since, when the socket was empty, and the
// read. A parked reader is woken by the first of them, so they span no more
// than our own delay: the oversleep, or the lateness of the last segment if
// that is more. A reader that found them waiting may have let them wait ever
// since Since. If they may span more than Tolerance they count as merged.
//
// One event alone in a read with a kernel stamp is exact, however late it is
// taken. With the read's own stamp the lateness itself stands in the gap, so
// one event counts as merged too.
func Merged(k int, r Read, overshoot, gap int64) bool {
	if exact(k, r) {
		return false
	}
	span := min(r.Taken()-r.Since, r.Waited+max(overshoot, r.Late))
	return span > max(Tolerance, gap/share)
}

// exact tells that the stamp of a read is that of its only event.
func exact(k int, r Read) bool {
	return k <= 1 && !r.Split && r.Records <= 1 && r.Source == event.SourceKernel
}
