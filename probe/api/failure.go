package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// failure is an error that a server put into a body.
type failure struct {
	message string // raw: to be cleaned
	kind    string // the server's own name for it
	code    int    // 0 when not said
}

// overload tells whether the error means "too busy", by code or by name.
func (f *failure) overload() bool {
	switch f.code {
	case 429, 503, 529, 498:
		return true
	}
	words := strings.ToLower(f.kind + " " + f.message)
	for _, w := range []string{"overload", "unavailable", "queue is full", "server busy", "too many requests", "rate limit", "rate_limit", "throttl", "capacity_exceeded", "over capacity"} {
		if strings.Contains(words, w) {
			return true
		}
	}
	return false
}

// failureOf finds an error in a JSON object, in any of the shapes that occur
// inside a stream or as a whole body. nil means that there is none: a chunk
// with "error":null is as good as one without.
func failureOf(o object) *failure {
	if f := errorOf(o["error"]); f != nil {
		return f.fill(o)
	}
	if g, ok := objectOf(o["x_groq"]); ok {
		if f := errorOf(g["error"]); f != nil {
			return f
		}
	}
	flat := string(textOf(o["object"])) == "error" || string(textOf(o["type"])) == "error"
	_, chunky := o["choices"]
	if !flat && !chunky {
		_, named := o["object"]
		_, usage := o["usage"]
		flat = present(o["detail"]) || present(o["errors"]) || (present(o["message"]) && !named && !usage)
	}
	if flat || !chunky && present(o["__type"]) {
		return (&failure{message: flatMessage(o)}).fill(o)
	}
	if chunky {
		return nil
	}
	return exceptionOf(o)
}

// exceptionOf finds an exception as Bedrock streams it: an object under the
// name of the exception.
func exceptionOf(o object) *failure {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !strings.HasSuffix(name, "Exception") {
			continue
		}
		if inner, ok := objectOf(o[name]); ok {
			f := (&failure{message: flatMessage(inner), kind: name}).fill(inner)
			if f.message == "" {
				f.message = name
			}
			return f
		}
	}
	return nil
}

// fill takes code and kind from the fields around the error.
func (f *failure) fill(o object) *failure {
	for _, key := range []string{"code", "status_code", "http_status_code", "statusCode", "status"} {
		if f.code == 0 {
			f.code, _ = countOf(o[key])
		}
	}
	for _, key := range []string{"type", "error_type", "status", "__type"} {
		if kind := string(textOf(o[key])); f.kind == "" && kind != "error" {
			f.kind = kind
		}
	}
	if f.kind == "" {
		f.kind = string(textOf(o["code"])) // a name where others have a number
	}
	return f
}

// errorOf reads the value of a key "error". Whatever a server uses for "no
// error" is none: null, false, 0, "", {} and [].
func errorOf(raw json.RawMessage) *failure {
	if !present(raw) {
		return nil
	}
	if text := textOf(raw); text != nil {
		return &failure{message: string(text)}
	}
	if o, ok := objectOf(raw); ok {
		f := (&failure{message: flatMessage(o)}).fill(o)
		if f.message == "" {
			f.message = f.kind
		}
		if f.message == "" {
			f.message = string(raw)
		}
		return f
	}
	// Not by recursion: a deep nest of arrays would be parsed once per level.
	if l := listOf(raw); len(l) > 0 {
		if text := nested(l[0], 0); text != "" {
			return &failure{message: text}
		}
	}
	return &failure{message: string(raw)}
}

// flatMessage finds the text of an error whose fields lie in o: message (or
// the first msg nested in it), then detail, then the first of errors.
func flatMessage(o object) string {
	for _, key := range []string{"message", "detail", "errors", "msg", "Message", "error_message", "title"} {
		if text := nested(o[key], 0); text != "" {
			return text
		}
	}
	return ""
}

// maxListed is how many elements of a list are looked through for a message.
const maxListed = 16

// nested is the first message in a value: a string, or deeper down under the
// usual names.
func nested(raw json.RawMessage, depth int) string {
	if depth > 6 {
		return ""
	}
	if text := textOf(raw); text != nil {
		return string(text)
	}
	if o, ok := objectOf(raw); ok {
		for _, key := range []string{"msg", "message", "detail", "error"} {
			if text := nested(o[key], depth+1); text != "" {
				return text
			}
		}
		return ""
	}
	list := listOf(raw)
	for _, one := range list[:min(len(list), maxListed)] {
		if text := nested(one, depth+1); text != "" {
			return text
		}
	}
	return ""
}

// present tells whether a value says anything.
func present(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

// failureIn reads a body or the data of an error event, which may be JSON of
// any shape, or no JSON at all. What is not understood is its own message.
func failureIn(body []byte) *failure {
	body = bytes.TrimSpace(body)
	if l := listOf(body); len(l) > 0 {
		body = l[0]
	}
	if o, ok := objectOf(body); ok {
		if f := failureOf(o); f != nil && f.message != "" {
			return f
		}
		// An error event may hold the bare inner object.
		f := (&failure{message: flatMessage(o)}).fill(o)
		if f.message == "" {
			f.message = string(body)
		}
		return f
	}
	if text := textOf(body); text != nil {
		return &failure{message: string(text)}
	}
	return &failure{message: string(body)}
}
