package api

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// response turns a transcript into a response of net/http. The body's reads
// carry the time of the newest read of the connection.
func response(t *testing.T, sc script) (*http.Response, *wire) {
	t.Helper()
	w := &wire{script: sc}
	resp, err := http.ReadResponse(bufio.NewReaderSize(w, 1<<16), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp, w
}

// stamped notes, for each read of a body, the time of the connection.
type stamped struct {
	body io.Reader
	w    *wire
	at   []time.Duration
}

func (s *stamped) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.at = append(s.at, s.w.last())
	return n, err
}

// TestRecorded replays what real servers put on the wire. The figures were
// counted from the transcripts by other means.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		file        string
		asked       int
		tokenEvents int
		n           int
		count       event.CountSource
		class       event.Class
		first, last float64 // ms of the first and last token event
		comments    int
		known       bool // k is known for every event
	}{
		{"A_chat_stream", 12, 12, 12, event.CountTimings, event.OKFull, 8.875, 32.105, 0, false},
		{"A_chat_stream_usage", 12, 12, 12, event.CountUsage, event.OKFull, 12.113, 37.192, 0, false},
		{"A_chat_stream_timings", 12, 12, 12, event.CountUsage, event.OKFull, 6.942, 25.619, 0, true},
		{"A_chat_stream_emoji", 40, 40, 40, event.CountUsage, event.OKFull, 11.222, 131.328, 0, false},
		{"A_chat_stream_eos", 300, 35, 143, event.CountUsage, event.OKShort, 5.726, 387.418, 0, false},
		{"A_chat_stream_logprobs", 3, 3, 3, event.CountTimings, event.OKFull, 8.051, 9.829, 0, true},
		{"A_chat_stream_max1", 1, 1, 1, event.CountUsage, event.OKFull, 7.855, 7.855, 0, false},
		{"A_chat_stream_n2", 6, 12, 6, event.CountUsage, event.OKFull, 3.715, 35.439, 0, false},
		{"A_cmpl_stream", 8, 8, 8, event.CountUsage, event.OKFull, 3.215, 24.461, 0, false},
		{"A_cmpl_stream_usage", 8, 8, 8, event.CountUsage, event.OKFull, 8.102, 38.957, 0, false},
		{"G_SIGKILL_mid_stream", 200, 15, 15, event.CountEvents, event.ErrTruncated, 26.628, 277.496, 0, false},
		{"G_SIGTERM_mid_stream", 200, 14, 14, event.CountEvents, event.ErrTruncated, 31.668, 300.527, 1, false},
		{"I_ping_1s", 5, 5, 5, event.CountTimings, event.OKFull, 17163.254, 17253.907, -1, false},
		{"J_prefill_progress", 10, 10, 10, event.CountTimings, event.OKFull, 14586.916, 14919.625, -1, false},
		{"A_native_stream", 8, 8, 8, event.CountUsage, event.OKFull, 2.843, 26.470, 0, true},
		{"A_native_stream_timings", 4, 4, 4, event.CountUsage, event.OKFull, 6.125, 11.918, 0, true},
		{"A_messages_stream", 8, 8, 8, event.CountUsage, event.OKFull, 5.904, 18.510, 0, false},
		{"A_responses_stream", 8, 8, 8, event.CountUsage, event.OKFull, 3.745, 17.372, 0, false},
		{"A_err_bad_model", 2, 2, 2, event.CountTimings, event.OKFull, 4.197, 8.410, 0, false},
		{"O_chat", 12, 12, 12, event.CountUsage, event.OKFull, 8.904, 22.804, 0, false},
		{"O_generate_warm", 12, 12, 12, event.CountUsage, event.OKFull, 5.245, 17.956, 0, false},
		{"O_generate_cold", 6, 6, 6, event.CountUsage, event.OKFull, 273.643, 280.885, 0, false},
		{"P_ollama_runner_killed_api_chat", 2000, 9, 9, event.CountEvents, event.ErrStream, 31.401, 167.756, 0, false},
		{"O_v1_chat_stream_usage", 8, 8, 8, event.CountUsage, event.OKFull, 10.292, 19.05, 0, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			resp, w := response(t, readRecorded(t, "testdata/recorded/"+c.file+".txt"))
			if resp.StatusCode != 200 {
				t.Fatalf("status %d", resp.StatusCode)
			}
			body := &stamped{body: resp.Body, w: w}
			s := play(body, sse.FormatOf(resp.Header.Get("Content-Type")), func(read uint64) time.Duration { return body.at[read-1] }, dialectOf(c.file), func(int) int { return c.asked })
			if len(s.tokens) != c.tokenEvents || s.res.N != c.n || s.res.Count != c.count || s.res.Class != c.class {
				t.Fatalf("%d token events, N %d by %s, %s (%s); want %d, %d, %s, %s",
					len(s.tokens), s.res.N, s.res.Count, s.res.Class, s.res.Message, c.tokenEvents, c.n, c.count, c.class)
			}
			if a, b := s.tokens[0].at, s.tokens[len(s.tokens)-1].at; !near(a, c.first) || !near(b, c.last) {
				t.Errorf("tokens from %v to %v, want %v to %v ms", a, b, c.first, c.last)
			}
			if c.comments >= 0 && s.comments != c.comments {
				t.Errorf("%d comments, want %d", s.comments, c.comments)
			}
			if s.allKnown != c.known {
				t.Errorf("k known for every event: %v, want %v", s.allKnown, c.known)
			}
			if c.known && s.sum != uint64(c.n) {
				t.Errorf("the sum of k is %d, want %d", s.sum, c.n)
			}
			if c.class == event.ErrTruncated && !strings.Contains(s.res.Message, "unexpected EOF") {
				t.Errorf("message %q", s.res.Message)
			}
			if hasFlag(s.res.Flags, event.FlagSeveralChoice) != (c.file == "A_chat_stream_n2") {
				t.Errorf("flags %v", s.res.Flags)
			}
		})
	}
}

// TestRecordedTimings checks what the servers say of their own work.
func TestRecordedTimings(t *testing.T) {
	for _, c := range []struct {
		file           string
		prompt, cached int
		model          string
		server         event.ServerTimings
	}{
		{"A_chat_stream_timings", 11, 10, "tiny", event.ServerTimings{PromptN: 1, Prompt: 4536000, DecodeN: 12, Decode: 18814000, PerToken: 1710364}},
		{"A_native_stream", 3, 2, "tiny", event.ServerTimings{PromptN: 1, Prompt: 2290000, DecodeN: 8, Decode: 23136000, PerToken: 3305143}},
		{"A_native_stream_timings", 3, 2, "tiny", event.ServerTimings{PromptN: 1, Prompt: 1955000, DecodeN: 4, Decode: 9430000, PerToken: 3143333}},
		{"A_responses_stream", 11, 10, "tiny", event.ServerTimings{PromptN: 1, Prompt: 1964000, DecodeN: 8, Decode: 13631000, PerToken: 1947286}},
		{"O_chat", 31, 0, "tiny", event.ServerTimings{PromptN: 31, Prompt: 3624000, DecodeN: 12, Decode: 13476000, Load: 1440660, Total: 22428574, Queue: 3887914, PerToken: 1123000}},
		{"O_generate_cold", 30, 0, "tiny", event.ServerTimings{PromptN: 30, Prompt: 4198000, DecodeN: 6, Decode: 7513000, Load: 266408059, Total: 280864820, Queue: 2745761, PerToken: 1252166}},
		{"O_generate_warm", 30, 0, "tiny", event.ServerTimings{PromptN: 30, Prompt: 1619000, DecodeN: 12, Decode: 12968000, Load: 997432, Total: 17969509, Queue: 2385077, PerToken: 1080666}},
	} {
		resp, _ := response(t, readRecorded(t, "testdata/recorded/"+c.file+".txt"))
		s := play(resp.Body, sse.FormatOf(resp.Header.Get("Content-Type")), func(uint64) time.Duration { return 0 }, dialectOf(c.file), asItWas)
		if s.res.Server == nil || *s.res.Server != c.server {
			t.Errorf("%s: server timings %+v, want %+v", c.file, s.res.Server, c.server)
		}
		if s.res.Cached != c.cached || s.res.Prompt != c.prompt || s.res.Model != c.model {
			t.Errorf("%s: cached %d, prompt %d, model %q", c.file, s.res.Cached, s.res.Prompt, s.res.Model)
		}
	}
}

// TestRecordedErrors reads the replies that are no streams.
func TestRecordedErrors(t *testing.T) {
	for _, c := range []struct {
		file    string
		class   event.Class
		message string
	}{
		{"A_err_bad_json", event.ErrHTTP, "[json.exception.parse_error.101] parse error at line 1"},
		{"A_err_too_long_stream", event.ErrParam, "request (22509 tokens) exceeds"},
		{"A_get_404", event.ErrModel, "File Not Found"},
		{"C_auth_chat_nokey", event.ErrAuth, "Invalid API Key"},
		{"O_err_missing_model", event.ErrModel, "model '' not found"},
	} {
		resp, _ := response(t, readRecorded(t, "testdata/recorded/"+c.file+".txt"))
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		class, message, _ := HTTPError(resp.StatusCode, resp.Header, body)
		if class != c.class || !strings.HasPrefix(message, c.message) {
			t.Errorf("%s: %s %q", c.file, class, message)
		}
		if f := RejectedField(resp.StatusCode, body); f != "" {
			t.Errorf("%s: complains of the field %s", c.file, f)
		}
	}
}

// TestBodiesThatAreNoStreams runs whole bodies of a 200 through the reader.
func TestBodiesThatAreNoStreams(t *testing.T) {
	for _, c := range []struct {
		name, body string
		class      event.Class
		message    string
	}{
		{"JSON error", `{"error":"Unexpected endpoint or method. (GET /x)"}`, event.ErrBody200, "Unexpected endpoint"},
		{"JSON error with a line end", "{\"error\":{\"message\":\"boom\"}}\n", event.ErrBody200, "boom"},
		{"pretty JSON error", "{\n  \"error\": {\n    \"message\": \"boom\"\n  }\n}\n", event.ErrBody200, "boom"},
		{"JSON array with an error", "[{\n \"error\": {\"code\": 503, \"message\": \"boom\"}\n}]\n", event.ErrBody200, "boom"},
		{"HTML", "<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>", event.ErrNotStream, "an HTML page came instead of a stream: Sign in"},
		{"HTML without a title", "<html></html>", event.ErrNotStream, "an HTML page came instead of a stream"},
		{"text", "404 page not found\n", event.ErrNotStream, "plain text came instead of a stream: 404 page not found"},
		{"a whole completion", `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"completion_tokens":1}}`, event.ErrNotStream, "one JSON document"},
		{"nothing", "", event.ErrTruncated, "the body ended before any event"},
		{"lines without data fields", say("a") + "\n" + with(fullChunk, usageOf(1)) + "\n", event.OKFull, ""},
		{"a bare error in a stream", "data: " + say("a") + "\n\n{\n  \"error\": {\n    \"message\": \"boom\"\n  }\n}\n", event.ErrStream, "boom"},
		{"error event", "event: error\ndata: {\"message\":\"boom\"}\n\n", event.ErrStream, "boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := script{writes: []write{{0, []byte(c.body)}}, end: io.EOF}
			if c.body == "" {
				sc.writes = nil
			}
			for _, size := range []int{0, 1} {
				s := replay(sc, size, "chat")
				if s.res.Class != c.class || !strings.HasPrefix(s.res.Message, c.message) {
					t.Errorf("reads of %d: %s %q, want %s %q", size, s.res.Class, s.res.Message, c.class, c.message)
				}
			}
		})
	}
}

// TestFraming sends one stream in every framing that is seen in the field.
func TestFraming(t *testing.T) {
	lines := []string{with(roleChunk, usageOf(0)), with(say("a\u2028🙂"), usageOf(1)), with(say(strings.Repeat("b", 300_000)), usageOf(2)), with(fullChunk, usageOf(2)), `{"choices":[],` + usageOf(2) + `}`, "[DONE]"}
	plain := "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"
	split := strings.ReplaceAll(plain, `{"object"`, "{\ndata: \"object\"")
	frames := map[string]string{
		"plain":              plain,
		"CRLF":               strings.ReplaceAll(plain, "\n", "\r\n"),
		"bare CR":            strings.ReplaceAll(plain, "\n", "\r"),
		"byte order mark":    "\ufeff" + plain,
		"no space":           strings.ReplaceAll(plain, "data: ", "data:"),
		"other fields":       strings.ReplaceAll(plain, "data: ", "id: 7\nevent: message\nretry: 10\ndata: "),
		"two data lines":     split,
		"no last blank line": strings.TrimRight(plain, "\n"),
		"comments":           ": hello\n\n" + strings.ReplaceAll(plain, "\n\ndata", "\n\n: ping\n\ndata"),
	}
	want := replay(script{writes: []write{{0, []byte(plain)}}, end: io.EOF}, 0, "chat")
	if len(want.tokens) != 2 || want.res.Class != event.OKFull {
		t.Fatalf("%d tokens, %s", len(want.tokens), want.res.Class)
	}
	for name, body := range frames {
		for _, size := range []int{0, 1, 1000} {
			got := replay(script{writes: []write{{0, []byte(body)}}, end: io.EOF}, size, "chat")
			got.comments, got.res.Flags = want.comments, want.res.Flags
			if d := differSeen(want, got); d != "" {
				t.Errorf("%s in reads of %d: %s", name, size, d)
			}
		}
	}
}
