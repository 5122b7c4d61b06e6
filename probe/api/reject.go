package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// reUnknown recognises a complaint that a field as such is not wanted. The
// limits of length are often named in other complaints (a prompt that is too
// long), and only this kind means that the field must go.
var reUnknown = regexp.MustCompile(`(?i)unsupported|not supported|un(recogni[sz]ed|known|expected)|extra (inputs|fields?)|not permitted|not allowed|forbidden|no longer|deprecated|use .?max_`)

// RejectedField names the request field that a 400 or 422 complains of, as
// Ask.Drop wants it, and is "" when the complaint is about none of the fields
// that a request can do without.
func RejectedField(status int, body []byte) string {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return ""
	}
	message := failureIn(body).message
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
	group := false
	for _, word := range reWord.FindAllString(text, -1) {
		switch word {
		case "include_usage":
			return FieldIncludeUsage
		case "continuous_usage_stats":
			return FieldRunningUsage
		case FieldStreamOptions:
			group = true
		case FieldMaxTokens, FieldMaxCompletion, FieldMinTokens, FieldMinNewTokens, FieldIgnoreEOS,
			FieldTemperature, FieldSeed, FieldTimings, FieldCachePrompt:
			if !group {
				return word
			}
		}
	}
	if group {
		return FieldStreamOptions
	}
	return ""
}
