package probe

import (
	"context"
	"net/http"
	"time"

	"teapot/probe/engine/signals"
	"teapot/probe/event"
)

// gpuLimit is for one look at the GPUs: longer than it takes to find out that
// the child which looks at them hangs.
const gpuLimit = 15 * time.Second

// watchGPUs watches the GPUs: by the page of an exporter where the user names
// one, else those of this machine, where a target is served from it. Without
// any that is said once, with -v, and is no fault.
func (r *run) watchGPUs(ctx context.Context, loops []*looper) {
	p := &poll{name: "gpu", put: func(s *event.Signal) {
		if bound(s); len(s.Values) > 0 { // most machines have none, which is no news
			r.in.put(s)
		}
	}}
	p.note = func(_, text string) {
		if r.cfg.Verbose {
			r.in.put(&event.Note{At: r.clk.Now(), Level: "info", Text: (&redactor{}).line(text)})
		}
	}
	switch {
	case r.cfg.Exporter != "":
		p.name = event.SignalExporter
		w, err := r.exporter()
		if err != nil {
			r.in.put(&event.Note{At: r.clk.Now(), Level: "warn", Text: "the exporter's page: " + (&redactor{}).line(err.Error())})
			return
		}
		defer w.Close()
		p.of = w
	case r.cfg.GPU && anyLocal(loops):
		g, err := signals.NewGPU(signals.GPUConfig{Now: r.clk.Now})
		if err != nil {
			return
		}
		defer g.Close()
		p.of, p.limit = g, gpuLimit
	default:
		return
	}
	p.run(ctx)
}

// exporter prepares to read the page of a DCGM exporter. No key goes there.
func (r *run) exporter() (*signals.Watcher, error) {
	u, err := address(r.cfg.Exporter)
	if err != nil {
		return nil, err
	}
	rt, err := newTransport(event.TargetConfig{}, "", r.limits.Connect, r.clk)
	if err != nil {
		return nil, err
	}
	rt.MaxIdleConnsPerHost, rt.MaxConnsPerHost = 1, 1
	return signals.NewWatcher(signals.Config{
		Source: signals.Source{Name: event.SignalExporter, URL: u.String(), Every: time.Second},
		Table:  r.table, Header: http.Header{}, Client: newClient(rt), Now: r.clk.Now, Wall: time.Now,
	})
}

// anyLocal tells whether a target is on this machine.
func anyLocal(loops []*looper) bool {
	for _, l := range loops {
		if signals.Local(l.ep.address) {
			return true
		}
	}
	return false
}
