package stats

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"teapot/probe/event"
)

// looked are the looks of one second: a page as large as vLLM's, slots, and
// eight GPUs; now and then a restart, a look that failed, and names that come
// and go.
func looked(at int64, n int, r *rand.Rand) (out []*event.Signal) {
	page := &event.Signal{At: at, Target: 1, Source: event.SignalMetrics, Took: 3 * ms, Age: 3 * ms, Span: second, Bytes: 24_000}
	for i := range 60 {
		page.Values = append(page.Values, event.Sample{Name: fmt.Sprintf("figure%d", i), Value: r.Float64(), Delta: r.Float64()})
	}
	for _, h := range serverFigures {
		page.Values = append(page.Values, event.Sample{Name: h + "_sum", Value: float64(n), Delta: 1}, event.Sample{Name: h + "_count", Value: float64(n), Delta: 10},
			event.Sample{Name: h + "_p50", Value: .1}, event.Sample{Name: h + "_p99", Value: .2})
	}
	page.Values = append(page.Values, event.Sample{Name: "finished", Of: fmt.Sprintf("reason %d", n), Value: 1},
		event.Sample{Name: "waiting", Value: float64(n % 3)}, event.Sample{Name: "preemptions", Value: float64(n), Delta: float64(n % 2)})
	if n%600 == 599 {
		page.Restart, page.Span = true, 0
	}
	gpus := &event.Signal{At: at, Source: event.SignalGPU, Bytes: 700}
	for i := range 8 {
		for _, name := range []string{"gpu.util", "gpu.clock", "gpu.temp", "gpu.throttle", "gpu.power", "gpu.mem"} {
			gpus.Values = append(gpus.Values, event.Sample{Name: name, Of: fmt.Sprint(i), Value: r.Float64()})
		}
	}
	slots := &event.Signal{At: at, Target: 1, Source: event.SignalSlots, Values: []event.Sample{{Name: "prefilling", Value: 1}, {Name: "prefill_left", Value: 100}}}
	if n%50 == 0 {
		slots = &event.Signal{At: at, Target: 1, Source: event.SignalSlots, Detail: fmt.Sprintf("no answer, try %d", n)}
	}
	return []*event.Signal{page, gpus, slots}
}

// An hour of looks at everything there is, beside a stream of spikes, is no
// heavier at its end than after its half.
func TestMemoryIsFlatWithSignals(t *testing.T) {
	every, looks, apart := int64(1000), 3600, int64(second)
	if testing.Short() {
		every, looks, apart = 4000, 240, 15*second
	}
	s := newSoak(every)
	for s.now < 3*3600*second { // until what keeps hours is full
		s.step()
	}
	s.minute = s.minute[:0]
	began := s.now
	r := rand.New(rand.NewPCG(1, 2))
	quarters := []uint64{}
	for n := range looks {
		for at := began + int64(n+1)*apart; s.now < at; {
			s.step()
		}
		for _, sig := range looked(s.now, n, r) {
			s.a.Add(sig)
		}
		if n%10 == 0 {
			s.a.Snapshot()
		}
		if n%(looks/4) == looks/4-1 {
			s.minute = s.minute[:0]
			quarters = append(quarters, heap())
		}
	}
	t.Logf("after each quarter: %d bytes; %d spikes", quarters, s.a.targets[1].spikes.ids)
	// By the half all that keeps the newest of something is full.
	if half, last := quarters[1], quarters[3]; last > half+half/5 {
		t.Errorf("%d bytes after half of an hour, %d after the whole", half, last)
	}
	if len(s.a.targets[1].watch.looks.items) > maxLooks || len(s.a.targets[1].watch.names) > maxNames {
		t.Errorf("%d looks, %d names", len(s.a.targets[1].watch.looks.items), len(s.a.targets[1].watch.names))
	}
	runtime.KeepAlive(s)
}
