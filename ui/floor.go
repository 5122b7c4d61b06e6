package ui

import (
	"strconv"
	"strings"

	"teapot/stats"
	"teapot/ui/chart"
	"teapot/ui/format"
)

// floorWord is what the title says of this client, and how: one word when all
// is well, what is wrong when it is not.
func floorWord(fl *stats.Floor) (string, chart.Role) {
	switch fl.Word {
	case "":
		return "", chart.Dim
	case "ok":
		if fl.ReadStreams > 0 || fl.Source != "kernel" {
			return "client ok", chart.Good
		}
		return "exact", chart.Good
	}
	return "client " + label(fl.Word), chart.Warn
}

// drawFloor lists what this client itself adds to the figures, and which of
// them may be called the server's because of it.
func drawFloor(a chart.Area, fr *frame) {
	heading(a, "this client: what it adds, and what it left out", "")
	rows := floorRows(fr)
	// Beside each other where there is room for two columns of them.
	cols := 1
	if a.W() >= 2*floorCol+2 {
		cols = 2
	}
	high := (len(rows) + cols - 1) / cols
	for i, r := range rows {
		x, y := i/high*(a.W()/cols), 1+i%high
		if y >= a.H() {
			continue
		}
		b := a.Sub(x, y, a.W()/cols-1, 1)
		b.Text(0, 0, r.name, chart.Dim)
		b.Text(floorName, 0, fitParts(strings.Split(r.text, dot), b.W()-floorName), r.role)
	}
}

// floorHeight is what the list needs at a width: its heading, its rows, and a
// blank one.
func floorHeight(w int) int {
	if w >= 2*floorCol+2 {
		return 1 + (floorCount+1)/2 + 1
	}
	return 1 + floorCount + 1
}

// floorCount is how many rows the list has.
const floorCount = 16

// dot stands between the parts of a row.
const dot = " · "

// fitParts joins as many of the parts as fit: no number is cut in half.
func fitParts(parts []string, w int) string {
	text := cut(parts[0], w)
	for _, p := range parts[1:] {
		if chart.Width(text)+chart.Width(dot)+chart.Width(p) > w {
			break
		}
		text += dot + p
	}
	return text
}

const (
	floorName = 15 // width of a name with its blank
	floorCol  = 74 // width of a row with room
)

// floorRow is one line of the view.
type floorRow struct {
	name, text string
	role       chart.Role
}

func floorRows(fr *frame) []floorRow {
	fl, f := &fr.s.Floor, fr.f
	rows := append(believed(fr), floorRow{"stamps", stampText(fl), chart.Plain})
	add := func(name string, warn bool, parts ...string) {
		role := chart.Plain
		if warn {
			role = chart.Warn
		}
		rows = append(rows, floorRow{name, strings.Join(parts, dot), role})
	}
	if fl.LateMax > 0 {
		add("read late by", fl.Word == "late", "p50 "+ms(fl.LateP50), "p99 "+ms(fl.LateP99), "max "+ms(fl.LateMax)+" ms", format.Count(fl.LateReads)+" over 1 ms")
	} else {
		add("read late by", false, format.None)
	}
	add("merged", f.Merged > 0, several(fl.MergedReads, "read")+" of "+format.Count(fl.Reads), several(fl.Merged, "event"),
		"left out "+several(f.Merged, "gap")+" of "+format.Dur(f.MergedSum), several(f.MergedTTFT, "first token"))
	late := []string{several(f.Tardy, "gap") + " in large part ours", "n " + format.Count(f.Gap.N+f.Excluded) + " with them"}
	if f.Excluded > 0 {
		late[1] += ", " + format.Count(f.Gap.N) + " without (--exclude-late)"
	}
	add("late gaps", f.Tardy > 0, late...)
	add("transport", false, several(f.Transport.Count, "stop")+" of new connections", format.Dur(f.Transport.Total)+" in all",
		"longest "+format.Dur(f.Transport.Longest), "rtt "+rttText(fr.t))
	add("oversleep", fl.Word == "stalled", "last minute "+format.Dur(fl.Overshoot), "session "+format.Dur(fl.SessionOvershoot), several(fl.HostStalls, "host stall")+" over 10 ms")
	if fl.LagN > 0 {
		add("schedule lag", fl.Lag >= lagWorthSaying, "p50 "+ms(fl.LagP50), "p99 "+ms(fl.LagP99), "max "+ms(fl.Lag)+" ms of "+format.Count(fl.LagN)+" requests")
	} else {
		add("schedule lag", false, "max "+ms(fl.Lag)+" ms", "no open-loop schedule")
	}
	if q := &f.SchedTTFT; q.N > 0 {
		add("from schedule", false, "ttft p99 "+format.Quantile(q.Q[stats.P99], format.MS)+", max "+format.Max(q, format.MS)+" ms",
			"from sent "+format.Quantile(f.TTFT.Q[stats.P99], format.MS)+", "+format.Max(&f.TTFT, format.MS)+" ms")
	} else {
		add("from schedule", false, "closed loop: a slow reply delays the next request")
	}
	add("censored", f.TTFT.Censored+f.Gap.Censored > 0, several(f.TTFT.Censored, "first token")+" and "+several(f.Gap.Censored, "gap")+" ended by a limit")
	add("cold", false, several(f.Cold, "request")+" on new connections", "ttft p50 "+withMS(format.Quantile(f.ColdTTFT.Q[stats.P50], format.MS)), several(f.Requests.Warmup, "warm-up")+" left out")
	add("server says", false, servedParts(&f.Served)...)
	add("dropped", fl.DroppedEvents > 0, several(fl.DroppedEvents, "event"), several(fl.DroppedTexts, "text"))
	add("time", fl.Suspensions > 0, several(fl.Suspensions, "suspension")+", "+format.Dur(fl.Suspended), several(fl.ClockSteps, "step")+" of the wall clock (harmless)")
	add("probe", false, "nice "+strconv.Itoa(fr.s.Session.Priority), memoryText(fl.RSS), several(fl.GC, "collection"), "screen "+format.Count(uint64(max(fr.rate, 0)+999)/1000)+" KB/s")
	return rows
}

// believed says which percentiles are the server's.
func believed(fr *frame) []floorRow {
	var rows []floorRow
	for _, g := range [...]struct {
		name string
		f    *stats.Figure
	}{{"gap", &fr.f.Gap}, {"ttft", &fr.f.TTFT}} {
		var theirs, ours []string
		for i := range g.f.Q {
			switch q := &g.f.Q[i]; {
			case q.Mark == stats.MarkNone:
			case q.Ours:
				ours = append(ours, quantileNames[i])
			default:
				theirs = append(theirs, quantileNames[i])
			}
		}
		row := floorRow{g.name, "no samples yet", chart.Dim}
		switch {
		case len(ours) > 0:
			row.text, row.role = "□ "+strings.Join(ours, " ")+" hold a tenth or more of ours", chart.Ours
			if len(theirs) > 0 {
				row.text = "the server's: " + strings.Join(theirs, " ") + dot + row.text
			}
		case len(theirs) > 0:
			row.text, row.role = "the server's: "+strings.Join(theirs, " ")+dot+"floor p99 "+ms(fr.s.Floor.P99)+" ms", chart.Good
		}
		rows = append(rows, row)
	}
	return rows
}

// servedParts set the server's own times beside what is left of ours.
func servedParts(s *stats.Served) []string {
	if s.N() == 0 {
		return []string{"nothing of its own times"}
	}
	var parts []string
	for _, p := range [...]struct {
		name string
		v    *stats.Span
	}{{"queue ", &s.Queue}, {"prefill ", &s.Prefill}, {"decode ", &s.Decode}, {"rest of ttft ", &s.RestFirst}, {"rest of decode ", &s.RestDecode}} {
		if p.v.N > 0 {
			parts = append(parts, p.name+format.MSFine(p.v.P50))
		}
	}
	return append(parts, "p50 ms")
}

var quantileNames = [...]string{"p50", "p90", "p95", "p99", "p99.9", "p99.99"}

func ms(ns int64) string { return format.MSFine(ns) }

func stampText(fl *stats.Floor) string {
	switch {
	case fl.KernelStreams > 0 && fl.ReadStreams > 0:
		return "kernel's receive time " + format.Count(fl.KernelStreams) + " streams" + dot + "time of our read " + format.Count(fl.ReadStreams)
	case fl.ReadStreams > 0:
		return "the time of our read: no receive times to be had"
	case fl.Source == "kernel":
		return "the kernel's receive time"
	case fl.Source == "":
		return format.None
	}
	return "the time of our read"
}

func rttText(t *stats.Target) string {
	if t.RTT == 0 {
		return "unknown"
	}
	return format.Dur(t.RTT) + ", least " + format.Dur(t.RTTMin)
}

func memoryText(rss int64) string {
	if rss <= 0 {
		return "memory unknown"
	}
	return strconv.FormatFloat(float64(rss)/(1<<20), 'f', 1, 64) + " MB"
}
