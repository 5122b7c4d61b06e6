package sim

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// raw sends bytes on a connection of their own and returns what comes back
// until end.
func (w *world) raw(request, end string) string {
	c, err := w.net.dial(w.Context(), "", "")
	if err != nil {
		w.Fatal(err)
	}
	defer c.Close()
	go func() { _, _ = io.WriteString(c, request) }()
	var got []byte
	b := make([]byte, 4096)
	for !bytes.HasSuffix(got, []byte(end)) {
		n, err := c.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			break
		}
	}
	return string(got)
}

func wirePost(path, body string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: engine\r\nX-Request-Id: golden\r\nContent-Type: application/json\r\n" +
		"Content-Length: " + number2(len(body)) + "\r\n\r\n" + body
}

func number2(n int) string { return strings.TrimSuffix(number(float64(n)), ".0") }

// TestWire compares whole replies, byte by byte, chunked coding included.
func TestWire(t *testing.T) {
	const chat = `{"messages":[{"role":"user","content":"Say hi"}],"seed":1,"max_tokens":`
	for _, c := range []struct{ name, profile, path, body, end string }{
		{"chat", "smooth", "/v1/chat/completions", chat + `3,"stream":true}`, "0\r\n\r\n"},
		{"chat_usage", "smooth", "/v1/chat/completions",
			chat + `3,"stream":true,"stream_options":{"include_usage":true}}`, "0\r\n\r\n"},
		{"chat_continuous", "smooth", "/v1/chat/completions",
			chat + `2,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, "0\r\n\r\n"},
		{"chat_one_token", "smooth", "/v1/chat/completions", chat + `1,"stream":true}`, "0\r\n\r\n"},
		{"chat_spec", "spec", "/v1/chat/completions", chat + `9,"stream":true}`, "0\r\n\r\n"},
		{"chat_reasoning", "reasoning", "/v1/chat/completions", chat + `6,"stream":true}`, "0\r\n\r\n"},
		{"chat_whole", "reasoning", "/v1/chat/completions", chat + `6}`, "}"},
		{"completions", "article", "/v1/completions",
			`{"prompt":"Once","seed":1,"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`, "0\r\n\r\n"},
		{"completions_whole", "smooth", "/v1/completions", `{"prompt":"Once","seed":1,"max_tokens":3}`, "}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, Options{Profile: c.profile}, func(w *world) {
				got := w.raw(wirePost(c.path, c.body), c.end)
				file := filepath.Join("testdata", c.name+".wire")
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						w.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					w.Fatal(err)
				}
				if d := cmp.Diff(string(want), got); d != "" {
					w.Errorf("-want +got\n%s", d)
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	long := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", 200_000) + `"}]}`
	huge := `{"messages":[{"role":"user","content":"` + strings.Repeat("x", bodyMost) + `"}]}`
	one := `{"messages":[{"role":"user","content":"x"}]`
	for _, c := range []struct {
		name, method, path, kind, body string
		status                         int
		says                           string
	}{
		{"no JSON", "POST", "/v1/chat/completions", "application/json", `{"model":`, 400, "not valid JSON"},
		{"empty body", "POST", "/v1/chat/completions", "application/json", ``, 400, "BadRequestError"},
		{"wrong type", "POST", "/v1/chat/completions", "application/json", `{"messages":5}`, 400, "BadRequestError"},
		{"not as JSON", "POST", "/v1/chat/completions", "text/plain", one + `}`, 400, "Unsupported Media Type"},
		{"other model", "POST", "/v1/chat/completions", "application/json", `{"model":"gpt-9","messages":[]}`, 404, "The model `gpt-9` does not exist."},
		{"no messages", "POST", "/v1/chat/completions", "application/json", `{}`, 400, "messages"},
		{"no prompt", "POST", "/v1/completions", "application/json", `{}`, 400, "prompt"},
		{"two prompts", "POST", "/v1/completions", "application/json", `{"prompt":["a","b"]}`, 400, "prompt"},
		{"no token wanted", "POST", "/v1/chat/completions", "application/json", one + `,"max_tokens":0}`, 400, "max_tokens"},
		{"min above max", "POST", "/v1/chat/completions", "application/json", one + `,"max_tokens":4,"min_tokens":5}`, 400, "min_tokens"},
		{"several choices", "POST", "/v1/chat/completions", "application/json", one + `,"n":2}`, 400, "n must be 1"},
		{"stream options alone", "POST", "/v1/chat/completions", "application/json", one + `,"stream_options":{"include_usage":true}}`, 400, "stream=True"},
		{"prompt too long", "POST", "/v1/chat/completions", "application/json", long, 400, "maximum context length is 32768"},
		{"body too long", "POST", "/v1/chat/completions", "application/json", huge, 413, "too large"},
		{"GET a completion", "GET", "/v1/chat/completions", "", ``, 405, "Method Not Allowed"},
		{"POST the models", "POST", "/v1/models", "application/json", `{}`, 405, "Method Not Allowed"},
		{"unknown path", "GET", "/v1/nothing", "", ``, 404, "Not Found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := New(Options{Profile: "smooth"})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			w := httptest.NewRecorder()
			e.Handler().ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("status %d, body %.300s; want %d with %q", w.Code, w.Body, c.status, c.says)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("content type %q", got)
			}
			if c.status == 405 && w.Header().Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func TestUnknownProfile(t *testing.T) {
	_, err := New(Options{Profile: "nosuch"})
	if err == nil || !strings.Contains(err.Error(), "article") {
		t.Errorf("the error %v does not list the profiles", err)
	}
}

func TestDescriptions(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if seen[p.Name] || p.Line == "" || len(p.Line) > 100 || strings.ContainsAny(p.Line, "\n\t") {
			t.Errorf("profile %q: %q", p.Name, p.Line)
		}
		seen[p.Name] = true
		if p.pace.blocks*blockSize < p.context {
			t.Errorf("profile %q: a context of %d tokens does not fit into %d blocks", p.Name, p.context, p.pace.blocks)
		}
	}
}

func TestKeyAndLoading(t *testing.T) {
	bubble(t, Options{Profile: "smooth", APIKey: "secret", Loading: 3 * time.Second}, func(w *world) {
		get := func(path, auth string) (int, string) {
			r, _ := http.NewRequest(http.MethodGet, "http://engine"+path, nil)
			if auth != "" {
				r.Header.Set("Authorization", auth)
			}
			res, err := w.http.Do(r)
			if err != nil {
				w.Fatal(err)
			}
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(b)
		}
		for _, path := range []string{"/health", "/v1/models", "/metrics"} {
			if status, body := get(path, ""); status != 503 ||
				body != `{"error":{"code":503,"message":"Loading model","param":null,"type":"unavailable_error"}}` {
				w.Errorf("loading: %s gives %d %s", path, status, body)
			}
		}
		time.Sleep(3 * time.Second)
		for _, c := range []struct {
			path, auth string
			status     int
		}{
			{"/health", "", 200}, {"/metrics", "", 200}, {"/version", "", 200},
			{"/v1/models", "", 401}, {"/v1/models", "Bearer wrong", 401}, {"/v1/models", "Basic secret", 401},
			{"/v1/models", "Bearer secret", 200}, {"/v1/models", "bearer secret", 200},
		} {
			status, body := get(c.path, c.auth)
			if status != c.status || status == 401 && body != `{"error":"Unauthorized"}` {
				w.Errorf("%s with %q: %d %s, want %d", c.path, c.auth, status, body, c.status)
			}
			if strings.Contains(body, "secret") {
				w.Error("the key is in an answer")
			}
		}
		if r := w.read(w.post("/v1/chat/completions", `{}`)); r.status != 401 {
			w.Errorf("a completion without the key: %d", r.status)
		}
	})
}

func TestModelsNameTheEngine(t *testing.T) {
	bubble(t, Options{Profile: "article", Version: "1.2.3"}, func(w *world) {
		for path, want := range map[string]string{
			"/v1/models": `{"data":[{"created":946684800,"id":"teapot-article","max_model_len":32768,"object":"model",` +
				`"owned_by":"teapot","parent":null,"root":"teapot-article"}],"object":"list"}`,
			"/version": `{"version":"1.2.3"}`,
			"/health":  ``,
		} {
			res, err := w.http.Get("http://engine" + path)
			if err != nil {
				w.Fatal(err)
			}
			b, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != 200 || string(b) != want || res.Header.Get("Server") != "teapot" {
				w.Errorf("%s: %d %s", path, res.StatusCode, b)
			}
		}
	})
}

func TestLengths(t *testing.T) {
	bubble(t, Options{Profile: "smooth"}, func(w *world) {
		for _, c := range []struct {
			fields string
			tokens int
			reason string
		}{
			{`"max_tokens":7,"ignore_eos":true`, 7, "length"},
			{`"max_tokens":7`, 7, "length"},
			{`"max_completion_tokens":9,"max_tokens":5`, 9, "length"},
			{`"max_tokens":1500,"ignore_eos":true`, 1500, "length"},
			{`"max_tokens":1500,"min_tokens":1200`, 1200, "stop"},
		} {
			r := w.ask(`"stream":true,"stream_options":{"include_usage":true},` + c.fields)
			if r.tokens != c.tokens || r.reason != c.reason || len(r.events) != c.tokens || !r.done {
				w.Errorf("%s: %d tokens in %d events, %s", c.fields, r.tokens, len(r.events), r.reason)
			}
		}
		r := w.ask(usual[:len(usual)-len(`,"ignore_eos":true`)] + `,"max_tokens":5000`)
		if r.reason != "stop" || r.tokens < shortReply || r.tokens >= longReply {
			w.Errorf("a natural end after %d tokens: %s", r.tokens, r.reason)
		}
		same := w.ask(usual[:len(usual)-len(`,"ignore_eos":true`)] + `,"max_tokens":5000`)
		if same.content != r.content || r.content == "" {
			w.Error("the same request gets another reply")
		}
	})
}
