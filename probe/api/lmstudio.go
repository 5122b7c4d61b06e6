package api

import (
	"bytes"
	"net/http"

	"teapot/probe/event"
)

// lmstudio is LM Studio's own chat API: named events, also of the loading of a
// model and of the work on the prompt, and statistics in the last. It names no
// reason for the end.
type lmstudio struct{}

var _ Dialect = lmstudio{}

func (lmstudio) Name() string { return "lmstudio" }

func (lmstudio) Endpoint(base, _ string) string { return rooted(base, "/api/v1/chat") }

func (lmstudio) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (lmstudio) NewDecoder() Decoder { return newReply(newStudio()) }

func (lmstudio) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	b := struct {
		Model       string   `json:"model"`
		Input       string   `json:"input"`
		Stream      bool     `json:"stream"`
		MaxOutput   int      `json:"max_output_tokens"`
		Temperature *float64 `json:"temperature,omitempty"`
		Store       *bool    `json:"store,omitempty"`
	}{Model: a.Model, Input: a.Prompt, Stream: true, MaxOutput: a.MaxTokens, Temperature: a.temperature()}
	if !a.Drop[FieldStore] {
		b.Store = new(bool)
	}
	return encode(b)
}

// studio reads the events of that API.
type studio struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	stuType = iota
	stuContent
	stuModel
	stuError
	stuResult
)

func newStudio() *studio {
	return &studio{newGlance("type", "content", "model_instance_id", "error", "result")}
}

func (s *studio) read(typ string, data []byte, c *chunk) bool {
	f, ok := s.look.look(data)
	if !ok {
		return false
	}
	kind := kindOf(f[stuType], typ)
	c.choices, c.indices, c.totals = 1, 1, true
	c.model = f[stuModel].text
	switch {
	case string(kind) == "error" || !f[stuError].empty():
		c.fail = failureIn(data)
	case string(kind) == "message.delta":
		c.say(event.Answer, f[stuContent].text)
	case string(kind) == "reasoning.delta":
		c.say(event.Reasoning, f[stuContent].text)
	case bytes.HasPrefix(kind, []byte("tool_call.")) && bytes.HasSuffix(kind, []byte(".delta")):
		c.say(event.ToolCall, f[stuContent].text)
	case string(kind) == "chat.end":
		c.last, c.finished = true, 1
		result, _ := objectOf(f[stuResult].raw)
		stats, _ := objectOf(result["stats"])
		c.studied(stats)
	}
	return true
}

// studied reads the statistics. Their time to the first token includes the
// work on the prompt and whatever the server did before.
func (c *chunk) studied(o object) {
	for _, f := range []struct {
		key  string
		into *int
	}{{"input_tokens", &c.usage.prompt}, {"total_output_tokens", &c.usage.completion}, {"reasoning_output_tokens", &c.usage.reasoning}} {
		if n, ok := countOf(o[f.key]); ok {
			*f.into = n
		}
	}
	w := &c.work
	if v, ok := floatOf(o["time_to_first_token_seconds"]); ok {
		w.set, w.prompt = true, spanOf(v, 1e9)
	}
	if v, ok := floatOf(o["model_load_time_seconds"]); ok {
		w.set, w.load = true, spanOf(v, 1e9)
	}
	if v, ok := floatOf(o["tokens_per_second"]); ok && v > 0 {
		w.set, w.perToken = true, spanOf(1/v, 1e9)
	}
}
