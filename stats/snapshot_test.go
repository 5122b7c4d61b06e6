package stats

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"teapot/probe/event"
)

// Old snapshots are read while new events come: -race looks on.
func TestSnapshotsAreImmutable(t *testing.T) {
	l := newLoad(4, 4*ms)
	type shown struct {
		s    *Snapshot
		seen string
	}
	print := func(s *Snapshot) string {
		tg := s.Targets[0]
		sum := int64(0)
		for _, c := range tg.Series.Columns(s.Now, Bucket, 30) {
			sum += c.Gap.Sum + int64(c.Tokens)
		}
		for _, st := range tg.Streams {
			for _, c := range st.Cells {
				sum += c.At + c.Gap + int64(len(c.Text))
				if c.Stall {
					sum++
				}
			}
		}
		for _, d := range tg.Dots {
			sum += d.At + d.TTFT
		}
		for _, r := range tg.Recent {
			sum += r.E2E
		}
		for _, w := range tg.Worst {
			sum += w.Length + int64(w.Peers)
		}
		for _, e := range s.Lane {
			sum += e.At
		}
		return time.Duration(sum).String() + time.Duration(tg.Session.Gap.N).String() + time.Duration(tg.Session.Requests.ByClass[event.OKFull]).String()
	}
	for range 200 {
		l.step()
	}
	ch := make(chan shown, 1000)
	var wg sync.WaitGroup
	wg.Go(func() {
		var all []shown
		for x := range ch {
			all = append(all, x)
			for _, old := range all[max(0, len(all)-20):] {
				if got := print(old.s); got != old.seen {
					t.Errorf("a snapshot changed")
				}
			}
		}
	})
	for i := range 8000 {
		l.step()
		if i%37 == 0 {
			s := l.a.Snapshot()
			select {
			case ch <- shown{s, print(s)}:
			default:
			}
		}
	}
	close(ch)
	wg.Wait()
}

// The same events give the same snapshot, however often somebody looked.
func TestReplayIsTheSame(t *testing.T) {
	run := func(look bool) *Snapshot {
		l := newLoad(4, 20*ms)
		for i := range 5000 {
			l.step()
			if look && i%13 == 0 {
				l.a.Snapshot()
			}
		}
		return l.a.Snapshot()
	}
	a, b := run(false), run(true)
	for i := range a.Targets {
		x, y := *a.Targets[i], *b.Targets[i]
		cx, cy := x.Series.Columns(a.Now, second, 300), y.Series.Columns(b.Now, second, 300)
		x.Series, y.Series = nil, nil
		if !reflect.DeepEqual(x, y) || !reflect.DeepEqual(cx, cy) {
			t.Errorf("target %d differs", i)
		}
	}
}

// A day of bursts at 50 events a second: what is kept is bounded.
func TestMemoryStaysFlat(t *testing.T) {
	l := newLoad(1, 20*ms)
	heap := func() uint64 {
		l.a.Snapshot()
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	l.tokens = 16
	until := func(at int64) {
		// A day is compressed: stretches of traffic with longer quiet ones
		// between, of a length that takes them through every slot of the rings.
		for l.now < at {
			for stop := l.now + 10*second; l.now < stop; {
				l.step()
			}
			for i := range l.state {
				l.state[i].next += 107 * second
			}
			l.step()
		}
	}
	until(15 * 3600 * second) // by then every list is full once
	before := heap()
	until(24 * 3600 * second)
	after := heap()
	if len(l.a.ended) != maxEnded || len(l.a.order[0].recent.items) != maxRecent {
		t.Fatalf("too short a run: %d requests", len(l.a.ended))
	}
	if after > before+before/10 {
		t.Errorf("%d bytes after 15 hours, %d after 24", before, after)
	}
	runtime.KeepAlive(l)
}
