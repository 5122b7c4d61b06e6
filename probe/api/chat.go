package api

import "net/http"

// chat is OpenAI's chat completions, as nearly every server speaks it.
type chat struct{}

var _ Dialect = chat{}

func (chat) Name() string        { return "chat" }
func (chat) NewDecoder() Decoder { return newStream() }

func (chat) Endpoint(base, _ string) string { return under(base, "/chat/completions") }

func (chat) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (chat) Body(a Ask) ([]byte, error) {
	b, err := common(a)
	if err != nil {
		return nil, err
	}
	if err := b.newer(a); err != nil {
		return nil, err
	}
	b.Messages, b.Effort = a.messages(), a.effort()
	return encode(b)
}
