package api

import (
	"net/http"
	"strconv"
	"strings"

	"teapot/probe/event"
)

// ServerHeaders is what the header of a reply says of the server's own work,
// nil where it says nothing: the x-…-time of TGI in ms, which come with a reply
// that is no stream and with those of gateways in front of it, and OpenAI's
// openai-processing-ms, the time until the reply began.
func ServerHeaders(h http.Header) *event.ServerTimings {
	var t event.ServerTimings
	for _, f := range []struct {
		name string
		into *int64
	}{
		{"X-Queue-Time", &t.Queue}, {"X-Total-Time", &t.Total}, {"X-Time-Per-Token", &t.PerToken}, {"Openai-Processing-Ms", &t.Replied},
	} {
		if v, ok := headerNumber(h, f.name); ok {
			*f.into = spanOf(v, 1e6)
		}
	}
	for _, f := range []struct {
		name string
		into *int
	}{{"X-Prompt-Tokens", &t.PromptN}, {"X-Generated-Tokens", &t.DecodeN}} {
		if v, ok := headerNumber(h, f.name); ok {
			*f.into, _ = whole(v, true)
		}
	}
	if t.Queue == 0 && t.Total == 0 && t.PerToken == 0 && t.Replied == 0 {
		return nil // counts alone are no times
	}
	return &t
}

// headerNumber reads a header that is a number and nothing else.
func headerNumber(h http.Header, name string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(h.Get(name)), 64)
	return v, err == nil
}

// Headers adds to a result what the header of its reply says of the server's
// own work. What the reply itself said stays.
func (r *Result) Headers(h http.Header) {
	t := ServerHeaders(h)
	if t == nil {
		return
	}
	if r.Server == nil {
		r.Server = t
		return
	}
	s := *r.Server
	for _, f := range []struct {
		have *int64
		said int64
	}{{&s.Queue, t.Queue}, {&s.Total, t.Total}, {&s.PerToken, t.PerToken}, {&s.Replied, t.Replied}} {
		if *f.have == 0 {
			*f.have = f.said
		}
	}
	r.Server = &s
}
