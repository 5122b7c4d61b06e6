package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
)

const (
	getTimeout = 2 * time.Second // for one request, body included
	maxBody    = 1 << 20         // bytes of one answer
)

// getter asks one server.
type getter struct {
	ctx    context.Context
	client *http.Client
	header http.Header
}

// reply is an answer of any status.
type reply struct {
	status int
	header http.Header
	body   []byte
	large  bool // the body was longer than is read
}

// get fetches one URL. It fails only when no answer came.
func (g *getter) get(address string) (reply, error) {
	ctx, cancel := context.WithTimeout(g.ctx, getTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return reply{}, plainError(err)
	}
	for name, values := range g.header {
		req.Header[name] = append([]string(nil), values...)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json, text/plain")
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return reply{}, plainError(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return reply{}, fmt.Errorf("read the answer: %w", err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, body: body}
	if len(body) > maxBody {
		r.body, r.large = body[:maxBody], true
	}
	return r, nil
}

// try fetches one URL; a reply without an answer has the status 0.
func (g *getter) try(address string) reply {
	r, err := g.get(address)
	if err != nil {
		return reply{}
	}
	return r
}

// text fetches a JSON object and takes a string out of it.
func (g *getter) text(address, key string) string {
	r := g.try(address)
	return r.text(key)
}

// objects fetches a JSON object and takes a list of objects out of it.
func (g *getter) objects(address, key string) []entry {
	r := g.try(address)
	var e entry
	var raws []json.RawMessage
	if !r.ok() || json.Unmarshal(r.body, &e.fields) != nil || json.Unmarshal(e.fields[key], &raws) != nil {
		return nil
	}
	var all []entry
	for _, raw := range raws {
		var one entry
		if json.Unmarshal(raw, &one.fields) == nil {
			all = append(all, one)
		}
	}
	return all
}

// text is a string field of an answer that is a JSON object.
func (r *reply) text(key string) string {
	var e entry
	if !r.ok() || json.Unmarshal(r.body, &e.fields) != nil {
		return ""
	}
	return e.text(key)
}

// number is a numeric field of an answer that is a JSON object; -1 for
// anything that is not a number of things.
func (r *reply) number(key string) float64 {
	var e entry
	var n *float64
	if !r.ok() || json.Unmarshal(r.body, &e.fields) != nil || json.Unmarshal(e.fields[key], &n) != nil || n == nil || *n < 0 {
		return -1
	}
	return *n
}

// plainError takes the URL out of an error of net/http: it may hold userinfo.
func plainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// ok tells whether the answer is a success that was read whole.
func (r *reply) ok() bool { return r.status >= 200 && r.status <= 299 && !r.large }

// kind is the media type.
func (r *reply) kind() string {
	t, _, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case err == nil && t != "" && t != "application/json":
		return api.OneLine(t)
	case len(bytes.TrimSpace(r.body)) == 0:
		return "nothing"
	}
	return "something that is not JSON"
}

// html tells whether the answer is a page, by its type or by its first byte:
// either may lie, and no API answers JSON that begins like a tag.
func (r *reply) html() bool {
	body := bytes.TrimSpace(bytes.TrimPrefix(r.body, []byte("\xef\xbb\xbf")))
	if len(body) > 0 && body[0] == '<' {
		return true
	}
	return strings.HasPrefix(strings.ToLower(r.header.Get("Content-Type")), "text/html") && (len(body) == 0 || body[0] != '{')
}

// failure is the error that a status other than 2xx amounts to.
func (r *reply) failure() error {
	class, message, wait := api.HTTPError(r.status, r.header, r.body)
	return &StatusError{Status: r.status, Class: class, Message: message, RetryAfter: wait}
}

// StatusError is an answer that refuses: a key that is missing, a limit that is
// reached, a model that is being loaded.
type StatusError struct {
	Status     int
	Class      event.Class
	Message    string // one clean line
	RetryAfter time.Duration
}

// Error names the status and the server's reason.
func (e *StatusError) Error() string {
	if strings.HasPrefix(e.Message, fmt.Sprint(e.Status)) {
		return e.Message
	}
	return fmt.Sprintf("%d %s", e.Status, e.Message)
}

// Loading tells whether the server says that it is not ready yet.
func (e *StatusError) Loading() bool { return e.Class == event.ErrLoading }
