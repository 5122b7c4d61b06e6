package export

import (
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"teapot/stats"
)

// bounds are the upper edges of the classic buckets, in seconds: fit for gaps
// from half a millisecond to a minute, with the lengths that people feel among
// them (a frame of film, a tenth, a blink).
var bounds = [...]float64{
	.0005, .001, .0015, .002, .003, .005, .0075, .01, .015, .02, .03, .0417, .05, .075, .1, .15, .2, .3, .4, .5, .75,
	1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 60,
}

// schema is the resolution of the native buckets: 2^5 to a doubling, so each is
// 2.2 % wide.
const schema = 5

// zeroThreshold is the width of the native bucket at zero, s: nothing measured
// is shorter than a nanosecond.
const zeroThreshold = 1e-9

// histogramOf writes a distribution as a classic and a native histogram in
// seconds. A censored sample, a timeout, counts just above its limit: it took
// longer than that.
func histogramOf(d *stats.Distribution) *dto.Histogram {
	h := &dto.Histogram{
		SampleCount: proto.Uint64(d.N), SampleSum: proto.Float64(float64(d.Sum) / 1e9),
		Schema: proto.Int32(schema), ZeroThreshold: proto.Float64(zeroThreshold), ZeroCount: proto.Uint64(0),
	}
	classic := make([]uint64, len(bounds)+1)
	native := map[int]int64{}
	put := func(v float64, n uint64) {
		i, _ := slices.BinarySearch(bounds[:], v) // a bucket holds its upper edge
		classic[i] += n
		if v <= zeroThreshold {
			*h.ZeroCount += n
			return
		}
		native[nativeIndex(v)] += int64(n)
	}
	for _, b := range d.Buckets {
		put(float64(b.Value)/1e9, b.N)
	}
	for _, b := range d.Censored {
		put(math.Nextafter(float64(b.Value)/1e9, math.Inf(1)), b.N)
	}
	sum := uint64(0)
	for i, edge := range bounds {
		sum += classic[i]
		h.Bucket = append(h.Bucket, &dto.Bucket{CumulativeCount: proto.Uint64(sum), UpperBound: proto.Float64(edge)})
	}
	h.PositiveSpan, h.PositiveDelta = spans(native)
	if len(h.PositiveSpan) == 0 && h.GetZeroCount() == 0 {
		// A span without buckets tells that the histogram is a native one that is
		// empty, and not a classic one.
		h.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
	return h
}

// nativeIndex is the native bucket of a value above 0: bucket i holds the values
// in (2^((i−1)/2^schema), 2^(i/2^schema)].
func nativeIndex(v float64) int {
	i := int(math.Ceil(math.Log2(v) * (1 << schema)))
	// Log2 is rounded; the edges decide.
	if v > nativeEdge(i) {
		i++
	} else if v <= nativeEdge(i-1) {
		i--
	}
	return i
}

func nativeEdge(i int) float64 { return math.Exp2(float64(i) / (1 << schema)) }

// spans encodes native buckets: runs of consecutive ones, each count as the
// difference to the one before.
func spans(buckets map[int]int64) (out []*dto.BucketSpan, deltas []int64) {
	index := make([]int, 0, len(buckets))
	for i := range buckets {
		index = append(index, i)
	}
	slices.Sort(index)
	before, next := int64(0), 0
	for n, i := range index {
		if n == 0 || i != next {
			out = append(out, &dto.BucketSpan{Offset: proto.Int32(int32(i - next)), Length: proto.Uint32(0)})
		}
		*out[len(out)-1].Length++
		deltas = append(deltas, buckets[i]-before)
		before, next = buckets[i], i+1
	}
	return out, deltas
}
