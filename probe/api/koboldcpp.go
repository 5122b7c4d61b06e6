package api

import (
	"net/http"

	"teapot/probe/event"
)

// koboldcpp is KoboldCpp's own stream. It looks for new text every 20 ms and
// sends what there is, so that an event holds several tokens, and nobody says
// how many.
type koboldcpp struct{}

var _ Dialect = koboldcpp{}

func (koboldcpp) Name() string { return "koboldcpp" }

func (koboldcpp) Endpoint(base, _ string) string { return rooted(base, "/api/extra/generate/stream") }

func (koboldcpp) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (koboldcpp) NewDecoder() Decoder { return newReply(newKobold()) }

func (koboldcpp) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return encode(struct {
		Prompt      string   `json:"prompt"`
		MaxLength   int      `json:"max_length"`
		BanEOS      bool     `json:"ban_eos_token,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		Seed        *uint32  `json:"sampler_seed,omitempty"`
	}{a.Prompt, a.MaxTokens, !a.Drop[FieldBanEOS], a.temperature(), a.seed()})
}

// kobold reads the events of that stream.
type kobold struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	kobToken = iota
	kobFinish
	kobError
	kobDetail
)

func newKobold() *kobold { return &kobold{newGlance("token", "finish_reason", "error", "detail")} }

func (k *kobold) read(_ string, data []byte, c *chunk) bool {
	f, ok := k.look.look(data)
	if !ok {
		return false
	}
	c.choices, c.indices, c.pieces = 1, 1, true
	if !f[kobError].empty() || !f[kobDetail].empty() && !f[kobToken].is {
		c.fail = failureIn(data)
		return true
	}
	c.say(event.Answer, f[kobToken].text)
	if reason := f[kobFinish].text; len(reason) > 0 {
		c.last = true
		c.end(1, reason)
	}
	return true
}
