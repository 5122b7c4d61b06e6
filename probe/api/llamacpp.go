package api

import (
	"net/http"

	"teapot/probe/event"
)

// llamacpp is llama-server's own /completion: a bare prompt, a count of the
// tokens in every event, and the server's own times in the last.
type llamacpp struct{}

var _ Dialect = llamacpp{}

func (llamacpp) Name() string { return "llamacpp" }

func (llamacpp) Endpoint(base, _ string) string { return rooted(base, "/completion") }

func (llamacpp) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (llamacpp) NewDecoder() Decoder { return newReply(newLlama()) }

func (llamacpp) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	b := struct {
		Model       string   `json:"model,omitempty"`
		Prompt      string   `json:"prompt"`
		Stream      bool     `json:"stream"`
		NPredict    int      `json:"n_predict"`
		IgnoreEOS   bool     `json:"ignore_eos,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		Seed        *uint32  `json:"seed,omitempty"`
		Timings     bool     `json:"timings_per_token,omitempty"`
		CachePrompt *bool    `json:"cache_prompt,omitempty"`
	}{
		Model: a.Model, Prompt: a.Prompt, Stream: true, NPredict: a.MaxTokens, IgnoreEOS: !a.Drop[FieldIgnoreEOS],
		Temperature: a.temperature(), Seed: a.seed(), Timings: !a.Drop[FieldTimings],
	}
	if a.Cold && !a.Drop[FieldCachePrompt] {
		b.CachePrompt = new(bool)
	}
	return encode(b)
}

// nameless is what builds without an alias call every model.
const nameless = "gpt-3.5-turbo"

// llama reads the events of /completion.
type llama struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	llContent = iota
	llTokens
	llStop
	llStopType
	llModel
	llPredicted
	llEvaluated
	llError
	llMessage
	llOldEOS
	llOldLimit
	llOldWord
	llPromptN
	llCachedN
	llDecodeN
	llPrompt
	llDecode
	llPerToken
	llDrafted
	llAccepted
)

func newLlama() *llama {
	return &llama{newGlance("content", "tokens", "stop", "stop_type", "model", "tokens_predicted", "tokens_evaluated", "error", "message",
		"stopped_eos", "stopped_limit", "stopped_word",
		"timings.prompt_n", "timings.cache_n", "timings.predicted_n", "timings.prompt_ms", "timings.predicted_ms",
		"timings.predicted_per_token_ms", "timings.draft_n", "timings.draft_n_accepted")}
}

func (l *llama) read(_ string, data []byte, c *chunk) bool {
	f, ok := l.look.look(data)
	if !ok {
		return false
	}
	c.choices, c.indices = 1, 1
	if !f[llError].empty() || !f[llMessage].empty() && !f[llContent].is {
		c.fail = failureIn(data)
		return true
	}
	if string(f[llModel].text) != nameless {
		c.model = f[llModel].text
	}
	c.say(event.Answer, f[llContent].text)
	if n, ok := f[llEvaluated].count(); ok {
		c.usage.prompt = n
	}
	// The ids of an event are those of its last token, while the count has all
	// that were held back until they made a character.
	if n, ok := f[llPredicted].count(); ok {
		c.usage.completion = n
	} else if f[llTokens].raw != nil {
		c.ids = len(listOf(f[llTokens].raw))
	}
	l.times(f, c)
	if f[llStop].true() {
		c.last = true
		c.finished = 1
		c.end(1, l.reason(f))
	}
	return true
}

// reason is why it stopped; builds of 2024 say it in three fields. nil where
// the server names none.
func (l *llama) reason(f []field) []byte {
	switch reason := f[llStopType].text; {
	case len(reason) > 0 && string(reason) != "none":
		return reason
	case f[llOldLimit].true():
		return []byte("limit")
	case f[llOldEOS].true():
		return []byte("eos")
	case f[llOldWord].true():
		return []byte("word")
	}
	return nil
}

// times reads the server's own measurements, in ms.
func (l *llama) times(f []field, c *chunk) {
	n, ok := f[llDecodeN].count()
	if !ok {
		return
	}
	w := &c.work
	w.set, w.decodeN = true, n
	w.promptN, _ = f[llPromptN].count()
	w.cached, _ = f[llCachedN].count()
	w.drafted, _ = f[llDrafted].count()
	w.accepted, _ = f[llAccepted].count()
	w.prompt, w.decode, w.perToken = f[llPrompt].span(1e6), f[llDecode].span(1e6), f[llPerToken].span(1e6)
}
