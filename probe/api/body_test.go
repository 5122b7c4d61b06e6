package api

import (
	"encoding/json"
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
		{"OpenAI", "chat", "OpenAI", false, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_completion_tokens":32,"temperature":0}`},
		{"OpenAI's old models", "chat", "OpenAI", false, []string{FieldMaxCompletion},
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0}`},
		{"Mistral", "chat", "Mistral", false, nil, chatHead + `,"max_tokens":32,"temperature":0,"random_seed":5}`},
		{"LMDeploy", "chat", "LMDeploy", false, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"min_new_tokens":32,"ignore_eos":true,"temperature":0,"seed":5,"return_token_ids":true}`},
		{"KoboldCpp", "chat", "KoboldCpp", false, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"ban_eos_token":true,"temperature":0,"seed":5}`},
		{"Groq", "chat", "Groq", false, nil,
			chatHead + `,"stream_options":{"include_usage":true},"max_completion_tokens":32,"temperature":0,"seed":5}`},
		{"Anthropic", "anthropic", "", false, nil,
			`{"model":"m","max_tokens":32,"messages":[{"role":"user","content":"7f3a Say \"hi\"\n"}],"stream":true,"temperature":0}`},
		{"Anthropic, temperature refused", "anthropic", "", false, []string{FieldTemperature, FieldMaxTokens},
			`{"model":"m","max_tokens":32,"messages":[{"role":"user","content":"7f3a Say \"hi\"\n"}],"stream":true}`},
		{"Responses", "responses", "", false, nil, `{"model":"m","input":"7f3a Say \"hi\"\n","stream":true,"max_output_tokens":32,"temperature":0}`},
		{"Responses of OpenAI", "responses", "OpenAI", false, nil,
			`{"model":"m","input":"7f3a Say \"hi\"\n","stream":true,"max_output_tokens":32,"temperature":0,"store":false}`},
		{"Ollama's chat", "ollama", "Ollama", true, nil,
			chatHead + `,"options":{"num_predict":32,"temperature":0,"seed":5}}`},
		{"Ollama's generate", "ollama-generate", "Ollama", true, []string{FieldSeed},
			`{"model":"m","prompt":"7f3a Say \"hi\"\n","stream":true,"options":{"num_predict":32,"temperature":0}}`},
		{"llama.cpp's completion, cold", "llamacpp", "llama.cpp", true, nil,
			`{"model":"m","prompt":"7f3a Say \"hi\"\n","stream":true,"n_predict":32,"ignore_eos":true,"temperature":0,"seed":5,"timings_per_token":true,"cache_prompt":false}`},
		{"LM Studio's chat", "lmstudio", "LM Studio", false, nil,
			`{"model":"m","input":"7f3a Say \"hi\"\n","stream":true,"max_output_tokens":32,"temperature":0,"store":false}`},
		{"the swapped one rejected", "chat", "", false, []string{FieldMaxCompletion},
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0}`},
		{"continuous usage dropped", "chat", "vLLM", false, []string{FieldRunningUsage, FieldMinTokens, FieldIgnoreEOS, FieldSeed},
			chatHead + `,"stream_options":{"include_usage":true},"max_tokens":32,"temperature":0}`},
		{"nothing but the least", "chat", "llama.cpp", true, Fallback()[:len(Fallback())-2],
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

// A reply without a limit could go on for ever.
func TestBodyNeedsALimit(t *testing.T) {
	none := map[string]bool{FieldMaxTokens: true, FieldMaxCompletion: true}
	for _, name := range []string{"chat", "completions"} {
		d, _ := ByName(name)
		if b, err := d.Body(Ask{Model: "m", MaxTokens: 9, Drop: none}); err == nil {
			t.Errorf("%s: %s", name, b)
		}
	}
	for _, name := range Names() {
		d, _ := ByName(name)
		for _, n := range []int{0, -1} {
			if b, err := d.Body(Ask{Model: "m", Prompt: "p", MaxTokens: n}); err == nil {
				t.Errorf("%s asks for %d tokens: %s", name, n, b)
			}
		}
	}
	if b, err := (responses{}).Body(Ask{Model: "m", MaxTokens: 9, Engine: "OpenAI"}); err == nil {
		t.Errorf("fewer tokens than the API gives: %s", b)
	}
}

func TestReasoningModelsThinkLittle(t *testing.T) {
	for _, c := range []struct{ model, engine, want string }{
		{"gpt-5-mini", "OpenAI", "minimal"}, {"o3", "Azure OpenAI", "low"}, {"gpt-4.1", "OpenAI", ""}, {"gpt-5", "", ""},
	} {
		for _, dialect := range []string{"chat", "responses"} {
			got := bodyOf(t, dialect, Ask{Model: c.model, MaxTokens: 32, Engine: c.engine})
			if said := strings.Contains(got, `"`+c.want+`"`) && c.want != ""; said != (c.want != "") || c.want == "" && strings.Contains(got, "effort") {
				t.Errorf("%s, %s: %s", c.model, dialect, got)
			}
			if dropped := bodyOf(t, dialect, Ask{Model: c.model, MaxTokens: 32, Engine: c.engine, Drop: map[string]bool{FieldEffort: true}}); strings.Contains(dropped, "effort") {
				t.Errorf("%s, %s: %s", c.model, dialect, dropped)
			}
		}
	}
}

// TestGiveUp walks down the ladder: each step leaves out something that is
// really there, and it ends.
func TestGiveUp(t *testing.T) {
	for _, name := range Names() {
		d, _ := ByName(name)
		for _, engine := range []string{"", "vLLM", "llama.cpp", "OpenAI", "Mistral", "LMDeploy"} {
			a := Ask{Model: "m", Prompt: "p", MaxTokens: 32, Engine: engine, Cold: true, Drop: map[string]bool{}}
			last, steps := "", 0
			for ; steps <= len(Fallback()); steps++ {
				field := GiveUp(d, a)
				if field == "" {
					break
				}
				before := bodyOf(t, name, a)
				a.Drop[field] = true
				if bodyOf(t, name, a) == before {
					t.Fatalf("%s, %s: giving up %s changes nothing", name, engine, field)
				}
				last = field
			}
			if steps > len(Fallback()) {
				t.Errorf("%s, %s: no end", name, engine)
			}
			if name == "chat" && last != FieldMaxTokens && last != FieldMaxCompletion {
				t.Errorf("%s, %s: the last thing given up is %q", name, engine, last)
			}
		}
	}
	if got := GiveUp(chat{}, Ask{}); got != "" {
		t.Errorf("a request that cannot be made gives up %q", got)
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
	for _, name := range Names() {
		if d, err := ByName(name); err != nil || d.Name() != name {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if _, err := ByName("smoke"); err == nil || !strings.Contains(err.Error(), "chat, completions") {
		t.Errorf("an unknown name gives %v", err)
	}
}
