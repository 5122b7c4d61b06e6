package probe

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"teapot/probe/api"
	"teapot/probe/engine"
	"teapot/probe/event"
	"teapot/probe/stamp"
)

// endpoint is everything that is known of a target: where it is, what goes
// with every request, and, once found out, what it speaks. It is used by the
// senders of all its streams.
type endpoint struct {
	id      uint32
	want    event.TargetConfig
	address string      // as given, without userinfo and query
	socket  string      // the unix socket that leads to it, "" for none
	base    string      // of the API
	path    string      // the dialect that the path of the address asks for, "" for none
	shown   string      // the URL as it may be shown
	query   string      // of the URL as given, sent with every request
	host    string      // "" or the host named by a header
	header  http.Header // of every request, without the key; read only
	key     string      // "" for none
	red     *redactor
	rt      *http.Transport
	direct  *direct // nil: every request goes by net/http
	client  *http.Client
	prompts prompts
	speech  atomic.Pointer[speech]

	mu    sync.Mutex // one writer at a time of what follows, and of speech
	drops atomic.Pointer[map[string]bool]
	found *engine.Detection // the last that succeeded
	tried map[string]bool   // dialects that it refused

	stall  chan struct{} // a stream went on after a stop that is worth a look; holds one
	misses atomic.Int64  // looks in a row that nobody answered
	// signalled: a look has brought something.
	signalled atomic.Bool

	stubborn atomic.Bool // it rejects requests without naming a field, whatever is left out
}

// newEndpoint checks what is known of a target before anything is asked. The
// error names no secret.
func newEndpoint(id uint32, t event.TargetConfig, cfg *event.Config, connect time.Duration, session uint32, clk *stamp.Clock) (*endpoint, error) {
	u, err := address(t.URL)
	if err != nil {
		return nil, fmt.Errorf("target %d: %w", id, err)
	}
	ep := &endpoint{id: id, want: t, query: u.RawQuery, stall: make(chan struct{}, 1)}
	ep.shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}).String()
	if u.Scheme == socketScheme {
		if ep.socket, u, err = overSocket(u); err != nil {
			return nil, fmt.Errorf("target %d: %w", id, err)
		}
	}
	bare := *u
	bare.User, bare.RawQuery, bare.Fragment = nil, "", ""
	place, err := engine.Locate(bare.String())
	if err != nil {
		return nil, fmt.Errorf("target %d: %w", id, err)
	}
	ep.address, ep.base = bare.String(), place.API
	if _, err := api.ByName(place.Dialect); err == nil {
		ep.path = place.Dialect
	}
	if t.KeyEnv != "" {
		ep.key = strings.TrimSpace(os.Getenv(t.KeyEnv))
	}
	if err := ep.setHeader(t.Headers, u.User); err != nil {
		return nil, fmt.Errorf("target %d: %w", id, err)
	}
	ep.red = newRedactor(u, ep.key, ep.header)
	first, err := ep.speak(engine.Detection{Model: cmp.Or(t.Model, place.Model)}, ep.path)
	if err != nil {
		return nil, fmt.Errorf("target %d: %w", id, err)
	}
	ep.speech.Store(first)
	if ep.rt, err = newTransport(t, ep.socket, connect, clk); err != nil {
		return nil, fmt.Errorf("target %d: %w", id, err)
	}
	ep.direct = newDirect(ep.base, ep.rt)
	ep.client = newClient(ep.rt)
	ep.prompts = prompts{own: cfg.Prompts, seed: cfg.Load.Seed, session: session + id, cold: t.Cold || cfg.Load.Cold}
	return ep, nil
}

// address reads a URL as a user gives it: the scheme may be missing.
func address(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) { // the outer one quotes the URL, which may hold a password
			err = inner.Err
		}
		return nil, fmt.Errorf("the address is no URL: %w", err)
	}
	if u.Hostname() == "" && u.Scheme != socketScheme {
		return nil, errors.New("the address names no host")
	}
	return u, nil
}

// setHeader makes the header of every request. What the user gives outranks
// everything, and userinfo in the URL outranks a key from the environment.
func (ep *endpoint) setHeader(lines []string, user *url.Userinfo) error {
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
		"Accept-Encoding": {"identity"}, "User-Agent": {"teapot"},
	}
	if user != nil {
		pass, _ := user.Password()
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+pass)))
	}
	given := map[string]bool{}
	for i, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsAny(name+value, "\r\n\x00") {
			return fmt.Errorf("header %d is not of the form \"Name: value\"", i+1)
		}
		if name == "Host" {
			ep.host = value
			continue
		}
		if !given[name] {
			h.Del(name)
		}
		given[name] = true
		h.Add(name, value)
	}
	ep.header = h
	return nil
}

// busy tells whether the target's only slot serves somebody else. What cannot
// be known is no.
func (ep *endpoint) busy(ctx context.Context) bool {
	d := ep.speech.Load().det
	if d.Slots != 1 {
		return false
	}
	busy, err := engine.Busy(ctx, ep.client, ep.base, ep.speech.Load().askHeader(), d)
	return err == nil && busy
}

// describe is the target as it may be shown, in a state.
func (ep *endpoint) describe(at int64, state event.State, detail string) *event.Target {
	sp := ep.speech.Load()
	line := ep.red.line
	return &event.Target{
		At: at, ID: ep.id, URL: ep.shown, Model: line(sp.det.Model), Engine: line(nameOf(&sp.det)), Gateway: line(sp.det.Gateway),
		Version: line(sp.det.Version), API: sp.dialect.Name(), State: state, Detail: line(detail), Slots: sp.det.Slots,
	}
}

// nameOf is the engine as it may be shown where its version stands beside it;
// "" when nothing is known of it.
func nameOf(d *engine.Detection) string {
	if d.Engine == "" && d.Gateway != "" {
		return "gateway, engine unknown"
	}
	return d.Engine
}
