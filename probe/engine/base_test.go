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
	for _, seed := range []string{"http://h:8000/v1", "h", "http://u:p@h/a/v1?x", "[::1]:8", "%", "http://h/%zz", "v1/models"} {
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
	})
}
