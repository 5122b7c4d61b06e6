package api

import (
	"net/http"

	"teapot/probe/event"
)

// tgi is the /generate_stream of Hugging Face's Text Generation Inference: a
// bare prompt, one event for each token, and the reason and the counts in the
// last. There is no field that forbids the end: a reply may be shorter than
// asked.
type tgi struct{}

var _ Dialect = tgi{}

func (tgi) Name() string { return "tgi" }

func (tgi) Endpoint(base, _ string) string { return rooted(base, "/generate_stream") }

func (tgi) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (tgi) NewDecoder() Decoder { return newReply(newTokens()) }

// Body asks for the same answer every time by do_sample: a temperature of 0 is
// refused.
func (tgi) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	type parameters struct {
		MaxNew  int     `json:"max_new_tokens"`
		Details bool    `json:"details"`
		Sample  *bool   `json:"do_sample,omitempty"`
		Seed    *uint32 `json:"seed,omitempty"`
	}
	p := parameters{MaxNew: a.MaxTokens, Details: true, Seed: a.seed()}
	if a.temperature() != nil {
		p.Sample = new(bool)
	}
	return encode(struct {
		Inputs     string     `json:"inputs"`
		Parameters parameters `json:"parameters"`
	}{a.Prompt, p})
}

// tokens reads the events of /generate_stream.
type tokens struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	tgiID = iota
	tgiText
	tgiSpecial
	tgiAll
	tgiError
	tgiMessage
	tgiFinish
	tgiGenerated
	tgiInput
	tgiPrompt
)

func newTokens() *tokens {
	return &tokens{newGlance("token.id", "token.text", "token.special", "generated_text", "error", "message",
		"details.finish_reason", "details.generated_tokens", "details.input_length", "details.prompt_tokens")}
}

func (r *tokens) read(_ string, data []byte, c *chunk) bool {
	f, ok := r.look.look(data)
	if !ok {
		return false
	}
	c.choices, c.indices, c.pieces, c.totals = 1, 1, true, true
	if !f[tgiError].empty() || !f[tgiMessage].empty() && !f[tgiID].is {
		c.fail = failureIn(data)
		return true
	}
	if f[tgiID].is || f[tgiText].is {
		c.ids = 1
	}
	// A special token, like the one that ends a text, is a token and no text.
	if !f[tgiSpecial].true() {
		c.say(event.Answer, f[tgiText].text)
	}
	if n, ok := f[tgiGenerated].count(); ok {
		c.usage.completion = n
	}
	for _, i := range [...]int{tgiInput, tgiPrompt} { // the second is LoRAX's name for it
		if n, ok := f[i].count(); ok {
			c.usage.prompt = n
		}
	}
	if f[tgiAll].is || f[tgiFinish].is {
		c.last, c.finished = true, 1
		c.end(1, f[tgiFinish].text)
	}
	return true
}
