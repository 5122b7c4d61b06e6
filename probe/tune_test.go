package probe

import (
	"runtime"
	"runtime/debug"
	"testing"
)

var sink [][]byte

func TestCollectorLeavesAnAutomaticOneAlone(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	if c := newCollector(); c.own {
		t.Error("took over from the automatic collector")
	}
}

func TestCollectorCollectsBetweenRequests(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	c := newCollector()
	if !c.own {
		t.Fatal("nobody collects")
	}
	_, before := c.read()
	if c.tend(0); c.live > 0 {
		if _, now := c.read(); now != before {
			t.Error("collected without garbage")
		}
	}
	litter := func(n int) {
		for range n {
			sink = append(sink, make([]byte, 1<<10))
		}
		sink = nil
	}
	litter(2 * collectIdle >> 10)
	if _, now := c.read(); c.tend(3) != now {
		t.Error("collected a little garbage while requests are in flight")
	}
	if got := c.tend(0); got == before {
		t.Error("did not collect between requests")
	}
	_, before = c.read()
	litter(2 * collectBusy >> 10)
	if got := c.tend(3); got == before {
		t.Error("did not collect much garbage while requests are in flight")
	}
}

// The end of a request is the moment to collect, unless others are in flight,
// or somebody is at it already.
func TestCollectorCollectsAfterARequest(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	(*collector)(nil).between(0) // nobody tends the memory: no harm
	runtime.GC()
	c := newCollector()
	for range 2 * collectIdle >> 10 {
		sink = append(sink, make([]byte, 1<<10))
	}
	sink = nil
	_, before := c.read()
	c.between(1)
	c.mu.Lock()
	c.between(0)
	c.mu.Unlock()
	if _, now := c.read(); now != before {
		t.Error("collected at a bad moment")
	}
	c.between(0)
	if _, now := c.read(); now == before {
		t.Error("did not collect at the end of a request")
	}
}

// The kernel grants a short slice or ignores the wish; it is told what is so.
func TestSlice(t *testing.T) {
	before := sliceValue()
	defer setSlice(before)
	setSlice(wantSlice)
	if got := sliceValue(); got != wantSlice && got != before {
		t.Errorf("a slice of %d ns, was %d, wanted %d", got, before, wantSlice)
	}
}

func TestResident(t *testing.T) {
	if n := resident(); runtime.GOOS == "linux" && (n < 1<<20 || n > 1<<40) {
		t.Errorf("%d bytes resident", n)
	}
	if n := niceValue(); n < -20 || n > 19 {
		t.Errorf("nice value %d", n)
	}
}
