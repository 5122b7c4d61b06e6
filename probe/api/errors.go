package api

import (
	"bytes"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"teapot/probe/event"
)

// HTTPError reads a reply whose status is not 2xx: the class of the failure,
// one clean line that says why, and how long the server asks us to wait (0 when
// it does not say). body is as much of the body as was read.
func HTTPError(status int, header http.Header, body []byte) (event.Class, string, time.Duration) {
	return HTTPErrorAt(time.Now(), status, header, body)
}

// HTTPErrorAt is HTTPError at a given time, which matters only for a
// Retry-After that names a date while the reply has no Date of its own.
func HTTPErrorAt(now time.Time, status int, header http.Header, body []byte) (event.Class, string, time.Duration) {
	message := messageOf(status, body)
	return classOf(status, message), message, retryAfter(now, status, header)
}

// classOf maps a status to a class. The message tells a server that is loading
// its model from one that has too much to do.
func classOf(status int, message string) event.Class {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return event.ErrAuth
	case http.StatusNotFound:
		return event.ErrModel
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return event.ErrParam
	case http.StatusTooManyRequests:
		return event.ErrRate
	case http.StatusServiceUnavailable:
		if reLoading.MatchString(message) {
			return event.ErrLoading
		}
		return event.ErrOverload
	case 529, 498: // Anthropic, and the flexible tier of Groq
		return event.ErrOverload
	}
	if status >= 200 && status < 300 {
		return event.ErrBody200
	}
	return event.ErrHTTP
}

// reLoading recognises a server that is not ready yet.
var reLoading = regexp.MustCompile(`(?i)\b(loading|being loaded|starting( up)?|initiali[sz]ing|warming up|not (yet )?ready|not (yet )?loaded)\b`)

var reTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// messageOf finds the line that says what went wrong.
func messageOf(status int, body []byte) string {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) > 1<<20 {
		body = body[:1<<20]
	}
	name := strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
	switch {
	case len(body) == 0:
		return name
	case body[0] == '<':
		if title := titleOf(body); title != "" {
			return OneLine("HTML page: " + title)
		}
		return "HTML page instead of an answer: " + name
	}
	if line := OneLine(failureIn(body).message); line != "" {
		return line
	}
	return name
}

// titleOf is the title of an HTML page, cleaned; "" without one.
func titleOf(page []byte) string {
	m := reTitle.FindSubmatch(page[:min(len(page), maxRaw)])
	if m == nil {
		return ""
	}
	return OneLine(string(m[1]))
}
