package signals

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"
)

// odd is the answer that has not the shape it should have.
func (w *Watcher) odd() error {
	return &Absent{Why: w.where() + " answers something else than expected"}
}

// one is a gauge.
func one(name string, v float64) figure { return figure{name: name, value: v} }

// slot is one of llama.cpp's, as far as all versions agree.
type slot struct {
	Processing *bool           `json:"is_processing"`
	State      *float64        `json:"state"` // before: 0 is idle
	Prompt     float64         `json:"n_prompt_tokens"`
	Done       float64         `json:"n_prompt_tokens_processed"`
	Cached     float64         `json:"n_prompt_tokens_cache"`
	Next       json.RawMessage `json:"next_token"` // an object, or an array of one
}

// busy tells whether the slot serves somebody.
func (s *slot) busy() bool {
	return s.Processing != nil && *s.Processing || s.Processing == nil && s.State != nil && *s.State != 0
}

// decoded is how many tokens the slot's request has so far.
func (s *slot) decoded() float64 {
	type next struct {
		Decoded float64 `json:"n_decoded"`
	}
	var n next
	if json.Unmarshal(s.Next, &n) == nil {
		return n.Decoded
	}
	var list []next
	if json.Unmarshal(s.Next, &list) == nil && len(list) > 0 {
		return list[0].Decoded
	}
	return 0
}

// readSlots reads llama.cpp's slots: how many are busy, how many of them are at
// work on a prompt and how many of its tokens they still have before them.
func (w *Watcher) readSlots(body []byte, _ http.Header) ([]figure, error) {
	var slots []slot
	if json.Unmarshal(body, &slots) != nil {
		return nil, w.odd()
	}
	var busy, prefilling, left, decoded float64
	for i := range slots {
		s := &slots[i]
		if !s.busy() {
			continue
		}
		busy++
		n := s.decoded()
		decoded += n
		if n == 0 && s.Prompt > 0 {
			prefilling++
			left += max(s.Prompt-s.Done-s.Cached, 0)
		}
	}
	return []figure{
		one("slots", float64(len(slots))), one("running", busy), one("prefilling", prefilling),
		one("prefill_left", left), one("decoded", decoded),
	}, nil
}

// readLoaded reads which models Ollama has in memory, and of the one measured
// how much of it lies on the GPU and when it will be unloaded.
func (w *Watcher) readLoaded(body []byte, _ http.Header) ([]figure, error) {
	var list struct {
		Models *[]struct {
			Name    string    `json:"name"`
			Size    float64   `json:"size"`
			VRAM    float64   `json:"size_vram"`
			Expires time.Time `json:"expires_at"`
		} `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil || list.Models == nil {
		return nil, w.odd()
	}
	out := []figure{one("models_loaded", float64(len(*list.Models)))}
	loaded := 0.0
	for _, m := range *list.Models {
		if w.cfg.Model != "" && !strings.EqualFold(m.Name, w.cfg.Model) && !strings.EqualFold(m.Name, w.cfg.Model+":latest") {
			continue
		}
		if loaded = 1; m.Size > 0 && m.VRAM >= 0 {
			out = append(out, one("vram_share", min(m.VRAM/m.Size, 1)))
		}
		// A model that is kept for ever expires centuries from now.
		if left := m.Expires.Sub(w.cfg.Wall()); !m.Expires.IsZero() && left < 30*24*time.Hour {
			out = append(out, one("expires_in", max(left.Seconds(), 0)))
		}
		break
	}
	return append(out, one("loaded", loaded)), nil
}

// readPerf reads what KoboldCpp says of its last request and its queue.
func (w *Watcher) readPerf(body []byte, _ http.Header) ([]figure, error) {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return nil, w.odd()
	}
	var out []figure
	for _, f := range [...]struct {
		key, name string
		kind      kind
	}{
		{"queue", "waiting", gauge}, {"last_process", "last_prefill", gauge}, {"last_eval", "last_decode", gauge},
		{"last_token_count", "last_tokens", gauge}, {"total_gens", "finished", counter}, {"uptime", "uptime", counter},
	} {
		if v, ok := fields[f.key].(float64); ok && finite(v) {
			out = append(out, figure{name: f.name, kind: f.kind, value: v})
		}
	}
	if idle, ok := fields["idle"].(float64); ok {
		out = append(out, one("running", 1-math.Min(math.Max(idle, 0), 1)))
	}
	if len(out) == 0 {
		return nil, w.odd()
	}
	return out, nil
}

// iteration is one step of TensorRT-LLM's engine.
type iteration struct {
	Latency float64 `json:"iterLatencyMS"`
	Active  float64 `json:"numActiveRequests"`
	Queued  float64 `json:"numQueuedRequests"`
	KV      struct {
		Most   float64 `json:"maxNumBlocks"`
		Used   float64 `json:"usedNumBlocks"`
		Reused float64 `json:"reusedBlocks"`
		Missed float64 `json:"missedBlocks"`
	} `json:"kvCacheStats"`
	Batch struct {
		Context float64 `json:"numCtxTokens"`
		Paused  float64 `json:"numPausedRequests"`
		Gen     float64 `json:"numGenRequests"`
	} `json:"inflightBatchingStats"`
	Drafts struct {
		Length float64 `json:"acceptanceLength"`
	} `json:"specDecodingStats"`
}

// readIterations reads the steps since the last time anybody asked: the state
// after the last, and of all of them the longest, with the prompt tokens in it.
func (w *Watcher) readIterations(body []byte, _ http.Header) ([]figure, error) {
	var steps []iteration
	if json.Unmarshal(body, &steps) != nil {
		return nil, w.odd()
	}
	out := []figure{one("steps_seen", float64(len(steps)))}
	if len(steps) == 0 {
		return out, nil
	}
	var longest, context, paused, total float64
	for _, s := range steps {
		if s.Latency > longest {
			longest, context = s.Latency, s.Batch.Context
		}
		paused = max(paused, s.Batch.Paused)
		total += s.Batch.Context
	}
	last := steps[len(steps)-1]
	out = append(out,
		one("running", last.Active), one("waiting", last.Queued), one("swapped", paused),
		one("step_max", longest/1000), one("step_max_prefill", context), one("prefill_seen", total))
	if last.KV.Most > 0 {
		out = append(out, figure{name: "kv_used", kind: share, value: last.KV.Used / last.KV.Most})
	}
	if all := last.KV.Reused + last.KV.Missed; all > 0 {
		out = append(out, figure{name: "prefix_rate", kind: share, value: last.KV.Reused / all})
	}
	if last.Drafts.Length > 0 {
		out = append(out, one("accept_length", last.Drafts.Length))
	}
	return out, nil
}
