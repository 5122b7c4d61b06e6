package api

import "net/http"

// completions is OpenAI's older text completions: a bare prompt without a chat
// template, which is what base models need. Its chunks carry text instead of a
// delta; one picker reads both, since servers mix them.
type completions struct{}

var _ Dialect = completions{}

func (completions) Name() string        { return "completions" }
func (completions) NewDecoder() Decoder { return newStream() }

func (completions) Endpoint(base, _ string) string { return under(base, "/completions") }

func (completions) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (completions) Body(a Ask) ([]byte, error) {
	b, err := common(a)
	if err != nil {
		return nil, err
	}
	if a.Drop[FieldMaxTokens] {
		return nil, errNoLimit
	}
	b.Prompt = &a.Prompt
	return encode(b)
}
