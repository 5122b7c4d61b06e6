package engine

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Place is an address as it was understood.
type Place struct {
	// API is where the paths of the OpenAI dialects start (http://host:8000/v1),
	// Root where the engine's own paths start (http://host:8000). Userinfo
	// stays, because requests need it, so neither may be shown as it is; a query
	// and a fragment go.
	API, Root string
	// Dialect is what the path of the address asks for, "" when it is the
	// address of no endpoint. Model is the model or the deployment in the path.
	Dialect, Model string

	service service // of the host, if it is a known one
}

// Base is the API and the Root of [Locate].
func Base(raw string) (apiBase, root string, err error) {
	p, err := Locate(raw)
	return p.API, p.Root, err
}

// Locate normalises an address as a user gives it: with or without a scheme, a
// path prefix, a trailing /v1, or the whole path of an endpoint of any dialect.
// A known service gets the prefix of its API where the path names none. The
// errors quote nothing of the address, which may hold a password.
func Locate(raw string) (Place, error) {
	text := strings.TrimSpace(raw)
	if text == "" {
		return Place{}, errors.New("no address")
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return Place{}, fmt.Errorf("the address is no URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return Place{}, fmt.Errorf("the address has the scheme %q: only http and https are spoken", u.Scheme)
	}
	if u.Hostname() == "" {
		return Place{}, errors.New("the address names no host")
	}
	u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = "", "", "", false
	var p Place
	path := p.endpoint(strings.TrimRight(u.EscapedPath(), "/"))
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/v1")
	p.service = serviceAt(u.Hostname())
	if path == "" {
		path = p.service.prefix
	}
	p.deployment(path)
	u.Path, u.RawPath = "", ""
	p.Root = u.String() + path
	p.API = p.Root + "/v1"
	return p, nil
}

// endpoint takes the path of an endpoint off a path and notes what it says.
func (p *Place) endpoint(path string) string {
	if cut, rest, ok := cutLast(path, "/v2/models/"); ok { // Triton: …/M[/versions/V]/generate_stream
		name, rest, _ := strings.Cut(rest, "/")
		p.Dialect, p.Model = dialectTriton, unescape(name)
		// The dialect takes the version along with the name.
		if v, ok := strings.CutPrefix(rest, "versions/"); ok && p.Model != "" {
			if v, _, _ = strings.Cut(v, "/"); v != "" {
				p.Model += "/versions/" + unescape(v)
			}
		}
		return cut
	}
	if cut, rest, ok := cutLast(path, "/v1beta/models/"); ok { // Gemini: …/M:streamGenerateContent
		name, _, _ := strings.Cut(rest, ":")
		p.Dialect, p.Model = dialectGemini, unescape(name)
		return cut
	}
	for _, e := range endings() {
		if cut, ok := strings.CutSuffix(path, e.path); ok && !(e.whole && cut != "") {
			p.Dialect = e.dialect
			return cut
		}
	}
	return path
}

// cutLast cuts text around the last occurrence of sep.
func cutLast(text, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// unescape reads a part of a path; what cannot be read stays.
func unescape(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}

// deployment notes the deployment of Azure OpenAI that a path names.
func (p *Place) deployment(path string) {
	_, name, ok := cutLast(path, "/openai/deployments/")
	if !ok || name == "" || strings.Contains(name, "/") {
		return
	}
	p.Model = unescape(name)
	if p.service.engine == "" {
		p.service = azure()
	}
}

// Names of the dialects that are chosen here.
const (
	dialectChat      = "chat"
	dialectAnthropic = "anthropic"
	dialectOllama    = "ollama"
	dialectTGI       = "tgi"
	dialectTriton    = "triton"
	dialectGemini    = "gemini"
	dialectKobold    = "koboldcpp"
)

// ending is the path of an endpoint.
type ending struct {
	path    string // what is not in front of it is the prefix of a proxy
	dialect string // "" for those that generate nothing
	whole   bool   // only as the whole path: it is too common a word
}

// endings lists the endpoints of all dialects, the longer of two that end alike
// first. Those under /v1 stand without it, because what is in front of it is
// not always /v1.
func endings() []ending {
	return []ending{
		{path: "/api/v0/chat/completions", dialect: dialectChat},
		{path: "/api/extra/generate/stream", dialect: dialectKobold},
		{path: "/api/extra/version"},
		{path: "/api/v1/generate", dialect: dialectKobold},
		{path: "/api/v1/chat", dialect: "lmstudio"},
		{path: "/api/v0/models"},
		{path: "/api/generate", dialect: "ollama-generate"},
		{path: "/api/chat", dialect: dialectOllama},
		{path: "/api/tags"},
		{path: "/api/version"},
		{path: "/api/ps"},
		{path: "/chat/completions", dialect: dialectChat},
		{path: "/completions", dialect: "completions"},
		{path: "/completion", dialect: "llamacpp"},
		{path: "/responses", dialect: "responses"},
		{path: "/messages", dialect: dialectAnthropic},
		{path: "/models"},
		{path: "/generate_stream", dialect: dialectTGI},
		{path: "/generate", dialect: "sglang"},
		{path: "/v1beta", dialect: dialectGemini},
		{path: "/api", dialect: dialectOllama, whole: true},
	}
}
