package probe

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"teapot/probe/sse"
)

// brokenBy says who broke a body off, in words that tell the ways apart: the
// end of the connection, its reset, and those of HTTP/2. It is nil where err is,
// and err where that says it already.
func brokenBy(err error) error {
	switch {
	case err == nil, errors.Is(err, sse.ErrTooLong):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed it (unexpected EOF)")
	case errors.Is(err, syscall.ECONNRESET):
		return errors.New("the server reset it (connection reset by peer)")
	}
	if text, ok := brokenHTTP2(err); ok {
		return errors.New(text)
	}
	return err
}

// brokenHTTP2 puts the failures of HTTP/2 into words. Their types are net/http's
// own, so they are known by their texts:
//
//	stream error: stream ID 5; INTERNAL_ERROR; received from peer
//	http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=""
func brokenHTTP2(err error) (text string, ok bool) {
	line := err.Error()
	if _, rest, found := strings.Cut(line, "server sent GOAWAY"); found {
		code := "no reason"
		if _, after, ok := strings.Cut(rest, "ErrCode="); ok {
			code, _, _ = strings.Cut(after, ",")
		}
		return "the server sent GOAWAY (" + code + ") and closed it", true
	}
	if _, rest, found := strings.Cut(line, "stream error: stream ID "); found && strings.Contains(rest, "received from peer") {
		if _, after, ok := strings.Cut(rest, "; "); ok {
			code, _, _ := strings.Cut(after, ";")
			return "the server reset the stream (" + code + ")", true
		}
	}
	return "", false
}

// proxyLimits lists time limits that proxies and load balancers come with: of
// Envoy's routes 15 s, of nginx and AWS 60 s, of Cloudflare 100 and 125 s, of
// Envoy's idle streams 300 s, and the round numbers that people set.
func proxyLimits() []time.Duration {
	return []time.Duration{
		15 * time.Second, 30 * time.Second, 60 * time.Second, 100 * time.Second, 120 * time.Second, 125 * time.Second, 300 * time.Second,
	}
}

// proxyTimer is what to say of a reply that broke off so long after the
// request, and after the last byte: that a proxy's time limit is likely, or "".
func proxyTimer(sinceSent, sinceByte time.Duration) string {
	for _, since := range [...]struct {
		span time.Duration
		what string
	}{{sinceSent, "the request"}, {sinceByte, "the last byte"}} {
		for _, limit := range proxyLimits() {
			if off := since.span - limit; off > -limit/100 && off < limit/100+150*time.Millisecond {
				return fmt.Sprintf("%.1f s after %s: likely a proxy's time limit", since.span.Seconds(), since.what)
			}
		}
	}
	return ""
}

// gatewayTimeout tells whether a status means that a proxy waited in vain: 504,
// and 524 of Cloudflare.
func gatewayTimeout(status int) bool { return status == 504 || status == 524 }

// timerHint adds to the message of a broken reply that a proxy's time limit is
// likely.
func (t *attempt) timerHint() {
	sent := t.trip.sent.Load()
	if sent == 0 {
		return
	}
	now := t.s.clk.Now()
	byteAgo := time.Duration(0)
	if last := t.dog.heard.Load(); last > sent {
		byteAgo = time.Duration(now - last)
	}
	hint := proxyTimer(time.Duration(now-sent), byteAgo)
	if gatewayTimeout(t.end.Status) && hint == "" {
		hint = "a proxy's time limit, " + seconds(time.Duration(now-sent)) + " after the request"
	}
	if hint != "" {
		t.end.Message += " (" + hint + ")"
	}
}
