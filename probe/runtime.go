package probe

import (
	"math"
	"runtime/metrics"
	"time"
)

// delays reads what Go's runtime says of the time that it took from this
// process: its histograms only grow, so what they say of the time since the
// reading before is the difference. It is used by one goroutine and does not
// allocate once it is warm.
type delays struct {
	samples [2]metrics.Sample
	before  [2][]uint64
}

// Which of delays is which.
const (
	ofPauses = iota // the stops of all goroutines by the collector
	ofWaits         // of goroutines that could run, for a processor
)

func newDelays() *delays {
	d := &delays{}
	d.samples[ofPauses].Name = "/sched/pauses/total/gc:seconds"
	d.samples[ofWaits].Name = "/sched/latencies:seconds"
	d.read()
	return d
}

// read tells the longest stop by the collector and the longest wait of a
// goroutine since the reading before, ns, each as the upper end of the bucket
// that it fell into; 0 where there was none, or nobody can tell.
func (d *delays) read() (pause, wait int64) {
	metrics.Read(d.samples[:])
	return d.longest(ofPauses), d.longest(ofWaits)
}

func (d *delays) longest(i int) int64 {
	if d.samples[i].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := d.samples[i].Value.Float64Histogram()
	top := longest(h, d.before[i])
	d.before[i] = append(d.before[i][:0], h.Counts...)
	return top
}

// longest is the upper end of the highest bucket that has grown, ns.
func longest(h *metrics.Float64Histogram, before []uint64) int64 {
	if len(before) != len(h.Counts) || len(h.Buckets) != len(h.Counts)+1 {
		return 0
	}
	for i := len(h.Counts) - 1; i >= 0; i-- {
		if h.Counts[i] == before[i] {
			continue
		}
		end := h.Buckets[i+1]
		if math.IsInf(end, 0) {
			end = h.Buckets[i]
		}
		return int64(max(end, 0) * float64(time.Second))
	}
	return 0
}
