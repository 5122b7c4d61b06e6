package ui

import (
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// toldLine is one line of what a server says of itself.
type toldLine struct {
	name, text string
	role       chart.Role
}

// drawTold writes the server's own figures beside ours, where they were said,
// how old they are and what asking costs, what the GPUs do, and what is missing.
func drawTold(a chart.Area, fr *frame) {
	sv := fr.t.Server
	legend := "5: client alone"
	if fr.s.Load.Passive {
		legend = "≤ by the edges of its buckets"
	}
	heading(a, "the server's own figures, ms", legend)
	y := 1
	if sv == nil {
		for _, l := range wrap(noServer, a.W()) {
			a.Text(0, y, l, chart.Dim)
			y++
		}
	} else {
		y = drawOwnFigures(a, fr, y)
	}
	for _, l := range toldLines(fr) {
		if y >= a.H() {
			return
		}
		a.Text(0, y, l.name, chart.Dim)
		for _, row := range wrapParts(strings.Split(l.text, dot), a.W()-toldName) {
			if y >= a.H() {
				return
			}
			a.Text(toldName, y, row, l.role)
			y++
		}
	}
}

// toldRows is how many rows drawTold fills at a width where nothing wraps.
func toldRows(fr *frame) int {
	rows := 1 + len(toldLines(fr))
	if fr.t.Server == nil {
		return rows + 3
	}
	if n := len(ownFigures(fr)); n > 0 {
		rows += n + 2
	}
	return rows
}

// wrapParts sets parts in rows of at most w columns: one that is wider by itself
// is broken between words.
func wrapParts(parts []string, w int) []string {
	var out []string
	row := ""
	for _, p := range parts {
		switch {
		case row == "":
		case chart.Width(row)+chart.Width(dot)+chart.Width(p) <= w:
			row += dot + p
			continue
		default:
			out, row = append(out, row), ""
		}
		if chart.Width(p) <= w {
			row = p
			continue
		}
		rows := wrap(p, w)
		out, row = append(out, rows[:max(len(rows)-1, 0)]...), rows[len(rows)-1]
	}
	if row != "" {
		out = append(out, row)
	}
	return out
}

// noServer says how a server comes to say something of itself.
const noServer = "this server says nothing of itself. vLLM, SGLang, TGI, LMDeploy and Triton have a page of metrics, " +
	"llama.cpp with --metrics and --slots; --server-metrics URL names one that is elsewhere"

// toldName is the width of a line's name with its blank.
const toldName = 9

// ownFigure is one of the server's histograms beside the same of ours.
type ownFigure struct {
	name string
	own  *stats.ServerFigure
	here *stats.Figure // nil where this client cannot measure it
}

func ownFigures(fr *frame) []ownFigure {
	sv, f := fr.t.Server, fr.f
	all := [...]ownFigure{
		{"ttft", &sv.TTFT, &f.TTFT}, {"itl", &sv.ITL, &f.Gap}, {"tpot", &sv.TPOT, &f.TPOT},
		{"queue", &sv.Queue, nil}, {"prefill", &sv.Prefill, nil}, {"e2e", &sv.E2E, &f.E2E},
	}
	var out []ownFigure
	for _, o := range all {
		if o.own.MinuteN > 0 || o.own.N > 0 {
			out = append(out, o)
		}
	}
	return out
}

// drawOwnFigures draws the table, or without room for it and a line more its means
// in one line, and returns the row after it.
func drawOwnFigures(a chart.Area, fr *frame, y int) int {
	list := ownFigures(fr)
	if len(list) == 0 {
		return y
	}
	passive := fr.s.Load.Passive
	if a.H()-y < len(list)+2 {
		parts := make([]string, 0, len(list)+1)
		for _, o := range list {
			text := o.name + " " + ms(o.own.MinuteMean)
			if !passive && o.here != nil && o.here.N > 0 {
				text += " (here p50 " + format.Quantile(o.here.Q[stats.P50], format.MS) + ")"
			}
			parts = append(parts, text)
		}
		a.Text(0, y, "mean", chart.Dim)
		a.Text(toldName, y, fitParts(parts, a.W()-toldName), chart.Plain)
		return y + 1
	}
	heads := []string{"mean 1m", "n", "p50", "p99"} // by bucket, of the session
	if !passive {
		heads = append(heads, "our p50", "p99")
	}
	at := func(i int) int { return toldName - 1 + [...]int{7, 13, 20, 27, 35, 42}[i] }
	for i, h := range heads {
		a.Right(at(i), y, h, chart.Dim)
	}
	for _, o := range list {
		y++
		a.Text(0, y, o.name, chart.Head)
		a.Right(at(0), y, fitMS(o.own.MinuteMean, "", "", 7), chart.Strong)
		a.Right(at(1), y, format.Count(uint64(min(max(o.own.MinuteN, 0), 1e15))), chart.Plain)
		for i, v := range [...]int64{o.own.AllP50, o.own.AllP99} {
			a.Right(at(2+i), y, format.Edge(v, format.MS), chart.Plain)
		}
		if passive {
			continue
		}
		for i, q := range [...]int{stats.P50, stats.P99} {
			text, role := format.None, chart.Dim
			if o.here != nil {
				text, role = quantile(&o.here.Q[q], false, 7)
			}
			a.Right(at(4+i), y, text, role)
		}
	}
	return y + 1
}

// toldLines are the lines under the figures: sources, GPUs, what is missing.
func toldLines(fr *frame) []toldLine {
	var out []toldLine
	for _, sv := range [...]*stats.Server{fr.t.Server, fr.s.Machine} {
		if sv == nil {
			continue
		}
		for i := range sv.Sources {
			out = append(out, sourceLine(fr, &sv.Sources[i]))
		}
	}
	for _, sv := range [...]*stats.Server{fr.t.Server, fr.s.Machine} {
		out = append(out, gpuLines(sv)...)
	}
	if sv := fr.t.Server; sv != nil {
		if sv.Restarts > 0 {
			out = append(out, toldLine{"restarts", strconv.Itoa(sv.Restarts) + ", the last at " + fr.clock(sv.RestartAt), chart.Warn})
		}
		if len(sv.Missing) > 0 {
			out = append(out, toldLine{"not told", strings.Join(missingWords(sv.Missing), dot), chart.Dim})
		}
	}
	return out
}

// staleLooks is after how many looks that did not come a source is old.
const staleLooks = 3

// sourceLine says how old a source's newest answer is, and what asking costs.
func sourceLine(fr *frame, src *stats.ServerSource) toldLine {
	l := toldLine{name: cut(label(src.Name), toldName-1), role: chart.Plain}
	if src.Detail != "" && src.Every == 0 { // it never answered twice: it is not there
		l.text, l.role = labelURL(src.Detail), chart.Dim
		return l
	}
	text, stale := heardAgo(fr, src)
	if stale {
		l.role = chart.Warn
	}
	parts := []string{text}
	if src.Detail != "" {
		parts = append(parts, labelURL(src.Detail))
	}
	parts = append(parts, format.Count(src.MinuteLooks)+" looks/min", format.Dur(src.Took)+" each",
		format.Count((src.MinuteBytes+500)/1000)+" KB/min")
	if src.Effect != "" {
		parts = append(parts, labelURL(src.Effect))
	}
	l.text = strings.Join(parts, dot)
	return l
}

// missingWords say in words what a page lacks.
func missingWords(names []string) []string {
	words := map[string]string{
		"running": "requests running", "waiting": "requests waiting", "kv_used": "KV cache in use", "prefill_tokens": "prompt tokens as they are read",
		"step_tokens": "tokens of a step", "gen_tokens": "tokens generated", "prefix_hits": "prefix cache", "queue": "time in the queue",
	}
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = words[n]; out[i] == "" {
			out[i] = label(n)
		}
	}
	return out
}

// gpuLines are a line for each GPU.
func gpuLines(sv *stats.Server) []toldLine {
	if sv == nil {
		return nil
	}
	var out []toldLine
	for i := range sv.Values {
		if v := &sv.Values[i]; v.Name == "gpu.util" {
			out = append(out, gpuLine(sv, v.Of))
		}
	}
	return out
}

func gpuLine(sv *stats.Server, of string) toldLine {
	l := toldLine{name: cut("gpu "+label(of), toldName-1), role: chart.Plain}
	var parts []string
	get := func(name string) (float64, bool) { return valueOf(sv, name, of) }
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	if mask, ok := get("gpu.throttle"); ok {
		if why := stats.SlowedFor(mask); why != "" {
			parts, l.role = append(parts, "slowed for "+why), chart.Warn
		}
	}
	if v, ok := get("gpu.util"); ok {
		parts = append(parts, "busy "+number(100*v, 0)+"%")
	}
	for _, x := range [...]struct {
		name, most, unit, what string
		scale                  float64
		digits                 int
	}{
		{"gpu.mem_used", "gpu.mem_total", " GB", "memory ", 1 << 30, 1},
		{"gpu.power", "gpu.power_limit", " W", "", 1, 0},
		{"gpu.clock", "gpu.clock_max", " MHz", "", 1e6, 0},
		{"gpu.temp", "", " °C", "", 1, 0},
	} {
		v, ok := get(x.name)
		if !ok {
			continue
		}
		text := x.what + number(v/x.scale, x.digits)
		if most, ok := get(x.most); ok && most > 0 {
			text += " of " + number(most/x.scale, x.digits)
		}
		parts = append(parts, text+x.unit)
	}
	l.text = strings.Join(parts, dot)
	return l
}
