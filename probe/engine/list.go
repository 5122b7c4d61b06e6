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

// list is the address of the list of models: beside the endpoint to which the
// requests will go, or where a service has it.
func (s *search) list() string {
	if s.at.service.api == dialectGemini && !s.at.compatible() {
		return s.at.Root + "/v1beta/models"
	}
	end := s.at.API
	if d, err := api.ByName(dialectChat); err == nil {
		end = d.Endpoint(s.at.API, "")
	}
	return strings.TrimSuffix(end, "/chat/completions") + "/models"
}

// readList takes the answer to the request for models. The list is empty where
// there is none.
func (s *search) readList(r reply) ([]entry, error) {
	switch {
	case r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotImplemented:
		s.why("/models answers %d: no list of models", r.status)
		return nil, nil
	case r.status == http.StatusBadRequest: // Triton does this with paths that it does not know
		s.why("/models answers 400")
		s.refused = r.failure()
		return nil, nil
	case r.status < 200 || r.status > 299:
		return nil, r.failure()
	case r.html():
		return nil, &NotAPIError{Type: "HTML"}
	case r.large:
		s.why("/models is longer than %d bytes: not read", maxBody)
		return nil, nil
	}
	raws, isList := elements(r.body)
	switch {
	case isList:
	case json.Valid(r.body):
		// LM Studio and some gateways answer 200 to any path.
		s.why("/models answers 200 with something that is no list")
		return nil, nil
	default:
		return nil, &NotAPIError{Type: r.kind()}
	}
	var l []entry
	for _, raw := range raws {
		var e entry
		if json.Unmarshal(raw, &e.fields) != nil {
			continue
		}
		id := e.text("id")
		if id == "" {
			id = e.generates()
		}
		if id == "" {
			continue
		}
		l = append(l, e)
		s.Models = append(s.Models, id)
	}
	s.why("/models lists %d", len(l))
	return l, nil
}

// elements takes the entries out of the shapes that a list has: {"data":[…]},
// a bare array, and Gemini's {"models":[{"name":"models/…"}]}. llama.cpp has
// both data and models.
func elements(body []byte) ([]json.RawMessage, bool) {
	var bare []json.RawMessage
	var list struct {
		Data   *[]json.RawMessage `json:"data"`
		Models []json.RawMessage  `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil {
		isList := json.Unmarshal(body, &bare) == nil && len(bare) > 0
		return bare, isList
	}
	if list.Data != nil {
		return *list.Data, true
	}
	var first entry
	if len(list.Models) > 0 && json.Unmarshal(list.Models[0], &first.fields) == nil && strings.HasPrefix(first.text("name"), "models/") {
		return list.Models, true
	}
	return nil, false
}

// generates is the name of an entry of Gemini's list, "" where it is a model
// that generates nothing.
func (e entry) generates() string {
	name, ok := strings.CutPrefix(e.text("name"), "models/")
	if !ok {
		return ""
	}
	var methods []string
	if json.Unmarshal(e.fields["supportedGenerationMethods"], &methods) != nil {
		return name
	}
	for _, m := range methods {
		if m == "generateContent" || m == "streamGenerateContent" {
			return name
		}
	}
	return ""
}
