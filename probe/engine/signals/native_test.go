package signals

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"teapot/probe/event"
)

func TestStates(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		name, source, body string
		model              string
		want               map[string]float64
	}{
		{"idle slots, recorded", event.SignalSlots, file(t, "llamacpp_slots_idle.json"), "", map[string]float64{"slots": 4, "running": 0, "prefilling": 0, "prefill_left": 0}},
		{"a prompt begins, recorded", event.SignalSlots, file(t, "llamacpp_slots_prefill0.json"), "", map[string]float64{"slots": 1, "running": 1, "prefilling": 1, "prefill_left": 2048, "decoded": 0}},
		{"half of a prompt, recorded", event.SignalSlots, file(t, "llamacpp_slots_prefill1.json"), "", map[string]float64{"running": 1, "prefilling": 1, "prefill_left": 2020, "decoded": 0}},
		{"after the prompt, recorded", event.SignalSlots, file(t, "llamacpp_slots_prefill2.json"), "", map[string]float64{"running": 1, "prefilling": 0, "prefill_left": 0, "decoded": 5}},
		{"older slots", event.SignalSlots, `[{"state":1,"next_token":{"n_decoded":3}},{"state":0}]`, "", map[string]float64{"slots": 2, "running": 1, "decoded": 3}},
		{"Ollama, recorded", event.SignalLoaded, file(t, "ollama_ps.json"), "tiny", map[string]float64{"models_loaded": 1, "loaded": 1, "vram_share": 0, "expires_in": 273.47607895}},
		{"Ollama, another model", event.SignalLoaded, file(t, "ollama_ps.json"), "mid", map[string]float64{"models_loaded": 1, "loaded": 0, "vram_share": none}},
		{"Ollama, nothing loaded", event.SignalLoaded, `{"models":[]}`, "m", map[string]float64{"models_loaded": 0, "loaded": 0}},
		{"Ollama, for ever", event.SignalLoaded, `{"models":[{"name":"m","size":4,"size_vram":3,"expires_at":"2318-01-01T00:00:00Z"}]}`, "", map[string]float64{"loaded": 1, "vram_share": .75, "expires_in": none}},
		{"KoboldCpp", event.SignalPerf, `{"last_process":0.5,"last_eval":1.5,"last_token_count":32,"queue":2,"idle":0,"total_gens":9,"uptime":77.5,"stop_reason":1,"x":"y"}`, "", map[string]float64{"waiting": 2, "running": 1, "last_prefill": .5, "last_decode": 1.5, "last_tokens": 32, "finished": 9, "uptime": 77.5}},
		{"TensorRT-LLM", event.SignalIterations, `[{"iterLatencyMS":10,"numActiveRequests":2,"inflightBatchingStats":{"numCtxTokens":0,"numPausedRequests":1}},
			{"iterLatencyMS":250,"inflightBatchingStats":{"numCtxTokens":2000}},
			{"iterLatencyMS":11,"numActiveRequests":3,"numQueuedRequests":4,"kvCacheStats":{"maxNumBlocks":100,"usedNumBlocks":90,"reusedBlocks":1,"missedBlocks":3},"specDecodingStats":{"acceptanceLength":2.5}}]`, "",
			map[string]float64{"steps_seen": 3, "running": 3, "waiting": 4, "swapped": 1, "step_max": .25, "step_max_prefill": 2000, "prefill_seen": 2000, "kv_used": .9, "prefix_rate": .25, "accept_length": 2.5}},
		{"TensorRT-LLM, no steps", event.SignalIterations, `[]`, "", map[string]float64{"steps_seen": 0, "running": none}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watch(t, serve(t, c.body), Config{Source: Source{Name: c.source}, Model: c.model})
			w.cfg.Wall = func() time.Time { return time.Date(2026, 11, 30, 19, 10, 18, 0, time.UTC) }
			want(t, look(t, w), c.want)
		})
	}
}

func TestOddStates(t *testing.T) {
	for _, source := range []string{event.SignalSlots, event.SignalLoaded, event.SignalPerf, event.SignalIterations} {
		for _, body := range []string{"", "{", `"x"`, `{"error":"Unexpected endpoint or method. (GET /x)"}`, "7"} {
			_, err := watch(t, serve(t, body), Config{Source: Source{Name: source}}).Poll(context.Background())
			if _, absent := errors.AsType[*Absent](err); !absent {
				t.Errorf("%s: %q: %v", source, body, err)
			}
		}
	}
}

func FuzzStates(f *testing.F) {
	for _, seed := range []string{`[{"is_processing":true,"next_token":[{"n_decoded":2}]}]`, `{"models":[{"name":"m","size":1e300,"size_vram":1}]}`, `{"queue":1e308,"idle":-3}`, `[{"iterLatencyMS":1e308}]`, "[[", "null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := &Watcher{cfg: Config{Wall: time.Now}}
		for _, name := range []string{event.SignalSlots, event.SignalLoaded, event.SignalPerf, event.SignalIterations} {
			figures, err := readers()[name](w, body, nil)
			var s state
			var sig event.Signal
			s.compare(&sig, figures)
			if err != nil && len(figures) > 0 {
				t.Fatalf("%s: figures beside %v", name, err)
			}
			event.Append(nil, &sig)
		}
	})
}
