package ui

import (
	"image"
	"strconv"
	"strings"

	"teapot/ui/chart"
)

// heading draws the first row of a pane: a line with a title in it.
func heading(a chart.Area, title, legend string) {
	a.Row(0).Fill('─', chart.Rule)
	x := a.Text(0, 0, "── ", chart.Rule)
	x = a.Text(x, 0, title+" ", chart.Head)
	if legend != "" && x+chart.Width(legend)+1 <= a.W() {
		x = a.Text(x, 0, legend+" ", chart.Dim)
	}
}

// body is the area under a heading.
func below(a chart.Area) chart.Area { return a.Sub(0, 1, a.W(), a.H()-1) }

// plot draws labels in the gutter and returns the area right of it.
func plot(a chart.Area, labels []string) chart.Area {
	chart.YAxis(a.Sub(0, 0, chartGutter, a.H()), labels)
	return a.Sub(chartGutter, 0, a.W()-chartGutter, a.H())
}

// per names what one column of the charts is.
func per(zoom int64) string { return strconv.FormatInt(zoom/1e9, 10) + "s" }

// drawHeat draws the heatmap of gaps with its legend.
func drawHeat(a chart.Area, fr *frame) {
	heading(a, "gap ms: count per "+per(fr.zoom)+" × length", fr.axes.heat.Legend())
	b := below(a)
	chart.Heat(plot(b, fr.axes.heat.Labels(b.H())), fr.cols, fr.axes.heat, fr.over)
}

// drawGap draws the worst gap of each column.
func drawGap(a chart.Area, fr *frame) {
	legend := ""
	if anyOurs(fr) {
		legend = "□ not the server's: this client's, or the transport's"
	}
	if anyLate(fr) {
		legend = strings.TrimPrefix(legend+"  ", "  ") + "◇ read late here"
	}
	heading(a, "gap ms, worst per "+per(fr.zoom)+" ("+fr.axes.gap.Word()+")", legend)
	b := below(a)
	chart.Worst(plot(b, fr.axes.gap.Labels(b.H())), fr.cols, fr.axes.gap, fr.lim, fr.glyphs)
}

func anyLate(fr *frame) bool {
	for i := range fr.cols {
		if c := &fr.cols[i]; c.Late.N > 0 && c.Late.Max >= c.Gap.Max {
			return true
		}
	}
	return false
}

func anyOurs(fr *frame) bool {
	for i := range fr.cols {
		if fr.cols[i].Ours.N > 0 {
			return true
		}
	}
	return false
}

// drawTTFT draws a dot per request, or in a single row the slowest of each
// column.
func drawTTFT(a chart.Area, fr *frame) {
	limit := limitOf(fr.f, "ttft")
	if a.H() == 1 {
		a.Right(chartGutter-1, 0, "ttft", chart.Head)
		a.Set(chartGutter-1, 0, '┤', chart.Rule)
		chart.Strip(a.Sub(chartGutter, 0, a.W()-chartGutter, 1), fr.cols, fr.axes.ttft, limit)
		return
	}
	heading(a, "ttft ms: one dot per request ("+fr.axes.ttft.Word()+")", "× timeout, at the top")
	b := below(a)
	chart.Dots(plot(b, fr.axes.ttft.Labels(b.H())), fr.t.Dots, fr.span, fr.axes.ttft, limit)
}

// drawOver draws how many gaps passed the limit in each column.
func drawOver(a chart.Area, fr *frame) {
	heading(a, "gaps over "+chart.Short(float64(fr.over))+" ms per "+per(fr.zoom)+" (count, log)", "")
	b := below(a)
	chart.Over(plot(b, nil), fr.cols)
}

// drawSpeedChart draws the tokens per second of all streams, from 0.
func drawSpeedChart(a chart.Area, fr *frame) {
	heading(a, "tok/s, all streams (from 0)", "")
	b := below(a)
	labels := make([]string, b.H())
	if b.H() > 1 {
		labels[b.H()-1] = "0"
	}
	if len(labels) > 0 && fr.axes.speed.Hi > 0 {
		labels[0] = strconv.FormatFloat(fr.axes.speed.Hi, 'g', 4, 64)
	}
	chart.Speeds(plot(b, labels), fr.cols, fr.zoom, fr.axes.speed, fr.glyphs)
}

// drawLane draws the event lane under the charts.
func drawLane(a chart.Area, fr *frame) {
	a.Right(chartGutter-1, 0, "event", chart.Head)
	a.Set(chartGutter-1, 0, '┤', chart.Rule)
	in := a.Sub(chartGutter, 0, a.W()-chartGutter, 1)
	chart.Lane(in, fr.s.Lane, fr.span, fr.t.Info.ID)
	drawSpikeSigns(in, fr)
}

// drawAxis draws the time axis.
func drawAxis(a chart.Area, fr *frame) {
	chart.TimeAxis(a.Sub(chartGutter, 0, a.W()-chartGutter, 1), fr.span, fr.s.Wall, fr.back)
}

// drawBars draws the vertical lines between the columns of a layout.
func drawBars(g *chart.Grid, p *plan, top, bottom int) {
	for _, x := range p.bars {
		g.Area(image.Rect(x, top, x+1, bottom)).Fill('│', chart.Rule)
	}
}
