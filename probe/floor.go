package probe

import (
	"slices"
	"sync"
	"time"

	"teapot/probe/event"
	"teapot/probe/stamp"
)

const (
	floorEvery   = 100 * time.Millisecond
	residentEach = 10 // Floor events, so once a second
	maxLates     = 1 << 14
)

// floor collects what this client adds to what it measures, and tells it ten
// times a second. Its methods are safe for concurrent use and do not allocate
// once it is warm.
type floor struct {
	mu     sync.Mutex
	lates  []int64 // of the token events since the last Floor, at most maxLates
	worst  int64   // of all of them
	reads  uint64
	merged uint64
	lag    int64
	conn   *stamp.Conn // the newest
	memory *collector  // nil: nobody tends it
}

// read takes one read that brought tokens events, so many of them merged.
func (f *floor) read(late int64, tokens, merged int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	f.merged += uint64(merged)
	f.worst = max(f.worst, late)
	for range min(tokens, maxLates-len(f.lates)) {
		f.lates = append(f.lates, late)
	}
}

// lagged takes by how many ns we ourselves were behind the schedule.
func (f *floor) lagged(ns int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag = max(f.lag, ns)
}

// uses takes the connection of a new request.
func (f *floor) uses(c *stamp.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conn = c
}

// take fills ev with what was collected since the last time, and returns the
// newest connection. ev.Late is reused if it has room.
func (f *floor) take(ev *event.Floor) *stamp.Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	ev.Late = ev.Late[:0]
	if n := len(f.lates); n > 0 {
		slices.Sort(f.lates)
		ev.Late = append(ev.Late, f.lates[(n+1)/2-1], f.lates[(99*n+99)/100-1], f.worst)
	}
	ev.Reads, ev.Merged, ev.Lag = f.reads, f.merged, f.lag
	f.lates, f.worst, f.reads, f.merged, f.lag = f.lates[:0], 0, 0, 0, 0
	return f.conn
}

// beat writes the Floor events of a run and tends its memory, until stop is
// closed. inFlight tells how many requests are on the wire.
func (f *floor) beat(stop <-chan struct{}, clk *stamp.Clock, hb *stamp.Heartbeat, in *inbox, inFlight func() int64) {
	tick := time.NewTicker(floorEvery)
	defer tick.Stop()
	cycles, slept := f.memory.tend(inFlight()), asleep()
	runtime, taken := newDelays(), stolen()
	var ev event.Floor
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		conn := f.take(&ev)
		ev.RTT, ev.RSS, ev.Load = 0, 0, 0
		if conn != nil {
			ev.RTT = int64(conn.RTT())
		}
		if n%residentEach == 0 {
			ev.RSS, ev.Load = resident(), loadOf()
		}
		ev.GCPause, ev.Sched = runtime.read()
		had := taken
		taken = stolen()
		ev.Steal, ev.Blocked = max(taken-had, 0), in.blocked(clk.Now())
		now := f.memory.tend(inFlight())
		ev.GC = uint32(now - cycles)
		cycles = now
		was := slept
		slept = asleep()
		ev.Asleep = slumber(slept - was)
		ev.Overshoot = hb.Worst()
		ev.At, ev.Wall = clk.Pair()
		in.put(&ev)
	}
}

// slumber is a growth of the time asleep, if it is one: reading two clocks one
// after the other makes small differences of its own.
func slumber(ns int64) int64 {
	if ns < int64(100*time.Millisecond) {
		return 0
	}
	return ns
}
