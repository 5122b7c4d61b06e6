package export

import (
	"sort"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// Source gives the numbers of a session; a stats.Feed is one.
type Source interface {
	// Do calls fn alone with the aggregator. It waits for nothing but itself.
	Do(fn func(*stats.Aggregator))
}

// collector makes the metrics of a session at each scrape.
type collector struct {
	from    Source
	version string
}

// newCollector returns the metrics of a session for a registry.
func newCollector(from Source, version string) *collector {
	return &collector{from: from, version: version}
}

// Describe sends no descriptions: which metrics there are depends on the
// session, so they are checked at each scrape.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends every metric of this moment.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	var snap *stats.Snapshot
	var dists []stats.Distribution
	c.from.Do(func(a *stats.Aggregator) { snap, dists = a.Snapshot(), a.Distributions() })
	p := page{ch: ch, labels: map[uint32][]string{}}
	p.labelled(snap)
	p.one("build_info", "The version of teapot, in a label.", prometheus.GaugeValue, 1, []string{"version"}, c.version)
	for _, t := range snap.Targets {
		p.target(t)
	}
	for i := range dists {
		p.histogram(&dists[i])
	}
	p.floor(&snap.Floor)
}

// page is one scrape.
type page struct {
	ch     chan<- prometheus.Metric
	labels map[uint32][]string // by target: its URL, its model
}

// targetLabels are the labels of everything that belongs to an endpoint.
var targetLabels = []string{"target", "model"}

// labelled names the targets. Two of the same name are numbered: no metric may
// come twice.
func (p *page) labelled(s *stats.Snapshot) {
	seen := map[string]int{}
	for _, t := range s.Targets {
		url, model := format.Clean(format.Redact(t.Info.URL)), format.Clean(t.Info.Model)
		seen[url]++
		if n := seen[url]; n > 1 {
			url += " #" + strconv.Itoa(n)
		}
		p.labels[t.Info.ID] = []string{strings.ToValidUTF8(url, "?"), strings.ToValidUTF8(model, "?")}
	}
}

// one sends a metric that is a number. Names are without "teapot_".
func (p *page) one(name, help string, kind prometheus.ValueType, v float64, labels []string, values ...string) {
	m, err := prometheus.NewConstMetric(prometheus.NewDesc("teapot_"+name, help, labels, nil), kind, v, values...)
	if err != nil {
		m = prometheus.NewInvalidMetric(prometheus.NewDesc("teapot_"+name, help, labels, nil), err)
	}
	p.ch <- m
}

// of sends a metric of a target, with more labels than its own.
func (p *page) of(t *stats.Target, name, help string, kind prometheus.ValueType, v float64, more ...string) {
	labels, values := targetLabels, p.labels[t.Info.ID]
	for i := 0; i+1 < len(more); i += 2 {
		labels = append(labels[:len(labels):len(labels)], more[i])
		values = append(values[:len(values):len(values)], format.Clean(more[i+1]))
	}
	p.one(name, help, kind, v, labels, values...)
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

func (p *page) target(t *stats.Target) {
	f := &t.Session
	p.state(t)
	p.of(t, "requests_in_flight", "Requests under way.", gauge, float64(t.InFlight))
	for class, n := range f.Requests.ByClass {
		p.of(t, "requests_total", "Measured requests that have ended: ok, failed or aborted by this client, and how.", counter, float64(n),
			"result", ending(class), "class", string(class))
	}
	p.of(t, "warmup_requests_total", "Requests that were sent first and left out of every figure.", counter, float64(f.Requests.Warmup))
	p.of(t, "skipped_requests_total", "Requests that were due and not sent.", counter, float64(f.Requests.Skipped))
	p.of(t, "output_tokens_total", "Tokens received.", counter, float64(f.OutputTokens))
	p.of(t, "prompt_tokens_total", "Prompt tokens sent, as the server counted them.", counter, float64(f.PromptTokens))
	p.of(t, "stalls_total", "Gaps of a frame of film (41.7 ms) or more that are three times the P99 of the minute before.", counter, float64(f.Stalls.Count))
	p.of(t, "stall_seconds_total", "Their lengths, summed up.", counter, float64(f.Stalls.Total)/1e9)
	p.of(t, "left_out_gaps_total", "Gaps that are in no figure because they are not the server's.", counter, float64(f.Merged), "why", "client")
	p.of(t, "left_out_gaps_total", "Gaps that are in no figure because they are not the server's.", counter, float64(f.Transport.Count), "why", "transport")
	for i := range t.Causes {
		p.cause(t, &t.Causes[i])
	}
	for i := range f.SLO {
		r := &f.SLO[i]
		p.of(t, "slo_goal_ratio", "The share that a service level asks for.", gauge, r.Goal, "slo", r.Expr)
		if !r.NoData {
			p.of(t, "slo_attained_ratio", "The share of the session's samples that kept a service level.", gauge, r.Attained, "slo", r.Expr)
		}
	}
}

// states are those of a target, each a series of its own, so that their number
// does not grow with time.
var states = [...]event.State{
	event.StateConnecting, event.StateLoading, event.StateWarmup, event.StateLive, event.StatePaused,
	event.StateBusy, event.StateLimited, event.StateDown, event.StateDone,
}

func (p *page) state(t *stats.Target) {
	up := 1.0
	switch t.Info.State {
	case event.StateDown, event.StateConnecting, event.StateLoading, "":
		up = 0
	}
	p.of(t, "up", "1 while the endpoint serves, as far as the probe knows.", gauge, up)
	for _, s := range states {
		is := 0.0
		if s == t.Info.State {
			is = 1
		}
		p.of(t, "state", "1 for the state that the endpoint is in.", gauge, is, "state", string(s))
	}
	p.of(t, "target_info", "What the endpoint is, in labels.", gauge, 1,
		"engine", t.Info.Engine, "version", t.Info.Version, "api", t.Info.API)
}

// ending is what a class of ending comes to.
func ending(c event.Class) string {
	switch {
	case c.OK():
		return "ok"
	case c.Failed():
		return "failed"
	}
	return "aborted"
}

func (p *page) cause(t *stats.Target, row *stats.CauseRow) {
	cause := row.Cause.String()
	for v, n := range row.By {
		if n > 0 {
			p.of(t, "spikes", "Spikes of the session by what caused them and how sure that is; a later sign may revise it.", gauge, float64(n),
				"cause", cause, "verdict", stats.Verdict(v).String())
		}
	}
	p.of(t, "spike_seconds", "Their lengths, summed up, by cause.", gauge, float64(row.Total)/1e9, "cause", cause)
}

// floor sends what this client itself adds.
func (p *page) floor(f *stats.Floor) {
	one := func(name, help string, kind prometheus.ValueType, v float64) {
		p.one("client_"+name, help, kind, v, nil)
	}
	one("added_p99_seconds", "P99 of what this client added to one instant, in the last minute.", gauge, float64(f.P99)/1e9)
	one("oversleep_seconds", "The longest that the probe overslept in the last minute.", gauge, float64(f.Overshoot)/1e9)
	one("late_p99_seconds", "P99 of how late the probe read what had arrived.", gauge, float64(f.LateP99)/1e9)
	one("late_reads_total", "Reads taken a millisecond or more after the kernel had the bytes.", counter, float64(f.LateReads))
	one("merged_reads_total", "Reads that may have joined what the server sent apart.", counter, float64(f.MergedReads))
	one("host_stalls_total", "Times that the probe overslept by more than 10 ms.", counter, float64(f.HostStalls))
	one("dropped_events_total", "Events lost between the probe and the viewer.", counter, float64(f.DroppedEvents))
	one("suspensions_total", "Times that the probe was not running.", counter, float64(f.Suspensions))
}

// histograms are the quantities that are exported, with their help.
var histograms = map[string]string{
	"ttft": "Time from the request, on a standing connection, to its first token.",
	"gap":  "Time between two events of a stream that carried tokens.",
	"itl":  "Time between two tokens, where the server says how many an event holds.",
	"tpot": "Time per output token of a request, after the first.",
	"e2e":  "Time from the request to its last token.",
}

func (p *page) histogram(d *stats.Distribution) {
	help, wanted := histograms[d.Name]
	if !wanted || p.labels[d.Target] == nil {
		return
	}
	desc := prometheus.NewDesc("teapot_"+d.Name+"_seconds", help, targetLabels, nil)
	p.ch <- &histogramMetric{desc, histogramOf(d), p.labels[d.Target]}
}

// histogramMetric is a histogram, classic and native at once.
type histogramMetric struct {
	desc   *prometheus.Desc
	h      *dto.Histogram
	values []string
}

// Desc is the metric's description.
func (m *histogramMetric) Desc() *prometheus.Desc { return m.desc }

// Write fills in the metric.
func (m *histogramMetric) Write(out *dto.Metric) error {
	out.Histogram = m.h
	for i, name := range targetLabels {
		out.Label = append(out.Label, &dto.LabelPair{Name: proto.String(name), Value: proto.String(m.values[i])})
	}
	sort.Slice(out.Label, func(i, j int) bool { return out.Label[i].GetName() < out.Label[j].GetName() })
	return nil
}
