package ui

import (
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/ui/format"
)

// Playback is a recording that is being played. Its methods must not block.
type Playback interface {
	// Pause holds the recording, or lets it go on, and says whether it is held.
	Pause() bool
	// Faster multiplies the speed and returns it, 0 being as fast as possible.
	Faster(by float64) float64
	// GoTo goes to an instant of the session's clock.
	GoTo(to int64)
	// Position is the instant played, and the first and the last one, ns; end is 0
	// where nobody knows it.
	Position() (at, first, end int64)
	// Pace is the speed, and whether the recording is held, on its way to another
	// instant, or at its end.
	Pace() (speed float64, paused, seeking, over bool)
}

// The steps back and forth, ns.
const (
	stepSecond = int64(time.Second)
	stepTen    = 10 * stepSecond
	stepMinute = 60 * stepSecond
)

// play takes the keys of a recording: those that change the load where there is
// a probe. False for any other key, and where nothing is played.
func (m *model) play(k tea.KeyPressMsg) bool {
	p := m.cfg.Playback
	if p == nil {
		return false
	}
	at, first, _ := p.Position()
	switch {
	case key.Matches(k, m.keys.pause):
		p.Pause()
		m.message = "" // the title says it
	case key.Matches(k, m.keys.slower):
		m.say("speed " + speedWord(p.Faster(0.5)))
	case key.Matches(k, m.keys.faster):
		m.say("speed " + speedWord(p.Faster(2)))
	case key.Matches(k, m.keys.jump):
		if !m.cursor.on {
			m.say("J goes to the cursor: put it somewhere with ← first")
			break
		}
		to := m.cursor.at
		m.live()
		m.goTo(to)
	case key.Matches(k, m.keys.start):
		m.goTo(first)
	default:
		by, ok := m.stride(k)
		if !ok {
			return false
		}
		m.goTo(at + by)
	}
	m.dirty = dirtyAll
	return true
}

// stride is how far a key goes back or forth.
func (m *model) stride(k tea.KeyPressMsg) (int64, bool) {
	for _, s := range [...]struct {
		back, forth key.Binding
		by          int64
	}{
		{m.keys.shorter, m.keys.longer, stepTen},
		{m.keys.fewer, m.keys.more, stepMinute},
		{m.keys.lessPrompt, m.keys.morePrompt, stepSecond},
	} {
		switch {
		case key.Matches(k, s.back):
			return -s.by, true
		case key.Matches(k, s.forth):
			return s.by, true
		}
	}
	return 0, false
}

// goTo plays on from another instant.
func (m *model) goTo(at int64) {
	m.frozen = nil
	m.cfg.Playback.GoTo(at)
	at, _, _ = m.cfg.Playback.Position()
	m.say("to " + format.Age(time.Duration(at)))
}

// speedWord is a speed in a few letters: 2×, 1/4×.
func speedWord(v float64) string {
	switch {
	case v <= 0:
		return "as fast as possible"
	case v < 1:
		return "1/" + strconv.FormatFloat(1/v, 'g', 3, 64) + "×"
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + "×"
}

// seeking tells whether a recording is on its way to another instant; the
// picture waits for it.
func (m *model) seeking() bool {
	if m.cfg.Playback == nil {
		return false
	}
	_, _, seeking, _ := m.cfg.Playback.Pace()
	return seeking
}

// played is what the title says of a recording: the badge, and where it is.
type played struct {
	badge, where string
}

// playedNow says where a recording is; nil where none is played.
func playedNow(p Playback) *played {
	if p == nil {
		return nil
	}
	at, _, end := p.Position()
	speed, paused, seeking, over := p.Pace()
	out := &played{badge: "▶ REPLAY", where: format.Age(time.Duration(at))}
	if end > 0 {
		out.where += " of " + format.Age(time.Duration(end))
	}
	switch {
	case seeking:
		out.badge = "» SEEKING"
	case over:
		out.badge = "■ REPLAY ENDED"
	case paused:
		out.badge = "■ REPLAY HELD"
	}
	if speed != 1 {
		out.where += ", " + speedWord(speed)
	}
	return out
}
