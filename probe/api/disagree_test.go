package api

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// frame is one write of a stream, at a time in ms. An object without a line end,
// or [DONE], is written as an event, anything else as it is.
type frame struct {
	at   int
	data string
}

// wired makes a script of frames.
func wired(end error, frames ...frame) script {
	s := script{end: end, hint: sse.SSE}
	for _, f := range frames {
		data := f.data
		if whole := strings.HasPrefix(data, "{") && !strings.HasSuffix(data, "\n") && valid([]byte(data)); whole || data == "[DONE]" {
			data = "data: " + data + "\n\n"
		}
		s.writes = append(s.writes, write{time.Duration(f.at) * time.Millisecond, []byte(data)})
	}
	return s
}

// figures writes down what measuring tools disagree on, times in ms: first
// token, first answer, gaps, and the time of each token after the first event.
func figures(s *seen) string {
	ms := func(d time.Duration) string {
		if d < 0 {
			return "-"
		}
		return fmt.Sprint(d.Milliseconds())
	}
	gaps := []string{}
	for i := 1; i < len(s.tokens); i++ {
		gaps = append(gaps, ms(s.tokens[i].at-s.tokens[i-1].at))
	}
	tpot := "-"
	if n := len(s.tokens); n > 0 && s.res.Class.OK() {
		if more := s.res.N - max(int(s.tokens[0].k), 1); more > 0 && s.tokens[n-1].at > s.tokens[0].at {
			tpot = fmt.Sprintf("%.1f", float64(s.tokens[n-1].at-s.tokens[0].at)/1e6/float64(more))
		}
	}
	answer := s.first(func(c event.Channel) bool { return c == event.Answer })
	return fmt.Sprintf("ttft %s answer %s gaps %v tpot %s N %d %s", ms(s.first(anyChannel)), ms(answer), gaps, tpot, s.res.N, s.res.Class)
}

// TestDisagreements are small streams of which tools make different numbers.
func TestDisagreements(t *testing.T) {
	think := func(field string) string { return delta(`"content":null,"`+field+`":"a"`, "") }
	tool := delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]`, "")
	total := func(n int) string { return `{"choices":[],` + usageOf(n) + `}` }
	say2 := func(text string, n int) string { return with(say(text), usageOf(n)) }
	three := []frame{{100, say("a")}, {120, say("b")}, {150, say("c")}}
	failing := func(end error, last ...frame) script { return wired(end, append(three[:3:3], last...)...) }
	const anError = `{"error":{"message":"boom","code":500}}`
	burst := func(at, n int) frame {
		return frame{at, strings.Repeat("data: "+say("x")+"\n\n", n)}
	}
	pings := []frame{{1000, ": ping\n\n"}, {2000, ":\n\n"}, {3000, "event: ping\ndata: {\"type\":\"ping\"}\n\n"}, {4000, ": ping\n\n"}}
	done := []frame{{200, with(fullChunk, usageOf(2))}, {200, "[DONE]"}}
	slow := wired(io.EOF, frame{2000, burst(0, 200).data}, frame{2003, with(fullChunk, usageOf(200))}, frame{2003, "[DONE]"})

	for _, c := range []struct {
		name string
		wire script
		want string
	}{
		{"a role is no token, a finish no gap", wired(io.EOF, frame{100, roleChunk}, frame{450, say("H")}, frame{650, say("i")}, frame{900, stopChunk}, frame{905, total(2)}, frame{905, "[DONE]"}),
			"ttft 450 answer 450 gaps [200] tpot 200.0 N 2 ok_short"},
		{"thinking to the limit", wired(io.EOF, frame{100, roleChunk}, frame{400, think("reasoning_content")}, frame{420, think("reasoning_content")}, frame{430, with(fullChunk, usageOf(2))}, frame{430, "[DONE]"}),
			"ttft 400 answer - gaps [20] tpot 20.0 N 2 ok_full"},
		{"thinking by its other name", wired(io.EOF, append([]frame{{100, roleChunk}, {110, think("reasoning")}, {130, say("b")}}, done...)...),
			"ttft 110 answer 130 gaps [20] tpot 20.0 N 2 ok_full"},
		{"a tool call comes first", wired(io.EOF, append([]frame{{100, roleChunk}, {110, tool}, {150, tool}}, done...)...),
			"ttft 110 answer - gaps [40] tpot 40.0 N 2 ok_full"},
		{"keep-alives for 5 s", wired(io.EOF, append(pings[:4:4], frame{5000, say("a")}, frame{5050, say("b")}, frame{5060, with(fullChunk, usageOf(2))})...),
			"ttft 5000 answer 5000 gaps [50] tpot 50.0 N 2 ok_full"},
		{"three events in one read", wired(io.EOF, burst(300, 3), frame{310, with(fullChunk, usageOf(3))}),
			"ttft 300 answer 300 gaps [0 0] tpot - N 3 ok_full"},
		{"an error at the end", failing(io.EOF, frame{160, anError}, frame{160, "[DONE]"}),
			"ttft 100 answer 100 gaps [20 30] tpot - N 3 error_stream"},
		{"an error by its event", failing(io.EOF, frame{160, "event: error\ndata: {\"message\":\"boom\"}\n\n"}),
			"ttft 100 answer 100 gaps [20 30] tpot - N 3 error_stream"},
		{"an error with blanks", failing(io.EOF, frame{160, `{ "error" : {"message" : "boom"} }`}),
			"ttft 100 answer 100 gaps [20 30] tpot - N 3 error_stream"},
		{"a flat error", failing(io.EOF, frame{160, `{"object":"error","message":"boom"}`}),
			"ttft 100 answer 100 gaps [20 30] tpot - N 3 error_stream"},
		{"a reset", failing(errors.New("read: connection reset by peer")), "ttft 100 answer 100 gaps [20 30] tpot - N 3 truncated"},
		{"the end of the body, without a reason", failing(io.EOF), "ttft 100 answer 100 gaps [20 30] tpot - N 3 truncated"},
		{"the mark of the end, without a reason", failing(io.EOF, frame{160, "[DONE]"}), "ttft 100 answer 100 gaps [20 30] tpot - N 3 truncated"},
		{"several tokens in an event", wired(io.EOF, frame{100, say2("a", 1)}, frame{120, say2("bcd", 4)}, frame{140, say2("efgh", 8)}, frame{160, say2("ijkl", 12)}, frame{165, with(fullChunk, usageOf(12))}),
			"ttft 100 answer 100 gaps [20 20 20] tpot 5.5 N 12 ok_full"},
		{"five tokens in the first event", wired(io.EOF, frame{100, say2("abcde", 5)}, frame{120, say2("fgh", 8)}, frame{140, say2("ij", 10)}, frame{145, with(fullChunk, usageOf(10))}),
			"ttft 100 answer 100 gaps [20 20] tpot 8.0 N 10 ok_full"},
		{"a count that grows without text", wired(io.EOF, frame{100, say2("a", 1)}, frame{120, say2("", 2)}, frame{140, say2("b", 3)}, frame{145, with(fullChunk, usageOf(3))}),
			"ttft 100 answer 100 gaps [20 20] tpot 20.0 N 3 ok_full"},
		{"not one token", wired(io.EOF, frame{100, roleChunk}, frame{110, stopChunk}, frame{110, "[DONE]"}), "ttft - answer - gaps [] tpot - N 0 empty"},
		{"one token", wired(io.EOF, frame{100, say("a")}, frame{110, with(fullChunk, usageOf(1))}), "ttft 100 answer 100 gaps [] tpot - N 1 ok_full"},
		{"all of it in one read", wired(io.EOF, frame{500, burst(0, 50).data + "data: " + with(fullChunk, usageOf(50)) + "\n\n"}),
			"ttft 500 answer 500 gaps " + fmt.Sprint(make([]int, 49)) + " tpot - N 50 ok_full"},
		{"a reply that was held back", slow, "ttft 2000 answer 2000 gaps " + fmt.Sprint(make([]int, 199)) + " tpot - N 200 ok_full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{0, 1} {
				s := replay(c.wire, size, "chat")
				if got := figures(&s); got != c.want {
					t.Errorf("in reads of %d:\ngot  %s\nwant %s", size, got, c.want)
				}
			}
		})
	}
	lines := script{end: io.EOF, hint: sse.NDJSON, writes: []write{
		{time.Second, []byte(`{"message":{"content":"a"},"done":false}` + "\n")}, {2 * time.Second, []byte(`{"error":"boom"}` + "\n")}}}
	if s := replay(lines, 0, "ollama"); figures(&s) != "ttft 1000 answer 1000 gaps [] tpot - N 1 error_stream" {
		t.Error(figures(&s))
	}
}
