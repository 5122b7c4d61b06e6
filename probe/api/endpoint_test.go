package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEndpoint(t *testing.T) {
	for _, c := range []struct{ dialect, base, want string }{
		{"chat", "http://h:8000/v1", "http://h:8000/v1/chat/completions"},
		{"chat", "https://h/proxy/v1/", "https://h/proxy/v1/chat/completions"},
		{"chat", "https://r.openai.azure.com/openai/deployments/gpt/v1?api-version=2024-10-21", "https://r.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21"},
		{"chat", "https://r.openai.azure.com/openai/v1", "https://r.openai.azure.com/openai/v1/chat/completions"},
		{"chat", "https://generativelanguage.googleapis.com/v1beta/openai/v1", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"},
		{"chat", "https://open.bigmodel.cn/api/paas/v4/v1", "https://open.bigmodel.cn/api/paas/v4/chat/completions"},
		{"chat", "https://h/v2models/v1", "https://h/v2models/v1/chat/completions"},
		{"completions", "http://h/v1", "http://h/v1/completions"},
		{"responses", "http://h/v1", "http://h/v1/responses"},
		{"anthropic", "https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"},
		{"ollama", "http://h:11434/v1", "http://h:11434/api/chat"},
		{"ollama", "http://h:11434/api/v1", "http://h:11434/api/chat"},
		{"ollama", "http://h:11434/api/chat/v1", "http://h:11434/api/chat"},
		{"ollama", "http://h/behind/v1?x=1", "http://h/behind/api/chat?x=1"},
		{"ollama-generate", "http://h:11434/v1", "http://h:11434/api/generate"},
		{"llamacpp", "http://h:8080/v1", "http://h:8080/completion"},
		{"lmstudio", "http://h:1234/v1", "http://h:1234/api/v1/chat"},
		{"lmstudio", "http://h:1234/api/v1", "http://h:1234/api/v1/chat"},
	} {
		d, err := ByName(c.dialect)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Endpoint(c.base, "m"); got != c.want {
			t.Errorf("%s under %s: %s, want %s", c.dialect, c.base, got, c.want)
		}
	}
}

// Whatever the base and the model, an endpoint is a URL of the same host that
// keeps the query.
func TestEndpointStaysWhereItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`(/[a-z0-9]{1,5}){0,3}`).Draw(t, "path")
		base := "http://host:81" + path + "/v1?a=b"
		model := rapid.String().Draw(t, "model")
		for _, name := range Names() {
			d, _ := ByName(name)
			u, err := url.Parse(d.Endpoint(base, model))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if u.Host != "host:81" || u.Query().Get("a") != "b" {
				t.Fatalf("%s: %s", name, u)
			}
		}
	})
}

func TestAuth(t *testing.T) {
	const plain, azure = "http://h/v1", "https://r.openai.azure.com/openai/deployments/d/v1"
	for _, c := range []struct{ name, dialect, base, have, key, want string }{
		{"key", "chat", plain, "", "secret", "Authorization: Bearer secret"},
		{"key with a line end", "chat", plain, "", "secret\n", "Authorization: Bearer secret"},
		{"no key", "chat", plain, "", "", ""},
		{"the user's own header stays", "chat", plain, "Authorization: Basic eA==", "secret", "Authorization: Basic eA=="},
		{"the user's header of another name", "chat", plain, "X-Api-Key: mine", "secret", "X-Api-Key: mine"},
		{"Azure", "chat", azure, "", "secret", "Api-Key: secret"},
		{"Azure without deployments", "responses", "https://r.openai.azure.com/openai/v1", "", "secret", "Api-Key: secret"},
		{"a host that only looks like Azure", "chat", "https://evil-azure.com/v1", "", "secret", "Authorization: Bearer secret"},
		{"Anthropic", "anthropic", "https://api.anthropic.com/v1", "", "secret", "Anthropic-Version: 2023-06-01 X-Api-Key: secret"},
		{"Anthropic by its host", "chat", "https://api.anthropic.com/v1", "", "secret", "Anthropic-Version: 2023-06-01 X-Api-Key: secret"},
		{"Anthropic's API elsewhere", "anthropic", plain, "", "secret", "Anthropic-Version: 2023-06-01 Authorization: Bearer secret X-Api-Key: secret"},
		{"Anthropic's API, the user's login", "anthropic", plain, "Authorization: Bearer mine", "secret", "Anthropic-Version: 2023-06-01 Authorization: Bearer mine"},
		{"Anthropic's API elsewhere, the user's header", "anthropic", plain, "X-Api-Key: mine", "secret", "Anthropic-Version: 2023-06-01 X-Api-Key: mine"},
		{"Anthropic's API without a key", "anthropic", plain, "", "", "Anthropic-Version: 2023-06-01"},
		{"Ollama", "ollama", plain, "", "secret", "Authorization: Bearer secret"},
		{"llama.cpp", "llamacpp", plain, "", "secret", "Authorization: Bearer secret"},
	} {
		h := http.Header{}
		if name, value, ok := strings.Cut(c.have, ": "); ok {
			h.Set(name, value)
		}
		d, _ := ByName(c.dialect)
		d.Auth(h, c.base, c.key)
		var got []string
		for _, name := range []string{"Anthropic-Version", "Api-Key", "Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
			if v := h.Get(name); v != "" {
				got = append(got, name+": "+v)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}
