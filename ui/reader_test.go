package ui

import (
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/chart"
)

// Two readers move along a stream, each at its own pace, and no further than the
// stream has come.
func TestReadersMoveAlongTheStream(t *testing.T) {
	st := &stats.Stream{Request: 1, FirstAt: 1e9, Tokens: 20, Through: [2]int64{1e9 + 20*reader5, 1e9 + 20*reader10}}
	for _, c := range []struct {
		at          int64
		slow, quick int
		waits       bool
	}{
		{1e9, 0, 0, false}, {1e9 + 50e6, 0, 0, false}, {1e9 + 100e6, 0, 1, false}, {1e9 + 250e6, 1, 2, false},
		{2e9, 5, 10, false}, {3e9 - 1, 9, 19, false}, {3e9, 10, 20, true}, {9e9, 20, 20, true},
	} {
		slow, _ := readerAt(st, 0, c.at)
		quick, waits := readerAt(st, 1, c.at)
		if slow != c.slow || quick != c.quick || waits != c.waits {
			t.Errorf("at %d: read %d and %d, waits %v; want %+v", c.at, slow, quick, waits, c)
		}
	}
	g := chart.NewGrid(57, 1)
	line := func(now int64) string {
		g.All().Clear()
		drawReaders(g.All(), &frame{s: &stats.Snapshot{Now: now}}, st)
		return strings.TrimRight(chartText(g), " ")
	}
	for now, want := range map[int64]string{
		2e9: "━━━━━━━━5━━━━━━━━━10───────────────────▏ 10 ahead of 10/s",
		3e9: "━━━━━━━━━━━━━━━━━━5━━━━━━━━━━━━━━━━━━━10       10/s waits",
	} {
		if got := line(now); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", now, got, want)
		}
	}
	st.EndAt = 2e9
	if got := line(3e9); !strings.HasSuffix(got, "10/s has read it") {
		t.Errorf("a stream that ended: %s", got)
	}
}

func chartText(g *chart.Grid) string {
	var b strings.Builder
	for x := range g.W {
		r := g.At(x, 0).Rune
		if r == 0 {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
