package api

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// The headers in which a key may travel.
const (
	headerBearer    = "Authorization"
	headerAnthropic = "X-Api-Key"
	headerAzure     = "Api-Key"
	headerGoogle    = "X-Goog-Api-Key"
)

// reVersioned recognises a base that ends in a version of its own, in front of
// the /v1 that is put behind every base: /v4/v1, /v1beta/openai/v1.
var reVersioned = regexp.MustCompile(`/v[0-9]+((alpha|beta)[0-9]*)?(/openai)?/v1$`)

// reDeployment recognises a deployment of Azure OpenAI, whose path has no
// version: its API has an api-version in the query.
var reDeployment = regexp.MustCompile(`/openai/deployments/[^/]+/v1$`)

// split takes a base apart into what lies before and behind its query.
func split(base string) (path, query string) {
	path, query, _ = strings.Cut(base, "?")
	return strings.TrimRight(path, "/"), query
}

// join puts a query, where there is one, behind a URL.
func join(path string, queries ...string) string {
	for _, q := range queries {
		if q == "" {
			continue
		}
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		path += mark + q
	}
	return path
}

// under is the URL of a path under the base of an OpenAI-like API. Where the
// base has a version of its own, or is a deployment of Azure, the /v1 behind it
// goes.
func under(base, path string) string {
	at, query := split(base)
	if reVersioned.MatchString(at) || reDeployment.MatchString(at) {
		at = strings.TrimSuffix(at, "/v1")
	}
	return join(at+path, query)
}

// rooted is the URL of a path that starts at the root of a server, not at its
// /v1. An address that already holds the beginning of the path does not get it
// twice: both http://host and http://host/api lead to http://host/api/chat.
func rooted(base, path string) string {
	at, query := split(base)
	at = strings.TrimSuffix(at, "/v1")
	for n := len(path); n > 0; n = strings.LastIndexByte(path[:n], '/') {
		if cut, ok := strings.CutSuffix(at, path[:n]); ok {
			at = cut
			break
		}
	}
	return join(at+path, query)
}

// bearer puts the key where the server at base looks for it: into an
// Authorization header, except with the few services that have a header of
// their own.
func bearer(h http.Header, base, key string) {
	at, _ := split(base)
	host := hostOf(at)
	switch {
	case reDeployment.MatchString(at) || belongs(host, "azure.com"):
		setKey(h, headerAzure, key)
	case belongs(host, "anthropic.com"):
		anthropicKey(h, base, key)
	default:
		setKey(h, headerBearer, key)
	}
}

// setKey sets one of the headers that carry a key, unless the caller has set
// one of them or there is no key.
func setKey(h http.Header, name, key string) {
	key = strings.TrimSpace(key)
	if key == "" {
		return
	}
	for _, have := range []string{headerBearer, headerAnthropic, headerAzure, headerGoogle} {
		if h.Get(have) != "" {
			return
		}
	}
	if name == headerBearer {
		key = "Bearer " + key
	}
	h.Set(name, key)
}

// hostOf is the name of the host of a URL, "" if it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// belongs tells whether a host is a domain or lies in it.
func belongs(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}
