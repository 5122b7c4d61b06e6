package api

import (
	"net/http"
	"net/url"
	"strings"

	"teapot/probe/event"
)

// triton is the generate extension of the Triton Inference Server. The model
// stands in the path, as m or, where it is not the newest version that is to
// answer, as m/versions/3. The protocol names no reason for the end, no mark of it
// and no count: a reply is over when its body is, and its events are counted.
type triton struct{}

var _ Dialect = triton{}

func (triton) Name() string { return "triton" }

func (triton) Endpoint(base, model string) string {
	path := "/v2/models/" + segment(model)
	// No name of a model has a slash, for it is that of a folder.
	if name, version, ok := strings.Cut(model, "/versions/"); ok && name != "" && version != "" {
		path = "/v2/models/" + segment(name) + "/versions/" + segment(version)
	}
	return rooted(base, path+"/generate_stream")
}

func (triton) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (triton) NewDecoder() Decoder {
	s := newReply(newExtension())
	s.mute = true
	return s
}

// Body asks for what every backend takes. What stands under parameters goes
// into the input of that name, where the model has one.
func (triton) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	type parameters struct {
		MaxTokens   int      `json:"max_tokens"`
		Stream      bool     `json:"stream"`
		Temperature *float64 `json:"temperature,omitempty"`
	}
	return encode(struct {
		Input      string     `json:"text_input"`
		Parameters parameters `json:"parameters"`
	}{a.Prompt, parameters{a.MaxTokens, true, a.temperature()}})
}

// segment is a name as one part of a path, which cannot lead out of it.
func segment(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

// extension reads the events of generate_stream.
type extension struct{ look *glance }

// The fields of an event, in the order of the glance.
const (
	triText = iota
	triModel
	triError
	triFinish
)

func newExtension() *extension {
	return &extension{newGlance("text_output", "model_name", "error", "finish_reason")}
}

func (e *extension) read(_ string, data []byte, c *chunk) bool {
	f, ok := e.look.look(data)
	if !ok {
		return false
	}
	c.choices, c.indices = 1, 1
	c.model = f[triModel].text
	if !f[triError].empty() {
		c.fail = failureIn(data)
		return true
	}
	c.say(event.Answer, only(f[triText]))
	// vLLM's backend tells the reason, where the model was set up to.
	if reason := only(f[triFinish]); len(reason) > 0 && string(reason) != "None" {
		c.end(1, reason)
	}
	return true
}

// only is the text of an output tensor, which is a string, or an array where
// it may hold several.
func only(f field) []byte {
	if f.raw == nil {
		return f.text
	}
	for _, one := range listOf(f.raw) {
		return textOf(one)
	}
	return nil
}
