package engine

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"teapot/probe/api"
	"teapot/probe/event"
)

// with adds headers to an answer.
func with(a answer, headers ...string) answer {
	h := map[string]string{}
	for k, v := range a.header {
		h[k] = v
	}
	for i := 0; i+1 < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	a.header = h
	return a
}

const bare = `"id":"m","object":"model","created":1`

// TestTraps holds what imitates, hides or half answers.
func TestTraps(t *testing.T) {
	vllm := models(owned("m", "vllm") + `,"max_model_len":4096`)
	version := answer{body: `{"version":"0.19.0"}`}
	studio := with(answer{body: `{"error":"Unexpected endpoint or method. (GET /x)"}`}, "X-Powered-By", "Express")
	ollama := func(v string) map[string]answer {
		return map[string]answer{
			"/":          {header: map[string]string{"Content-Type": "text/plain"}, body: "Ollama is running"},
			"/v1/models": {status: 404, body: `{"error":"x"}`}, "/api/version": {body: `{"version":"` + v + `"}`},
			"/api/tags": {body: `{"models":[{"name":"a:latest"},{"name":""},{"name":"b:latest"}]}`},
			"/api/ps":   {body: `{"models":[{"name":"b:latest"}]}`},
		}
	}
	for _, c := range []struct {
		name    string
		answers map[string]answer
		title   string
		fields  string
		api     string
		model   string
		slots   int
	}{
		{"vLLM", map[string]answer{"/v1/models": vllm, "/version": version}, "vLLM 0.19.0", VLLM, "chat", "m", 0},
		{"vLLM behind nginx", map[string]answer{"/v1/models": with(vllm, "Server", "nginx")}, "vLLM", VLLM, "chat", "m", 0},
		{"vLLM behind envoy that lets everything through", map[string]answer{"/v1/models": with(vllm, "Server", "istio-envoy"), "/version": version}, "vLLM 0.19.0 through envoy", VLLM, "chat", "m", 0},
		{"a gateway that keeps owned_by", map[string]answer{"/v1/models": with(vllm, "X-Envoy-Upstream-Service-Time", "3")}, "gateway, engine unknown", VLLM, "chat", "m", 0},
		{"a router with owned_by and nothing else", map[string]answer{"/v1/models": models(owned("m", "vllm"))}, "gateway, engine unknown", VLLM, "chat", "m", 0},
		{"200 to anything says vllm", map[string]answer{"*": models(owned("m", "vllm"))}, "gateway, engine unknown", VLLM, "chat", "m", 0},
		{"a proxy that passes only /v1", map[string]answer{"/v1/models": with(models(owned("m", "sglang")), "Via", "1.1 x")}, "gateway, engine unknown", SGLang, "chat", "m", 0},
		{"NIM", map[string]answer{"/v1/models": vllm, "/version": version, "/v1/metadata": {body: `{"modelInfo":[],"version":"2.0.1"}`}, "/v1/version": {body: `{"release":"2.0.3","api":"2.0.3"}`}}, "NIM 2.0.3", NIM, "chat", "m", 0},
		{"NIM 1", map[string]answer{"/v1/models": models(owned("m", "system")), "/v1/metadata": {body: `{"modelInfo":[],"version":"1.8"}`}}, "NIM 1.8", NIM, "chat", "m", 0},
		{"metadata of another kind", map[string]answer{"/v1/models": vllm, "/version": version, "/v1/metadata": {body: `{"error":"no"}`}}, "vLLM 0.19.0", VLLM, "chat", "m", 0},
		{"SGLang says how many", map[string]answer{"/v1/models": models(owned("m", "sglang")), "/server_info": {body: `{"version":"0.5.2","max_running_requests":48}`}}, "SGLang 0.5.2", SGLang, "chat", "m", 48},
		{"SGLang says null", map[string]answer{"/v1/models": models(owned("m", "sglang")), "/server_info": {body: `{"version":"0.5.2","max_running_requests":null}`}}, "SGLang 0.5.2", SGLang, "chat", "m", 0},
		{"TGI", map[string]answer{"/info": {body: `{"router":"text-generation-router","version":"3.3.6","model_id":"org/m","max_concurrent_requests":128}`}}, "TGI 3.3.6", TGI, "chat", "org/m", 128},
		{"TGI without OpenAI paths", map[string]answer{"/info": {body: `{"router":"text-generation-router","version":"1.3.4","model_id":"org/m"}`}}, "TGI 1.3.4", TGI, dialectTGI, "org/m", 0},
		{"Ollama loads nothing that need not be", ollama("0.32.15"), "Ollama 0.32.15", Ollama, "chat", "b:latest", 0},
		{"Ollama without OpenAI paths", ollama("0.1.20"), "Ollama 0.1.20", Ollama, "ollama", "b:latest", 0},
		{"LM Studio has one loaded", map[string]answer{
			"/v1/models":     models(`"id":"a","object":"model","owned_by":"organization_owner"`, `"id":"b","object":"model","owned_by":"organization_owner"`),
			"/api/v0/models": {body: `{"data":[{"id":"e","type":"embeddings","state":"loaded"},{"id":"a","state":"not-loaded"},{"id":"b","state":"loaded"}]}`}, "*": studio,
		}, "LM Studio", LMStudio, "chat", "b", 0},
		{"LM Studio without a list", map[string]answer{"/api/v0/models": {body: `{"data":[{"id":"a","state":"not-loaded"}]}`}, "*": studio}, "LM Studio", LMStudio, "chat", "", 0},
		{"KoboldCpp without OpenAI paths", map[string]answer{"/api/extra/version": {body: `{"result":"KoboldCpp","version":"1.40"}`}, "/api/v1/model": {body: `{"result":"koboldcpp/m"}`}}, "KoboldCpp 1.40", KoboldCpp, dialectKobold, "koboldcpp/m", 0},
		{"Triton", map[string]answer{"/v1/models": {status: 400}, "/v2": {body: `{"name":"triton","version":"2.60.0","extensions":["classification"]}`}}, "Triton 2.60.0", Triton, dialectTriton, "", 0},
		{"Triton with OpenAI paths", map[string]answer{"/v1/models": models(owned("m", "Triton Inference Server")), "/v2": {body: `{"name":"triton","version":"2.60.0"}`}}, "Triton 2.60.0", Triton, "chat", "m", 0},
		{"TensorRT-LLM is not drained", map[string]answer{"/v1/models": models(owned("m", "tensorrt_llm")), "/version": {body: `{"version":"1.0"}`}, "/metrics": {body: `[{"iter":1}]`}}, "TensorRT-LLM 1.0", TRTLLM, "chat", "m", 0},
		{"LiteLLM", map[string]answer{"/v1/models": with(vllm, "X-Litellm-Version", "1.80")}, "LiteLLM 1.80 (gateway, engine unknown)", LiteLLM, "chat", "m", 0},
		{"OpenRouter's list elsewhere", map[string]answer{"/v1/models": models(`"id":"a/b","pricing":{},"context_length":1`)}, "OpenRouter (gateway, engine unknown)", OpenRouter, "chat", "a/b", 0},
		{"one-api", map[string]answer{"/v1/models": with(models(owned("m", "custom")), "X-Oneapi-Request-Id", "1")}, "gateway, engine unknown", "", "chat", "m", 0},
		{"a gateway that says openai of everything", map[string]answer{"/v1/models": models(owned("m", "openai"))}, "gateway, engine unknown", "", "chat", "m", 0},
		{"a gateway before Mistral", map[string]answer{"/v1/models": models(owned("m", "mistralai"))}, "gateway, engine unknown", Mistral, "chat", "m", 0},
		{"OpenAI behind another host", map[string]answer{"/v1/models": with(models(owned("m", "openai")), "Openai-Processing-Ms", "3")}, "OpenAI", OpenAI, "chat", "m", 0},
		{"Azure behind another host", map[string]answer{"/v1/models": with(models(owned("m", "openai")), "Apim-Request-Id", "3")}, "Azure OpenAI", AzureOpenAI, "chat", "m", 0},
		{"Groq behind another host", map[string]answer{"/v1/models": models(owned("m", "Meta") + `,"context_window":8192`)}, "Groq", Groq, "chat", "m", 0},
		{"Groq's header", map[string]answer{"/v1/models": with(models(owned("m", "x")), "X-Groq-Region", "us")}, "Groq", Groq, "chat", "m", 0},
		{"Anthropic's shape", map[string]answer{"/v1/models": {body: `{"data":[{"type":"model","id":"m","display_name":"M","created_at":"x"}],"has_more":false}`}}, "Anthropic", Anthropic, "anthropic", "m", 0},
		{"Anthropic's headers", map[string]answer{"/v1/models": {status: 404, header: map[string]string{"Anthropic-Organization-Id": "o"}, body: `{}`}}, "Anthropic", Anthropic, "anthropic", "", 0},
		{"mlx_lm", map[string]answer{"/v1/models": with(models(bare), "Server", "BaseHTTP/0.6 Python/3.12.3"), "/health": {body: `{"status":"ok"}`}}, "mlx_lm", MLX, "chat", "m", 0},
		{"bare entries of nobody", map[string]answer{"/v1/models": models(bare)}, "engine unknown", "", "chat", "m", 0},
		{"llamafile", map[string]answer{"/v1/models": with(models(owned("m", "llamafile")), "Server", "llamafile/0.9.3")}, "llamafile 0.9.3", Llamafile, "chat", "m", 0},
		{"LMDeploy", map[string]answer{"/v1/models": models(owned("m", "lmdeploy"))}, "LMDeploy", LMDeploy, "chat", "m", 0},
		{"the built-in one", map[string]answer{"/v1/models": models(owned("m", "teapot")), "/version": {body: `{"version":"1"}`}}, "teapot engine 1", Teapot, "chat", "m", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t, c.answers)
			d, err := detect(f, "")
			if err != nil {
				t.Fatal(err)
			}
			if d.Title() != c.title || d.Fields != c.fields || d.Model != c.model || d.Slots != c.slots {
				t.Errorf("%q: %+v", d.Title(), d)
			}
			wantAPI(t, d, c.api)
			for _, p := range f.paths() {
				mayAsk(t, p)
			}
		})
	}
}

// wantAPI compares the dialect. One that is not spoken (yet) gives way to chat,
// and a line says so.
func wantAPI(t *testing.T, d Detection, want string) {
	t.Helper()
	if _, err := api.ByName(want); err != nil {
		if d.API != "chat" || !strings.Contains(strings.Join(d.Why, "\n"), want+" is not spoken") {
			t.Errorf("api %q of an unknown %q: %q", d.API, want, d.Why)
		}
		return
	}
	if d.API != want {
		t.Errorf("api %q, want %q: %q", d.API, want, d.Why)
	}
}

// TestServices holds what the name of a host says.
func TestServices(t *testing.T) {
	gemini := answer{body: `{"models":[{"name":"models/embed","supportedGenerationMethods":["embedContent"]},{"name":"models/g","supportedGenerationMethods":["generateContent"]}]}`}
	for _, c := range []struct {
		url, path string
		list      answer
		engine    string
		api       string
		model     string
	}{
		{"http://api.openai.com/v1", "/v1/models", models(owned("g", "system")), OpenAI, "chat", "g"},
		{"http://api.openai.com/v1/responses", "/v1/models", models(owned("g", "system")), OpenAI, "responses", "g"},
		{"http://API.OpenAI.com.", "/v1/models", models(owned("g", "system")), OpenAI, "chat", "g"},
		{"http://r.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21", "", answer{}, AzureOpenAI, "chat", "dep"},
		{"http://r.openai.azure.com/openai/v1", "", answer{}, AzureOpenAI, "chat", ""},
		{"http://apim.corp/x/openai/deployments/d%20e", "", answer{}, AzureOpenAI, "chat", "d e"},
		{"http://openrouter.ai", "/api/v1/models", models(`"id":"a/b","pricing":{},"context_length":1`), OpenRouter, "chat", "a/b"},
		{"http://openrouter.ai/api/v1/chat/completions", "/api/v1/models", models(bare), OpenRouter, "chat", "m"},
		{"http://api.deepseek.com", "/v1/models", models(owned("d", "deepseek")), DeepSeek, "chat", "d"},
		{"http://api.groq.com", "/openai/v1/models", models(owned("g", "Meta")), Groq, "chat", "g"},
		{"http://api.groq.com/openai/v1/", "/openai/v1/models", models(owned("g", "Meta")), Groq, "chat", "g"},
		{"http://api.cerebras.ai/v1", "/v1/models", models(owned("c", "Meta")), Cerebras, "chat", "c"},
		{"http://api.mistral.ai", "/v1/models", models(owned("m", "mistralai")), Mistral, "chat", "m"},
		{"http://codestral.mistral.ai/v1", "/v1/models", answer{status: 404}, Mistral, "chat", ""},
		{"http://api.anthropic.com/v1/messages", "/v1/models", models(`"type":"model","id":"c","display_name":"C"`), Anthropic, "anthropic", "c"},
		{"http://api.anthropic.com", "/v1/models", models(`"type":"model","id":"c"`), Anthropic, "anthropic", "c"},
		{"http://generativelanguage.googleapis.com", "/v1beta/models", gemini, Gemini, dialectGemini, "g"},
		{"http://generativelanguage.googleapis.com/v1beta", "/v1beta/models", gemini, Gemini, dialectGemini, "g"},
		{"http://generativelanguage.googleapis.com/v1beta/models/x:streamGenerateContent?alt=sse", "/v1beta/models", gemini, Gemini, dialectGemini, "x"},
		{"http://generativelanguage.googleapis.com/v1beta/openai/", "/v1beta/openai/models", models(owned("g", "google")), Gemini, "chat", "g"},
		{"http://integrate.api.nvidia.com/v1", "/v1/models", models(owned("n", "nvidia")), NIM, "chat", "n"},
	} {
		t.Run(c.url, func(t *testing.T) {
			answers := map[string]answer{}
			if c.path != "" {
				answers[c.path] = c.list
			}
			f := serve(t, answers)
			d, err := Detect(context.Background(), f.at(), c.url, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			if d.Engine != c.engine || d.Model != c.model || d.Fields != c.engine {
				t.Errorf("%+v", d)
			}
			wantAPI(t, d, c.api)
			var want []string
			if c.path != "" {
				want = []string{"GET " + c.path}
			}
			if got := f.paths(); !slices.Equal(got, want) {
				t.Errorf("asked %v, want %v", got, want)
			}
		})
	}
}

// TestPathsAskForDialects holds what a whole path says; the engine is found all
// the same.
func TestPathsAskForDialects(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions": "chat", "/v1/completions": "completions", "/v1/responses": "responses", "/v1/messages": "anthropic",
		"/completion": "llamacpp", "/generate": "sglang", "/generate_stream": dialectTGI, "/api/chat": "ollama", "/api/generate": "ollama-generate", "/api": "ollama",
		"/api/v1/chat": "lmstudio", "/api/extra/generate/stream": dialectKobold, "/v2/models/m/generate_stream": dialectTriton, "/v2/models/m/versions/1/generate_stream": dialectTriton,
		"/v1beta/models/m:streamGenerateContent": dialectGemini, "/v1": "chat", "/v1/models": "chat", "": "chat",
	} {
		t.Run(path, func(t *testing.T) {
			f := serve(t, map[string]answer{"/v1/models": models(owned("m", "vllm")), "/version": {body: `{"version":"1"}`}})
			d, err := Detect(context.Background(), f.Client(), f.URL+path, nil, "")
			model := "m"
			if strings.Contains(path, "/versions/1/") {
				model = "m/versions/1" // which the dialect puts into its path again
			}
			if err != nil || d.Title() != "vLLM 1" || d.Model != model {
				t.Errorf("%+v, %v", d, err)
			}
			wantAPI(t, d, want)
		})
	}
}

// TestServiceNeedsAModel: no request for money goes to whatever comes first.
func TestServiceNeedsAModel(t *testing.T) {
	f := serve(t, map[string]answer{"/v1/models": models(owned("dear", "system"), owned("cheap", "system"))})
	d, err := Detect(context.Background(), f.at(), "http://api.openai.com", nil, "")
	var missing *ModelError
	if !errors.As(err, &missing) || d.Model != "" || err.Error() != "no model was asked for; there is dear, cheap" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = Detect(context.Background(), f.at(), "http://api.openai.com", nil, "another"); err != nil || d.Model != "another" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestFoundBesideAnError: what a refusal shows of the engine is kept.
func TestFoundBesideAnError(t *testing.T) {
	loading := with(answer{status: 503, body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`}, "Server", "llama.cpp")
	d, err := detect(serve(t, map[string]answer{"*": loading}), "m")
	var refused *StatusError
	if !errors.As(err, &refused) || !refused.Loading() || d.Title() != "llama.cpp" || d.Fields != LlamaCpp {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = detect(serve(t, map[string]answer{"/v1/models": {status: 400, body: `{"error":"what?"}`}}), "m")
	if !errors.As(err, &refused) || refused.Class != event.ErrParam || d.Engine != "" {
		t.Errorf("%+v, %v", d, err)
	}
	f := serve(t, map[string]answer{"*": {status: 401, body: `{"error":"no key"}`}})
	d, err = Detect(context.Background(), f.at(), "http://api.anthropic.com/v1/messages", http.Header{}, "m")
	if !errors.As(err, &refused) || d.Engine != Anthropic {
		t.Errorf("%+v, %v", d, err)
	}
	wantAPI(t, d, "anthropic")
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		version string
		than    []int
		want    bool
	}{
		{"1.3.9", []int{1, 4, 0}, true}, {"1.4.0", []int{1, 4, 0}, false}, {"2.0", []int{1, 4, 0}, false}, {"1", []int{1, 4, 0}, false},
		{"0.1.24-rc1", []int{0, 1, 24}, false}, {"0.1.9", []int{0, 1, 24}, true}, {"", []int{1}, false}, {"next", []int{1}, false}, {"1.x", []int{1, 4}, false},
	} {
		if got := older(c.version, c.than...); got != c.want {
			t.Errorf("%q older than %v: %v", c.version, c.than, got)
		}
	}
}

func FuzzLists(f *testing.F) {
	for _, seed := range []string{`{"data":[{"id":"m"}]}`, `[{"id":"m"}]`, `{"models":[{"name":"models/m","supportedGenerationMethods":["generateContent"]}]}`, `{"data":null}`, `{"models":[3]}`, "[", `{"data":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s := search{Detection: &Detection{}}
		l, err := s.readList(reply{status: 200, body: body})
		if err == nil && len(l) != len(s.Models) {
			t.Fatalf("%d entries, models %v", len(l), s.Models)
		}
		s.name(l, http.Header{})
		s.doubt(l, http.Header{})
		if again, _ := s.readList(reply{status: 200, body: body}); !reflect.DeepEqual(l, again) {
			t.Fatal("read otherwise the second time")
		}
	})
}
