package api

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/probe/sse"
)

func TestOutcome(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name    string
		events  []string
		asked   int
		end     error
		class   event.Class
		n       int
		message string // a part of it
	}{
		{"full", []string{say("a"), with(fullChunk, usageOf(7)), "[DONE]"}, 7, nil, event.OKFull, 7, ""},
		{"full without [DONE]", []string{say("a"), with(fullChunk, usageOf(7))}, 7, io.EOF, event.OKFull, 7, ""},
		{"full though the connection broke after the end", []string{say("a"), with(fullChunk, usageOf(7))}, 7, io.ErrUnexpectedEOF, event.OKFull, 7, ""},
		{"length, but fewer", []string{say("a"), with(fullChunk, usageOf(3)), "[DONE]"}, 7, nil, event.OKShort, 3, ""},
		{"length, but more", []string{say("a"), with(fullChunk, usageOf(9)), "[DONE]"}, 7, nil, event.OKLong, 9, ""},
		{"stopped", []string{say("a"), with(stopChunk, usageOf(7)), "[DONE]"}, 7, nil, event.OKShort, 7, ""},
		{"a reason nobody knows", []string{say("a"), delta("", `,"finish_reason":"repetition"`)}, 7, nil, event.OKShort, 1, ""},
		{"length, N not known", []string{say("a"), say("b"), fullChunk, "[DONE]"}, 7, nil, event.OKUnknownReason, 2, ""},
		{"length, as many events as asked", []string{say("a"), say("b"), fullChunk, "[DONE]"}, 2, nil, event.OKFull, 2, ""},
		{"no reason", []string{say("a")}, 1, io.EOF, event.ErrTruncated, 1, "without a finish reason"},
		{"[DONE] without a reason", []string{say("a"), "[DONE]"}, 1, nil, event.ErrTruncated, 1, "mark of the end came without"},
		{"swallowed error", []string{say("a"), `{"model":"","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}`}, 2, io.EOF, event.ErrTruncated, 1, "without a finish reason"},
		{"cut", []string{say("a")}, 1, io.ErrUnexpectedEOF, event.ErrTruncated, 1, "unexpected EOF"},
		{"reset", []string{say("a")}, 1, fmt.Errorf("read tcp: connection reset by peer"), event.ErrTruncated, 1, "reset by peer"},
		{"no body", nil, 1, io.EOF, event.ErrTruncated, 0, "before any event"},
		{"[DONE] only", []string{"[DONE]"}, 1, nil, event.ErrEmpty, 0, "without a token"},
		{"finish only", []string{roleChunk, stopChunk, "[DONE]"}, 1, nil, event.ErrEmpty, 0, "without a token"},
		{"all of it hidden reasoning", []string{roleChunk, fullChunk, `{"choices":[],"usage":{"completion_tokens":16,"completion_tokens_details":{"reasoning_tokens":16}}}`, "[DONE]"}, 16, nil, event.ErrEmpty, 16, "counted 16"},
		{"line too long", []string{say("a")}, 1, fmt.Errorf("wrapped: %w", sse.ErrTooLong), event.ErrLimit, 1, "wrapped"},
		{"three events of rubbish", []string{say("a"), "x", "{", `"s"`}, 1, nil, event.ErrDecode, 1, "3 events"},
		{"two, and it recovers", []string{say("a"), "x", "{", with(fullChunk, usageOf(1))}, 1, nil, event.OKFull, 1, ""},
		{"error object", []string{say("a"), `{"error":{"message":"boom","code":500}}`, "[DONE]"}, 1, nil, event.ErrStream, 1, "boom"},
		{"error with spaces", []string{say("a"), `{ "error" : { "message" : "boom" } }`}, 1, nil, event.ErrStream, 1, "boom"},
		{"error string", []string{say("a"), `{"error":"boom"}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"error array", []string{say("a"), `{"error":[{"message":"boom"}]}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"array with an error", []string{say("a"), `[{"error":{"code":503,"message":"boom"}}]`}, 1, nil, event.ErrStream, 1, "boom"},
		{"flat error", []string{say("a"), `{"object":"error","message":"boom","code":500}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"flat error, message nested", []string{say("a"), `{"object":"error","message":{"detail":[{"msg":"boom"}]}}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"typed error", []string{say("a"), `{"type":"error","error":{"type":"overloaded_error","message":"boom"}}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"typed flat error", []string{say("a"), `{"type":"error","code":"server_error","message":"boom"}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"detail", []string{`{"detail":"boom"}`}, 1, nil, event.ErrStream, 0, "boom"},
		{"error with a choice", []string{say("a"), with(delta(`"content":""`, `,"finish_reason":"error"`), `"error":{"code":502,"message":"boom"}`), "[DONE]"}, 1, nil, event.ErrStream, 1, "boom"},
		{"error inside the choice", []string{say("a"), delta("", `,"finish_reason":"error","error":{"message":"boom"}`)}, 1, nil, event.ErrStream, 1, "boom"},
		{"Groq", []string{say("a"), with(stopChunk, `"x_groq":{"error":"boom"}`)}, 1, nil, event.ErrStream, 1, "boom"},
		{"error after the finish reason", []string{say("a"), fullChunk, `{"error":"boom"}`, "[DONE]"}, 1, nil, event.ErrStream, 1, "boom"},
		{"error after [DONE]", []string{say("a"), fullChunk, "[DONE]", `{"error":"boom"}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"event: error", []string{say("a"), `event:error {"message":"boom"}`}, 1, nil, event.ErrStream, 1, "boom"},
		{"event: error, no JSON", []string{say("a"), `event:error boom`}, 1, nil, event.ErrStream, 1, "boom"},
		{"event: error, empty", []string{say("a"), `event:error `}, 1, nil, event.ErrStream, 1, "without a text"},
		{"long message", []string{`{"error":"` + long + `"}`}, 1, nil, event.ErrStream, 0, "xxx…"},
		{"message with a key and escapes", []string{`{"error":"\u001b[31mbad key sk-abcdef123456\n"}`}, 1, nil, event.ErrStream, 0, "bad key [hidden]"},
		{"error null is none", []string{with(say("a"), `"error":null`), with(fullChunk, usageOf(1)+`,"error":null`)}, 1, nil, event.OKFull, 1, ""},
		{"error empty is none", []string{with(say("a"), `"error":""`), with(say("b"), `"error":{}`), with(say("c"), `"error":false`), with(fullChunk, usageOf(3))}, 3, nil, event.OKFull, 3, ""},
		{"event: done", []string{say("a"), with(fullChunk, usageOf(1)), "event:done {}"}, 1, nil, event.OKFull, 1, ""},
		{"two [DONE] with spaces", []string{say("a"), with(fullChunk, usageOf(1)), " [DONE] ", "[DONE]"}, 1, nil, event.OKFull, 1, ""},
		{"one of two choices unfinished", []string{say("a"), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, fullChunk}, 1, io.EOF, event.ErrTruncated, 2, "without a finish reason"},
		{"both finished", []string{say("a"), `{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}`, with(fullChunk, usageOf(2))}, 2, io.EOF, event.OKFull, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := feed(c.events...)
			r := s.Result(c.asked, c.end)
			if r.Class != c.class || r.N != c.n {
				t.Errorf("%s, N %d (%s); want %s, N %d", r.Class, r.N, r.Message, c.class, c.n)
			}
			if !strings.Contains(r.Message, c.message) || (c.message == "") != (r.Message == "") {
				t.Errorf("message %q, want %q in it", r.Message, c.message)
			}
			if r.Class.Failed() != (c.message != "") {
				t.Errorf("%s with the message %q", r.Class, r.Message)
			}
		})
	}
}

func TestFinishReasonsThatMeanFailure(t *testing.T) {
	for _, reason := range []string{"abort", "error", "parse_error", "content_filter", "insufficient_system_resource", "SAFETY", "RECITATION", "OTHER", "MALFORMED_FUNCTION_CALL", "refusal", "unload"} {
		s, _ := feed(say("a"), delta("", `,"finish_reason":"`+reason+`"`), "[DONE]")
		if r := s.Result(1, nil); r.Class != event.ErrStream || !strings.Contains(r.Message, reason) || r.Finish != reason {
			t.Errorf("%s: %+v", reason, r)
		}
	}
	for _, reason := range []string{"stop", "eos", "end_turn", "tool_calls", "function_call"} {
		s, _ := feed(say("a"), delta("", `,"finish_reason":"`+reason+`"`))
		if r := s.Result(1, nil); r.Class != event.OKShort {
			t.Errorf("%s: %+v", reason, r)
		}
	}
}

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   bool
	}{
		{"nothing", nil, false}, {"tokens", []string{say("a")}, false}, {"a finish reason: usage may follow", []string{say("a"), fullChunk}, false},
		{"[DONE]", []string{say("a"), "[DONE]"}, true}, {"an error", []string{`{"error":"x"}`}, true}, {"rubbish", []string{"x", "x", "x"}, true}, {"some rubbish", []string{"x", "x"}, false},
	} {
		if s, _ := feed(c.events...); s.Ended() != c.want {
			t.Errorf("%s: %v", c.name, s.Ended())
		}
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   []event.Flag
	}{
		{"plain", []string{roleChunk, say("a"), stopChunk, "[DONE]", "[DONE]"}, nil},
		{"counter went back", []string{with(say("a"), usageOf(2)), with(say("b"), usageOf(1)), stopChunk}, []event.Flag{event.FlagCounterBack}},
		{"tokens after the finish reason", []string{say("a"), stopChunk, say("b")}, []event.Flag{event.FlagAfterEnd}},
		{"tokens after [DONE]", []string{say("a"), stopChunk, "[DONE]", say("b")}, []event.Flag{event.FlagAfterEnd}},
		{"undecodable", []string{say("a"), "{", "}", stopChunk}, []event.Flag{event.FlagUndecodable}},
		{"several choices", []string{say("a"), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`}, []event.Flag{event.FlagSeveralChoice}},
	} {
		s, _ := feed(c.events...)
		if r := s.Result(1, nil); fmt.Sprint(r.Flags) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, r.Flags, c.want)
		}
	}
}
