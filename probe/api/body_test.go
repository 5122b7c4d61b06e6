package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func bodyOf(t *testing.T, dialect string, a Ask) string {
	t.Helper()
	d, err := ByName(dialect)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Body(a)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) {
		t.Fatalf("no JSON: %s", b)
	}
	return string(b)
}

func TestBody(t *testing.T) {
	ask := Ask{Model: "m", Prompt: "7f3a Say \"hi\"\n", MaxTokens: 32, Seed: 1<<40 + 5}
	const chatHead = `{"model":"m","messages":[{"role":"user","content":"7f3a Say \"hi\"\n"}],"stream":true`
	for _, c := range []struct {
		name, dialect, engine string
		cold                  bool
		drop                  []string
		want                  string
	}{
		{"unknown engine", "chat", "", false, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0}`},
		{"vLLM", "chat", "vLLM", true, nil,
			chatHead + `,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_tokens":32,"min_tokens":32,"ignore_eos":true,"temperature":0,"seed":5}`},
		{"SGLang completions", "completions", "SGLang", false, nil,
			`{"model":"m","prompt":"7f3a Say \"hi\"\n","stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_tokens":32,"min_tokens":32,"ignore_eos":true,"temperature":0,"seed":5}`},
		{"llama.cpp warm", "chat", "llama.cpp", false, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"ignore_eos":true,"temperature":0,"seed":5,"timings_per_token":true}`},
		{"llama.cpp cold", "chat", "llama.cpp", true, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"ignore_eos":true,"temperature":0,"seed":5,"timings_per_token":true,"cache_prompt":false}`},
		{"Ollama", "chat", "Ollama", true, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0,"seed":5}`},
		{"limit swapped", "chat", "", false, []string{FieldMaxTokens},
			chatHead + `,"stream_options":{"include_usage":true},"max_completion_tokens":32,"temperature":0}`},
		{"both limits rejected", "chat", "", false, []string{FieldMaxTokens, FieldMaxCompletion},
			chatHead + `,"stream_options":{"include_usage":true},"temperature":0}`},
		{"the swapped one rejected", "chat", "", false, []string{FieldMaxCompletion},
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0}`},
		{"continuous usage dropped", "chat", "vLLM", false, []string{FieldRunningUsage, FieldMinTokens, FieldIgnoreEOS, FieldSeed},
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0}`},
		{"nothing but the least", "chat", "llama.cpp", true, Fallback()[:len(Fallback())-1],
			chatHead + `,"max_tokens":32}`},
		{"usage dropped", "completions", "vLLM", false, []string{FieldIncludeUsage, FieldMinTokens, FieldIgnoreEOS, FieldSeed, FieldTemperature},
			`{"model":"m","prompt":"7f3a Say \"hi\"\n","stream":true,"max_tokens":32}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := ask
			a.Engine, a.Cold, a.Drop = c.engine, c.cold, map[string]bool{}
			for _, f := range c.drop {
				a.Drop[f] = true
			}
			if got := bodyOf(t, c.dialect, a); got != c.want {
				t.Errorf("body\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestBodyNeedsATokenToAskFor(t *testing.T) {
	for _, n := range []int{0, -1} {
		for _, name := range Names() {
			d, _ := ByName(name)
			if _, err := d.Body(Ask{MaxTokens: n}); err == nil {
				t.Errorf("%s: %d tokens were accepted", name, n)
			}
		}
	}
}

func TestByName(t *testing.T) {
	paths := map[string]string{"chat": "/chat/completions", "completions": "/completions"}
	for _, name := range Names() {
		d, err := ByName(name)
		if err != nil || d.Name() != name || d.Path() != paths[name] {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if _, err := ByName("smoke"); err == nil || !strings.Contains(err.Error(), "chat, completions") {
		t.Errorf("an unknown name gives %v", err)
	}
}

func TestAuth(t *testing.T) {
	for _, c := range []struct{ name, have, key, want string }{
		{"key", "", "secret", "Bearer secret"},
		{"key with a line end", "", "secret\n", "Bearer secret"},
		{"no key", "", "", ""},
		{"the user's own header stays", "Basic eA==", "secret", "Basic eA=="},
	} {
		h := http.Header{}
		if c.have != "" {
			h.Set("Authorization", c.have)
		}
		chat{}.Auth(h, c.key)
		if got := h.Get("Authorization"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
