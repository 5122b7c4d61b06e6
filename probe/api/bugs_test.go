package api

import (
	"io"
	"strings"
	"testing"
	"time"

	"teapot/probe/sse"
)

// TestBugsOfOthers are the smallest replies on which other clients of such
// servers are known to have gone wrong, each by its kind, with what is right.
func TestBugsOfOthers(t *testing.T) {
	raw := func(data string) frame { return frame{0, data} }
	at := func(ms int, data string) frame { return frame{ms, data} }
	full := func(ms, n int) frame { return frame{ms, with(fullChunk, usageOf(n))} }
	line := func(data string) string { return "data: " + data + "\n\n" }
	big := say(strings.Repeat("x", 70_000))
	half := strings.Index(line(say("🙂")), "🙂") + 2
	for _, c := range []struct {
		name, dialect string
		hint          sse.Format
		wire          []frame
		want          string
	}{
		{"a role or the data of a filter taken for a token", "chat", sse.SSE, []frame{at(10, `{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}`), at(20, roleChunk), at(500, say("a")), full(510, 1)},
			"ttft 500 answer 500 gaps [] tpot - N 1 ok_full"},
		{"the usage taken for the first token", "chat", sse.SSE, []frame{at(100, `{"choices":[],`+usageOf(0)+`}`), at(500, say("a")), full(510, 1)},
			"ttft 500 answer 500 gaps [] tpot - N 1 ok_full"},
		{"thinking left out of the first token", "chat", sse.SSE, []frame{at(200, delta(`"reasoning":"Hm"`, "")), at(5000, say("A")), full(5010, 2)},
			"ttft 200 answer 5000 gaps [4800] tpot 4800.0 N 2 ok_full"},
		{"thinking under both of its names counted twice", "chat", sse.SSE, []frame{at(200, delta(`"reasoning":"Hm","reasoning_content":"Hm"`, "")), at(300, say("A")), full(310, 2)},
			"ttft 200 answer 300 gaps [100] tpot 100.0 N 2 ok_full"},
		{"several tokens in an event taken for one", "chat", sse.SSE, []frame{at(100, with(say("a"), usageOf(1))), at(130, with(say(" b c d"), usageOf(4))), full(131, 4)},
			"ttft 100 answer 100 gaps [30] tpot 10.0 N 4 ok_full"},
		{"reading that stops at the finish reason", "chat", sse.SSE, []frame{at(100, say("a")), at(110, say("b")), at(111, fullChunk), at(112, `{"choices":[],`+usageOf(3)+`}`), at(112, "[DONE]")},
			"ttft 100 answer 100 gaps [10] tpot 5.0 N 3 ok_full"},
		{"an error in a stream left out", "chat", sse.SSE, []frame{at(100, say("a")), at(110, `{"error":{"message":"boom","code":500}}`), at(110, "[DONE]")},
			"ttft 100 answer 100 gaps [] tpot - N 1 error_stream"},
		{"a stream without a token taken for a success", "chat", sse.SSE, []frame{at(100, roleChunk), at(110, fullChunk), at(110, "[DONE]")},
			"ttft - answer - gaps [] tpot - N 0 empty"},
		{"an end taken for a success", "chat", sse.SSE, []frame{at(100, say("a"))}, "ttft 100 answer 100 gaps [] tpot - N 1 truncated"},
		{"a missing mark of the end taken for a failure", "chat", sse.SSE, []frame{at(100, say("a")), full(110, 1)}, "ttft 100 answer 100 gaps [] tpot - N 1 ok_full"},
		{"an error of Messages left out", "anthropic", sse.SSE, []frame{at(100, `{"type":"content_block_delta","delta":{"text":"a"}}`), at(110, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"boom\"}}\n\n")},
			"ttft 100 answer 100 gaps [] tpot - N 1 error_stream"},
		{"no blank behind the colon", "chat", sse.SSE, []frame{raw("data:" + say("a") + "\n\n"), full(0, 1)}, "ttft 0 answer 0 gaps [] tpot - N 1 ok_full"},
		{"a line of more than 64 KiB", "chat", sse.SSE, []frame{raw(line(big)), full(10, 1)}, "ttft 0 answer 0 gaps [] tpot - N 1 ok_full"},
		{"comments taken for JSON", "chat", sse.SSE, []frame{raw(": OPENROUTER PROCESSING\n\n:\n\n: {\n\n"), at(50, say("a")), full(60, 1)}, "ttft 50 answer 50 gaps [] tpot - N 1 ok_full"},
		{"choices that are empty or null", "chat", sse.SSE, []frame{raw(`{"choices":[]}`), raw(`{"choices":null}`), raw(`{}`), raw("null\n\n"), at(50, say("a")), full(60, 1)}, "ttft 50 answer 50 gaps [] tpot - N 1 ok_full"},
		{"a character over two reads", "chat", sse.SSE, []frame{at(10, line(say("🙂"))[:half]+""), at(20, line(say("🙂"))[half:]), full(30, 1)}, "ttft 20 answer 20 gaps [] tpot - N 1 ok_full"},
		{"a separator of Unicode taken for a line end", "chat", sse.SSE, []frame{at(10, say("a\u2028b\u2029c\u0085d")), full(30, 1)}, "ttft 10 answer 10 gaps [] tpot - N 1 ok_full"},
		{"a CRLF over two reads", "chat", sse.SSE, []frame{at(10, "data: "+say("a")+"\r\n\r"), at(20, "\ndata: "+say("b")+"\r\n\r\n"), full(30, 2)}, "ttft 10 answer 10 gaps [10] tpot 10.0 N 2 ok_full"},
		{"an array of Gemini's that is pretty", "gemini", sse.JSON, []frame{at(10, "[{\n\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n"), at(20, ",\r\n{\n\"candidates\":[{\"finishReason\":\"STOP\"}]}]")}, "ttft 10 answer 10 gaps [] tpot - N 1 ok_short"},
		{"an error of Gemini's without a field name", "gemini", sse.SSE, []frame{at(10, gem(`{"text":"a"}`, "")), at(20, "{\n\"error\":{\n\"code\":503,\"message\":\"boom\"}}\n")}, "ttft 10 answer 10 gaps [] tpot - N 1 error_stream"},
		{"a line of JSON over two reads", "ollama", sse.NDJSON, []frame{at(10, "{\"message\":{\"content\":\"a\"},"), at(20, "\"done\":false}\n"+`{"done":true,"done_reason":"stop","eval_count":1}`+"\n")}, "ttft 20 answer 20 gaps [] tpot - N 1 ok_short"},
		{"a last line without its end", "ollama", sse.NDJSON, []frame{at(10, "{\"message\":{\"content\":\"a\"},\"done\":false}\n"), at(20, " "+`{"done":true,"done_reason":"stop","eval_count":1}`)}, "ttft 10 answer 10 gaps [] tpot - N 1 ok_short"},
		{"a reason without done", "ollama", sse.NDJSON, []frame{at(10, "{\"message\":{\"content\":\"a\"},\"done\":false}\n"), at(20, " "+`{"done":false,"done_reason":"stop"}`+"\n")}, "ttft 10 answer 10 gaps [] tpot - N 1 truncated"},
		{"a success without a stream", "chat", sse.JSON, []frame{raw(" " + `{"error":"Unexpected endpoint or method. (POST /x)"}`)}, "ttft - answer - gaps [] tpot - N 0 error_body_200"},
		{"a document without a stream", "chat", sse.JSON, []frame{raw(" " + `{"object":"chat.completion","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`)}, "ttft 0 answer 0 gaps [] tpot - N 1 not_a_stream"},
		{"the mark of the end twice", "chat", sse.SSE, []frame{at(10, say("a")), full(20, 1), at(20, "[DONE]"), at(20, "[DONE]"), at(30, say("late"))}, "ttft 10 answer 10 gaps [] tpot - N 1 ok_full"},
		{"text with the finish reason", "chat", sse.SSE, []frame{at(10, say("a")), at(20, with(delta(`"content":"b"`, `,"finish_reason":"length"`), usageOf(2)))}, "ttft 10 answer 10 gaps [10] tpot 10.0 N 2 ok_full"},
		{"a finish reason in the first event", "chat", sse.SSE, []frame{at(10, delta(`"content":"a"`, `,"finish_reason":"stop"`)), at(20, say("b")), at(30, `{"choices":[],`+usageOf(2)+`}`)}, "ttft 10 answer 10 gaps [10] tpot 10.0 N 2 ok_short"},
		{"content in blocks", "chat", sse.SSE, []frame{at(10, delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]`, "")), at(20, delta(`"content":[{"type":"text","text":"a"}]`, "")), full(30, 2)}, "ttft 10 answer 20 gaps [10] tpot 10.0 N 2 ok_full"},
		{"a read taken for an event", "chat", sse.SSE, []frame{at(10, "data:"), at(20, " "+say(" a ")+"\n\n"+line(with(fullChunk, usageOf(1)))+line("[DONE]"))}, "ttft 20 answer 20 gaps [] tpot - N 1 ok_full"},
		{"an id that changes on the way", "chat", sse.SSE, []frame{at(10, with(say("a"), `"id":"1","model":"x"`)), at(20, with(say("b"), `"id":"2","model":"y"`)), full(30, 2)}, "ttft 10 answer 10 gaps [10] tpot 10.0 N 2 ok_full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wired(io.EOF, c.wire...)
			s.hint = c.hint
			got := replay(s, 0, c.dialect)
			if f := figures(&got); f != c.want {
				t.Errorf("got  %s\nwant %s", f, c.want)
			}
			if cut := replay(s, 1, c.dialect); differSeen(got, cut) != "" {
				t.Errorf("byte by byte: %s", differSeen(got, cut))
			}
		})
	}
}

// Two choices whose events come in turns are one reply: every event is one, and
// it is over when both are.
func TestChoicesInTurns(t *testing.T) {
	of := func(index, text, rest string) string {
		return `{"choices":[{"index":` + index + `,"delta":{"content":"` + text + `"}` + rest + `}]}`
	}
	s := wired(io.EOF, frame{10, of("0", "a", "")}, frame{20, of("1", "b", "")}, frame{30, of("0", "c", `,"finish_reason":"length"`)},
		frame{40, of("1", "d", "")}, frame{50, of("1", "e", `,"finish_reason":"length"`)}, frame{60, `{"choices":[],` + usageOf(5) + `}`}, frame{60, "[DONE]"})
	got := replay(s, 0, "chat")
	if f, want := figures(&got), "ttft 10 answer 10 gaps [10 10 10 10] tpot 10.0 N 5 ok_full"; f != want {
		t.Errorf("got  %s\nwant %s", f, want)
	}
	s.writes = s.writes[:4]
	if cut := replay(s, 0, "chat"); cut.res.Class.OK() || cut.tokens[3].at != 40*time.Millisecond {
		t.Errorf("one of two is done: %s", figures(&cut))
	}
}
