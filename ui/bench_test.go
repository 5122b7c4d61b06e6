package ui

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"teapot/stats"
)

// wire is what Bubble Tea's renderer does between a view and the terminal: it
// compares the cells of two frames and writes the difference.
type wire struct {
	buf   bytes.Buffer
	r     *uv.TerminalRenderer
	cells uv.ScreenBuffer
	last  string
	bytes int
}

func newWire(w, h int) *wire {
	l := &wire{cells: uv.NewScreenBuffer(w, h)}
	l.r = uv.NewTerminalRenderer(&l.buf, []string{"TERM=xterm-256color"})
	l.r.SetColorProfile(colorprofile.TrueColor)
	l.r.SetFullscreen(true)
	l.r.SetRelativeCursor(false)
	l.r.SetScrollOptim(true)
	l.r.SetTabStops(w)
	l.r.SetBackspace(true)
	l.r.Resize(w, h)
	return l
}

// show writes a frame, wrapped in synchronized output, and returns its bytes.
func (l *wire) show(content string) int {
	if content == l.last {
		return 0
	}
	l.last = content
	l.cells.Clear()
	uv.NewStyledString(content).Draw(l.cells, l.cells.Bounds())
	l.r.Render(l.cells.RenderBuffer)
	if err := l.r.Flush(); err != nil {
		panic(err)
	}
	n := l.buf.Len()
	_, _ = io.Copy(io.Discard, &l.buf)
	if n > 0 {
		n += len(ansi.SetModeSynchronizedOutput) + len(ansi.ResetModeSynchronizedOutput)
	}
	return n
}

// bytesPerSecond plays secs seconds of a world of c streams into a screen, and
// returns the bytes a second after the first drawing.
func bytesPerSecond(c Config, streams, w, h, secs int, v view) float64 {
	wld := newWorld(3, streams)
	wld.run(int64(100e9) * 4 / int64(max(streams, 4))) // as many events in any case
	snap := wld.snapshot()
	m := still(snap, c)
	clk := newClock()
	m.cfg.Now = clk.now
	m.cfg.Snapshot = func() *stats.Snapshot { return snap }
	line := newWire(w, h)
	line.show(screenOf(m, w, h, v))
	start, total := clk.at, 0
	for clk.at.Sub(start) < time.Duration(secs)*time.Second {
		step := m.pace()
		clk.at = clk.at.Add(step)
		wld.run(wld.now + int64(step))
		snap = wld.snapshot()
		m.Update(frameMsg(m.tick))
		total += line.show(m.View().Content)
	}
	return float64(total) / float64(secs)
}

func TestBytesToTheTerminal(t *testing.T) {
	ssh := vars("TERM", "xterm-256color", "COLORTERM", "truecolor", "LANG", "C.UTF-8", "SSH_TTY", "/dev/pts/1")
	cases := []struct {
		name  string
		cfg   Config
		w, h  int
		v     view
		limit float64
		secs  int
	}{
		{"local, overview", Config{}, 120, 40, overview, 40e3, 6},
		{"local, tail", Config{}, 120, 40, tail, 40e3, 6},
		{"local, words", Config{}, 120, 40, words, 40e3, 6},
		{"local, requests", Config{}, 120, 40, requests, 40e3, 6},
		{"ssh, overview", Config{Env: ssh}, 120, 40, overview, 12e3, 6},
		{"ssh, tail", Config{Env: ssh}, 120, 40, tail, 12e3, 6},
		{"ssh, requests", Config{Env: ssh}, 120, 40, requests, 12e3, 6},
		{"ssh, words", Config{Env: ssh}, 120, 40, words, 12e3, 6},
		{"ssh, 64 streams", Config{Env: ssh}, 120, 40, overview, 12e3, 4},
		{"ssh, client", Config{Env: ssh}, 120, 40, client, 12e3, 6},
		{"ssh, 80x24", Config{Env: ssh}, 80, 24, overview, 6e3, 6},
		{"low bandwidth, overview", Config{LowBandwidth: true}, 120, 40, overview, 1500, 40},
		{"low bandwidth, requests", Config{LowBandwidth: true}, 120, 40, requests, 1500, 40},
		{"low bandwidth, words", Config{LowBandwidth: true}, 120, 40, words, 1500, 40},
	}
	for i, c := range cases {
		if testing.Short() && i%5 != 0 {
			continue // time is simulated and nothing runs beside: the whole run has them all
		}
		t.Run(c.name, func(t *testing.T) {
			streams := 4
			if strings.Contains(c.name, "64") {
				streams = 64
			}
			got := bytesPerSecond(c.cfg, streams, c.w, c.h, c.secs, c.v)
			t.Logf("%.0f bytes a second", got)
			if got > c.limit {
				t.Errorf("%.0f bytes a second, more than %.0f", got, c.limit)
			}
		})
	}
}

// BenchmarkFrame is the cost of one frame in which the streams moved, with a
// tenth of a chart's and a fifth of a table's drawing, as at 10 frames a second,
// up to the bytes for the terminal.
func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
		b.Run(sizeName(size), func(b *testing.B) {
			wld := newWorld(3, 4)
			wld.run(100e9)
			var snaps []*stats.Snapshot
			for range 40 {
				wld.run(wld.now + 1e8)
				snaps = append(snaps, wld.snapshot())
			}
			m := still(snaps[0], Config{})
			clk := newClock()
			m.cfg.Now = clk.now
			i := 0
			m.cfg.Snapshot = func() *stats.Snapshot { return snaps[i%len(snaps)] }
			line := newWire(size[0], size[1])
			line.show(screenOf(m, size[0], size[1], overview))
			b.ReportAllocs()
			for b.Loop() {
				i++
				clk.at = clk.at.Add(100 * time.Millisecond)
				m.Update(frameMsg(m.tick))
				line.bytes += line.show(m.View().Content)
			}
			b.ReportMetric(float64(line.bytes)/float64(b.N), "B/frame")
		})
	}
}

func sizeName(s [2]int) string {
	return map[[2]int]string{{80, 24}: "80x24", {120, 40}: "120x40", {200, 50}: "200x50"}[s]
}
