package record

import (
	"fmt"
	"strings"
	"sync"
)

// damage counts what a Reader could not read. Damage may be asked for from
// another goroutine than the reading one, hence the lock; it is taken only when
// something is wrong.
type damage struct {
	mu     sync.Mutex
	places int    // damaged stretches with something whole after them, or not cut
	at     int64  // offset of the first
	lost   uint64 // events lost in them
	cut    bool   // the end is missing
	cutAt  int64  // where the incomplete block begins
	tail   uint64 // events known to be lost there
	bad    int    // records of sound blocks that make no sense
	more   int64  // offset at which another recording begins; 0: there is none
}

func (d *damage) place(at int64, lost uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.places == 0 {
		d.at = at
	}
	d.places++
	d.lost += lost
}

func (d *damage) cutOff(at int64, lost uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut, d.cutAt, d.tail = true, at, lost
}

func (d *damage) badRecords(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bad += n
}

// another says where a second recording begins, behind this one.
func (d *damage) another(at int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.more = at
}

// line puts it all in one line; "" when nothing is wrong.
func (d *damage) line() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var parts []string
	if d.places > 0 {
		where := fmt.Sprintf("damaged at byte %d", d.at)
		if d.places > 1 {
			where += " and " + count(uint64(d.places-1), "more place")
		}
		what := "no event is known to be lost"
		if d.lost > 0 {
			what = count(d.lost, "event") + " lost"
		}
		parts = append(parts, "recording "+where+": "+what)
	}
	if d.cut {
		what := "its last block is incomplete"
		if d.tail > 0 {
			what += ", " + count(d.tail, "event") + " lost"
		}
		parts = append(parts, fmt.Sprintf("recording cut off at byte %d: %s", d.cutAt, what))
	}
	if d.bad > 0 {
		parts = append(parts, count(uint64(d.bad), "event")+" could not be decoded")
	}
	if d.more > 0 {
		parts = append(parts, fmt.Sprintf("another recording begins at byte %d and was not read", d.more))
	}
	return strings.Join(parts, "; ")
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
