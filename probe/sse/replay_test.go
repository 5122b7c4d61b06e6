package sse

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// recvs reads a transcript of a real server's reply: one line per recv of the
// client that recorded it, with its size, and \r, \n and \\ escaped.
func recvs(t *testing.T, name string) (out []string) {
	t.Helper()
	file, err := os.ReadFile("testdata/replay/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, "+") {
			continue
		}
		var ms float64
		var size int
		if _, err := fmt.Sscanf(line[1:], "%f %dB", &ms, &size); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, raw, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "B ")
		raw = strings.NewReplacer(`\\`, `\`, `\r`, "\r", `\n`, "\n").Replace(raw)
		if len(raw) != size {
			t.Fatalf("%s: a recv of %d bytes, recorded as %d: %q", name, len(raw), size, raw)
		}
		out = append(out, raw)
	}
	return out
}

// Recorded replies, delivered recv by recv under net/http's own framing: every
// event comes with the recv that completed it, and they are as many as there
// are terminators in the recording.
func TestRecordedReplies(t *testing.T) {
	for _, c := range []struct {
		name             string
		format           Format
		events, comments int
		terminator       string
		last             string // what the last event holds
		err              error
	}{
		{"llamacpp_chat", SSE, 15, 0, "\n\n", "[DONE]", io.EOF},
		{"llamacpp_messages", SSE, 13, 0, "\n\n", "message_stop", io.EOF},
		{"llamacpp_native", SSE, 9, 0, "\n\n", `"stop":true`, io.EOF},
		{"llamacpp_ping", SSE, 8, 11, "\n\n", "[DONE]", io.EOF},
		{"llamacpp_killed", SSE, 16, 0, "\n\n", `" Le"`, io.ErrUnexpectedEOF},
		{"llamacpp_error", JSON, 1, 0, "}}", `"code":500`, io.EOF},
		{"ollama_chat", NDJSON, 13, 0, "}\n", `"done":true`, io.EOF},
		{"ollama_generate_cold", NDJSON, 7, 0, "}\n", `"done":true`, io.EOF},
		{"ollama_openai_chat", SSE, 11, 0, "\n\n", "[DONE]", io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			pieces := recvs(t, c.name)
			src := &cuts{pieces: append([]string{}, pieces...), err: io.EOF}
			res, err := http.ReadResponse(bufio.NewReader(src), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			r := NewReader(res.Body, Options{Hint: FormatOf(res.Header.Get("Content-Type"))})
			perRecv := make([]int, len(pieces))
			events, comments, last := 0, 0, ""
			for {
				ev, err := r.Next()
				if err != nil {
					if !errors.Is(err, c.err) {
						t.Errorf("ended with %v, want %v", err, c.err)
					}
					break
				}
				if ev.Flags != 0 {
					t.Errorf("%v: %s", ev.Flags, ev.Data)
				}
				if ev.Type == TypeComment {
					comments++
				} else {
					events++
					last = string(ev.Data)
				}
				if c.format != JSON { // which is known to be whole only at the end
					perRecv[src.reads-1]++
				}
			}
			if r.Format() != c.format {
				t.Errorf("%v, want %v", r.Format(), c.format)
			}
			if events != c.events || comments != c.comments {
				t.Errorf("%d events and %d comments, want %d and %d", events, comments, c.events, c.comments)
			}
			if !strings.Contains(last, c.last) {
				t.Errorf("last event %s", last)
			}
			for i, p := range pieces {
				if want := strings.Count(p, c.terminator); c.format != JSON && perRecv[i] != want {
					t.Errorf("recv %d: %d events, want %d", i+1, perRecv[i], want)
				}
			}
		})
	}
}
