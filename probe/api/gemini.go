package api

import (
	"encoding/json"
	"net/http"
	neturl "net/url"
	"strings"

	"teapot/probe/event"
)

// gemini is Google's own API. The model stands in the path, the key in a header
// of its own, an event holds tens of tokens, and every event has the counts so
// far. Thinking is counted and, unless asked for, not shown.
type gemini struct{}

var _ Dialect = gemini{}

func (gemini) Name() string { return "gemini" }

func (gemini) Endpoint(base, model string) string {
	kind, name := "models", model
	if before, after, ok := strings.Cut(model, "/"); ok && (before == "models" || before == "tunedModels") {
		kind, name = before, after
	}
	at, query := split(base)
	// Google's imitation of OpenAI lies beside the models, not above them.
	at = strings.TrimSuffix(strings.TrimSuffix(at, "/v1"), "/openai")
	url := join(rooted(at, "/v1beta/"+kind+"/"+segment(name)+":streamGenerateContent"), query)
	if asked, err := neturl.ParseQuery(query); err == nil && asked.Has("alt") {
		return url // the address says which framing it wants, and either is read
	}
	return join(url, "alt=sse")
}

func (gemini) Auth(h http.Header, _, key string) { setKey(h, headerGoogle, key) }

func (gemini) NewDecoder() Decoder { return newReply(newCandidates()) }

func (gemini) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	type part struct {
		Text string `json:"text"`
	}
	type content struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	type config struct {
		MaxOutput   int             `json:"maxOutputTokens"`
		Temperature *float64        `json:"temperature,omitempty"`
		Seed        *uint32         `json:"seed,omitempty"`
		Thinking    *geminiThinking `json:"thinkingConfig,omitempty"`
	}
	return encode(struct {
		Contents []content `json:"contents"`
		Config   config    `json:"generationConfig"`
	}{
		[]content{{"user", []part{{a.Prompt}}}},
		config{a.MaxTokens, a.temperature(), a.seed(), thinkingOf(a)},
	})
}

// geminiThinking says how much to think, in tokens or by name.
type geminiThinking struct {
	Budget *int   `json:"thinkingBudget,omitempty"`
	Level  string `json:"thinkingLevel,omitempty"`
}

// leastBudget is what a model that cannot but think takes for a minimum.
const leastBudget = 128

// thinkingOf has a model think as little as it can, for what it thinks is not
// on the wire and eats the tokens asked for. Models that do not think refuse to
// be told so: nil for those.
func thinkingOf(a Ask) *geminiThinking {
	name := strings.ToLower(strings.TrimPrefix(a.Model, "models/"))
	if a.Drop[FieldEffort] || strings.Contains(name, "image") || strings.Contains(name, "tts") || strings.Contains(name, "audio") {
		return nil
	}
	budget := 0
	switch {
	case strings.HasPrefix(name, "gemini-2.5-flash"):
	case strings.HasPrefix(name, "gemini-2.5-pro"):
		budget = leastBudget
	case strings.HasPrefix(name, "gemini-3"):
		return &geminiThinking{Level: "low"}
	default:
		return nil
	}
	return &geminiThinking{Budget: &budget}
}

// candidates reads the events of streamGenerateContent.
type candidates struct {
	look  *glance
	begun bool // there was text
}

// The fields of an event, in the order of the glance.
const (
	gemCandidates = iota
	gemPrompt
	gemAnswer
	gemThought
	gemCached
	gemModel
	gemError
	gemBlock
)

func newCandidates() *candidates {
	return &candidates{look: newGlance("candidates", "usageMetadata.promptTokenCount", "usageMetadata.candidatesTokenCount", "usageMetadata.thoughtsTokenCount",
		"usageMetadata.cachedContentTokenCount", "modelVersion", "error", "promptFeedback.blockReason")}
}

func (r *candidates) read(_ string, data []byte, c *chunk) bool {
	f, ok := r.look.look(data)
	if !ok {
		return false
	}
	c.model, c.pieces = f[gemModel].text, true
	if !f[gemError].empty() {
		c.fail = failureIn(data)
		return true
	}
	r.counts(f, c)
	for _, raw := range listOf(f[gemCandidates].raw) {
		if o, ok := objectOf(raw); ok {
			r.candidate(o, c)
		}
	}
	r.blocked(string(f[gemBlock].text), c)
	return true
}

// blocked notes that the prompt was refused: there will be no answer, or, where
// it had begun, no more of it.
func (r *candidates) blocked(why string, c *chunk) {
	r.begun = r.begun || len(c.text) > 0
	if why == "" || why == "BLOCK_REASON_UNSPECIFIED" {
		return
	}
	reason := "prompt blocked: " + why
	if r.begun {
		c.fail = &failure{message: "the server ended the reply with the reason " + reason, kind: why}
	}
	if c.choices == 0 {
		c.choices, c.indices = 1, 1
	}
	c.last = true
	c.end(1, []byte(reason))
}

// counts reads the counts so far. A count that is missing is not yet known.
func (r *candidates) counts(f []field, c *chunk) {
	answer, answered := f[gemAnswer].count()
	thought, thinks := f[gemThought].count()
	if answered || thinks {
		c.usage.completion = answer + thought
	}
	if thinks {
		c.usage.reasoning = thought
	}
	if n, ok := f[gemPrompt].count(); ok {
		c.usage.prompt = n
	}
	if n, ok := f[gemCached].count(); ok {
		c.usage.cached = n
	}
}

// candidate reads one answer. Whatever is no reason of success is one of
// failure, and new ones are invented every year.
func (r *candidates) candidate(o object, c *chunk) {
	c.choices++
	index, _ := countOf(o["index"])
	bit := bitOf(index)
	c.indices |= bit
	if content, ok := objectOf(o["content"]); ok {
		answer, thought, tool := partsOf(content["parts"])
		c.say(event.Answer, answer)
		c.say(event.ToolCall, tool)
		c.say(event.Reasoning, thought)
	}
	switch reason := textOf(o["finishReason"]); string(reason) {
	case "", "FINISH_REASON_UNSPECIFIED":
	case "STOP", "MAX_TOKENS":
		c.end(bit, reason)
	default:
		c.end(bit, reason)
		line := "the server ended the reply with the reason " + string(reason)
		if why := textOf(o["finishMessage"]); len(why) > 0 {
			line += ": " + string(why)
		}
		c.fail = &failure{message: line, kind: string(reason)}
	}
}

// partsOf is the text in the parts of an event: that of the answer and of code
// it ran, that of thoughts, and calls of functions.
func partsOf(raw json.RawMessage) (answer, thought, tool []byte) {
	for _, one := range listOf(raw) {
		o, ok := objectOf(one)
		if !ok {
			continue
		}
		text := textOf(o["text"])
		if string(o["thought"]) == "true" {
			thought = append(thought, text...)
			continue
		}
		answer = append(answer, text...)
		for _, inner := range [...]struct{ key, field string }{{"executableCode", "code"}, {"codeExecutionResult", "output"}} {
			if p, ok := objectOf(o[inner.key]); ok {
				answer = append(answer, textOf(p[inner.field])...)
			}
		}
		if call, ok := objectOf(o["functionCall"]); ok {
			tool = append(tool, textOf(call["name"])...)
			tool = append(tool, call["args"]...)
		}
	}
	return answer, thought, tool
}
