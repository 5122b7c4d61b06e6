package api

import "net/http"

// chat is OpenAI's chat completions, as nearly every server speaks it.
type chat struct{}

var _ Dialect = chat{}

func (chat) Name() string                   { return "chat" }
func (chat) Path() string                   { return "/chat/completions" }
func (chat) Auth(h http.Header, key string) { bearer(h, key) }
func (chat) NewDecoder() Decoder            { return newStream() }

func (chat) Body(a Ask) ([]byte, error) {
	b, err := common(a)
	if err != nil {
		return nil, err
	}
	b.Messages = []message{{Role: "user", Content: a.Prompt}}
	if a.Drop[FieldMaxTokens] && !a.Drop[FieldMaxCompletion] {
		b.MaxTokens, b.MaxCompletion = 0, a.MaxTokens
	}
	return b.encode()
}
