package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
)

// model is the one Bubble Tea model. It is used by the program's event loop
// alone.
type model struct {
	cfg     Config
	keys    keyMap
	theme   *theme
	depth   depth
	glyphs  chart.Glyphs
	remote  bool
	out     backlog
	drained func(time.Duration) bool // waits for the terminal, before it is released
	do      func(event.Control)      // hands a control to the probe, never blocks

	w, h int
	view view
	// ownOnly: view 5 leaves out the server, for this client at length.
	ownOnly bool
	plan    plan
	grid    *chart.Grid
	dirty   uint8 // what to draw next

	window, zoom, target int
	text, help, asks     bool
	helpTop              int
	helpMost, helpPage   int // its greatest useful top, its rows; as drawn last
	blurred              bool
	scene                Scene // of the demo; none while Title is ""
	cursor               cursor
	spike                spikeKey // the chosen one
	spikeAt              string   // which of how many it is
	straight             bool     // gaps and first tokens on a linear scale
	list                 list
	open                 uint64 // the request looked into, 0 for none
	bases                map[uint32]*baseline
	asked                map[string]asked // of the probe, by control
	markAt               int64            // when the newest mark was made, once markKnown
	markKnown            bool
	dismissed            int64 // marks up to this instant are not compared with
	message              string
	messageTill          time.Time

	snap     *stats.Snapshot // the one drawn
	frozen   *stats.Snapshot // held still, nil while live
	frozenAt time.Time
	seq      uint64
	newAt    time.Time // when the sequence number last changed
	quitAt   time.Time // when the operator asked to quit
	outcome  Outcome

	pair  pair // of two targets
	axes  map[uint32]*axes
	pages pages

	lastSecond, lastHalf, lastChart int64
	tick                            int64
	rate                            byteRate
	frameView                       tea.View
}

// backlog is what the model wants to know of the way to the terminal.
type backlog interface {
	// Ready tells whether everything written so far has been taken.
	Ready() bool
	// Lost tells, once, that frames were thrown away.
	Lost() bool
	// Written is the number of bytes given to the terminal so far.
	Written() int64
}

// What has to be drawn anew.
const (
	dirtyNumbers uint8 = 1 << iota
	dirtyCharts
	dirtyTokens
	dirtyLayout // all of it, on a blank grid
)

const dirtyAll = dirtyNumbers | dirtyCharts | dirtyTokens | dirtyLayout

// zooms are the steps of the time axis, seconds per column.
var zooms = [...]int64{1, 2, 5, 15, 60}

func newModel(cfg Config, out backlog, do func(event.Control)) *model {
	if cfg.Env == nil {
		cfg.Env = func(string) string { return "" }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := colours(cfg.Color, cfg.Env)
	m := &model{
		cfg: cfg, keys: newKeys(), depth: d, theme: newTheme(themeName(cfg.Theme, cfg.Env), d),
		glyphs: glyphSet(cfg.Glyphs, cfg.Env), remote: remote(cfg.Env), out: out, do: do,
		view: overview, window: min(max(cfg.Window, 0), len(stats.Windows)-1), text: !cfg.NoText, axes: map[uint32]*axes{}, pages: pages{}, asked: map[string]asked{},
		dirty: dirtyAll, newAt: cfg.Now(),
	}
	m.pull()
	return m
}

// Init turns synchronized output on, which Bubble Tea does only after asking
// the terminal, and over SSH not at all.
func (m *model) Init() tea.Cmd {
	if m.cfg.NoSync {
		return m.nextTick()
	}
	on := func() tea.Msg {
		return tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: ansi.ModeReset}
	}
	return tea.Batch(on, m.nextTick())
}

// pace is the time between two frames.
func (m *model) pace() time.Duration {
	switch {
	case m.cfg.LowBandwidth:
		return 2 * time.Second
	case m.blurred:
		return time.Second
	case m.remote:
		return time.Second / 3
	}
	return time.Second / 10
}

func (m *model) nextTick() tea.Cmd {
	m.tick++
	n := m.tick
	return tea.Tick(m.pace(), func(time.Time) tea.Msg { return frameMsg(n) })
}

// frameMsg is the frame tick. Its number tells the current chain of ticks from
// one that a change of pace has replaced.
type frameMsg int64

// pull takes the newest snapshot and notes what has to be drawn because of it:
// nothing when it is the same one and the second of the clock is the same too.
func (m *model) pull() {
	s := m.cfg.Snapshot()
	if s == nil {
		s = &stats.Snapshot{}
	}
	now := m.cfg.Now()
	fresh := s.Seq != m.seq || m.snap == nil
	if fresh && !m.seeking() {
		m.seq, m.newAt = s.Seq, now
	}
	m.rate.note(now, m.out.Written())
	half, second := now.UnixMilli()/500, now.Unix()
	charts := s.Now / int64(time.Second)
	switch {
	case m.cfg.LowBandwidth:
		half, charts = second/lowNumbers, charts/lowCharts
	case m.blurred:
		half = second
	}
	if m.frozen != nil || !fresh || m.snap != nil && m.seeking() {
		if second != m.lastSecond { // ages and the state of a freeze go on
			m.dirty |= dirtyNumbers
		}
		m.lastSecond = second
		return
	}
	m.snap, m.lastSecond = s, second
	m.sayMark()
	if half != m.lastHalf {
		m.lastHalf = half
		m.dirty |= dirtyNumbers
	}
	if charts != m.lastChart {
		m.lastChart = charts
		m.dirty |= dirtyCharts
	}
	if !m.cfg.LowBandwidth || m.dirty&dirtyCharts != 0 {
		m.dirty |= dirtyTokens
	}
}

// With --low-bandwidth the numbers change every lowNumbers seconds, charts and
// streams every lowCharts.
const (
	lowNumbers = 2
	lowCharts  = 10
)

// target is the one shown, never nil.
func (m *model) shown() *stats.Target {
	if len(m.snap.Targets) == 0 {
		return noTarget()
	}
	m.target = min(m.target, len(m.snap.Targets)-1)
	if t := m.snap.Targets[m.target]; t != nil {
		return t
	}
	return noTarget()
}

// say shows a message on the bottom row for a while.
func (m *model) say(text string) {
	m.message, m.messageTill = text, m.cfg.Now().Add(4*time.Second)
	m.dirty |= dirtyNumbers
}

// byteRate is the bytes per second to the terminal, once a second.
type byteRate struct {
	at    time.Time
	bytes int64
	per   int64
}

func (r *byteRate) note(now time.Time, written int64) {
	d := now.Sub(r.at)
	if r.at.IsZero() {
		r.at, r.bytes = now, written
		return
	}
	if d < 2*time.Second {
		return
	}
	r.per = (written - r.bytes) * int64(time.Second) / int64(d)
	r.at, r.bytes = now, written
}
