package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"teapot/probe/event"
)

// responses is OpenAI's Responses API. Its events have names, and the last of
// them, not a marker, is the end.
type responses struct{}

var _ Dialect = responses{}

// fewestResponse is the least that OpenAI takes for max_output_tokens; engines
// that imitate the API take less.
const fewestResponse = 16

func (responses) Name() string { return "responses" }

func (responses) Endpoint(base, _ string) string { return under(base, "/responses") }

func (responses) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (responses) NewDecoder() Decoder { return newReply(newResponse()) }

func (responses) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if isOpenAI(a.Engine) && a.MaxTokens < fewestResponse {
		return nil, errors.New("the Responses API gives 16 tokens at least: ask for more, or speak chat")
	}
	type reasoning struct {
		Effort string `json:"effort"`
	}
	b := struct {
		Model       string     `json:"model"`
		Input       string     `json:"input"`
		Stream      bool       `json:"stream"`
		MaxOutput   int        `json:"max_output_tokens"`
		Temperature *float64   `json:"temperature,omitempty"`
		Store       *bool      `json:"store,omitempty"`
		Reasoning   *reasoning `json:"reasoning,omitempty"`
	}{Model: a.Model, Input: a.Prompt, Stream: true, MaxOutput: a.MaxTokens, Temperature: a.temperature()}
	if isOpenAI(a.Engine) && !a.Drop[FieldStore] {
		b.Store = new(bool) // what a probe asks is not worth keeping
	}
	if effort := a.effort(); effort != "" {
		b.Reasoning = &reasoning{effort}
	}
	return encode(b)
}

// respEvents reads the events of a Responses API.
type respEvents struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	respType = iota
	respDelta
	respWhole
	respModel
	respError
	respLogprobs
	respTimings
)

func newResponse() *respEvents {
	return &respEvents{newGlance("type", "delta", "response", "response.model", "error", "logprobs", "timings")}
}

func (r *respEvents) read(typ string, data []byte, c *chunk) bool {
	f, ok := r.look.look(data)
	if !ok {
		return false
	}
	kind := kindOf(f[respType], typ)
	c.choices, c.indices, c.totals = 1, 1, true
	c.model = f[respModel].text
	switch string(kind) {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		c.last = true
		c.responded(strings.TrimPrefix(string(kind), "response."), f[respWhole].raw)
	case "error":
		c.fail = failureIn(data)
	default:
		if !f[respError].empty() {
			c.fail = failureIn(data)
		} else if ch, ok := deltaChannel(kind); ok {
			c.say(ch, f[respDelta].text)
			if len(f[respDelta].text) > 0 && !f[respLogprobs].empty() {
				c.logprobs = len(listOf(f[respLogprobs].raw))
			}
		}
	}
	if t, ok := objectOf(f[respTimings].raw); ok {
		decodeTimings(t, c)
	}
	c.work.running = -1
	return true
}

// deltaChannel says what the text of a delta event is; ok is false for events
// that bring none. That of sound is no text.
func deltaChannel(kind []byte) (ch event.Channel, ok bool) {
	if string(kind) == "response.output_text.delta" {
		return event.Answer, true
	}
	what, ok := strings.CutSuffix(string(kind), ".delta")
	switch {
	case !ok || strings.HasSuffix(what, ".output_audio") || strings.HasSuffix(what, ".audio"):
		return event.Answer, false
	case strings.Contains(what, "reasoning"):
		return event.Reasoning, true
	case strings.Contains(what, "refusal"):
		return event.Refusal, true
	case strings.Contains(what, "_call"):
		return event.ToolCall, true
	}
	return event.Answer, true
}

// responded takes what the last event says of the whole response.
func (c *chunk) responded(status string, raw json.RawMessage) {
	o, _ := objectOf(raw)
	if u, ok := objectOf(o["usage"]); ok {
		decodeUsage(u, c)
	}
	reason := status
	switch status {
	case "failed":
		if c.fail = errorOf(o["error"]); c.fail == nil {
			c.fail = &failure{message: "the server says that the response failed"}
		}
	case "incomplete":
		d, _ := objectOf(o["incomplete_details"])
		if text := textOf(d["reason"]); len(text) > 0 {
			reason = string(text)
		}
	}
	c.end(1, []byte(reason))
}
