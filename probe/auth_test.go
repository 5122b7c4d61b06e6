package probe

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"teapot/probe/api"
	"teapot/probe/event"
)

// keyHeaders are the headers in which a key may travel.
func keyHeaders() []string {
	return []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}
}

// The key goes where each dialect has it, and what the user gives outranks it.
func TestKeyInTheHeaderOfTheDialect(t *testing.T) {
	const key = "sk-canary-auth-1"
	t.Setenv("TEAPOT_TEST_KEY", key)
	for _, name := range api.Names() {
		want := map[string]string{"Authorization": "Bearer " + key}
		switch name {
		case "anthropic":
			want["X-Api-Key"] = key // engines that imitate it look in both
		case "gemini":
			want = map[string]string{"X-Goog-Api-Key": key}
		}
		t.Run(name, func(t *testing.T) {
			for _, given := range []string{"", "Authorization: Token of-my-own", "X-Api-Key: of-my-own", "X-Goog-Api-Key: of-my-own"} {
				s, got := answering(t, func(_ int, c net.Conn, _ asked) bool { return nope(c, 500, `{"error":"enough"}`) })
				cfg := config(s.url, 1)
				cfg.Targets[0].API, cfg.Targets[0].KeyEnv, cfg.Targets[0].Model = name, "TEAPOT_TEST_KEY", "tiny"
				if given != "" {
					cfg.Targets[0].Headers = []string{given}
				}
				all := watchUntil(t, cfg)
				leaks(t, all, key)
				h := got()[0].header
				expect := want
				if field, value, ok := strings.Cut(given, ": "); ok {
					expect = map[string]string{field: value}
				}
				for _, field := range keyHeaders() {
					if h.Get(field) != expect[field] {
						t.Errorf("with %q: %s is %q, want %q", given, field, h.Get(field), expect[field])
					}
				}
				if v := h.Get("Anthropic-Version"); (v != "") != (name == "anthropic") {
					t.Errorf("Anthropic-Version is %q", v)
				}
			}
		})
	}
}

// A service that has the key in a header of its own is known by its refusal,
// and then asked again.
func TestKeyOfTheDialectThatWasDetected(t *testing.T) {
	const key = "sk-canary-auth-2"
	t.Setenv("TEAPOT_TEST_KEY", key)
	s, got := answering(t, func(_ int, c net.Conn, _ asked) bool { return nope(c, 500, `{"error":"enough"}`) })
	s.get = func(c net.Conn, r *http.Request) bool {
		switch {
		case r.Header.Get("X-Api-Key") != key:
			plain(c, 401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"x-api-key header is required"}}`,
				"anthropic-organization-id: x")
		case r.URL.Path == "/v1/models":
			plain(c, 200, "application/json", `{"data":[{"type":"model","id":"claude-x","display_name":"X"}],"has_more":false}`)
		default:
			return false
		}
		return true
	}
	cfg := config(s.url, 1)
	cfg.Targets[0].KeyEnv = "TEAPOT_TEST_KEY"
	all := watchUntil(t, cfg)
	if a := got()[0]; a.path != "/v1/messages" || a.header.Get("X-Api-Key") != key || !strings.Contains(a.body, "claude-x") {
		t.Errorf("asked %+v", a)
	}
	leaks(t, all, key)
	if e := only[*event.End](t, all); e.Class != event.ErrHTTP {
		t.Errorf("end: %+v", e)
	}
}

// The dialect that a path asks for is spoken, be it of an engine or not.
func TestPathOfAnEndpoint(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/completions": "/v1/completions", "/v1/messages": "/v1/messages", "/api/chat": "/api/chat",
		"/deep/api/generate": "/deep/api/generate", "/v1/models": "/v1/chat/completions", "": "/v1/chat/completions",
	} {
		s, got := answering(t, func(_ int, c net.Conn, _ asked) bool { return nope(c, 500, `{"error":"enough"}`) })
		watchUntil(t, config(s.url+path, 1))
		if a := got()[0].path; a != want {
			t.Errorf("%s leads to %s, want %s", path, a, want)
		}
	}
}
