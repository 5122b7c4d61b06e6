package probe

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"teapot/probe/event"
)

// delta is an event of a chat stream.
func delta(fields string) string { return `data: {"model":"tiny",` + fields + "}\n\n" }

// choice is an event with one choice.
func choice(index int, fields string) string {
	return delta(fmt.Sprintf(`"choices":[{"index":%d,%s}]`, index, fields))
}

// running is a token with the count so far.
func running(text string, n int) string {
	return delta(fmt.Sprintf(`"choices":[{"index":0,"delta":{"content":%q}}],"usage":{"prompt_tokens":7,"completion_tokens":%d}`, text, n))
}

// What replies can mean, heard by a whole probe. Framing is probe/sse's, and
// every written case is played by TestCasesOverTCP.
func TestMeaningOfReplies(t *testing.T) {
	const finish = `"delta":{},"finish_reason":"length"`
	for _, c := range []struct {
		name   string
		events []string
		class  event.Class
		n      int
		seen   int // token events
		ks     []uint32
		flags  []event.Flag
		part   string // of the message
	}{
		{"two choices, interleaved", []string{
			choice(0, `"delta":{"content":"a"}`), choice(1, `"delta":{"content":"x"}`), choice(0, `"delta":{"content":"b"}`), choice(1, `"delta":{"content":"y"}`),
			choice(1, finish), choice(0, finish), usage(4), done,
		}, event.OKLong, 4, 4, nil, []event.Flag{event.FlagSeveralChoice}, ""},
		{"one of two choices never ends", []string{
			choice(0, `"delta":{"content":"a"}`), choice(1, `"delta":{"content":"x"}`), choice(0, finish), usage(2), done,
		}, event.ErrTruncated, 2, 2, nil, []event.Flag{event.FlagSeveralChoice}, "finish reason"},
		{"usage before the finish reason", []string{tok("a"), tok("b"), usage(2), length, done}, event.OKFull, 2, 2, nil, nil, ""},
		{"usage of zeros on every chunk", []string{running("a", 0), running("b", 0), length, usage(2), done}, event.OKFull, 2, 2, nil, nil, ""},
		{"a counter with each chunk", []string{running("a", 1), running("bcd", 4), length, usage(4), done}, event.OKLong, 4, 2, []uint32{1, 3}, nil, ""},
		{"a counter that goes back", []string{running("a", 3), running("b", 2), length, usage(4), done}, event.OKLong, 4, 2, nil, []event.Flag{event.FlagCounterBack}, ""},
		{"the reason on the first chunk", []string{choice(0, `"delta":{"content":"ab"},"finish_reason":"length"`), usage(2), done}, event.OKFull, 2, 1, nil, nil, ""},
		{"text in the last chunk", []string{tok("a"), choice(0, `"delta":{"content":"b"},"finish_reason":"length"`), done}, event.OKFull, 2, 2, nil, nil, ""},
		{"tokens after the reason", []string{tok("a"), length, tok("b"), done}, event.OKFull, 2, 2, nil, []event.Flag{event.FlagAfterEnd}, ""},
		{"tokens after the end", []string{tok("a"), tok("b"), length, done, tok("c")}, event.OKFull, 2, 2, nil, []event.Flag{event.FlagAfterEnd}, ""},
		{"error: null", []string{delta(`"error":null,"choices":[{"index":0,"delta":{"content":"a"}}]`), tok("b"), length, done}, event.OKFull, 2, 2, nil, nil, ""},
		{"error: a string", []string{tok("a"), `data: {"error":"boom"}` + "\n\n", done}, event.ErrStream, 1, 1, nil, nil, "boom"},
		{"an error after the reason", []string{tok("a"), tok("b"), length, `data: {"error":{"message":"boom"}}` + "\n\n", done}, event.ErrStream, 2, 2, nil, nil, "boom"},
		{"the end alone", []string{done}, event.ErrEmpty, 0, 0, nil, nil, "without a token"},
		{"the reason alone", []string{length, done}, event.ErrEmpty, 0, 0, nil, nil, "without a token"},
		{"counted and never shown", []string{role, length, usage(9), done}, event.ErrEmpty, 9, 0, nil, nil, "the server counted 9"},
		{"the end without the reason", []string{tok("a"), tok("b"), done}, event.ErrTruncated, 2, 2, nil, nil, "without a finish reason"},
		{"shorter than asked", []string{tok("a"), length, usage(1), done}, event.OKShort, 1, 1, nil, nil, ""},
		{"stopped before that", []string{tok("a"), choice(0, `"delta":{},"finish_reason":"stop"`), usage(1), done}, event.OKShort, 1, 1, nil, nil, ""},
		{"longer than asked", []string{tok("a"), tok("b"), tok("c"), length, usage(3), done}, event.OKLong, 3, 3, nil, nil, ""},
		{"the end twice", []string{tok("a"), tok("b"), length, done, done}, event.OKFull, 2, 2, nil, nil, ""},
		{"no end, but a reason", []string{tok("a"), tok("b"), length, usage(2)}, event.OKFull, 2, 2, nil, nil, ""},
		{"an id that changes", []string{
			delta(`"id":"1","choices":[{"index":0,"delta":{"content":"a"}}]`), delta(`"id":"2","choices":[{"index":0,"delta":{"content":"b"}}]`), length, done,
		}, event.OKFull, 2, 2, nil, nil, ""},
		{"another model", []string{
			`data: {"model":"huge","choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n", tok("b"), length, done,
		}, event.OKFull, 2, 2, nil, []event.Flag{event.FlagOtherModel}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ int, conn net.Conn, _ *http.Request) bool {
				io.WriteString(conn, streamHead)
				say(conn, c.events...)
				io.WriteString(conn, lastOne)
				return true
			})
			all := watchUntil(t, config(s.url, 1))
			e, tokens := only[*event.End](t, all), of[*event.Token](all)
			if e.Class != c.class || e.N != c.n || len(tokens) != c.seen || !strings.Contains(e.Message, c.part) {
				t.Errorf("%s %q, %d tokens in %d events; want %s, %d in %d", e.Class, e.Message, e.N, len(tokens), c.class, c.n, c.seen)
			}
			if !slices.Equal(e.Flags, c.flags) {
				t.Errorf("flags %v, want %v", e.Flags, c.flags)
			}
			for i, k := range c.ks {
				if i < len(tokens) && tokens[i].K != k {
					t.Errorf("event %d has %d tokens, want %d", i, tokens[i].K, k)
				}
			}
		})
	}
}

func TestProviderIsKept(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, streamHead)
		say(c, delta(`"provider":"Some\u001b[31m House","choices":[{"index":0,"delta":{"content":"a"}}]`), tok("b"), length, usage(2), done)
		io.WriteString(c, lastOne)
		return true
	})
	if e := only[*event.End](t, watch(t, config(s.url, 1), nil)); e.Provider != "Some House" {
		t.Errorf("provider %q", e.Provider)
	}
}

// What the header says of the server's own work stands beside what the reply
// says of it, which is believed.
func TestServersTimesInTheHeader(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, strings.Replace(streamHead, "\r\n", "\r\nx-queue-time: 3\r\nx-time-per-token: 12\r\nopenai-processing-ms: 40\r\n", 1))
		say(c, tok("a"), tok("b"), delta(`"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"timings":{"predicted_n":2,"predicted_ms":8,"predicted_per_token_ms":8}`), done)
		io.WriteString(c, lastOne)
		return true
	})
	got := only[*event.End](t, watch(t, config(s.url, 1), nil)).Server
	if got == nil || got.Queue != 3e6 || got.PerToken != 8e6 || got.Replied != 40e6 || got.Decode != 8e6 {
		t.Errorf("%+v", got)
	}
}
