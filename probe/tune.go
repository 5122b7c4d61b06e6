package probe

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// How the memory of a probe is kept small without the collector running while
// tokens arrive: its workers and assists cost far more than its pauses.
const (
	// memoryLimit makes the runtime collect by itself after all, should the
	// probe's own collections not be enough.
	memoryLimit = 48 << 20
	// collectIdle bytes of garbage are collected while nothing is in flight.
	collectIdle = 1 << 20
	// collectBusy bytes of garbage are collected whatever is in flight.
	collectBusy = 4 << 20
)

// What the probe asks of the scheduler, and does without where it is refused.
const (
	wantSlice = int64(100 * time.Microsecond)
	wantNice  = -10
)

// Tune makes this process a good place to measure in: the automatic collector
// is off below a memory limit (the probe collects between requests), and the
// process asks for short slices, and for a nice value of -10, which it gets
// only where that is allowed. The Session event says what it got. It is for
// the process that does nothing but probe; the returned function undoes what
// concerns the collector.
func Tune() (undo func()) {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(memoryLimit)
	setSlice(wantSlice)
	setNice(wantNice)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// collector runs the garbage collector at good moments, if the automatic one
// is off. It is safe for concurrent use.
type collector struct {
	mu      sync.Mutex
	own     bool // the automatic collector is off: it is ours to run
	samples []metrics.Sample
	live    uint64 // heap bytes after the last collection of ours
}

// newCollector looks at how the process is tuned.
func newCollector() *collector {
	c := &collector{samples: []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}}
	gogc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(gogc)
	c.own = gogc[0].Value.Kind() == metrics.KindUint64 && gogc[0].Value.Uint64() == math.MaxUint64
	c.live, _ = c.read()
	return c
}

// between is the moment after a request, when others are in flight or not: the
// best one if they are not. While somebody else is at it, that is enough. c may
// be nil.
func (c *collector) between(inFlight int64) {
	if c != nil && c.own && c.mu.TryLock() {
		defer c.mu.Unlock()
		c.collect(inFlight)
	}
}

// read gives the bytes of heap objects, dead ones included, and the number of
// collections so far.
func (c *collector) read() (heap, cycles uint64) {
	metrics.Read(c.samples)
	if c.samples[0].Value.Kind() == metrics.KindUint64 {
		heap = c.samples[0].Value.Uint64()
	}
	if c.samples[1].Value.Kind() == metrics.KindUint64 {
		cycles = c.samples[1].Value.Uint64()
	}
	return heap, cycles
}

// tend collects if it is due, and returns the number of collections so far.
func (c *collector) tend(inFlight int64) (cycles uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.collect(inFlight)
}

// collect does so if it is due. The mutex is held.
func (c *collector) collect(inFlight int64) (cycles uint64) {
	heap, cycles := c.read()
	allowed := uint64(collectBusy)
	if inFlight == 0 {
		allowed = collectIdle
	}
	if !c.own || heap < c.live+allowed {
		return cycles
	}
	runtime.GC()
	c.live, cycles = c.read()
	return cycles
}
