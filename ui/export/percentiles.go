package export

import (
	"fmt"
	"io"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"teapot/probe/event"
	"teapot/stats"
)

// ticks are the lines that a percentile distribution has to each halving of the
// distance to 100 %; the library's customary number.
const ticks = 5

// percentiles writes the percentile distribution of the gaps in milliseconds, in
// the text format that wrk2 made known and hdr-plot draws.
type percentiles struct {
	out io.Writer
	a   *stats.Aggregator
}

func (percentiles) event(event.Event) error { return nil }

func (percentiles) ended(uint32, *stats.Trace) {}

func (w percentiles) end() error {
	h, targets := hdr.New(1, longest, digits), 0
	for _, d := range w.a.Distributions() {
		if d.Name != "gap" {
			continue
		}
		if targets++; targets > 1 {
			return fmt.Errorf("a file of this kind holds one distribution, and this recording has more than one endpoint")
		}
		for _, b := range d.All() {
			if err := h.RecordValues(min(b.Value, longest), int64(b.N)); err != nil {
				return err
			}
		}
	}
	_, err := h.PercentilesPrint(w.out, ticks, 1e6)
	return err
}
