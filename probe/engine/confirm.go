package engine

import (
	"encoding/json"
	"strconv"
	"strings"

	"teapot/probe/api"
)

// confirm asks the engine itself for its version and its slots. Where the list
// settled nothing, each engine's own endpoint is tried, and believed only if
// the answer has that endpoint's shape: some servers answer 200 to any path.
//
// Never asked, because it would cost the server or somebody else something:
// SGLang's and TensorRT-LLM's /health_generate (they generate), TensorRT-LLM's
// /metrics and /perf_metrics (they drain), llama.cpp's /slots (it keeps a
// sleeping model awake) and /metrics (it restarts its averages).
func (s *search) confirm() {
	root := s.at.Root
	switch s.Engine {
	case VLLM:
		if !s.nim() {
			s.versionAt("/version")
		}
	case TRTLLM, Teapot:
		s.versionAt("/version")
	case SGLang:
		s.sglang()
	case LlamaCpp:
		s.proven = s.props()
	case Ollama:
		s.ollama()
	case KoboldCpp:
		r := s.get.try(root + "/api/extra/version")
		s.proven = strings.EqualFold(r.text("result"), "koboldcpp")
		s.Version = version(r.text("version"))
	case LMStudio:
		s.studio()
	case MLX:
		if r := s.get.try(root + "/health"); r.text("status") == "ok" {
			s.why("/health says ok")
		}
	case TGI:
		s.info()
	case Triton:
		s.triton()
	case "":
		if !s.settled {
			s.lookAround()
		}
	}
}

// versionAt takes the version from an endpoint that has nothing else.
func (s *search) versionAt(path string) {
	r := s.get.try(s.at.Root + path)
	s.Version = version(r.text("version"))
	s.proven = s.Version != ""
}

// sglang reads what SGLang says of itself; older ones have another path for it.
func (s *search) sglang() {
	for _, path := range [...]string{"/server_info", "/get_server_info"} {
		r := s.get.try(s.at.Root + path)
		if s.Version = version(r.text("version")); s.Version == "" {
			continue
		}
		s.proven = true
		s.slots(r.number("max_running_requests"), path)
		return
	}
}

// ollama reads Ollama's version. Its greeting is what emulators leave out, the
// version they do have.
func (s *search) ollama() {
	s.proven = s.greets()
	s.Version = version(s.get.text(s.at.Root+"/api/version", "version"))
	if len(s.Models) == 0 {
		for _, m := range s.get.objects(s.at.Root+"/api/tags", "models") {
			if name := m.text("name"); name != "" {
				s.Models = append(s.Models, name)
			}
		}
		if older(s.Version, 0, 1, 24) {
			s.native = dialectOllama
			s.why("it is older than its OpenAI paths")
		}
	}
	if s.Model != "" {
		return
	}
	for _, m := range s.get.objects(s.at.Root+"/api/ps", "models") {
		if name := m.text("name"); name != "" {
			s.loaded = name
			return
		}
	}
}

// greets tells whether the root says what only Ollama says.
func (s *search) greets() bool {
	r := s.get.try(s.at.Root + "/")
	if !r.ok() || strings.TrimSpace(string(r.body)) != "Ollama is running" {
		return false
	}
	s.why("/ says: Ollama is running")
	return true
}

// studio looks for the list of LM Studio's own API. It answers 200 to any
// path, so only the shape counts. Asking for a model that is not loaded would
// load it, so one that is comes first.
func (s *search) studio() bool {
	for _, m := range s.get.objects(s.at.Root+"/api/v0/models", "data") {
		if !m.has("state") {
			continue
		}
		s.proven = true
		if s.loaded == "" && m.text("state") == "loaded" && m.text("type") != "embeddings" {
			s.loaded = m.text("id")
		}
	}
	if s.proven {
		s.why("/api/v0/models tells which models are loaded: LM Studio")
	}
	return s.proven
}

// info reads TGI's description of itself and tells whether it looks like that.
func (s *search) info() bool {
	r := s.get.try(s.at.Root + "/info")
	if r.text("router") != "text-generation-router" {
		return false
	}
	s.proven, s.Version = true, version(r.text("version"))
	s.slots(r.number("max_concurrent_requests"), "/info")
	if len(s.Models) == 0 && r.text("model_id") != "" {
		s.Models = []string{r.text("model_id")}
	}
	if older(s.Version, 1, 4, 0) {
		s.native = dialectTGI
		s.why("it is older than its OpenAI paths")
	}
	return true
}

// triton asks what is behind the paths of Triton.
func (s *search) triton() bool {
	r := s.get.try(s.at.Root + "/v2")
	if r.text("name") != "triton" {
		return false
	}
	s.proven, s.Version = true, version(r.text("version"))
	return true
}

// nim asks for what NVIDIA puts around an engine.
func (s *search) nim() bool {
	r := s.get.try(s.at.API + "/metadata")
	var e entry
	if !r.ok() || json.Unmarshal(r.body, &e.fields) != nil {
		return false
	}
	v := version(e.text("version"))
	if e.has("error") || e.has("detail") || v == "" && !e.has("modelInfo") && !e.has("assetInfo") && !e.has("licenseInfo") {
		return false
	}
	s.Engine, s.proven = NIM, true
	s.why("/v1/metadata answers: NIM")
	own := s.get.try(s.at.API + "/version")
	for _, v = range []string{version(own.text("release")), version(own.text("version")), v} {
		if v != "" {
			s.Version = v
			break
		}
	}
	return true
}

// lookAround tries the endpoints that only one engine has.
func (s *search) lookAround() {
	switch {
	case s.triton():
		s.Engine, s.native = Triton, dialectTriton
		s.why("/v2 says triton")
	case s.info():
		s.Engine = TGI
		s.why("/info names the text-generation-router: TGI")
	case s.props():
		s.Engine, s.proven = LlamaCpp, true
		s.why("/props has slots and a build: llama.cpp")
	case s.greets():
		s.Engine = Ollama
		s.ollama()
	case s.kobold():
		s.Engine = KoboldCpp
		s.why("/api/extra/version says KoboldCpp")
	case s.studio():
		s.Engine = LMStudio
	case (len(s.Models) > 0 || s.Gateway != "") && s.nim():
		s.Gateway, s.Fields = "", ""
	default:
		s.why("no endpoint gives the engine away: unknown")
	}
}

// kobold tells whether KoboldCpp answers. One without a list of models has no
// OpenAI paths.
func (s *search) kobold() bool {
	r := s.get.try(s.at.Root + "/api/extra/version")
	if !strings.EqualFold(r.text("result"), "koboldcpp") {
		return false
	}
	s.proven, s.Version = true, version(r.text("version"))
	if len(s.Models) == 0 {
		s.native = dialectKobold
		if name := s.get.text(s.at.Root+"/api/v1/model", "result"); name != "" {
			s.Models = []string{name}
		}
	}
	return true
}

// props reads llama.cpp's /props and tells whether it looks like that.
func (s *search) props() bool {
	r := s.get.try(s.at.Root + "/props")
	slots := r.number("total_slots")
	if slots < 0 {
		return false
	}
	s.Version = version(r.text("build_info"))
	s.slots(slots, "/props")
	return true
}

// slots takes over how many requests are served at once; below 0 is unknown.
func (s *search) slots(n float64, path string) {
	if n < 0 {
		return
	}
	s.Slots = int(min(n, 1<<16))
	s.why("%s: %d requests at once", path, s.Slots)
}

// version makes a version fit to show.
func version(text string) string {
	runes := []rune(api.OneLine(text))
	return string(runes[:min(len(runes), 40)])
}

// older tells whether a version is known and lower than the one given.
func older(version string, than ...int) bool {
	parts := strings.FieldsFunc(version, func(r rune) bool { return r == '.' || r == '-' || r == '+' })
	for i, want := range than {
		if i >= len(parts) {
			return false
		}
		have, err := strconv.Atoi(parts[i])
		if err != nil || have != want {
			return err == nil && have < want
		}
	}
	return false
}
