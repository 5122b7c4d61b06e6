package ui

import (
	"strconv"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// part is a piece of a one-line pane. When the line is too short the pieces of
// the highest rank are left out first.
type part struct {
	text  string
	role  chart.Role
	rank  int
	short []string // what to say instead where text is too long, longest first
}

// leastName is how short the name of what is watched may become.
const leastName = 20

// drawParts draws what fits of the pieces, in their order, two blanks apart.
// The piece at shrink, if any, is shortened in its middle to make room for
// those of rank 4 and better, down to leastName columns.
func drawParts(a chart.Area, parts []part, shrink int) {
	kept, used := choose(parts, a.W(), shrink)
	x := 0
	for i, p := range parts {
		if !kept[i] {
			continue
		}
		text := p.text
		if i == shrink {
			room := chart.Width(text) - max(used-a.W(), 0)
			for _, short := range p.short {
				if chart.Width(text) > room {
					text = short
				}
			}
			text = cutMiddle(text, room)
		}
		x = a.Text(x, 0, text, p.role) + 2
	}
}

func choose(parts []part, w, shrink int) (kept []bool, used int) {
	kept = make([]bool, len(parts))
	used = -2
	for rank := 0; rank < 10; rank++ {
		for i, p := range parts {
			if p.rank != rank || p.text == "" {
				continue
			}
			n := chart.Width(p.text) + 2
			slack := 0 // only what matters more may shorten it
			if shrink >= 0 && rank <= 4 && (kept[shrink] || i == shrink) {
				slack = max(chart.Width(parts[shrink].text)-leastName, 0)
			}
			if used+n-slack > w && rank > 0 {
				continue
			}
			kept[i], used = true, used+n
		}
	}
	return kept, used
}

// drawTitle draws the badge, what is watched, the load and its outcome.
func drawTitle(a chart.Area, fr *frame) {
	badge, role := fr.badge()
	info := &fr.t.Info
	names := names(info)
	detail := ""
	if fr.state() != event.StateLive && fr.ended == "" {
		detail = labelURL(info.Detail)
	}
	engine := strings.TrimSpace(label(info.Engine) + " " + label(info.Version))
	if info.Gateway != "" && !strings.Contains(engine, "gateway") {
		engine += " through " + label(info.Gateway)
	}
	f := &fr.t.Session
	floor, floorRole := floorWord(&fr.s.Floor)
	floorRank := 3
	if floorRole == chart.Warn {
		floorRank = 2
	}
	where := ""
	if fr.played != nil {
		where = fr.played.where
	}
	parts := []part{
		{text: badge, role: role, rank: 0},
		{text: where, role: chart.Info, rank: 0},
		{text: detail, role: chart.Warn, rank: 1},
		{text: names[0], role: chart.Strong, rank: 1, short: names[1:]},
		{text: which(fr), role: chart.Info, rank: 1},
		{text: engine, role: chart.Plain, rank: 4},
		{text: label(info.API), role: chart.Dim, rank: 8},
		{text: loadShape(fr.s), role: chart.Plain, rank: 3},
		{text: lengths(fr.s), role: chart.Plain, rank: 6},
		{text: tokenRate(fr.f), role: chart.Plain, rank: 4},
		{text: requestRate(fr.f), role: chart.Plain, rank: 6},
		{text: format.Age(time.Duration(fr.s.Now)), role: chart.Plain, rank: 3},
		{text: "ok " + format.Count(f.Requests.OK), role: chart.Plain, rank: 3},
		{text: "err " + format.Count(f.Requests.Failed), role: errRole(f), rank: 2},
		{text: errClasses(f), role: chart.Bad, rank: 7},
		{text: floor, role: floorRole, rank: floorRank},
		{text: comparedName(fr), role: chart.MarkRole, rank: 3},
		{text: pastName(fr), role: chart.Warn, rank: 2},
		{text: "window " + windowName(fr.window), role: chart.Plain, rank: 2},
		{text: zoomName(fr.zoom), role: chart.Dim, rank: 6},
	}
	if fr.s.Load.Passive {
		parts = passiveParts(fr, parts[:6])
	}
	drawParts(a, parts, 3)
}

// passiveParts is the title where nothing is asked: without load and outcome.
func passiveParts(fr *frame, first []part) []part {
	return append(first,
		part{text: "no load, only looks", role: chart.Info, rank: 2},
		part{text: format.Age(time.Duration(fr.s.Now)), role: chart.Plain, rank: 3},
		part{text: pastName(fr), role: chart.Warn, rank: 2},
		part{text: zoomName(fr.zoom), role: chart.Dim, rank: 6})
}

// names says what is watched, from "org/model @ host/path" to shorter forms.
func names(info *event.Target) []string {
	model, host := label(info.Model), hostOf(info.URL)
	if model == "" {
		model = "no model yet"
	}
	if host == "" {
		return []string{model}
	}
	base := model[strings.LastIndexByte(model, '/')+1:]
	bare, _, _ := strings.Cut(host, "/")
	return []string{model + " @ " + host, base + " @ " + host, base + " @ " + bare, base}
}

// comparedName is what the figures are compared with.
func comparedName(fr *frame) string {
	if fr.compared == nil {
		return ""
	}
	return fr.compared.title(fr.s.Now)
}

// pastName says that the charts do not show what happens now.
func pastName(fr *frame) string {
	if fr.back <= 0 {
		return ""
	}
	return "charts " + format.Age(time.Duration(fr.back)) + " back"
}

func which(fr *frame) string {
	if n := len(fr.s.Targets); n > 1 {
		return strconv.Itoa(fr.which+1) + "/" + strconv.Itoa(n)
	}
	return ""
}

func errRole(f *stats.Figures) chart.Role {
	if f.Requests.Failed > 0 {
		return chart.Bad
	}
	return chart.Plain
}

// errClasses names the two most frequent kinds of failure: "2 timeout_first, 1
// http_other".
func errClasses(f *stats.Figures) string {
	if f.Requests.Failed == 0 {
		return ""
	}
	var first, second event.Class
	more := func(a, b event.Class) bool {
		na, nb := f.Requests.ByClass[a], f.Requests.ByClass[b]
		return b == "" || na > nb || na == nb && a < b
	}
	for c, n := range f.Requests.ByClass {
		switch {
		case n == 0 || !c.Failed():
		case more(c, first):
			first, second = c, first
		case more(c, second):
			second = c
		}
	}
	var out []string
	for _, c := range [...]event.Class{first, second} {
		if c != "" {
			out = append(out, format.Count(f.Requests.ByClass[c])+" "+label(string(c)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// hostOf is the host and path of an endpoint, without scheme, userinfo, query
// and a trailing slash.
func hostOf(url string) string {
	u := labelURL(format.Redact(url))
	if i := strings.Index(u, "://"); i >= 0 {
		u = u[i+3:]
	}
	return strings.TrimSuffix(u, "/")
}

// loadShape is the load as asked for: "c4", "2/s c128".
func loadShape(s *stats.Snapshot) string {
	l := &s.Load
	out := ""
	if l.Rate > 0 {
		out = format.Rate(l.Rate) + "/s "
		if l.Arrival != "" {
			out += label(l.Arrival) + " "
		}
	}
	if l.Concurrency > 0 {
		out += "c" + strconv.Itoa(l.Concurrency)
	}
	return strings.TrimSpace(out)
}

// lengths are those of the prompt and of the output, in tokens: "512→256".
func lengths(s *stats.Snapshot) string {
	l := &s.Load
	if l.PromptTokens <= 0 || l.MaxTokens <= 0 {
		return ""
	}
	return strconv.Itoa(l.PromptTokens) + "→" + strconv.Itoa(l.MaxTokens)
}

// tokenRate is the part of the load as it turns out that counts tokens: "6.1k
// tok/min".
func tokenRate(f *stats.Figures) string {
	if f.Span <= 0 {
		return ""
	}
	return perMinute(f.OutputRate) + " tok/min"
}

// requestRate is the part of it that counts finished requests. As long as none
// has finished there is no rate, and not one of 0.
func requestRate(f *stats.Figures) string {
	if f.Span <= 0 {
		return ""
	}
	if f.Requests.OK+f.Requests.Failed == 0 {
		return format.None + " req/min"
	}
	return perMinute(f.RequestRate) + " req/min"
}

func perMinute(v float64) string {
	v *= 60
	if !(v >= 0) || v > 1e15 {
		return format.None
	}
	if v < 10 {
		return format.Rate(v)
	}
	return format.Count(uint64(v + 0.5))
}

func zoomName(ns int64) string {
	if ns == int64(time.Second) {
		return ""
	}
	return "1 col = " + strconv.FormatInt(ns/1e9, 10) + "s"
}

// state is the target's state as the screen shows it.
func (fr *frame) state() event.State { return fr.t.Info.State }

// badge is the first thing on the screen: what is going on, as a sign and words.
func (fr *frame) badge() (string, chart.Role) {
	since := ""
	if fr.t.Since > 0 || fr.t.Info.At > 0 {
		since = " " + format.Age(time.Duration(fr.s.Now-fr.t.Since)+fr.age)
	}
	switch {
	case fr.stop:
		return "■ STOPPING", chart.BadgeWarn
	case fr.frozen != nil:
		return "■ PAUSED +" + format.Age(fr.frozen.for_) + ", " + format.Count(fr.frozen.samples) + " new", chart.BadgeWarn
	case fr.played != nil:
		return fr.played.badge, chart.BadgeWarn
	case fr.ended != "":
		why := strings.TrimPrefix(labelURL(fr.ended), "probe ended: ")
		return "✗ PROBE ENDED: " + cut(why, 60), chart.BadgeBad
	case fr.s.Finished != nil:
		return "✓ DONE " + label(fr.s.Finished.Reason), chart.BadgeGood
	case fr.age >= staleAfter:
		return "! STALE " + format.Age(fr.age), chart.BadgeWarn
	}
	switch s := fr.state(); s {
	case event.StateLive:
		if fr.s.Load.Passive {
			return "● PASSIVE", chart.BadgeGood
		}
		return "● LIVE", chart.BadgeGood
	case event.StateDown:
		return "✗ DOWN" + since, chart.BadgeBad
	case event.StatePaused:
		return "■ PROBING PAUSED" + since, chart.BadgeWarn
	case event.StateBusy:
		return "… BUSY, skipped" + since, chart.BadgeWarn
	case event.StateLimited:
		return "… RATE LIMITED" + since, chart.BadgeWarn
	case event.StateLoading:
		return "… LOADING" + since, chart.BadgeWarn
	case event.StateWarmup:
		return "… WARM-UP", chart.BadgeWarn
	case event.StateDone:
		return "✓ DONE", chart.BadgeGood
	}
	if tokensCome(fr.t) { // the first request since it was away is answered
		return "… WARM-UP", chart.BadgeWarn
	}
	return "… CONNECTING" + since, chart.BadgeWarn
}

// tokensCome tells whether a reply is under way.
func tokensCome(t *stats.Target) bool {
	for i := range t.Streams {
		if s := &t.Streams[i]; s.FirstAt > 0 && s.EndAt == 0 {
			return true
		}
	}
	return false
}
