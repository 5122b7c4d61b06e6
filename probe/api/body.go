package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Names of the request fields that may be dropped or swapped. Where the same
// thing has a place of its own in a dialect (options.seed), it goes under the
// same name.
const (
	FieldStreamOptions = "stream_options"
	FieldIncludeUsage  = "stream_options.include_usage"
	FieldRunningUsage  = "stream_options.continuous_usage_stats"
	FieldMaxTokens     = "max_tokens"
	FieldMaxCompletion = "max_completion_tokens"
	FieldMinTokens     = "min_tokens"
	FieldMinNewTokens  = "min_new_tokens"
	FieldIgnoreEOS     = "ignore_eos"
	FieldBanEOS        = "ban_eos_token"
	FieldTemperature   = "temperature"
	FieldSeed          = "seed"
	FieldRandomSeed    = "random_seed"
	FieldTimings       = "timings_per_token"
	FieldCachePrompt   = "cache_prompt"
	FieldTokenIDs      = "return_token_ids"
	FieldStore         = "store"
	FieldEffort        = "reasoning_effort"
)

// Fallback lists the fields to give up, one more with each try, when a server
// rejects a request without naming what it dislikes: those that cost least
// first. [GiveUp] takes the next of them that a request really has.
func Fallback() []string {
	return []string{
		FieldStore, FieldEffort, FieldTokenIDs, FieldTimings, FieldCachePrompt, FieldRunningUsage, FieldMinNewTokens, FieldMinTokens,
		FieldBanEOS, FieldIgnoreEOS, FieldRandomSeed, FieldSeed, FieldIncludeUsage, FieldStreamOptions, FieldTemperature,
		FieldMaxTokens, FieldMaxCompletion,
	}
}

// check refuses what no server can serve.
func (a Ask) check() error {
	if a.MaxTokens < 1 {
		return fmt.Errorf("cannot ask for %d tokens: at least one is needed", a.MaxTokens)
	}
	return nil
}

// temperature is 0, the same answer every time, unless it must be left out.
func (a Ask) temperature() *float64 {
	if a.Drop[FieldTemperature] {
		return nil
	}
	return new(float64)
}

// seed is the seed to send, unless it must be left out.
func (a Ask) seed() *uint32 {
	if a.Drop[FieldSeed] {
		return nil
	}
	seed := uint32(a.Seed & 0x7fffffff)
	return &seed
}

// messages is the prompt as a conversation.
func (a Ask) messages() []message { return []message{{Role: "user", Content: a.Prompt}} }

// effort is how much a reasoning model of OpenAI shall think: as little as it
// can, for what it thinks is not on the wire and eats the tokens asked for. It
// is "" for every other model.
func (a Ask) effort() string {
	if !isOpenAI(a.Engine) || a.Drop[FieldEffort] {
		return ""
	}
	name := strings.ToLower(a.Model)
	switch {
	case strings.HasPrefix(name, "gpt-5"):
		return "minimal"
	case strings.HasPrefix(name, "o1"), strings.HasPrefix(name, "o3"), strings.HasPrefix(name, "o4"):
		return "low"
	}
	return ""
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
	Running      bool `json:"continuous_usage_stats,omitempty"`
}

// request holds the fields in the order in which they are sent; a zero value
// is left out.
type request struct {
	Model         string         `json:"model"`
	Messages      []message      `json:"messages,omitempty"`
	Prompt        *string        `json:"prompt,omitempty"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	MaxTokens     int            `json:"max_tokens,omitempty"`
	MaxCompletion int            `json:"max_completion_tokens,omitempty"`
	MinTokens     int            `json:"min_tokens,omitempty"`
	MinNew        int            `json:"min_new_tokens,omitempty"`
	IgnoreEOS     bool           `json:"ignore_eos,omitempty"`
	BanEOS        bool           `json:"ban_eos_token,omitempty"`
	Temperature   *float64       `json:"temperature,omitempty"`
	Seed          *uint32        `json:"seed,omitempty"`
	RandomSeed    *uint32        `json:"random_seed,omitempty"`
	Timings       bool           `json:"timings_per_token,omitempty"`
	CachePrompt   *bool          `json:"cache_prompt,omitempty"`
	TokenIDs      bool           `json:"return_token_ids,omitempty"`
	Effort        string         `json:"reasoning_effort,omitempty"`
}

// common fills what chat and completions share. The limit of tokens is
// max_tokens.
func common(a Ask) (request, error) {
	if err := a.check(); err != nil {
		return request{}, err
	}
	ex := extrasOf(a.Engine)
	may := func(field string, taken bool) bool { return taken && !a.Drop[field] }

	b := request{Model: a.Model, Stream: true, MaxTokens: a.MaxTokens, Temperature: a.temperature()}
	if !ex.noOptions && !a.Drop[FieldStreamOptions] && !a.Drop[FieldIncludeUsage] {
		b.StreamOptions = &streamOptions{IncludeUsage: true, Running: may(FieldRunningUsage, ex.running)}
	}
	if may(FieldMinTokens, ex.minTokens) {
		b.MinTokens = a.MaxTokens
	}
	if may(FieldMinNewTokens, ex.minNew) {
		b.MinNew = a.MaxTokens
	}
	b.IgnoreEOS = may(FieldIgnoreEOS, ex.ignoreEOS)
	b.BanEOS = may(FieldBanEOS, ex.banEOS)
	if ex.seed {
		b.Seed = a.seed()
	}
	if may(FieldRandomSeed, ex.randomSeed) {
		b.RandomSeed = a.seed()
	}
	b.Timings = may(FieldTimings, ex.timings)
	if may(FieldCachePrompt, ex.cache && a.Cold) {
		b.CachePrompt = new(bool)
	}
	b.TokenIDs = may(FieldTokenIDs, ex.tokenIDs)
	return b, nil
}

// errNoLimit: without a limit a reply might go on, and cost, without end.
var errNoLimit = errors.New("the server takes no limit of output tokens, neither max_tokens nor max_completion_tokens")

// newer moves the limit to max_completion_tokens, where that is the name to use.
func (b *request) newer(a Ask) error {
	first, other := FieldMaxTokens, FieldMaxCompletion
	if extrasOf(a.Engine).completion {
		first, other = other, first
	}
	name := first
	if a.Drop[first] {
		name = other
	}
	if a.Drop[name] {
		return errNoLimit
	}
	if name == FieldMaxCompletion {
		b.MaxTokens, b.MaxCompletion = 0, a.MaxTokens
	}
	return nil
}

// encode is the JSON of a request.
func encode(request any) ([]byte, error) {
	out, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return out, nil
}
