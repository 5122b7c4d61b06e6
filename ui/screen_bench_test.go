package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"teapot/stats"
)

// shows counts what a model is told, as Bubble Tea tells it.
type shows struct {
	*model
	updates int
}

func (s *shows) tell(msg tea.Msg) {
	s.updates++
	s.model.Update(msg)
}

// scenes are some seconds of snapshots, as many a second as the feed makes.
func scenes(streams, seconds int) []*stats.Snapshot {
	w := newWorld(3, streams)
	w.beat = 5e6 // 200 tok/s a stream
	w.run(60e9)
	var out []*stats.Snapshot
	for range seconds * 20 {
		w.run(w.now + int64(50*time.Millisecond))
		out = append(out, w.snapshot())
	}
	return out
}

// budgets are the most bytes a second to the terminal at 120x40, in KB/s, and
// coreBudget the most of a core for drawing.
var budgets = map[string]float64{"local": 40, "ssh": 12, "low": 1.5}

const coreBudget = 0.05

// BenchmarkScreen is what the screen costs while streams of 200 tok/s run: the
// bytes and frames a second of its own time, the CPU of a second of it, and the
// allocations of a frame, beside the share of the budgets that it uses up. The
// bytes' budgets are those of 120x40; a larger screen may take more.
func BenchmarkScreen(b *testing.B) {
	ssh := vars("TERM", "xterm-256color", "COLORTERM", "truecolor", "LANG", "C.UTF-8", "SSH_TTY", "/dev/pts/1")
	for _, streams := range []int{1, 4, 64} {
		snaps := scenes(streams, 10)
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
			for _, link := range []struct {
				name string
				cfg  Config
			}{{"local", Config{}}, {"ssh", Config{Env: ssh}}, {"low", Config{Env: ssh, LowBandwidth: true}}} {
				b.Run(fmt.Sprintf("%s/%s/%d-streams", sizeName(size), link.name, streams), func(b *testing.B) {
					benchScreen(b, snaps, link.cfg, size, budgets[link.name])
				})
			}
		}
	}
}

func benchScreen(b *testing.B, snaps []*stats.Snapshot, cfg Config, size [2]int, budget float64) {
	clk := newClock()
	start := clk.at
	m := &shows{model: still(snaps[0], cfg)}
	m.cfg.Now = clk.now
	m.cfg.Snapshot = func() *stats.Snapshot { return snaps[int(clk.at.Sub(start)/(50*time.Millisecond))%len(snaps)] }
	line := newWire(size[0], size[1])
	line.show(screenOf(m.model, size[0], size[1], overview))
	b.ReportAllocs()
	frames := 0
	for b.Loop() {
		clk.at = clk.at.Add(m.pace())
		m.tell(frameMsg(m.tick))
		if n := line.show(m.View().Content); n > 0 {
			line.bytes += n
			frames++
		}
	}
	played := clk.at.Sub(start).Seconds()
	kb := float64(line.bytes) / played / 1e3
	b.ReportMetric(kb, "KB/s")
	b.ReportMetric(100*kb/budget, "%bytes-budget")
	b.ReportMetric(float64(frames)/played, "frames/s")
	core := b.Elapsed().Seconds() / played
	b.ReportMetric(100*core, "%core")
	b.ReportMetric(100*core/coreBudget, "%core-budget")
}

// However many tokens come, the model is told of frames and of nothing else.
func TestTheModelIsToldOfFramesNotOfTokens(t *testing.T) {
	seconds := 10
	if testing.Short() {
		seconds = 2
	}
	snaps := scenes(16, seconds)
	clk := newClock()
	start := clk.at
	m := &shows{model: still(snaps[0], Config{})}
	m.cfg.Now = clk.now
	m.cfg.Snapshot = func() *stats.Snapshot { return snaps[min(int(clk.at.Sub(start)/(50*time.Millisecond)), len(snaps)-1)] }
	screenOf(m.model, 120, 40, overview)
	for clk.at.Sub(start) < time.Duration(seconds)*time.Second {
		clk.at = clk.at.Add(m.pace())
		m.tell(frameMsg(m.tick))
		m.View()
	}
	tokens := snaps[len(snaps)-1].Targets[0].Session.Gap.N - snaps[0].Targets[0].Session.Gap.N
	if tokens < uint64(1250*seconds) {
		t.Fatalf("only %d tokens came", tokens)
	}
	if m.updates != 10*seconds {
		t.Errorf("%d updates in %d seconds of %d tokens", m.updates, seconds, tokens)
	}
}
