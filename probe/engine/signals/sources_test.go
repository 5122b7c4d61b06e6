package signals

import (
	"strings"
	"testing"

	"teapot/probe/engine"
)

func TestSources(t *testing.T) {
	for _, c := range []struct {
		engine string
		o      Options
		want   string
	}{
		{engine.VLLM, Options{}, "metrics http://h:1/p/metrics own"},
		{engine.NIM, Options{}, "metrics http://h:1/p/v1/metrics own"},
		{engine.LlamaCpp, Options{}, "metrics http://h:1/p/metrics own effect; slots http://h:1/p/slots own effect"},
		{engine.Ollama, Options{}, "loaded http://h:1/p/api/ps own"},
		{engine.KoboldCpp, Options{}, "perf http://h:1/p/api/extra/perf own"},
		{engine.TRTLLM, Options{}, "metrics http://h:1/p/prometheus/metrics own"},
		{engine.TRTLLM, Options{Drain: true}, "metrics http://h:1/p/prometheus/metrics own; iterations http://h:1/p/metrics own effect drains"},
		{engine.Triton, Options{}, "metrics http://h:8002/metrics"},
		{engine.OpenAI, Options{}, ""},
		{"", Options{}, ""},
		{"", Options{Page: "http://h:1/m"}, "metrics http://h:1/m own"},
		{engine.VLLM, Options{Page: "http://other/m", Exporter: "http://h:9400/metrics"}, "metrics http://other/m; exporter http://h:9400/metrics"},
	} {
		got, err := Sources(engine.Detection{Engine: c.engine}, "http://h:1/p/v1", c.o)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range got {
			line := s.Name + " " + s.URL
			if s.Own {
				line += " own"
			}
			if s.Effect != "" {
				line += " effect"
			}
			if s.Drains {
				line += " drains"
			}
			all = append(all, line)
			if s.Every < often {
				t.Errorf("%s: every %v", s.Name, s.Every)
			}
			if _, err := NewWatcher(Config{Source: s, Now: new(clock).now}); err != nil {
				t.Error(err)
			}
		}
		if line := strings.Join(all, "; "); line != c.want {
			t.Errorf("%s: %s, want %s", c.engine, line, c.want)
		}
	}
	if _, err := Sources(engine.Detection{}, "", Options{}); err == nil {
		t.Error("no address was accepted")
	}
	if _, err := NewWatcher(Config{Source: Source{Name: "x"}, Now: new(clock).now}); err == nil {
		t.Error("an unknown source was accepted")
	}
}

func TestLocal(t *testing.T) {
	for base, want := range map[string]bool{"localhost:8000": true, "http://127.0.0.9/v1": true, "http://[::1]:1": true, "http://box": false, "http://10.0.0.1": false, "": false} {
		if Local(base) != want {
			t.Errorf("%q: %v", base, !want)
		}
	}
}
