package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"teapot/probe/api"
	"teapot/probe/engine"
	"teapot/probe/event"
)

// speech is how a target is spoken to. It does not change: another way is
// another speech.
type speech struct {
	det     engine.Detection
	dialect api.Dialect
	url     *url.URL
	header  http.Header // of every request, the key where this dialect has it; read only
	mark    []byte      // stands in every event that may hold text of a reply
}

// auto is the dialect that leaves the choice to us.
const auto = "auto"

// insists tells whether the user named a dialect, by flag or by the path of the
// address.
func (ep *endpoint) insists() bool {
	return ep.want.API != "" && ep.want.API != auto || ep.path != ""
}

// chosen says why a dialect is spoken.
func (ep *endpoint) chosen(sp *speech) string {
	name := sp.dialect.Name()
	switch {
	case ep.want.API != "" && ep.want.API != auto:
		return name + " is spoken, as asked for"
	case ep.path != "":
		return name + " is spoken, as the path of the address asks for it"
	case name != sp.det.API:
		return name + " is spoken, as " + sp.det.API + " was refused"
	case name == api.Names()[0]:
		return name + " is spoken, as nearly everything does"
	}
	return name + " is spoken, as it suits what was found"
}

// speak is the way to talk to what was found in the dialect of a name, which
// is that of the user where there is one, and the default where it is "". The
// key goes into the header that this dialect has for it, and only ever to the
// server at base.
func (ep *endpoint) speak(d engine.Detection, name string) (*speech, error) {
	if ep.want.API != "" && ep.want.API != auto {
		name = ep.want.API
	}
	if name == "" {
		name = api.Names()[0]
	}
	dialect, err := api.ByName(name)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(dialect.Endpoint(ep.base, d.Model))
	if err != nil {
		return nil, fmt.Errorf("the address is no URL: %w", err)
	}
	if u.RawQuery != "" && ep.query != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += ep.query
	sp := &speech{det: d, dialect: dialect, url: u, header: ep.header.Clone(), mark: markOf(name)}
	dialect.Auth(sp.header, ep.base, ep.key)
	return sp, nil
}

// markOf is what stands in every event of a dialect that may hold text of a
// reply, and in few others. Such text has a veil of its own for secrets, which
// sees them also where events cut them in pieces.
func markOf(dialect string) []byte {
	switch dialect {
	case "anthropic", "responses":
		return []byte(`"delta"`)
	case "ollama", "ollama-generate":
		return []byte(`"done"`)
	case "llamacpp", "lmstudio":
		return []byte(`"content"`)
	case "sglang":
		return []byte(`"meta_info"`)
	case "tgi", "koboldcpp":
		return []byte(`"token"`)
	case "triton":
		return []byte(`"text_output"`)
	case "gemini":
		return []byte(`"candidates"`)
	}
	return []byte(`"choices"`)
}

// detectTime bounds the whole detection.
const detectTime = 15 * time.Second

// detect asks what answers. Whatever was found is used, also with an error:
// only a request tells for certain whether the target works.
func (ep *endpoint) detect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, detectTime)
	defer cancel()
	old := ep.speech.Load()
	d, err := engine.Detect(ctx, ep.client, ep.address, old.askHeader(), ep.want.Model)
	sp, speakErr := ep.heard(d, err)
	if speakErr != nil {
		return speakErr
	}
	if unauthorized(err) && !maps.EqualFunc(sp.header, old.header, slices.Equal[[]string]) {
		// It was asked with the key where this service does not look for it.
		d, err = engine.Detect(ctx, ep.client, ep.address, sp.askHeader(), ep.want.Model)
		if sp, speakErr = ep.heard(d, err); speakErr != nil {
			return speakErr
		}
	}
	ep.mu.Lock()
	defer ep.mu.Unlock()
	if err == nil && !ep.same(&d) {
		ep.found, ep.tried = &d, nil
		ep.drops.Store(nil)
		ep.stubborn.Store(false)
	}
	ep.speech.Store(sp)
	return err
}

// heard is the way to talk to what a detection found. What was learned of the
// same server by its refusals stays, and so it does where nobody answers.
func (ep *endpoint) heard(d engine.Detection, err error) (*speech, error) {
	old := ep.speech.Load()
	if d.Model == "" {
		d.Model = old.det.Model
	}
	name := d.API
	if ep.path != "" || ep.same(&d) || err != nil && ep.found != nil && d.Engine == "" {
		name = old.dialect.Name()
	}
	return ep.speak(d, name)
}

// same tells whether a detection found what the one before did.
func (ep *endpoint) same(d *engine.Detection) bool {
	f := ep.found
	return f != nil && f.Engine == d.Engine && f.Version == d.Version && f.Model == d.Model && f.API == d.API
}

// unauthorized tells whether the list of models was refused for want of a key.
func unauthorized(err error) bool {
	var refused *engine.StatusError
	return errors.As(err, &refused) && refused.Class == event.ErrAuth
}

// askHeader is the header of what is not a request for tokens.
func (sp *speech) askHeader() http.Header {
	h := sp.header.Clone()
	h.Del("Content-Type")
	h.Del("Accept")
	return h
}
