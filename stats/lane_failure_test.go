package stats

import (
	"testing"

	"teapot/probe/event"
)

// A failure says its status once.
func TestFailureSaysItsStatusOnce(t *testing.T) {
	for _, c := range []struct {
		status        int
		message, want string
	}{
		{500, "500 Internal Server Error", "500 Internal Server Error"},
		{500, "it is broken", "500 it is broken"},
		{503, "500 of 500 slots are busy", "503 500 of 500 slots are busy"},
		{500, "", "500 http other"},
		{200, "200 tokens, then nothing", "200 tokens, then nothing"},
	} {
		if got := failure(event.ErrHTTP, c.status, c.message); got != c.want {
			t.Errorf("%d and %q: %q, want %q", c.status, c.message, got, c.want)
		}
	}
}
