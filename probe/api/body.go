package api

import (
	"encoding/json"
	"fmt"
)

// Names of the request fields that may be dropped or swapped.
const (
	FieldStreamOptions = "stream_options"
	FieldIncludeUsage  = "stream_options.include_usage"
	FieldRunningUsage  = "stream_options.continuous_usage_stats"
	FieldMaxTokens     = "max_tokens"
	FieldMaxCompletion = "max_completion_tokens"
	FieldMinTokens     = "min_tokens"
	FieldMinNewTokens  = "min_new_tokens"
	FieldIgnoreEOS     = "ignore_eos"
	FieldTemperature   = "temperature"
	FieldSeed          = "seed"
	FieldTimings       = "timings_per_token"
	FieldCachePrompt   = "cache_prompt"
)

// Fallback lists the fields to give up, one more with each try, when a server
// rejects a request without naming what it dislikes: those that cost least
// first.
func Fallback() []string {
	return []string{
		FieldTimings, FieldCachePrompt, FieldRunningUsage, FieldMinNewTokens, FieldMinTokens,
		FieldIgnoreEOS, FieldSeed, FieldIncludeUsage, FieldStreamOptions, FieldTemperature, FieldMaxTokens,
	}
}

// extras says which fields an engine takes beside those that nearly every
// server takes.
type extras struct {
	running, ignoreEOS, minTokens, minNew, seed, timings, cache bool
}

// extrasOf is the table of engines. One that is not in it gets the widely
// accepted fields alone: a strict server answers 400 to anything else.
func extrasOf(engine string) extras {
	switch engine {
	case "vLLM", "SGLang", "TensorRT-LLM", "teapot engine":
		return extras{running: true, ignoreEOS: true, minTokens: true, seed: true}
	case "LMDeploy":
		return extras{ignoreEOS: true, minNew: true, seed: true}
	case "llama.cpp":
		return extras{ignoreEOS: true, seed: true, timings: true, cache: true}
	case "Ollama", "LM Studio", "mlx_lm", "TGI":
		return extras{seed: true}
	}
	return extras{}
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
	Temperature   *float64       `json:"temperature,omitempty"`
	Seed          *uint32        `json:"seed,omitempty"`
	Timings       bool           `json:"timings_per_token,omitempty"`
	CachePrompt   *bool          `json:"cache_prompt,omitempty"`
}

// common fills what chat and completions share.
func common(a Ask) (request, error) {
	if a.MaxTokens < 1 {
		return request{}, fmt.Errorf("cannot ask for %d tokens: at least one is needed", a.MaxTokens)
	}
	ex := extrasOf(a.Engine)
	may := func(field string, taken bool) bool { return taken && !a.Drop[field] }

	b := request{Model: a.Model, Stream: true}
	if !a.Drop[FieldStreamOptions] && !a.Drop[FieldIncludeUsage] {
		b.StreamOptions = &streamOptions{IncludeUsage: true, Running: may(FieldRunningUsage, ex.running)}
	}
	if !a.Drop[FieldMaxTokens] {
		b.MaxTokens = a.MaxTokens
	}
	if may(FieldMinTokens, ex.minTokens) {
		b.MinTokens = a.MaxTokens
	}
	if may(FieldMinNewTokens, ex.minNew) {
		b.MinNew = a.MaxTokens
	}
	b.IgnoreEOS = may(FieldIgnoreEOS, ex.ignoreEOS)
	if !a.Drop[FieldTemperature] {
		b.Temperature = new(float64)
	}
	if may(FieldSeed, ex.seed) {
		seed := uint32(a.Seed & 0x7fffffff)
		b.Seed = &seed
	}
	b.Timings = may(FieldTimings, ex.timings)
	if may(FieldCachePrompt, ex.cache && a.Cold) {
		b.CachePrompt = new(bool)
	}
	return b, nil
}

func (b request) encode() ([]byte, error) {
	out, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return out, nil
}
