package probe

import "time"

// A pause between two reads of tokens is worth a look at the server, there and
// then, from so long on, and from so many usual ones on. Whether it is a spike
// is not decided here.
const (
	longPause  = int64(100 * time.Millisecond)
	longUsuals = 8
	leastReads = 4 // before anything is usual
)

// pauses tells the long pauses of one stream.
type pauses struct {
	last, usual int64 // the newest read, and how far apart they usually are, ns
	reads       int
}

// long tells whether the read at the instant at ends one.
func (p *pauses) long(at int64) bool {
	gap := at - p.last
	p.last = at
	if p.reads++; p.reads == 1 {
		return false
	}
	long := gap >= longPause && p.reads > leastReads && gap >= longUsuals*p.usual
	if !long {
		p.usual += (gap - p.usual) / int64(min(p.reads-1, 16))
	}
	return long
}

// lookNow asks for a look at the server's own figures, before their turn. It
// waits for nothing.
func (ep *endpoint) lookNow() {
	select {
	case ep.stall <- struct{}{}:
	default:
	}
}
