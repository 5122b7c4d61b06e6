// Package engine finds out what answers at an address: which inference server,
// in which version, with which models, and whether it is free.
//
// It asks with a handful of GET requests, two seconds each, and never asks for
// anything that makes a server generate, load or forget. It measures nothing
// and decides nothing about the load; it imports no dialect but the reading of
// errors.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"teapot/probe/api"
)

// Names of the engines that are told apart. Others stay "".
const (
	VLLM        = "vLLM"
	SGLang      = "SGLang"
	LlamaCpp    = "llama.cpp"
	Ollama      = "Ollama"
	LMStudio    = "LM Studio"
	TGI         = "TGI"
	LMDeploy    = "LMDeploy"
	TRTLLM      = "TensorRT-LLM"
	Triton      = "Triton"
	NIM         = "NIM"
	KoboldCpp   = "KoboldCpp"
	Llamafile   = "llamafile"
	MLX         = "mlx_lm"
	LiteLLM     = "LiteLLM"
	OpenAI      = "OpenAI"
	AzureOpenAI = "Azure OpenAI"
	OpenRouter  = "OpenRouter"
	DeepSeek    = "DeepSeek"
	Groq        = "Groq"
	Cerebras    = "Cerebras"
	Mistral     = "Mistral"
	Anthropic   = "Anthropic"
	Gemini      = "Gemini"
	Teapot      = "teapot engine" // the built-in one
)

// Detection is what was found.
type Detection struct {
	Engine  string   // one of the names above, "" when unknown
	Version string   // the engine's own, "" when it does not say
	Model   string   // the one to ask for
	Models  []string // all that are listed; untrusted names
	API     string   // the dialect to speak
	Slots   int      // requests served at once, 0 when unknown
	Why     []string // one line for each step of the decision

	// Gateway names what stands in front of the engine ("envoy", "LiteLLM"),
	// "a gateway" when that does not show, "" when nothing was seen. With it
	// Engine may be "": what answers behind it does not show.
	Gateway string
	// Fields is the engine whose request fields are worth trying: Engine, or
	// what a gateway says is behind it, which is no proof that it is.
	Fields string
}

// Title names the engine as it may be shown: "vLLM 0.11.0", "vLLM 0.11.0
// through envoy", "LiteLLM 1.80 (gateway, engine unknown)", "gateway, engine
// unknown", "engine unknown".
func (d *Detection) Title() string {
	name := strings.TrimSpace(d.Engine + " " + d.Version)
	switch {
	case name == "" && d.Gateway != "":
		return "gateway, engine unknown"
	case name == "":
		return "engine unknown"
	case d.Gateway == d.Engine:
		return name + " (gateway, engine unknown)"
	case d.Gateway != "":
		return name + " through " + d.Gateway
	}
	return name
}

// why notes a step.
func (d *Detection) why(format string, args ...any) {
	d.Why = append(d.Why, api.OneLine(fmt.Sprintf(format, args...)))
}

// Detect finds out what answers at base, a URL as a user gives it. h goes with
// every request. model is the one asked for; with "" it is the one in the path
// of the address, else one that the server has loaded, else the first of its
// list.
//
// A server without a list of models is no error: its engine is unknown. The
// errors are those of the transport (connection refused, DNS, a timeout), a
// [*StatusError] where the server refuses or is loading, a [*NotAPIError] where
// something else than an API answers, and a [*ModelError] where the model asked
// for is not among those of a server that insists, or where none was asked for
// and each of those listed has its price. What was found stands in the
// Detection also beside an error.
func Detect(ctx context.Context, c *http.Client, base string, h http.Header, model string) (Detection, error) {
	d := Detection{Model: model, API: dialectChat}
	p, err := Locate(base)
	if err != nil {
		return d, err
	}
	if d.Model == "" {
		d.Model = p.Model
	}
	s := search{Detection: &d, get: getter{ctx: ctx, client: c, header: h}, at: p}
	err = s.run()
	d.Fields = cmp.Or(d.Engine, d.Fields)
	s.speak()
	if err != nil {
		return d, err
	}
	return d, s.choose()
}

// run settles everything but the dialect and the model.
func (s *search) run() error {
	if svc := s.at.service; svc.engine != "" {
		s.Engine = svc.engine
		s.why("the address is that of %s", svc.engine)
		if svc.mute {
			return nil
		}
	}
	r, err := s.get.get(s.list())
	if err != nil {
		return fmt.Errorf("list the models: %w", err)
	}
	s.byHeader(r.header)
	l, err := s.readList(r)
	if err != nil {
		return err
	}
	if s.at.service.engine != "" {
		return nil
	}
	s.name(l, r.header)
	s.confirm()
	s.doubt(l, r.header)
	if s.Version != "" {
		s.why("version %s", s.Version)
	}
	if s.refused != nil && s.Engine == "" {
		return s.refused
	}
	return s.get.ctx.Err()
}

// speak chooses the dialect: that of the path the user gave, else chat where
// there is one, else the engine's own.
func (s *search) speak() {
	name := s.at.Dialect
	switch {
	case name != "":
		s.why("the path of the address asks for %s", name)
	case s.at.service.api != "" && !s.at.compatible():
		name = s.at.service.api
	default:
		name = s.native
	}
	if name == "" {
		return
	}
	if _, err := api.ByName(name); err != nil {
		s.why("%s is not spoken: %s instead", name, s.API)
		return
	}
	s.API = name
}

// strict tells whether an engine refuses a model that it does not list.
func strict(engine string) bool {
	switch engine {
	case VLLM, NIM, SGLang, Ollama, LMDeploy:
		return true
	}
	return false
}

// priced tells whether a service asks for money by the model, so that none is
// taken unasked.
func priced(engine string) bool {
	switch engine {
	case OpenAI, OpenRouter, DeepSeek, Groq, Cerebras, Mistral, Anthropic, Gemini, NIM:
		return true
	}
	return false
}

// choose settles which model to ask for.
func (s *search) choose() error {
	switch {
	case s.Model == "" && len(s.Models) == 0:
		return nil
	case s.Model == "" && len(s.Models) > 1 && s.at.service.engine != "" && priced(s.Engine):
		return &ModelError{Models: s.Models}
	case s.Model == "" && s.loaded != "":
		s.Model = s.loaded
		s.why("no model asked for: %s, which is loaded", s.Model)
		return nil
	case s.Model == "":
		s.Model = s.Models[0]
		s.why("no model asked for: the first of the list, %s", s.Model)
		return nil
	case len(s.Models) == 0 || !strict(s.Engine):
		return nil
	}
	asked := s.Model
	if s.at.Dialect == dialectTriton { // the path may name a version behind the model
		asked, _, _ = strings.Cut(asked, "/versions/")
	}
	for _, have := range s.Models {
		if served(s.Engine, have, asked) {
			return nil
		}
	}
	return &ModelError{Model: s.Model, Models: s.Models}
}

// served tells whether a listed model answers to the name asked for.
func served(engine, have, asked string) bool {
	switch engine {
	case Ollama:
		return strings.EqualFold(have, asked) || strings.EqualFold(have, asked+":latest")
	case SGLang:
		base, _, _ := strings.Cut(asked, ":") // base:adapter
		return have == asked || have == base
	}
	return have == asked
}

// ModelError says that the model asked for is not served, or, with Model "",
// that one must be asked for.
type ModelError struct {
	Model  string
	Models []string
}

func (e *ModelError) Error() string {
	names := e.Models
	more := ""
	if len(names) > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", len(e.Models)-5)
	}
	there := strings.Join(names, ", ") + more
	if e.Model == "" {
		return api.OneLine("no model was asked for; there is " + there)
	}
	return api.OneLine(fmt.Sprintf("model %q is not served; there is %s", e.Model, there))
}

// NotAPIError says that something else than an API answers.
type NotAPIError struct {
	Type string // what it answers: "HTML", or the media type
}

func (e *NotAPIError) Error() string {
	return fmt.Sprintf("this answers %s, not an API: is the port right?", e.Type)
}
