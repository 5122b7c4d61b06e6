// Package engine finds out what answers at an address: which inference server,
// in which version, with which models, and whether it is free.
//
// It asks with a handful of GET requests, two seconds each, and never asks for
// anything that makes a server generate, load or forget. It measures nothing
// and decides nothing about the load; it imports no dialect but the reading of
// errors.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"teapot/probe/api"
)

// Names of the engines that are told apart. Others stay "".
const (
	VLLM      = "vLLM"
	SGLang    = "SGLang"
	LlamaCpp  = "llama.cpp"
	Ollama    = "Ollama"
	LMStudio  = "LM Studio"
	TGI       = "TGI"
	LMDeploy  = "LMDeploy"
	TRTLLM    = "TensorRT-LLM"
	KoboldCpp = "KoboldCpp"
	Llamafile = "llamafile"
	MLX       = "mlx_lm"
	LiteLLM   = "LiteLLM"
	Teapot    = "teapot engine" // the built-in one
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
}

// why notes a step.
func (d *Detection) why(format string, args ...any) {
	d.Why = append(d.Why, api.OneLine(fmt.Sprintf(format, args...)))
}

// Detect finds out what answers at base, a URL as a user gives it. h goes with
// every request. model is the one asked for, "" to take the first of the list.
//
// A server without a list of models is no error: its engine is unknown. The
// errors are those of the transport (connection refused, DNS, a timeout), a
// [*StatusError] where the server refuses or is loading, a [*NotAPIError] where
// something else than an API answers, and a [*ModelError] where the model asked
// for is not among those of a server that insists.
func Detect(ctx context.Context, c *http.Client, base string, h http.Header, model string) (Detection, error) {
	d := Detection{Model: model, API: "chat"}
	apiBase, root, err := Base(base)
	if err != nil {
		return d, err
	}
	g := getter{ctx: ctx, client: c, header: h}
	r, err := g.get(apiBase + "/models")
	if err != nil {
		return d, fmt.Errorf("list the models: %w", err)
	}
	l, err := d.readList(r)
	if err != nil {
		return d, err
	}
	settled := d.name(l, r.header)
	if err := d.confirm(&g, root, settled); err != nil {
		return d, err
	}
	return d, d.choose(model)
}

// readList takes the answer to the request for models. The list is empty where
// there is none.
func (d *Detection) readList(r reply) ([]entry, error) {
	switch {
	case r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotImplemented:
		d.why("/models answers %d: no list of models", r.status)
		return nil, nil
	case r.status < 200 || r.status > 299:
		return nil, r.failure()
	case r.html():
		return nil, &NotAPIError{Type: "HTML"}
	case r.large:
		d.why("/models is longer than %d bytes: not read", maxBody)
		return nil, nil
	}
	var list struct {
		Data *[]json.RawMessage `json:"data"`
	}
	var bare []json.RawMessage
	switch {
	case json.Unmarshal(r.body, &list) == nil && list.Data != nil:
		bare = *list.Data
	case json.Unmarshal(r.body, &bare) == nil && len(bare) > 0:
	case json.Valid(r.body):
		// LM Studio and some gateways answer 200 to any path.
		d.why("/models answers 200 with something that is no list")
		return nil, nil
	default:
		return nil, &NotAPIError{Type: r.kind()}
	}
	var l []entry
	for _, raw := range bare {
		var e entry
		if json.Unmarshal(raw, &e.fields) != nil || e.text("id") == "" {
			continue
		}
		l = append(l, e)
		d.Models = append(d.Models, e.text("id"))
	}
	d.why("/models lists %d", len(l))
	return l, nil
}

// strict tells whether an engine refuses a model that it does not list.
func strict(engine string) bool {
	return engine == VLLM || engine == SGLang || engine == Ollama
}

// choose settles which model to ask for.
func (d *Detection) choose(model string) error {
	if model == "" {
		if len(d.Models) > 0 {
			d.Model = d.Models[0]
			d.why("no model asked for: the first of the list, %s", d.Model)
		}
		return nil
	}
	if len(d.Models) == 0 || !strict(d.Engine) {
		return nil
	}
	for _, have := range d.Models {
		if served(d.Engine, have, model) {
			return nil
		}
	}
	return &ModelError{Model: model, Models: d.Models}
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

// ModelError says that the model asked for is not served.
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
	return api.OneLine(fmt.Sprintf("model %q is not served; there is %s%s", e.Model, strings.Join(names, ", "), more))
}

// NotAPIError says that something else than an API answers.
type NotAPIError struct {
	Type string // what it answers: "HTML", or the media type
}

func (e *NotAPIError) Error() string {
	return fmt.Sprintf("this answers %s, not an API: is the port right?", e.Type)
}
