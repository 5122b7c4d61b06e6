package ui

import (
	"strings"
	"testing"

	"teapot/stats"
)

// tape is a recording of a minute that notes what is done to it.
type tape struct {
	at            int64
	speed         float64
	held, seeking bool
	over          bool
}

func (p *tape) Pause() bool                     { p.held = !p.held; return p.held }
func (p *tape) Faster(by float64) float64       { p.speed *= by; return p.speed }
func (p *tape) GoTo(to int64)                   { p.at = min(max(to, 0), 3600e9) }
func (p *tape) Position() (at, a, e int64)      { return p.at, 0, 3600e9 }
func (p *tape) Pace() (v float64, h, s, o bool) { return p.speed, p.held, p.seeking, p.over }

func TestTheKeysOfAReplay(t *testing.T) {
	p := &tape{at: 100e9, speed: 1}
	m := still(busy(), Config{Playback: p, Theme: "mono"})
	for _, c := range []struct {
		keys string
		at   int64
	}{
		{">", 110e9}, {"<", 100e9}, {"}", 160e9}, {"{", 100e9}, {".", 101e9}, {",", 100e9}, {"0", 0}, {"<", 0},
		{"} } }", 180e9},
	} {
		press(m, strings.Fields(c.keys)...)
		if p.at != c.at {
			t.Errorf("after %s at %d, want %d", c.keys, p.at, c.at)
		}
	}
	press(m, "]", "]")
	if p.speed != 4 {
		t.Errorf("speed %v", p.speed)
	}
	title := func() string { return strings.SplitN(screenOf(m, 120, 40, overview), "\n", 2)[0] }
	if got := title(); !strings.Contains(got, "▶ REPLAY") || !strings.Contains(got, " 3m00s of 1h00m, 4× ") {
		t.Errorf("the title is %q", got)
	}
	press(m, "[", "[", "[", "p")
	if got := title(); !p.held || !strings.Contains(got, "■ REPLAY HELD") || !strings.Contains(got, "1/2×") {
		t.Errorf("held, the title is %q", got)
	}
	p.over = true
	if got := title(); !strings.Contains(got, "■ REPLAY ENDED") {
		t.Errorf("at the end, the title is %q", got)
	}
}

func TestAReplayGoesToTheCursor(t *testing.T) {
	p := &tape{at: 36e9, speed: 1}
	m := still(busy(), Config{Playback: p})
	screenOf(m, 120, 40, overview)
	press(m, "J")
	if p.at != 36e9 || !strings.Contains(m.message, "cursor") {
		t.Errorf("without a cursor: at %d, %q", p.at, m.message)
	}
	press(m, "left", "left", "left", "left")
	to := m.cursor.at
	press(m, "J")
	if p.at != to || m.cursor.on {
		t.Errorf("at %d, the cursor was at %d", p.at, to)
	}
}

// While a recording is on its way the picture waits, and then it is the new one.
func TestThePictureWaitsForTheSeek(t *testing.T) {
	p := &tape{speed: 1}
	s := busy()
	m := still(s, Config{Playback: p})
	m.cfg.Snapshot = func() *stats.Snapshot { return s }
	p.seeking = true
	s = &stats.Snapshot{Seq: 1}
	m.Update(frameMsg(m.tick))
	if len(m.snap.Targets) == 0 {
		t.Error("the picture went blank")
	}
	p.seeking = false
	m.Update(frameMsg(m.tick))
	if m.snap != s {
		t.Error("the picture is still that of before")
	}
}

func TestAMeasurementIsNoReplay(t *testing.T) {
	m := still(busy(), Config{})
	press(m, "0", "J")
	if out := screenOf(m, 120, 40, overview); strings.Contains(out, "REPLAY") {
		t.Errorf("%s", out)
	}
}
