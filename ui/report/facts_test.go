package report

import (
	"strings"
	"testing"

	"teapot/probe/event"
)

// A server that refuses every request at once is no fast one, and replies that
// are longer than asked for are told.
func TestFactsOfFailures(t *testing.T) {
	if text := Text(failed(), Options{}); !strings.Contains(text, " failed requests/s;") {
		t.Errorf("the rate of failures is called that of requests:\n%s", text)
	}
	s := article()
	if text := Text(s, Options{}); strings.Contains(text, "failed requests/s") || strings.Contains(text, "longer than asked for") {
		t.Errorf("requests that went well:\n%s", text)
	}
	s.Targets[0].Session.Requests.ByClass[event.OKLong] = 3
	if text := Text(s, Options{}); !strings.Contains(strings.Join(strings.Fields(text), " "), "(3 longer than asked for)") {
		t.Errorf("replies too long are not told:\n%s", text)
	}
}
