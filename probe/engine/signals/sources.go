// Package signals looks at what servers and GPUs say of themselves, so that a
// spike can be held against it: pages in the Prometheus text format through a
// table of aliases, the state that engines show elsewhere, and nvidia-smi.
//
// Every look tells its age and its cost, and every source its side effects; one
// that takes something away from others is asked only if the user wants it. The
// package measures no request, decides no verdict, and never shares a
// connection with what is measured.
package signals

import (
	"net"
	"net/url"
	"strings"
	"time"

	"teapot/probe/engine"
	"teapot/probe/event"
)

// Source is one place where signals come from.
type Source struct {
	Name string // one of the Signal… names of the events
	URL  string // may hold userinfo: never shown as it is
	// Every is how often it may be asked.
	Every time.Duration
	// Effect is one line about what asking does to the server or to others who
	// ask it, "" when nothing is known to happen.
	Effect string
	// Drains: asking takes data away from whoever else collects it, so the user
	// must want it.
	Drains bool
	// Own: it is on the server that is measured, so that its key may go along.
	Own bool
}

// Options of [Sources].
type Options struct {
	// Page is the address of a page that the user names, instead of that of the
	// engine; "" for the engine's.
	Page string
	// Exporter is the address of a DCGM exporter's page, "" for none.
	Exporter string
	// Drain allows sources that take data away from others.
	Drain bool
}

const (
	often  = time.Second
	seldom = time.Minute // after a place turned out to have nothing
)

// Sources lists what can be asked of a server that was found. base is its
// address as [engine.Locate] takes it. Of an engine that is not known nothing
// is asked unless the user named a page: a page may be drained by reading it.
func Sources(d engine.Detection, base string, o Options) ([]Source, error) {
	p, err := engine.Locate(base)
	if err != nil {
		return nil, err
	}
	var out []Source
	if o.Page != "" {
		out = append(out, Source{Name: event.SignalMetrics, URL: o.Page, Every: often, Own: sameOrigin(o.Page, p.Root)})
	} else if page, ok := pageOf(d.Engine, p); ok {
		out = append(out, page)
	}
	for _, s := range stateOf(d.Engine, p.Root) {
		if o.Drain || !s.Drains {
			out = append(out, s)
		}
	}
	if o.Exporter != "" {
		out = append(out, Source{Name: event.SignalExporter, URL: o.Exporter, Every: often, Own: sameOrigin(o.Exporter, p.Root)})
	}
	return out, nil
}

// pageOf is the page of an engine in the Prometheus text format.
func pageOf(name string, p engine.Place) (Source, bool) {
	s := Source{Name: event.SignalMetrics, URL: p.Root + "/metrics", Every: often, Own: true}
	switch name {
	case engine.VLLM, engine.SGLang, engine.TGI, engine.LMDeploy, engine.LiteLLM, engine.Teapot:
	case engine.LlamaCpp:
		s.Every = 2 * often // with its slots every second
		s.Effect = "restarts llama.cpp's averages of tokens per second for everybody who reads them, and delays its notice of abandoned requests"
	case engine.NIM:
		s.URL = p.API + "/metrics"
	case engine.TRTLLM: // not /metrics: that is drained
		s.URL = p.Root + "/prometheus/metrics"
	case engine.Triton:
		u, err := url.Parse(p.Root)
		if err != nil {
			return Source{}, false
		}
		u.Host, u.Path, u.RawPath, u.User = net.JoinHostPort(u.Hostname(), "8002"), "/metrics", "", nil
		s.URL, s.Own = u.String(), false
	default:
		return Source{}, false
	}
	return s, true
}

// stateOf is what an engine shows beside a page.
func stateOf(name, root string) []Source {
	switch name {
	case engine.LlamaCpp:
		return []Source{{
			Name: event.SignalSlots, URL: root + "/slots", Every: often, Own: true,
			Effect: "keeps a sleeping model awake, and counts as a task of the server",
		}}
	case engine.Ollama:
		return []Source{{Name: event.SignalLoaded, URL: root + "/api/ps", Every: often, Own: true}}
	case engine.KoboldCpp:
		return []Source{{Name: event.SignalPerf, URL: root + "/api/extra/perf", Every: often, Own: true}}
	case engine.TRTLLM:
		return []Source{{
			Name: event.SignalIterations, URL: root + "/metrics", Every: often, Own: true, Drains: true,
			Effect: "takes the statistics away from every other collector, and may block for 2 s",
		}}
	}
	return nil
}

// sameOrigin tells whether two addresses are those of one server.
func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	if err != nil {
		return false
	}
	y, err := url.Parse(b)
	return err == nil && x.Host != "" && strings.EqualFold(x.Scheme, y.Scheme) && strings.EqualFold(x.Host, y.Host)
}

// Local tells whether an address is that of this machine, so that its GPUs are
// those that serve it. A name that would have to be looked up is not.
func Local(base string) bool {
	p, err := engine.Locate(base)
	if err != nil {
		return false
	}
	u, err := url.Parse(p.Root)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
