package ui

import (
	"image"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// View returns the screen. While nothing changed, or while the terminal has not
// taken the last frame, it is the same View as before, and no byte is written.
func (m *model) View() tea.View {
	if m.dirty != 0 && (m.out.Ready() || m.frameView.Content == "") {
		m.draw()
		var b strings.Builder
		b.Grow(len(m.frameView.Content) + 256)
		encode(&b, m.grid, m.theme, m.glyphs == chart.ASCII)
		m.frameView = tea.View{Content: b.String(), AltScreen: true, ReportFocus: true}
	}
	return m.frameView
}

// frameFor gathers what the panes read.
func (m *model) frameFor() *frame {
	t := m.shown()
	fr := &frame{
		s: m.snap, t: t, f: &t.Windows[m.window], window: m.window, which: m.target, zoom: m.zoomNS(),
		glyphs: m.glyphs, text: m.text, ended: m.ended(), rate: m.rate.per,
	}
	now := m.cfg.Now()
	fr.age = now.Sub(m.newAt)
	if fr.played = playedNow(m.cfg.Playback); fr.played != nil {
		fr.age = 0 // a recording does not age
	}
	if m.frozen != nil {
		fr.frozen = &frozen{now.Sub(m.frozenAt), samplesOf(m.cfg.Snapshot()) - samplesOf(m.frozen)}
	}
	fr.stop, fr.scene, fr.staged = !m.quitAt.IsZero(), m.scene, m.cfg.Scene != nil
	fr.lim = limits(fr.f)
	if fr.over = limitOf(fr.f, "gap"); fr.over == 0 {
		fr.over = feltInstant
	}
	m.hold()
	fr.end = max(m.snap.Now/1e9*1e9, fr.zoom) - 1
	if last := m.lastColumn(); last < m.liveColumn() {
		fr.end, fr.back = (last+1)*fr.zoom-1, (m.liveColumn()-last)*fr.zoom
	}
	fr.cursor, fr.straight, fr.compared = m.cursor, m.straight, m.comparison(t)
	fr.spike, fr.spikeAt = findSpike(t, m.spike), m.spikeAt
	fr.cols = columns(t, fr.end, fr.zoom, m.plan.plotW)
	fr.span = chart.SpanOf(fr.cols, fr.zoom)
	if m.axes[t.Info.ID] == nil {
		m.axes[t.Info.ID] = &axes{}
	}
	fr.axes = m.axes[t.Info.ID]
	return fr
}

// samplesOf counts the samples of all targets.
func samplesOf(s *stats.Snapshot) uint64 {
	if s == nil {
		return 0
	}
	n := uint64(0)
	for _, t := range s.Targets {
		if t != nil {
			n += t.Session.Gap.N + t.Session.TTFT.N
		}
	}
	return n
}

// streamCount is the number of streams to keep room for.
func (m *model) streamCount() int {
	return min(max(m.snap.Load.Concurrency, len(m.shown().Streams), 1), 16)
}

// shape is what the layout needs to know beside the size.
func (m *model) shape() shape {
	if m.pair.common != nil {
		return *m.pair.common
	}
	t := m.shown()
	fr := frame{s: m.snap, t: t, f: &t.Windows[m.window]}
	return shape{
		told:    toldRows(&fr),
		streams: m.streamCount(), compared: m.comparison(t) != nil, open: m.open != 0,
		strips: len(stripsOf(m.snap, t)), more: len(gpuStrips(m.snap, t)),
		own: m.ownOnly && m.view == client, passive: m.snap.Load.Passive,
	}
}

// draw brings the grid up to date.
func (m *model) draw() {
	if on := m.paired(); on != m.pair.on {
		m.pair.on, m.dirty = on, dirtyAll
	}
	if m.pair.on {
		m.drawPair()
		m.drawHelp()
		return
	}
	p := layout(m.w, m.h, m.view, m.shape())
	if m.grid == nil || m.grid.W != p.w || m.grid.H != p.h || m.dirty&dirtyLayout != 0 || !m.plan.same(&p) {
		m.grid = chart.NewGrid(p.w, p.h)
		m.dirty = dirtyAll
	}
	m.plan = p
	fr := m.frameFor()
	if m.dirty&dirtyCharts != 0 {
		fr.axes.fit(fr, max(p.heat.Dy()-1, 0))
	}
	switch {
	case !p.oneLine.Empty():
		a := m.grid.Area(p.oneLine)
		a.Clear()
		drawOneLine(a, fr)
	case m.view == words && m.open == 0 && !m.snap.Load.Passive:
		m.drawWordsView(fr)
	default:
		m.drawOverview(fr)
	}
	m.dirty = 0
	m.drawHelp()
}

// drawHelp draws the help over everything, while it is open.
func (m *model) drawHelp() {
	if m.help {
		m.helpMost, m.helpPage = drawHelp(m.grid, &m.keys, m.helpTop)
		m.helpTop = min(m.helpTop, m.helpMost)
	}
}

func (m *model) drawOverview(fr *frame) {
	p := &m.plan
	if m.dirty&dirtyLayout != 0 {
		top, bottom := p.table.Min.Y, p.axis.Max.Y
		drawBars(m.grid, p, top, bottom)
	}
	for _, d := range [...]struct {
		bit  uint8
		area chart.Area
		draw func(chart.Area)
	}{
		{dirtyNumbers, m.grid.Area(p.title), func(a chart.Area) { drawTitle(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.slo), func(a chart.Area) { drawSLO(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.table), func(a chart.Area) { drawTable(a, fr, p.wide) }},
		{dirtyNumbers, m.grid.Area(p.split), func(a chart.Area) { drawSplit(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.smooth), func(a chart.Area) { drawSmooth(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.causes), func(a chart.Area) { drawCauses(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.told), func(a chart.Area) { drawTold(a, fr) }},
		{dirtyCharts, m.grid.Area(p.strips), func(a chart.Area) { drawStrips(a, fr) }},
		{dirtyCharts, m.grid.Area(p.served), func(a chart.Area) { drawServed(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.floor), func(a chart.Area) { drawFloor(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.recent), func(a chart.Area) { drawRecent(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.health), func(a chart.Area) { drawHealth(a, fr) }},
		{dirtyNumbers, m.grid.Area(p.worst), func(a chart.Area) {
			if a.H() == 1 {
				drawWorstLine(a, fr)
			} else {
				drawWorst(a, fr)
			}
		}},
		{dirtyNumbers, m.grid.Area(p.list), func(a chart.Area) { drawRequests(a, fr, &m.list) }},
		{dirtyNumbers, m.grid.Area(p.inspect), func(a chart.Area) { drawInspect(a, fr, m.open) }},
		{dirtyNumbers, m.grid.Area(p.keys), func(a chart.Area) { m.drawBottom(a, fr) }},
		{dirtyCharts, m.grid.Area(p.heat), func(a chart.Area) { drawHeat(a, fr) }},
		{dirtyCharts, m.grid.Area(p.gap), func(a chart.Area) { drawGap(a, fr) }},
		{dirtyCharts, m.grid.Area(p.ttft), func(a chart.Area) { drawTTFT(a, fr) }},
		{dirtyCharts, m.grid.Area(p.over), func(a chart.Area) { drawOver(a, fr) }},
		{dirtyCharts, m.grid.Area(p.speed), func(a chart.Area) { drawSpeedChart(a, fr) }},
		{dirtyCharts, m.grid.Area(p.lane), func(a chart.Area) { drawLane(a, fr) }},
		{dirtyCharts, m.grid.Area(p.axis), func(a chart.Area) { drawAxis(a, fr) }},
		{dirtyCharts, m.grid.Area(p.curve), func(a chart.Area) { drawCurve(a, fr) }},
		{dirtyTokens, m.grid.Area(p.streams), func(a chart.Area) { drawStreams(a, fr, m.pages) }},
		{dirtyTokens, m.grid.Area(p.talk), func(a chart.Area) { drawTalk(a, fr, m.pages) }},
	} {
		if m.dirty&d.bit != 0 && d.area.H() > 0 && d.area.W() > 0 {
			d.area.Clear()
			d.draw(d.area)
		}
	}
	if m.dirty&dirtyCharts != 0 {
		m.drawCursors(fr)
	}
}

// drawCursors draws the cursor through all charts on the time axis.
func (m *model) drawCursors(fr *frame) {
	p := &m.plan
	for _, r := range [...]image.Rectangle{p.heat, p.gap, p.ttft, p.over, p.speed, p.lane} {
		a := m.grid.Area(r)
		if a.H() > 1 {
			a = below(a)
		}
		drawCursor(a.Sub(chartGutter, 0, a.W()-chartGutter, a.H()), fr)
	}
	if x := fr.cursorColumn(); x >= 0 {
		a := m.grid.Area(p.axis)
		x += a.W() - fr.span.N
		if c := a.Cell(x, 0); c.Rune > ' ' { // a time of day stays whole
			a.Set(x, 0, c.Rune, c.Role|chart.Reverse)
		} else {
			a.Set(x, 0, '▲', chart.Info)
		}
	}
}

func (m *model) drawWordsView(fr *frame) {
	p := &m.plan
	if m.dirty&dirtyLayout != 0 && len(p.panes) > 0 {
		drawBars(m.grid, p, p.panes[0].Min.Y, p.panes[len(p.panes)-1].Max.Y)
	}
	if m.dirty&dirtyNumbers != 0 {
		for _, d := range [...]struct {
			area chart.Area
			draw func(chart.Area)
		}{
			{m.grid.Area(p.title), func(a chart.Area) { drawTitle(a, fr) }},
			{m.grid.Area(p.slo), func(a chart.Area) { drawSLO(a, fr) }},
			{m.grid.Area(p.ruler), func(a chart.Area) { drawRuler(a, fr) }},
			{m.grid.Area(p.smooth), func(a chart.Area) { drawSmoothLine(a, fr) }},
			{m.grid.Area(p.keys), func(a chart.Area) { m.drawBottom(a, fr) }},
		} {
			if d.area.H() > 0 {
				d.area.Clear()
				d.draw(d.area)
			}
		}
	}
	if m.dirty&dirtyTokens == 0 {
		return
	}
	for i, r := range p.panes {
		a := m.grid.Area(r)
		a.Clear()
		t, st := m.streamFor(i, len(p.panes))
		if st == nil {
			heading(a, "no stream", "")
			continue
		}
		f := *fr
		f.t = t
		drawPane(a, &f, st, m.pages)
	}
}

// streamFor picks the stream of a pane: with one target its streams in the
// order of their slots, with several each target's in turn, so that two stand
// left and right.
func (m *model) streamFor(i, panes int) (*stats.Target, *stats.Stream) {
	n := len(m.snap.Targets)
	if n == 0 {
		return nil, nil
	}
	t, at := m.shown(), i
	if n > 1 && panes > 1 && m.pair.common == nil && m.pair.side == bothSides {
		t, at = m.snap.Targets[i%n], i/n
	}
	if t == nil || at >= len(t.Streams) {
		return nil, nil
	}
	return t, &t.Streams[at]
}

// drawOneLine is all that fits on a screen too small for a table.
func drawOneLine(a chart.Area, fr *frame) {
	badge, role := fr.badge()
	g := &fr.f.Gap
	drawParts(a, []part{
		{text: badge, role: role, rank: 2},
		{text: "gap p99 " + format.Quantile(g.Q[stats.P99], format.MS), role: chart.Strong, rank: 3},
		{text: "max " + format.Max(g, format.MS), role: chart.Plain, rank: 4},
		{text: "needs " + strconv.Itoa(leastW) + "x" + strconv.Itoa(leastH), role: chart.Warn, rank: 1},
		{text: "q quits", role: chart.Key, rank: 0},
	}, -1)
}
