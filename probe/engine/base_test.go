package engine

import (
	"strings"
	"testing"
)

func TestBase(t *testing.T) {
	for _, c := range []struct{ in, api, root string }{
		{"http://h:8000", "http://h:8000/v1", "http://h:8000"},
		{"http://h:8000/", "http://h:8000/v1", "http://h:8000"},
		{"http://h:8000/v1", "http://h:8000/v1", "http://h:8000"},
		{"http://h:8000/v1/", "http://h:8000/v1", "http://h:8000"},
		{"  h:8000  ", "http://h:8000/v1", "http://h:8000"},
		{"localhost", "http://localhost/v1", "http://localhost"},
		{"https://h/openai/v1", "https://h/openai/v1", "https://h/openai"},
		{"https://h/openai", "https://h/openai/v1", "https://h/openai"},
		{"http://h/v1/chat/completions", "http://h/v1", "http://h"},
		{"http://h/gw/v1/completions/", "http://h/gw/v1", "http://h/gw"},
		{"http://h/v1/models", "http://h/v1", "http://h"},
		{"http://h/a%2Fb/v1", "http://h/a%2Fb/v1", "http://h/a%2Fb"},
		{"http://h/v1?key=s#x", "http://h/v1", "http://h"},
		{"http://u:p@h:1/v1", "http://u:p@h:1/v1", "http://u:p@h:1"},
		{"http://[::1]:8000", "http://[::1]:8000/v1", "http://[::1]:8000"},
		{"127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"},
		{"http://h:11434/api", "http://h:11434/v1", "http://h:11434"},
		{"http://h/gw/api/chat", "http://h/gw/v1", "http://h/gw"},
		{"http://h/api/v1", "http://h/api/v1", "http://h/api"},
		{"http://h:1234/api/v1/chat", "http://h:1234/v1", "http://h:1234"},
		{"http://h:5001/api/extra/generate/stream", "http://h:5001/v1", "http://h:5001"},
		{"http://h/v2/models/m/generate_stream", "http://h/v1", "http://h"},
		{"https://openrouter.ai", "https://openrouter.ai/api/v1", "https://openrouter.ai/api"},
		{"https://api.groq.com/v1", "https://api.groq.com/openai/v1", "https://api.groq.com/openai"},
		{"https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1", "https://r.openai.azure.com/openai"},
		{"https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", "https://r.openai.azure.com/openai/deployments/d/v1", "https://r.openai.azure.com/openai/deployments/d"},
		{"https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent", "https://generativelanguage.googleapis.com/v1", "https://generativelanguage.googleapis.com"},
	} {
		api, root, err := Base(c.in)
		if err != nil || api != c.api || root != c.root {
			t.Errorf("%q: %q, %q, %v", c.in, api, root, err)
		}
		if again, _, err := Base(api); err != nil || again != api {
			t.Errorf("%q is not stable: %q, %v", api, again, err)
		}
	}
	for _, in := range []string{"", "  ", "ftp://h", "http://", "http://u:s3cret@h:port", "://h", "http://u:s3cret@h\x7f/"} {
		_, _, err := Base(in)
		if err == nil {
			t.Errorf("%q was accepted", in)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error holds the password: %v", in, err)
		}
	}
}

func FuzzBase(f *testing.F) {
	for _, seed := range []string{"http://h:8000/v1", "h", "http://u:p@h/a/v1?x", "[::1]:8", "%", "http://h/%zz", "v1/models", "h/v1/v1beta", "h/v2/models/m/generate_stream", "r.openai.azure.com/openai/deployments/%2f", "h/api/chat", "api.groq.com/v1/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		api, root, err := Base(in)
		if err != nil {
			return
		}
		if api != root+"/v1" || strings.ContainsAny(root, "?#") {
			t.Fatalf("%q gives %q and %q", in, api, root)
		}
		if _, again, err := Base(api); err != nil || again != root {
			t.Fatalf("%q gives %q, which gives %q, %v", in, api, again, err)
		}
	})
}
