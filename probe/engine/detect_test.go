package engine

import (
	"context"
	"errors"
	"net"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"teapot/probe/event"
)

func detect(f *fake, model string) (Detection, error) {
	return Detect(context.Background(), f.Client(), f.URL, http.Header{}, model)
}

func TestDetect(t *testing.T) {
	jsonOK := func(body string) answer { return answer{body: body} }
	text := func(body string) answer {
		return answer{header: map[string]string{"Content-Type": "text/plain"}, body: body}
	}
	lmstudio := answer{body: `{"error":"Unexpected endpoint or method. (GET /x)"}`, header: map[string]string{"X-Powered-By": "Express"}}
	ollamaPaths := map[string]answer{"/api/tags": jsonOK(`{"models":[{"name":"m:latest"}]}`), "/api/version": jsonOK(`{"version":"0.6.4"}`)}
	emulating := func(m map[string]answer) map[string]answer {
		for k, v := range ollamaPaths {
			m[k] = v
		}
		return m
	}
	for _, c := range []struct {
		name    string
		answers map[string]answer
		engine  string
		version string
		models  []string
		slots   int
	}{
		{"vLLM", map[string]answer{"/v1/models": models(owned("Qwen/Qwen3-8B", "vllm")+`,"max_model_len":32768`, owned("lora", "vllm")+`,"parent":"Qwen/Qwen3-8B"`), "/version": jsonOK(`{"version":"0.19.0"}`)}, VLLM, "0.19.0", []string{"Qwen/Qwen3-8B", "lora"}, 0},
		{"vLLM without a version", map[string]answer{"/v1/models": models(owned("m", "vllm") + `,"max_model_len":4096`)}, VLLM, "", []string{"m"}, 0},
		{"SGLang, which also plays Ollama", emulating(map[string]answer{"/v1/models": models(owned("m", "sglang")), "/server_info": jsonOK(`{"version":"0.5.2","tp_size":1}`), "/": text("SGLang is running")}), SGLang, "0.5.2", []string{"m"}, 0},
		{"older SGLang", map[string]answer{"/v1/models": models(owned("m", "sglang")), "/get_server_info": jsonOK(`{"version":"0.4.1"}`)}, SGLang, "0.4.1", []string{"m"}, 0},
		{"llama.cpp, recorded", map[string]answer{"/v1/models": recorded(t, "A_get_models"), "/props": recorded(t, "A_get_props"), "*": recorded(t, "A_get_404")}, LlamaCpp, "b10573-d775b8967", []string{"tiny"}, 4},
		{"llama.cpp, which also plays Ollama", emulating(map[string]answer{"/v1/models": models(owned("m", "llamacpp")), "/props": jsonOK(`{"total_slots":1,"build_info":"b9000-a"}`)}), LlamaCpp, "b9000-a", []string{"m"}, 1},
		{"llama.cpp without a list", map[string]answer{"/props": jsonOK(`{"total_slots":2,"build_info":"b1"}`)}, LlamaCpp, "b1", nil, 2},
		{"Ollama, recorded", map[string]answer{"/v1/models": recorded(t, "O_v1_models"), "/api/version": recorded(t, "O_api_version"), "/": recorded(t, "O_get_root"), "/api/tags": recorded(t, "O_api_tags")}, Ollama, "0.32.15", []string{"mid:latest", "tiny:latest"}, 0},
		{"Ollama, a user's model", map[string]answer{"/v1/models": models(owned("jo/m:latest", "jo")), "/api/version": recorded(t, "O_api_version"), "/": recorded(t, "O_get_root")}, Ollama, "0.32.15", []string{"jo/m:latest"}, 0},
		{"Ollama without models", map[string]answer{"/v1/models": jsonOK(`{"object":"list","data":null}`), "/api/version": recorded(t, "O_api_version"), "/": recorded(t, "O_get_root")}, Ollama, "0.32.15", nil, 0},
		{"Ollama's paths alone prove nothing", emulating(map[string]answer{"/v1/models": models(owned("m", "somebody"))}), "", "", []string{"m"}, 0},
		{"KoboldCpp, which also plays Ollama", emulating(map[string]answer{"/v1/models": models(owned("koboldcpp/m", "koboldcpp")), "/api/extra/version": jsonOK(`{"result":"KoboldCpp","version":"1.90"}`)}), KoboldCpp, "1.90", []string{"koboldcpp/m"}, 0},
		{"LM Studio, which answers 200 to anything", map[string]answer{"/v1/models": models(`"id":"m","object":"model","owned_by":"organization_owner"`), "*": lmstudio}, LMStudio, "", []string{"m"}, 0},
		{"200 to anything, without a list", map[string]answer{"*": lmstudio}, "", "", nil, 0},
		{"TGI", map[string]answer{"/v1/models": models(`"id":"org/m","object":"model","created":0,"owned_by":"org/m"`), "/info": jsonOK(`{"router":"text-generation-router","version":"3.3.6"}`)}, TGI, "3.3.6", []string{"org/m"}, 0},
		{"TGI without a list", map[string]answer{"/info": jsonOK(`{"router":"text-generation-router","version":"2.0"}`)}, TGI, "2.0", nil, 0},
		{"something else with /info", map[string]answer{"/info": jsonOK(`{"router":"mine","version":"2.0"}`)}, "", "", nil, 0},
		{"LMDeploy", map[string]answer{"/v1/models": models(owned("m", "lmdeploy"))}, LMDeploy, "", []string{"m"}, 0},
		{"TensorRT-LLM", map[string]answer{"/v1/models": models(owned("m", "tensorrt_llm")), "/version": jsonOK(`{"version":"1.0"}`)}, TRTLLM, "1.0", []string{"m"}, 0},
		{"llamafile", map[string]answer{"/v1/models": {header: map[string]string{"Server": "llamafile/0.9.3"}, body: `{"data":[{"id":"m","owned_by":"llamafile"}]}`}}, Llamafile, "0.9.3", []string{"m"}, 0},
		{"LiteLLM", map[string]answer{"/v1/models": {header: map[string]string{"X-Litellm-Version": "1.80"}, body: `{"data":[{"id":"m","object":"model","created":1,"owned_by":"openai"}]}`}}, LiteLLM, "1.80", []string{"m"}, 0},
		{"mlx_lm", map[string]answer{"/v1/models": {header: map[string]string{"Server": "BaseHTTP/0.6 Python/3.12.3"}, body: `{"object":"list","data":[{"id":"m","object":"model","created":1}]}`}}, MLX, "", []string{"m"}, 0},
		{"a service", map[string]answer{"/v1/models": models(owned("gpt", "openai"))}, "", "", []string{"gpt"}, 0},
		{"prices", map[string]answer{"/v1/models": models(`"id":"a/b","pricing":{"prompt":"0"}`)}, "", "", []string{"a/b"}, 0},
		{"a bare array", map[string]answer{"/v1/models": jsonOK(`[{"id":"m","owned_by":"vllm","max_model_len":1}]`)}, VLLM, "", []string{"m"}, 0},
		{"no list, nothing known", map[string]answer{}, "", "", nil, 0},
		{"method not allowed", map[string]answer{"/v1/models": {status: 405, body: `{}`}}, "", "", nil, 0},
		{"odd entries are left out", map[string]answer{"/v1/models": jsonOK(`{"data":[7,{"id":""},{"id":5},{"id":"a\u001b[31m"},{"id":"m","owned_by":"vllm","max_model_len":1}]}`)}, VLLM, "", []string{"m"}, 0},
		{"a long version", map[string]answer{"/v1/models": models(owned("m", "vllm")), "/version": jsonOK(`{"version":"` + strings.Repeat("1.", 90) + `"}`)}, VLLM, strings.Repeat("1.", 20), []string{"m"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t, c.answers)
			d, err := detect(f, "")
			if err != nil {
				t.Fatal(err)
			}
			if d.Engine != c.engine || d.Version != c.version || !reflect.DeepEqual(d.Models, c.models) || d.Slots != c.slots || d.API != "chat" {
				t.Errorf("%+v", d)
			}
			want := ""
			if len(c.models) > 0 {
				want = c.models[0]
			}
			if d.Model != want {
				t.Errorf("model %q, want %q", d.Model, want)
			}
			if len(d.Why) == 0 {
				t.Error("no reasons")
			}
			for _, p := range f.paths() {
				mayAsk(t, p)
			}
		})
	}
}

func TestModelChoice(t *testing.T) {
	for _, c := range []struct {
		name, owner string
		list        []string
		asked       string
		want        string // "" for a ModelError
	}{
		{"vLLM has it", "vllm", []string{"a", "b"}, "b", "b"},
		{"vLLM has it not", "vllm", []string{"a", "b"}, "c", ""},
		{"SGLang has it not", "sglang", []string{"a"}, "b", ""},
		{"SGLang with an adapter", "sglang", []string{"a"}, "a:lora", "a:lora"},
		{"Ollama, latest", "library", []string{"tiny:latest"}, "tiny", "tiny"},
		{"Ollama, another tag", "library", []string{"tiny:latest"}, "tiny:q4", ""},
		{"llama.cpp takes any", "llamacpp", []string{"a"}, "b", "b"},
		{"an unknown engine may", "somebody", []string{"a"}, "b", "b"},
		{"no list", "vllm", nil, "b", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var entries []string
			for _, id := range c.list {
				entries = append(entries, owned(id, c.owner)+`,"max_model_len":4096`)
			}
			d, err := detect(serve(t, map[string]answer{"/v1/models": models(entries...)}), c.asked)
			var missing *ModelError
			if c.want == "" {
				if !errors.As(err, &missing) || missing.Model != c.asked || !strings.Contains(err.Error(), c.list[0]) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || d.Model != c.want {
				t.Errorf("model %q, error %v", d.Model, err)
			}
		})
	}
}

func TestDetectRefusals(t *testing.T) {
	key := "k-" + strings.Repeat("x9", 20)
	for _, c := range []struct {
		name    string
		a       answer
		class   event.Class
		loading bool
		text    string
	}{
		{"401, recorded", recorded(t, "C_auth_chat_nokey"), event.ErrAuth, false, "401 Invalid API Key"},
		{"403", answer{status: 403, body: `{"error":{"message":"no"}}`}, event.ErrAuth, false, "403 no"},
		{"loading", answer{status: 503, body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`}, event.ErrLoading, true, "503 Loading model"},
		{"overload", answer{status: 503, body: `{"error":"server busy"}`}, event.ErrOverload, false, "503 server busy"},
		{"rate", answer{status: 429, body: `{"error":"slow down"}`, header: map[string]string{"Retry-After": "3"}}, event.ErrRate, false, "429 slow down"},
		{"bad gateway", answer{status: 502, header: map[string]string{"Content-Type": "text/html"}, body: "<html><title>502 Bad Gateway</title>"}, event.ErrHTTP, false, "502 HTML page: 502 Bad Gateway"},
		{"nothing said", answer{status: 500}, event.ErrHTTP, false, "500 Internal Server Error"},
		{"a key in the reply", answer{status: 401, body: `{"error":"wrong key ` + key + `"}`}, event.ErrAuth, false, "401 wrong key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := detect(serve(t, map[string]answer{"*": c.a}), "m")
			var refused *StatusError
			if !errors.As(err, &refused) {
				t.Fatalf("error %v", err)
			}
			if refused.Class != c.class || refused.Loading() != c.loading || !strings.HasPrefix(err.Error(), c.text) || strings.Contains(err.Error(), key[2:]) {
				t.Errorf("%v (%s)", err, refused.Class)
			}
			if c.class == event.ErrRate && refused.RetryAfter != 3*time.Second {
				t.Errorf("retry after %v", refused.RetryAfter)
			}
		})
	}
}

func TestNotAnAPI(t *testing.T) {
	for _, c := range []struct {
		name, kind, body, want string
	}{
		{"HTML", "text/html; charset=utf-8", "<!doctype html><html></html>", "HTML"},
		{"HTML that says JSON", "application/json", "\n <html></html>", "HTML"},
		{"an empty page", "text/html", "", "HTML"},
		{"text", "text/plain", "hello", "text/plain"},
		{"nothing", "application/json", "", "nothing"},
		{"broken JSON", "application/json", `{"data":[`, "something that is not JSON"},
		{"a picture", "image/png", "\x89PNG", "image/png"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := detect(serve(t, map[string]answer{"*": {header: map[string]string{"Content-Type": c.kind}, body: c.body}}), "")
			var other *NotAPIError
			if !errors.As(err, &other) || other.Type != c.want {
				t.Fatalf("error %v", err)
			}
			if want := "this answers " + c.want + ", not an API: is the port right?"; err.Error() != want {
				t.Errorf("%q, want %q", err, want)
			}
		})
	}
}

func TestTransportErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://user:s3cretpw@" + l.Addr().String()
	_ = l.Close()
	_, err = Detect(context.Background(), http.DefaultClient, closed, nil, "")
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("closed port: %v", err)
	}
	if strings.Contains(err.Error(), "s3cretpw") || strings.Contains(err.Error(), "user") {
		t.Errorf("the error holds userinfo: %v", err)
	}

	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}
	}}}
	var dns *net.DNSError
	if _, err := Detect(context.Background(), c, "http://nowhere", nil, ""); !errors.As(err, &dns) {
		t.Errorf("unknown host: %v", err)
	}

	// A server that accepts and never answers, with the caller's own limit.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := Detect(ctx, &http.Client{Transport: &http.Transport{}}, silent.Addr().String(), nil, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent server: %v", err)
	}
}

// TestLongAnswers holds the cap on a body.
func TestLongAnswers(t *testing.T) {
	f := serve(t, map[string]answer{"/v1/models": {body: `{"data":[{"id":"m","owned_by":"vllm"}],"x":"` + strings.Repeat("y", maxBody) + `"}`}})
	d, err := detect(f, "")
	if err != nil || d.Engine != "" || len(d.Models) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestHeadersGoAlong(t *testing.T) {
	f := serve(t, map[string]answer{"/v1/models": models(owned("m", "vllm"))})
	h := http.Header{"Authorization": {"Bearer k"}}
	if _, err := Detect(context.Background(), f.Client(), f.URL+"/v1/", h, ""); err != nil {
		t.Fatal(err)
	}
	if f.auth != "Bearer k" || len(h) != 1 {
		t.Errorf("auth %q, header %v", f.auth, h)
	}
}

func TestPathPrefix(t *testing.T) {
	f := serve(t, map[string]answer{"/gw/v1/models": models(owned("m", "vllm")), "/gw/version": {body: `{"version":"9"}`}})
	d, err := Detect(context.Background(), f.Client(), f.URL+"/gw", nil, "")
	if err != nil || d.Engine != VLLM || d.Version != "9" {
		t.Errorf("%+v, %v", d, err)
	}
}
