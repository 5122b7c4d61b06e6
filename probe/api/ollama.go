package api

import (
	"net/http"

	"teapot/probe/event"
)

// ollamaChat and ollamaGenerate are Ollama's own APIs: lines of JSON, of which
// the last has done:true and says how long the server took.
type (
	ollamaChat     struct{}
	ollamaGenerate struct{}
)

var _, _ Dialect = ollamaChat{}, ollamaGenerate{}

func (ollamaChat) Name() string { return "ollama" }

func (ollamaChat) Endpoint(base, _ string) string { return rooted(base, "/api/chat") }

func (ollamaChat) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (ollamaChat) NewDecoder() Decoder { return newLines(newOllama()) }

func (ollamaChat) Body(a Ask) ([]byte, error) {
	return ollamaRequest{Messages: a.messages()}.encode(a)
}

func (ollamaGenerate) Name() string { return "ollama-generate" }

func (ollamaGenerate) Endpoint(base, _ string) string { return rooted(base, "/api/generate") }

func (ollamaGenerate) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (ollamaGenerate) NewDecoder() Decoder { return newLines(newOllama()) }

func (ollamaGenerate) Body(a Ask) ([]byte, error) {
	return ollamaRequest{Prompt: &a.Prompt}.encode(a)
}

// ollamaRequest is the request of both. There is no field that forbids the end:
// a reply may be shorter than asked.
type ollamaRequest struct {
	Model    string        `json:"model"`
	Messages []message     `json:"messages,omitempty"`
	Prompt   *string       `json:"prompt,omitempty"`
	Stream   bool          `json:"stream"`
	Options  ollamaOptions `json:"options"`
}

type ollamaOptions struct {
	NumPredict  int      `json:"num_predict"`
	Temperature *float64 `json:"temperature,omitempty"`
	Seed        *uint32  `json:"seed,omitempty"`
}

func (r ollamaRequest) encode(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	r.Model, r.Stream = a.Model, true
	r.Options = ollamaOptions{a.MaxTokens, a.temperature(), a.seed()}
	return encode(r)
}

// ollama reads the lines of both APIs.
type ollama struct{ look *glance }

// The fields of a line, in the order of the glance.
const (
	ollDone = iota
	ollReason
	ollModel
	ollError
	ollContent
	ollThinking
	ollTools
	ollText
	ollThought
	ollTotal
	ollLoad
	ollPromptN
	ollPrompt
	ollEvalN
	ollEval
)

func newOllama() *ollama {
	return &ollama{newGlance("done", "done_reason", "model", "error", "message.content", "message.thinking", "message.tool_calls",
		"response", "thinking", "total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration")}
}

// leastSpan is the shortest time that is believed, in ns: KoboldCpp imitates
// Ollama and says 1 for every duration.
const leastSpan = 1000

func (o *ollama) read(_ string, data []byte, c *chunk) bool {
	f, ok := o.look.look(data)
	if !ok {
		return false
	}
	c.choices, c.indices = 1, 1
	c.model = f[ollModel].text
	if !f[ollError].empty() {
		c.fail = failureIn(data)
		return true
	}
	c.say(event.Answer, f[ollContent].text)
	c.say(event.Answer, f[ollText].text)
	if raw := f[ollTools].raw; raw != nil {
		c.say(event.ToolCall, toolText(object{"tool_calls": raw}))
	}
	c.say(event.Reasoning, f[ollThinking].text)
	c.say(event.Reasoning, f[ollThought].text)
	if n, ok := f[ollEvalN].count(); ok {
		c.usage.completion = n
	}
	if n, ok := f[ollPromptN].count(); ok {
		c.usage.prompt = n
	}
	if !f[ollDone].true() {
		return true // a reason alone ends nothing
	}
	c.last = true
	c.finished = 1
	c.end(1, f[ollReason].text)
	o.times(f, c)
	return true
}

// times reads the durations, in ns. What is left of the whole when all work is
// taken away is the time in which the request waited.
func (o *ollama) times(f []field, c *chunk) {
	span := func(i int) int64 {
		if ns := f[i].span(1); ns >= leastSpan {
			return ns
		}
		return 0
	}
	w := work{running: -1, load: span(ollLoad), total: span(ollTotal), prompt: span(ollPrompt), decode: span(ollEval)}
	w.promptN, w.decodeN = max(c.usage.prompt, 0), max(c.usage.completion, 0)
	w.set = w.total > 0 || w.prompt > 0 || w.decode > 0
	if w.total > 0 {
		w.queue = max(w.total-w.load-w.prompt-w.decode, 0)
	}
	c.work.merge(w)
}
