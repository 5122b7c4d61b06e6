package api

import (
	"encoding/json"
	"net/http"

	"teapot/probe/event"
)

// anthropic is Anthropic's Messages API, which several engines speak as well.
// It has no field that forces a length, and says only at the end how many
// tokens there were.
type anthropic struct{}

var _ Dialect = anthropic{}

func (anthropic) Name() string { return "anthropic" }

func (anthropic) Endpoint(base, _ string) string { return under(base, "/messages") }

func (anthropic) Auth(h http.Header, base, key string) { anthropicKey(h, base, key) }

func (anthropic) NewDecoder() Decoder { return newReply(newMessages()) }

func (anthropic) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return encode(struct {
		Model       string    `json:"model"`
		MaxTokens   int       `json:"max_tokens"`
		Messages    []message `json:"messages"`
		Stream      bool      `json:"stream"`
		Temperature *float64  `json:"temperature,omitempty"`
	}{a.Model, a.MaxTokens, a.messages(), true, a.temperature()})
}

// anthropicKey sets the headers of a Messages API. Engines that imitate it
// look for the key where their other APIs have it, while Anthropic's own takes
// a bearer for a login. What the user put into a header goes nowhere else.
func anthropicKey(h http.Header, base, key string) {
	if h.Get("Anthropic-Version") == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	given := h.Get(headerBearer) != "" || h.Get(headerAnthropic) != ""
	setKey(h, headerAnthropic, key)
	if set := h.Get(headerAnthropic); set != "" && !given && !belongs(hostOf(base), "anthropic.com") {
		h.Set(headerBearer, "Bearer "+set)
	}
}

// messages reads the events of a Messages API. Which kind an event is stands in
// its payload as well as in its name; the payload is believed.
type messages struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	msgType = iota
	msgText
	msgThinking
	msgInput
	msgStop
	msgUsage
	msgModel
	msgFirstUsage
	msgFirstText
	msgError
	msgTimings
)

func newMessages() *messages {
	return &messages{newGlance("type", "delta.text", "delta.thinking", "delta.partial_json", "delta.stop_reason", "usage",
		"message.model", "message.usage", "content_block.text", "error", "timings")}
}

func (m *messages) read(typ string, data []byte, c *chunk) bool {
	f, ok := m.look.look(data)
	if !ok {
		return false
	}
	kind := kindOf(f[msgType], typ)
	c.choices, c.indices, c.totals = 1, 1, true
	if string(kind) == "error" || !f[msgError].empty() {
		c.fail = failureIn(data)
		return true
	}
	switch string(kind) {
	case "message_start":
		// Its count of the output says one before there is any.
		c.model = f[msgModel].text
		c.usage = messageUsage(f[msgFirstUsage].raw)
		c.usage.completion = -1
	case "content_block_start":
		c.say(event.Answer, f[msgFirstText].text)
	case "content_block_delta":
		c.say(event.Answer, f[msgText].text)
		c.say(event.Reasoning, f[msgThinking].text)
		c.say(event.ToolCall, f[msgInput].text)
	case "message_delta":
		c.usage = messageUsage(f[msgUsage].raw)
		c.end(1, f[msgStop].text)
	case "message_stop":
		c.last = true
	}
	if t, ok := objectOf(f[msgTimings].raw); ok {
		decodeTimings(t, c)
	}
	c.work.running = -1
	return true
}

// messageUsage reads the counts. What came from the cache of prompts, or went
// into it, is not among the input tokens.
func messageUsage(raw json.RawMessage) usage {
	u := noUsage()
	o, ok := objectOf(raw)
	if !ok {
		return u
	}
	if n, ok := countOf(o["output_tokens"]); ok {
		u.completion = n
	}
	if n, ok := countOf(o["input_tokens"]); ok {
		u.prompt = n
		for _, key := range []string{"cache_read_input_tokens", "cache_creation_input_tokens"} {
			more, _ := countOf(o[key])
			u.prompt += more
		}
	}
	if n, ok := countOf(o["cache_read_input_tokens"]); ok {
		u.cached = n
	}
	return u
}
