package engine

import (
	"encoding/json"
	"net/http"
	"strings"

	"teapot/probe/api"
)

// entry is one element of a list of models.
type entry struct {
	fields map[string]json.RawMessage
}

// text is a field's string, "" for anything else, and for a string that holds
// control characters: no server means those.
func (e entry) text(key string) string {
	var s string
	if json.Unmarshal(e.fields[key], &s) != nil || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return s
}

func (e entry) has(key string) bool { _, ok := e.fields[key]; return ok }

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
	case "library":
		return Ollama
	case "organization_owner":
		return LMStudio
	case "teapot":
		return Teapot
	}
	return ""
}

// hosted tells whether an owner is a service whose engine does not show, so
// that looking for local endpoints there is pointless.
func hosted(owner string) bool {
	switch strings.ToLower(owner) {
	case "openai", "openai-internal", "system", "mistralai", "deepseek", "anthropic", "google", "groq", "meta", "xai", "moonshot":
		return true
	}
	return false
}

// name guesses the engine from the list and the headers that came with it. It
// is true when there is nothing more to find out about which engine it is.
func (d *Detection) name(l []entry, h http.Header) bool {
	server := h.Get("Server")
	switch {
	case h.Get("X-Litellm-Version") != "":
		d.Engine, d.Version = LiteLLM, version(h.Get("X-Litellm-Version"))
		d.why("header x-litellm-version: a gateway, what is behind it does not show")
		return true
	case server == "llama.cpp":
		d.Engine = LlamaCpp
		d.why("header Server: llama.cpp")
		return true
	case strings.HasPrefix(server, "llamafile"):
		d.Engine = Llamafile
		_, v, _ := strings.Cut(server, "/")
		d.Version = version(v)
		d.why("header Server: %s", server)
		return true
	}
	if len(l) == 0 {
		return false
	}
	first := l[0]
	owner := first.text("owned_by")
	if found := owners(owner); found != "" {
		d.Engine = found
		d.why("owned_by %q: %s", owner, found)
		if via := h.Get("Via"); via != "" {
			d.why("it comes through a proxy: %s", via)
		}
		return true
	}
	switch {
	case owner != "" && owner == first.text("id") && string(first.fields["created"]) == "0":
		d.Engine = TGI
		d.why("owned_by repeats the model and created is 0: TGI")
	case !first.has("owned_by") && first.has("created") && len(first.fields) == 3 && strings.Contains(server, "Python/"):
		d.Engine = MLX
		d.why("bare entries from %s: mlx_lm", server)
	case first.has("pricing"):
		d.why("entries with prices: a gateway, what is behind it does not show")
	case hosted(owner):
		d.why("owned_by %q: a service, its engine does not show", owner)
	default:
		d.why("owned_by %q says nothing", owner)
		return false
	}
	return true
}

// confirm asks the engine itself for its version and its slots. Where the list
// settled nothing, each engine's own endpoint is tried, and believed only if
// the answer has that endpoint's shape: some servers answer 200 to any path.
// It fails only when the whole detection is called off.
func (d *Detection) confirm(g *getter, root string, settled bool) error {
	switch d.Engine {
	case VLLM, TRTLLM, Teapot:
		d.Version = g.field(root+"/version", "version")
	case SGLang:
		// Not /health_generate: it generates.
		d.Version = g.field(root+"/server_info", "version")
		if d.Version == "" {
			d.Version = g.field(root+"/get_server_info", "version")
		}
	case LlamaCpp:
		d.props(g, root)
	case Ollama:
		d.Version = g.field(root+"/api/version", "version")
	case KoboldCpp:
		d.Version = g.field(root+"/api/extra/version", "version")
	case TGI:
		d.Version = g.field(root+"/info", "version")
	case "":
		if !settled {
			d.search(g, root)
		}
	}
	if d.Version != "" {
		d.why("version %s", d.Version)
	}
	return g.ctx.Err()
}

// search tries the endpoints that only one engine has.
func (d *Detection) search(g *getter, root string) {
	if r, err := g.get(root + "/"); err == nil && r.ok() && strings.TrimSpace(string(r.body)) == "Ollama is running" {
		// The greeting is what emulators leave out. The version is asked for
		// by a path that they do have.
		d.Engine, d.Version = Ollama, g.field(root+"/api/version", "version")
		d.why("/ says: Ollama is running")
		return
	}
	if d.props(g, root) {
		d.Engine = LlamaCpp
		d.why("/props has slots and a build: llama.cpp")
		return
	}
	if r, err := g.get(root + "/info"); err == nil && r.text("router") == "text-generation-router" {
		d.Engine, d.Version = TGI, version(r.text("version"))
		d.why("/info names the text-generation-router: TGI")
		return
	}
	if r, err := g.get(root + "/api/extra/version"); err == nil && strings.EqualFold(r.text("result"), "koboldcpp") {
		d.Engine, d.Version = KoboldCpp, version(r.text("version"))
		d.why("/api/extra/version says KoboldCpp")
		return
	}
	d.why("no endpoint gives the engine away: unknown")
}

// props reads llama.cpp's /props and tells whether it looks like that.
func (d *Detection) props(g *getter, root string) bool {
	r, err := g.get(root + "/props")
	if err != nil || !r.ok() {
		return false
	}
	var p struct {
		Slots *int   `json:"total_slots"`
		Build string `json:"build_info"`
	}
	if json.Unmarshal(r.body, &p) != nil || p.Slots == nil {
		return false
	}
	d.Slots, d.Version = min(max(*p.Slots, 0), 1<<16), version(p.Build)
	d.why("/props: %d slots", d.Slots)
	return true
}

// field fetches a JSON object and takes a string out of it, cleaned; "" when
// there is none.
func (g *getter) field(address, key string) string {
	r, err := g.get(address)
	if err != nil {
		return ""
	}
	return version(r.text(key))
}

// text is a string field of an answer that is a JSON object.
func (r *reply) text(key string) string {
	var e entry
	if !r.ok() || json.Unmarshal(r.body, &e.fields) != nil {
		return ""
	}
	return e.text(key)
}

// version makes a version fit to show.
func version(text string) string {
	runes := []rune(api.OneLine(text))
	return string(runes[:min(len(runes), 40)])
}
