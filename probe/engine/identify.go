package engine

import (
	"net/http"
	"strings"
)

// search is a detection under way.
type search struct {
	*Detection
	get     getter
	at      Place
	refused error  // of the list of models, unless an engine shows all the same
	native  string // the dialect of an engine that has no chat
	loaded  string // a model that is in memory
	settled bool   // it shows that the engine does not show
	proven  bool   // an endpoint that only this engine has answered in its shape
}

// owners is the table from owned_by to engine, where it alone is enough. What
// a server emulates (Ollama's paths, for one) plays no part: several do.
func owners(name string) string {
	switch strings.ToLower(name) {
	case "vllm":
		return VLLM
	case "sglang":
		return SGLang
	case "llamacpp":
		return LlamaCpp
	case "llamafile":
		return Llamafile
	case "koboldcpp":
		return KoboldCpp
	case "lmdeploy":
		return LMDeploy
	case "tensorrt_llm":
		return TRTLLM
	case "triton inference server":
		return Triton
	case "library":
		return Ollama
	case "organization_owner":
		return LMStudio
	case "teapot":
		return Teapot
	}
	return ""
}

// hosted tells whether an owner is a service. On another host than its own a
// gateway repeats the name, and the fields to try are those of that service;
// many gateways say openai of everything, so that says nothing of the fields.
func hosted(owner string) (fields string, known bool) {
	switch strings.ToLower(owner) {
	case "mistralai":
		return Mistral, true
	case "deepseek":
		return DeepSeek, true
	case "groq":
		return Groq, true
	case "openai", "openai-internal", "system", "meta", "anthropic", "google", "xai", "moonshot":
		return "", true
	}
	return "", false
}

// byHeader takes the engine from headers that only one of them sends.
func (s *search) byHeader(h http.Header) {
	server := h.Get("Server")
	switch {
	case h.Get("X-Litellm-Version") != "":
		s.Engine, s.Gateway, s.Version = LiteLLM, LiteLLM, version(h.Get("X-Litellm-Version"))
		s.settled = true
		s.why("header x-litellm-version: a gateway, what is behind it does not show")
	case s.Engine != "":
	case server == "llama.cpp":
		s.Engine = LlamaCpp
		s.why("header Server: llama.cpp")
	case strings.HasPrefix(server, "llamafile"):
		s.Engine = Llamafile
		_, v, _ := strings.Cut(server, "/")
		s.Version = version(v)
		s.why("header Server: %s", server)
	case h.Get("Apim-Request-Id") != "" || h.Get("X-Ms-Region") != "":
		s.Engine = AzureOpenAI
		s.why("headers of Azure's gateway: Azure OpenAI")
	case h.Get("X-Groq-Region") != "":
		s.Engine = Groq
		s.why("header x-groq-region: Groq")
	case h.Get("Openai-Version") != "" || h.Get("Openai-Processing-Ms") != "":
		s.Engine = OpenAI
		s.why("headers openai-*: OpenAI")
	case hasPrefix(h, "Anthropic-"):
		s.Engine, s.native = Anthropic, dialectAnthropic
		s.why("headers anthropic-*: Anthropic")
	}
}

// name guesses the engine from the list, where the headers did not give it away.
func (s *search) name(l []entry, h http.Header) {
	if s.Engine != "" || len(l) == 0 {
		return
	}
	first := l[0]
	owner := first.text("owned_by")
	if s.Engine = owners(owner); s.Engine != "" {
		s.why("owned_by %q: %s", owner, s.Engine)
		return
	}
	fields, known := hosted(owner)
	switch {
	case owner != "" && owner == first.text("id") && string(first.fields["created"]) == "0":
		s.Engine = TGI
		s.why("owned_by repeats the model and created is 0: TGI")
	case !first.has("owned_by") && first.text("type") == "model" && first.has("display_name"):
		s.Engine, s.native = Anthropic, dialectAnthropic
		s.why("entries with type and display_name: Anthropic's API")
	case first.text("id") == "" && first.has("name"):
		s.Engine, s.native = Gemini, dialectGemini
		s.why("names that begin with models/: Gemini's API")
	case !first.has("owned_by") && first.has("created") && len(first.fields) == 3 && strings.Contains(h.Get("Server"), "Python/"):
		s.Engine = MLX
		s.why("bare entries from %s: mlx_lm", h.Get("Server"))
	case !first.has("owned_by") && first.has("pricing") && first.has("context_length"):
		s.Engine, s.Gateway, s.settled = OpenRouter, OpenRouter, true
		s.why("entries with prices and context lengths: OpenRouter, what is behind it does not show")
	case first.has("pricing"):
		s.hide("a gateway", "", "entries with prices: a gateway, what is behind it does not show")
	case (fields == Groq || strings.EqualFold(owner, "meta")) && first.has("context_window"):
		s.Engine = Groq
		s.why("owned_by %q and context windows: Groq", owner)
	case known:
		s.hide("a gateway", fields, "owned_by "+owner+" from a host that is not its own: a gateway, its engine does not show")
		s.settled = !strings.EqualFold(owner, "system") // NIM 1.x says so too
	default:
		s.why("owned_by %q says nothing", owner)
	}
}

// hide notes that what is behind a gateway does not show. fields is the engine
// that the gateway names.
func (s *search) hide(gateway, fields, why string) {
	s.Engine, s.Version, s.Gateway, s.Fields, s.settled = "", "", gateway, fields, true
	s.why("%s", why)
}

// doubt looks once more at what a list says: gateways that speak for a vLLM
// keep its owned_by. An engine is believed where one of its own endpoints
// answered, and, without a sign of a gateway, where the entries look as its own.
func (s *search) doubt(l []entry, h http.Header) {
	sign := gatewaySign(h)
	switch {
	case s.Engine == "" && s.Gateway == "" && sign != "":
		s.Gateway = sign
		s.why("it comes through %s", sign)
	case s.Engine == "" || s.Gateway != "" || !local(s.Engine):
	case s.proven && sign != "":
		s.Gateway = sign
		s.why("it comes through %s", sign)
	case s.proven:
	case sign != "":
		s.hide(sign, s.Engine, "it comes through "+sign+", and no endpoint of "+s.Engine+" answers: the engine behind it is unknown")
	case s.Engine == VLLM && len(l) > 0 && !l[0].has("max_model_len"):
		s.hide("a gateway", VLLM, "neither vLLM's /version nor its max_model_len is there: a gateway that speaks for it")
	}
}

// local tells whether an engine is one that people run themselves, so that a
// gateway may speak in its name.
func local(engine string) bool {
	switch engine {
	case VLLM, NIM, SGLang, TGI, LMDeploy, TRTLLM, LlamaCpp, Ollama:
		return true
	}
	return false
}

// gatewaySign names the gateway that headers give away, "" where there is none.
// A plain web server in front of an engine (nginx, caddy) is no gateway: it
// passes on what the engine says.
func gatewaySign(h http.Header) string {
	for _, known := range [...]struct{ header, name string }{
		{"X-Oneapi-Request-Id", "one-api"}, {"X-New-Api-Version", "new-api"},
		{"X-Kong-Request-Id", "Kong"}, {"X-Kong-Upstream-Latency", "Kong"},
		{"X-Portkey-Trace-Id", "Portkey"}, {"Helicone-Id", "Helicone"}, {"Cf-Aig-Log-Id", "Cloudflare's AI gateway"},
	} {
		if h.Get(known.header) != "" {
			return known.name
		}
	}
	server := strings.ToLower(h.Get("Server"))
	switch {
	case strings.Contains(server, "envoy") || hasPrefix(h, "X-Envoy-"):
		return "envoy"
	case strings.Contains(server, "kong"):
		return "Kong"
	case h.Get("Via") != "":
		return "a proxy"
	}
	return ""
}

// hasPrefix tells whether a header's name begins with a canonical prefix.
func hasPrefix(h http.Header, prefix string) bool {
	for name := range h {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
