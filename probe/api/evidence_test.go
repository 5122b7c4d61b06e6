package api

import (
	"fmt"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// delta is a chat chunk with one choice; rest is added behind the choice.
func delta(d, rest string) string {
	return `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + d + `}` + rest + `}]}`
}

func with(chunk, field string) string { return strings.TrimSuffix(chunk, "}") + "," + field + "}" }

func usageOf(n int) string {
	return fmt.Sprintf(`"usage":{"prompt_tokens":5,"completion_tokens":%d}`, n)
}

var (
	roleChunk = delta(`"role":"assistant","content":""`, "")
	stopChunk = delta("", `,"finish_reason":"stop"`)
	fullChunk = delta("", `,"finish_reason":"length"`)
)

func say(text string) string { return delta(`"content":"`+text+`"`, "") }

// feed decodes events. One that begins with "event:" names its type, one that
// begins with ":" is a comment.
func feed(events ...string) (*stream, []Part) { return feedTo(newStream(), events...) }

// feedTo does it with any decoder.
func feedTo[D Decoder](s D, events ...string) (D, []Part) {
	var parts []Part
	for _, e := range events {
		ev := sse.Event{Type: "message", Data: []byte(e)}
		if name, ok := strings.CutPrefix(e, "event:"); ok {
			kind, data, _ := strings.Cut(name, " ")
			ev = sse.Event{Type: kind, Data: []byte(data)}
		} else if strings.HasPrefix(e, ":") {
			ev = sse.Event{Type: "comment", Data: []byte(e[1:])}
		}
		var p Part
		s.Decode(&ev, &p)
		p.Text = append([]byte(nil), p.Text...)
		parts = append(parts, p)
	}
	return s, parts
}

// brief writes parts as "-" or channel:k:text.
func brief(parts []Part) string {
	var out []string
	for _, p := range parts {
		if !p.Evidence {
			out = append(out, "-")
			continue
		}
		name := map[event.Channel]string{event.Answer: "A", event.Reasoning: "R", event.Refusal: "F", event.ToolCall: "T", event.Counted: "C"}[p.Channel]
		out = append(out, fmt.Sprintf("%s:%d:%s", name, p.K, p.Text))
	}
	return strings.Join(out, " ")
}

func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"role, finish and usage are none", []string{roleChunk, say("H"), say("i"), stopChunk, `{"choices":[],` + usageOf(2) + `}`, "[DONE]"}, "- A:0:H A:0:i - - -"},
		{"comments, pings and progress are none", []string{":ping", `event:ping {"type":"ping"}`, with(delta(`"role":"assistant","content":null`, ""), `"prompt_progress":{"total":9,"processed":4}`), with(roleChunk, `"x_prefill_progress":0.25`)}, "- - - -"},
		{"empty, null and no payload are none", []string{"null", "{}", "", " ", `{"choices":null}`, `{"choices":[]}`, `{"choices":[null]}`, `{"choices":[{}]}`, `{"choices":[{"delta":null}]}`}, "- - - - - - - - -"},
		{"filter results without choices are none", []string{`{"choices":[],"id":"","prompt_filter_results":[{"prompt_index":0}]}`}, "-"},
		{"ids", []string{delta(`"content":""`, `,"token_ids":[7,8]`), delta(`"content":"x"`, `,"output_ids":[7]`), `{"choices":[{"text":"ab","tokens":[1,2,3]}]}`, delta(`"content":"y"`, `,"token_ids":[]`)}, "C:2: A:1:x A:3:ab A:0:y"},
		{"ids before the counter", []string{with(roleChunk, usageOf(0)), with(delta(`"content":"x"`, `,"token_ids":[1,2]`), usageOf(3)), with(say("y"), usageOf(4))}, "- A:2:x A:1:y"},
		{"logprobs", []string{delta(`"content":"x"`, `,"logprobs":{"content":[{"token":"a"},{"token":"b"}]}`), `{"choices":[{"text":"y","logprobs":{"tokens":["y"],"token_logprobs":[0]}}]}`, delta(`"content":"z"`, `,"logprobs":{"content":[]}`)}, "A:2:x A:1:y A:0:z"},
		{"continuous usage", []string{with(roleChunk, usageOf(0)), with(say("a"), usageOf(1)), with(say("bcd"), usageOf(4)), with(fullChunk, usageOf(4)), `{"choices":[],` + usageOf(4) + `}`}, "- A:1:a A:3:bcd - -"},
		{"it grows on empty deltas", []string{with(roleChunk, usageOf(0)), with(delta("", ""), usageOf(1)), with(say("a"), usageOf(3)), with(stopChunk, usageOf(4))}, "- C:1: A:2:a C:1:"},
		{"it goes back", []string{with(say("a"), usageOf(2)), with(say("b"), usageOf(1)), with(say("c"), usageOf(3))}, "A:2:a A:0:b A:1:c"},
		{"it misses an event", []string{with(say("a"), usageOf(1)), say("b"), with(say("c"), usageOf(4)), with(say("d"), usageOf(5))}, "A:1:a A:0:b A:0:c A:1:d"},
		{"it starts late", []string{say("a"), with(say("b"), usageOf(3)), with(say("c"), usageOf(4))}, "A:0:a A:0:b A:1:c"},
		{"all of one event", []string{with(roleChunk, usageOf(0)), with(delta(`"content":"abc"`, `,"finish_reason":"length"`), usageOf(3))}, "- A:3:abc"},
		{"a total is not a counter", []string{roleChunk, say("a"), with(fullChunk, usageOf(1))}, "- A:0:a -"},
		{"a total with the last text", []string{say("a"), with(delta(`"content":"b"`, `,"finish_reason":"length"`), usageOf(2))}, "A:0:a A:0:b"},
		{"a total with an empty delta after the end", []string{say("a"), fullChunk, with(delta("", ""), usageOf(1))}, "A:0:a - -"},
		{"a total with an empty delta before the end", []string{say("a"), with(delta("", ""), usageOf(1)), stopChunk}, "A:0:a - -"},
		{"a total with hidden reasoning", []string{with(delta(`"content":"a"`, `,"finish_reason":"stop"`), `"usage":{"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":19}}`)}, "A:0:a"},
		{"zeros, then the truth", []string{with(say("a"), usageOf(0)), with(say("b"), usageOf(0)), with(fullChunk, usageOf(2))}, "A:0:a A:0:b -"},
		{"usage null", []string{with(say("a"), `"usage":null`), with(fullChunk, `"usage":null`)}, "A:0:a -"},
		{"timings", []string{with(say("a"), `"timings":{"predicted_n":1}`), with(say("b"), `"timings":{"predicted_n":5}`), fullChunk, `{"choices":[],` + usageOf(6) + `,"timings":{"predicted_n":6}}`}, "A:1:a A:4:b - -"},
		{"timings at the end only", []string{say("a"), with(fullChunk, `"timings":{"predicted_n":1}`)}, "A:0:a -"},
		{"reasoning spellings", []string{delta(`"reasoning_content":"a"`, ""), delta(`"reasoning":"b"`, ""), delta(`"thinking":"c"`, ""), delta(`"content":null,"reasoning_content":"d"`, ""), delta(`"reasoning_details":[{"type":"reasoning.text","text":"e"},{"summary":"f"}]`, ""), delta(`"reasoning":{"content":"g"}`, "")}, "R:0:a R:0:b R:0:c R:0:d R:0:ef R:0:g"},
		{"reasoning twice is once", []string{delta(`"reasoning_content":" me","reasoning":" me","reasoning_details":[{"text":" me"}]`, "")}, "R:0: me"},
		{"encrypted reasoning is none", []string{delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]`, "")}, "-"},
		{"answer beside reasoning", []string{delta(`"reasoning_content":"x","content":"y"`, "")}, "A:0:y"},
		{"refusal", []string{delta(`"refusal":"no"`, "")}, "F:0:no"},
		{"tool calls", []string{delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]`, ""), delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]`, ""), delta(`"tool_calls":[{"index":0,"function":{"arguments":""}}]`, ""), delta(`"tool_calls":[]`, "")}, `T:0:f T:0:{"a" - -`},
		{"function call", []string{delta(`"function_call":{"name":"f"}`, ""), delta(`"function_call":{"arguments":"{}"}`, "")}, "T:0:f T:0:{}"},
		{"blocks", []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]`, ""), delta(`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, ""), delta(`"content":["c"]`, ""), delta(`"content":[]`, ""), delta(`"content":[{"type":"image_url","image_url":"x"}]`, "")}, "R:0:Hm A:0:ab A:0:c - -"},
		{"message instead of delta", []string{`{"choices":[{"message":{"role":"assistant","content":"a"}}]}`}, "A:0:a"},
		{"message beside delta", []string{`{"choices":[{"message":{"content":"all so far"},"delta":{"content":"far"}}]}`}, "A:0:far"},
		{"text in the finish chunk", []string{delta(`"content":"a"`, `,"finish_reason":"length"`)}, "A:0:a"},
		{"completions", []string{`{"choices":[{"index":0,"text":"a","finish_reason":""}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"length"}],` + usageOf(1) + `}`}, "A:0:a -"},
		{"an array of chunks", []string{"[" + roleChunk + "," + say("a") + "]", "[" + say("b") + "]"}, "A:0:a A:0:b"},
		{"content of another type", []string{delta(`"content":5`, ""), delta(`"content":{"a":1}`, ""), `{"choices":{"0":1}}`, `{"choices":[7]}`}, "- - - -"},
		{"nothing counts after [DONE]", []string{say("a"), fullChunk, "[DONE]", say("b"), "[DONE]"}, "A:0:a - - - -"},
		{"tokens after the finish reason do", []string{delta(`"content":"a"`, `,"finish_reason":"stop"`), say("b")}, "A:0:a A:0:b"},
		{"separators and runes", []string{say("a\u2028b\u0085c🙂"), say(`\ud83d\ude42\u0000`)}, "A:0:a\u2028b\u0085c🙂 A:0:🙂\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, parts := feed(c.events...)
			if got := brief(parts); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
