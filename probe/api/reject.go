package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// reUnknown recognises a complaint that a field as such is not wanted. The
// limits of length are often named in other complaints (a prompt that is too
// long), and only this kind means that the field must go.
var reUnknown = regexp.MustCompile(`(?i)unsupported|not supported|un(recogni[sz]ed|known|expected)|extra (inputs|fields?)|not permitted|not allowed|forbidden|no longer|deprecated|use .?max_`)

// How a request is made to fit a strict server, by whoever sends it: after a
// 400 or 422, RejectedField names the field to put into Ask.Drop. Where it
// names none and RejectsFields tells that fields are the trouble, GiveUp names
// the next one to try without. The request is then sent again, outside of all
// statistics, until it is taken or GiveUp has nothing more; what had to be
// dropped is remembered for the run.

// RejectedField names the request field that a 400 or 422 complains of, as
// Ask.Drop wants it, and is "" when the complaint is about none of the fields
// that a request can do without.
func RejectedField(status int, body []byte) string {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return ""
	}
	message := complaint(body)
	for _, where := range []string{strings.Join(paramsOf(body, 0), " "), message} {
		if field := firstField(where); field != "" {
			if strings.HasPrefix(field, "max_") && !reUnknown.MatchString(message+" "+string(body[:min(len(body), maxRaw)])) {
				continue
			}
			return field
		}
	}
	return ""
}

// RejectsFields tells whether a 400 or 422 that names no field of ours looks
// like one against fields all the same, and not against the model, the length
// of the prompt, or a value.
func RejectsFields(status int, body []byte) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	text := complaint(body)
	return !reOther.MatchString(text) && (reUnknown.MatchString(text) || reVague.MatchString(text))
}

// reVague recognises a complaint about the request as a whole, and reOther one
// that dropping fields cannot help.
var (
	reVague = regexp.MustCompile(`(?i)(invalid|bad|malformed|cannot parse).*(request|parameter|argument|field|payload|body|schema)|validation error|unprocessable`)
	reOther = regexp.MustCompile(`(?i)\bmodel\b|context|too (long|large|big)|exceed|prompt|quota|credit|balance|content.?(filter|policy|management)|safety`)
)

// GiveUp names the next field of the ladder that the request for a has and can
// do without, "" when there is none left.
func GiveUp(d Dialect, a Ask) string {
	have, err := d.Body(a)
	if err != nil {
		return ""
	}
	for _, field := range Fallback() {
		if a.Drop[field] {
			continue
		}
		b := a
		if b.Drop = maps.Clone(a.Drop); b.Drop == nil {
			b.Drop = map[string]bool{}
		}
		b.Drop[field] = true
		if less, err := d.Body(b); err == nil && !bytes.Equal(less, have) {
			return field
		}
	}
	return ""
}

// complaint is what the body of a refusal says, raw.
func complaint(body []byte) string { return failureIn(body).message }

// paramsOf collects what a JSON complaint points at: "param", and the paths
// under "loc".
func paramsOf(raw json.RawMessage, depth int) []string {
	if depth > 6 {
		return nil
	}
	var found []string
	if o, ok := objectOf(raw); ok {
		if p := textOf(o["param"]); len(p) > 0 {
			found = append(found, string(p))
		}
		var path []string
		for _, step := range listOf(o["loc"]) {
			if s := string(textOf(step)); s != "" && s != "body" {
				path = append(path, s)
			}
		}
		if len(path) > 0 {
			found = append(found, strings.Join(path, "."))
		}
		for _, key := range []string{"error", "message", "detail", "errors"} {
			found = append(found, paramsOf(o[key], depth+1)...)
		}
		return found
	}
	list := listOf(raw)
	for _, one := range list[:min(len(list), maxListed)] {
		found = append(found, paramsOf(one, depth+1)...)
	}
	return found
}

// reWord splits a complaint into the words that could be names of fields.
var reWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// firstField is the first word of a text that names a field of ours.
func firstField(text string) string {
	group, known := false, Fallback()
	for _, word := range reWord.FindAllString(text, -1) {
		switch {
		case word == "include_usage":
			return FieldIncludeUsage
		case word == "continuous_usage_stats":
			return FieldRunningUsage
		case word == FieldStreamOptions:
			group = true
		case !group && slices.Contains(known, word):
			return word
		}
	}
	if group {
		return FieldStreamOptions
	}
	return ""
}
