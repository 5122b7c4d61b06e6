package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Busy tells whether a server with a single slot is serving somebody. Ask only
// while no request of ours is in flight: the slot does not say whose it is. It
// is false where that cannot be known, and for servers with several slots or
// none known. Not for polling: asking keeps a sleeping model awake.
func Busy(ctx context.Context, c *http.Client, base string, h http.Header, d Detection) (busy bool, err error) {
	if d.Engine != LlamaCpp || d.Slots != 1 {
		return false, nil
	}
	_, root, err := Base(base)
	if err != nil {
		return false, err
	}
	g := getter{ctx: ctx, client: c, header: h}
	r, err := g.get(root + "/slots")
	if err != nil {
		return false, err
	}
	if r.ok() {
		if busy, known := busySlots(r.body); known {
			return busy, nil
		}
	}
	// Slots may be switched off (501).
	r, err = g.get(root + "/metrics")
	if err != nil {
		return false, err
	}
	return r.ok() && processing(r.body) > 0, nil
}

// busySlots reads the list of slots. Older servers gave a number for the state,
// with 0 for idle.
func busySlots(body []byte) (busy, known bool) {
	var slots []struct {
		Processing *bool    `json:"is_processing"`
		State      *float64 `json:"state"`
	}
	if json.Unmarshal(body, &slots) != nil {
		return false, false
	}
	for _, s := range slots {
		if s.Processing != nil {
			busy, known = busy || *s.Processing, true
		} else if s.State != nil {
			busy, known = busy || *s.State != 0, true
		}
	}
	return busy, known
}

// processing reads the number of requests being served from the text of
// /metrics; 0 when it is not there.
func processing(body []byte) float64 {
	for line := range bytes.Lines(body) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "llamacpp:requests_processing")
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(rest, '}'); i >= 0 {
			rest = rest[i+1:]
		} else if rest == "" || (rest[0] != ' ' && rest[0] != '\t') {
			continue // the name of another metric
		}
		if f := strings.Fields(rest); len(f) > 0 {
			if n, err := strconv.ParseFloat(f[0], 64); err == nil {
				return n
			}
		}
	}
	return 0
}
