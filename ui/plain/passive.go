package plain

import (
	"teapot/stats"
	"teapot/ui/format"
)

// server adds what a server says of itself, where nothing else is measured.
func (w *words) server(v *stats.Server) {
	for _, x := range []struct{ key, name string }{{"running", "running"}, {"waiting", "waiting"}, {"kv", "kv_used"}, {"preemptions", "preemptions"}} {
		value, ok := v.Value(x.name)
		switch {
		case !ok:
			w.add(x.key, format.None)
		case x.key == "kv":
			w.add(x.key, format.Percent(value.Value))
		case x.key == "preemptions":
			w.add(x.key, count(uint64(max(value.Grown, 0))))
		default:
			w.add(x.key, count(uint64(max(value.Value, 0))))
		}
	}
	if v == nil {
		v = &stats.Server{}
	}
	for _, x := range []struct {
		key string
		f   *stats.ServerFigure
	}{{"ttft", &v.TTFT}, {"itl", &v.ITL}, {"queue", &v.Queue}} {
		mean := format.None
		if x.f.MinuteN > 0 {
			mean = format.MS(x.f.MinuteMean)
		}
		w.add(x.key, mean)
	}
}
