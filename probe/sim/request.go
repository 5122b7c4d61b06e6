package sim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// request is what a client asked for, checked.
type request struct {
	chat       bool
	stream     bool
	usage      bool // stream_options.include_usage
	everyUsage bool // stream_options.continuous_usage_stats
	prompt     int  // tokens, estimated
	max        int  // output tokens asked for; 0: as many as the context holds
	min        int
	ignoreEOS  bool
	seed       uint64
	seeded     bool
	reasoning  int // of the output tokens, how many are reasoning
}

// wireRequest is the body of both routes; what is not listed is ignored.
type wireRequest struct {
	Model         *string         `json:"model"`
	Messages      []wireMessage   `json:"messages"`
	Prompt        json.RawMessage `json:"prompt"`
	Stream        bool            `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
		Continuous   bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	MaxTokens           *int   `json:"max_tokens"`
	MaxCompletionTokens *int   `json:"max_completion_tokens"`
	MinTokens           int    `json:"min_tokens"`
	IgnoreEOS           bool   `json:"ignore_eos"`
	Seed                *int64 `json:"seed"`
	N                   *int   `json:"n"`
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	kind   string // the type of the error object
	text   string
	retry  int // Retry-After in seconds; 0: none
}

func (r *refusal) Error() string { return r.text }

func badRequest(format string, args ...any) error {
	return &refusal{status: 400, kind: "BadRequestError", text: fmt.Sprintf(format, args...)}
}

// parseRequest reads and checks a body. context is how many tokens prompt and
// reply may have together; the reply is cut to what is left of it, silently,
// as vLLM does. The error is always a *refusal.
func parseRequest(body []byte, chat bool, model string, context int) (*request, error) {
	var in wireRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, badRequest("the request body is not valid JSON for this route: %v", err)
	}
	if in.Model != nil && *in.Model != "" && *in.Model != model {
		return nil, &refusal{status: 404, kind: "NotFoundError",
			text: fmt.Sprintf("The model `%s` does not exist.", clip(*in.Model, 200))}
	}
	q := &request{chat: chat, stream: in.Stream, min: in.MinTokens, ignoreEOS: in.IgnoreEOS}
	if in.Seed != nil {
		q.seed, q.seeded = uint64(*in.Seed), true
	}
	if in.StreamOptions != nil {
		if !in.Stream {
			return nil, badRequest("Stream options can only be defined when `stream=True`.")
		}
		q.usage = in.StreamOptions.IncludeUsage
		q.everyUsage = q.usage && in.StreamOptions.Continuous
	}
	if in.N != nil && *in.N != 1 {
		return nil, badRequest("n must be 1 here, got %d.", *in.N)
	}
	if err := q.size(&in, context); err != nil {
		return nil, err
	}
	return q, nil
}

// size fills in the lengths of prompt and reply.
func (q *request) size(in *wireRequest, context int) error {
	var err error
	if q.chat {
		q.prompt, err = chatTokens(in.Messages)
	} else {
		q.prompt, err = promptTokens(in.Prompt)
	}
	if err != nil {
		return err
	}
	if q.prompt >= context {
		return badRequest("This model's maximum context length is %d tokens, and the prompt has %d.", context, q.prompt)
	}
	room := context - q.prompt
	asked := room
	switch {
	case q.chat && in.MaxCompletionTokens != nil:
		asked = *in.MaxCompletionTokens
	case in.MaxTokens != nil:
		asked = *in.MaxTokens
	case !q.chat:
		asked = 16
	}
	if asked < 1 {
		return badRequest("max_tokens must be at least 1, got %d.", asked)
	}
	if q.min < 0 || q.min > asked {
		return badRequest("min_tokens must be between 0 and max_tokens=%d, got %d.", asked, q.min)
	}
	q.max = min(asked, room)
	return nil
}

// chatTokens estimates the tokens of a conversation: four a message for the
// template, besides the text.
func chatTokens(messages []wireMessage) (int, error) {
	if len(messages) == 0 {
		return 0, badRequest("messages must be a list of at least one message.")
	}
	n := 3
	for _, m := range messages {
		t, err := contentTokens(m.Content)
		if err != nil {
			return 0, err
		}
		n += 4 + t
	}
	return n, nil
}

func contentTokens(raw json.RawMessage) (int, error) {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil { // null leaves s empty
		return estimate(s), nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return 0, badRequest("content must be a string or a list of parts.")
	}
	n := 0
	for _, p := range parts {
		n += estimate(p.Text)
	}
	return n, nil
}

// promptTokens estimates the tokens of a prompt of the completions route: one
// text or one list of token ids, or a list with one of either.
func promptTokens(raw json.RawMessage) (int, error) {
	var s string
	if len(raw) > 0 && json.Unmarshal(raw, &s) == nil {
		return max(1, estimate(s)), nil
	}
	var ids []int
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return len(ids), nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && len(list[0]) > 0 && list[0][0] != '[' {
		return promptTokens(list[0])
	}
	var lists [][]int
	if json.Unmarshal(raw, &lists) == nil && len(lists) == 1 && len(lists[0]) > 0 {
		return len(lists[0]), nil
	}
	return 0, badRequest("prompt must be one text or one list of token ids.")
}

// estimate guesses how many tokens a text has: a word is one, and so are four
// bytes, whichever gives more. Text of long words or without spaces then
// counts by its bytes.
func estimate(s string) int {
	return max(len(strings.Fields(s)), (len(s)+3)/4)
}

// clip shortens s to n bytes for an error message, on a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
