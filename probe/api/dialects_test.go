package api

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"teapot/probe/event"
)

// decoderOf makes the decoder of a dialect.
func decoderOf(t testing.TB, name string) Decoder {
	t.Helper()
	d, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.NewDecoder()
}

func TestEventsOfDialects(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		events        []string
		want          string // as brief writes it
	}{
		{"Messages: what is a token", "anthropic", []string{
			`event:message_start {"type":"message_start","message":{"model":"m","usage":{"output_tokens":1}}}`,
			`event:content_block_start {"type":"content_block_start","content_block":{"type":"thinking","thinking":""}}`,
			`event:ping {"type": "ping"}`,
			`event:content_block_delta {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"Hm"}}`,
			`event:content_block_delta {"type":"content_block_delta","delta":{"type":"signature_delta","signature":"EqQB"}}`,
			`event:content_block_delta {"type":"content_block_delta","delta":{"type":"text_delta","text":"a\n\"é\""}}`,
			`event:content_block_delta {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"x"}}`,
			`event:content_block_delta {"type":"content_block_delta","delta":{"type":"text_delta","text":""}}`,
			`event:surprise {"type":"surprise","delta":{"text":"no"}}`,
		}, "- - - R:0:Hm - A:0:a\n\"é\" T:0:{\"x - -"},
		{"Messages: the name stands only beside the payload", "anthropic", []string{
			`event:content_block_delta {"delta":{"text":"a"}}`, `{"delta":{"text":"b"}}`,
		}, "A:0:a -"},
		{"Messages: no token from the total", "anthropic", []string{
			`{"type":"content_block_delta","delta":{"text":"a"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`,
			`{"type":"message_stop"}`, `{"type":"content_block_delta","delta":{"text":"late"}}`,
		}, "A:0:a - - -"},
		{"Responses: every kind of delta", "responses", []string{
			`{"type":"response.created","response":{"model":"m"}}`,
			`{"type":"response.reasoning_summary_text.delta","delta":"a"}`,
			`{"type":"response.reasoning_text.delta","delta":"b"}`,
			`{"type":"response.output_text.delta","delta":"c","logprobs":[{"token":"c"},{"token":"d"}]}`,
			`{"type":"response.refusal.delta","delta":"d"}`,
			`{"type":"response.function_call_arguments.delta","delta":"e"}`,
			`{"type":"response.audio.delta","delta":"UklGRg=="}`,
			`{"type":"response.output_text.done","text":"c"}`,
			`{"type":"response.output_text.delta","delta":{"odd":1}}`,
			`event:response.output_text.delta {"delta":"f"}`,
		}, "- R:0:a R:0:b A:2:c F:0:d T:0:e - - - A:0:f"},
		{"Ollama: text, thinking and a tool call", "ollama", []string{
			`{"model":"m","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}`,
			`{"message":{"content":"a"},"done":false}`,
			`{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},"done":false}`,
			`{"message":{"content":""},"done":true,"done_reason":"stop","eval_count":7}`,
		}, "R:0:Hm A:0:a T:0:f{\"x\":1} -"},
		{"Ollama: all of it in the last line", "ollama", []string{
			`{"message":{"content":"abc"},"done":true,"done_reason":"stop","eval_count":7}`,
		}, "A:7:abc"},
		{"Ollama generate", "ollama-generate", []string{
			`{"response":"","thinking":"Hm","done":false}`, `{"response":"a","done":false}`, `{"response":"","done":true,"context":[1,2]}`,
		}, "R:0:Hm A:0:a -"},
		{"llama.cpp: the count grows by what was held back", "llamacpp", []string{
			`{"content":"a","tokens":[1],"stop":false,"tokens_predicted":1}`,
			`{"content":"","tokens":[],"stop":false,"tokens_predicted":1}`,
			`{"content":"🙂","tokens":[5],"stop":false,"tokens_predicted":5}`,
			`{"content":"","stop":true,"stop_type":"limit","tokens_predicted":5}`,
		}, "A:1:a - A:4:🙂 -"},
		{"llama.cpp: ids without a count", "llamacpp", []string{
			`{"content":"a","tokens":[1,2],"stop":false}`, `{"content":"b","stop":false}`, `{"content":"","stop":true,"stopped_eos":true,"tokens_predicted":3}`,
		}, "A:2:a A:0:b -"},
		{"LM Studio", "lmstudio", []string{
			`{"type":"chat.start","model_instance_id":"m"}`, `{"type":"model_load.progress","progress":0.5}`,
			`{"type":"reasoning.delta","content":"Hm"}`, `event:message.delta {"content":"a"}`, `{"type":"message.end"}`,
		}, "- - R:0:Hm A:0:a -"},
		{"text that is repeated with every event", "chat", []string{
			say("Hi"), say("Hi there"), say("Hi there my"), say("Hi there my friend"), say("Hi there my friend"), say("Hi there my friend, you"),
		}, "A:0:Hi A:0:Hi there A:0:Hi there my A:0: friend - A:0:, you"},
		{"tokens that look repeated by chance", "chat", []string{
			say("1"), say("10"), say("2"), say("2"), say("21"), say("213"), say("2134"), say("21345"),
		}, "A:0:1 A:0:10 A:0:2 A:0:2 A:0:21 A:0:213 A:0:2134 A:0:21345"},
		{"sound with its transcript", "chat", []string{delta(`"audio":{"id":"a","transcript":"Hi"}`, ""), delta(`"audio":{"data":"UklGRg=="}`, "")}, "A:0:Hi -"},
		{"a line within a line", "chat", []string{"data: " + say("a"), "data: [DONE]"}, "A:0:a -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, parts := feedTo(decoderOf(t, c.dialect), c.events...)
			if got := brief(parts); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOutcomesOfDialects(t *testing.T) {
	const (
		msgA    = `{"type":"content_block_delta","delta":{"text":"a"}}`
		respA   = `{"type":"response.output_text.delta","delta":"a"}`
		ollA    = `{"message":{"content":"a"},"done":false}`
		llamaA  = `{"content":"a","stop":false,"tokens_predicted":1}`
		studioA = `{"type":"message.delta","content":"a"}`
	)
	for _, c := range []struct {
		name, dialect string
		events        []string
		asked         int
		class         event.Class
		n             int
		message       string // a part of it
	}{
		{"Messages, full", "anthropic", []string{msgA, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`}, 4, event.OKFull, 4, ""},
		{"Messages, its own end", "anthropic", []string{msgA, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`}, 4, event.OKShort, 3, ""},
		{"Messages, the context is full", "anthropic", []string{msgA, `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":3}}`}, 4, event.OKShort, 3, ""},
		{"Messages, refused", "anthropic", []string{msgA, `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":3}}`}, 4, event.ErrStream, 3, "refusal"},
		{"Messages, stopped without a reason", "anthropic", []string{msgA, `{"type":"message_stop"}`}, 4, event.ErrTruncated, 1, "mark of the end"},
		{"Messages, broken off", "anthropic", []string{msgA}, 4, event.ErrTruncated, 1, "without a finish reason"},
		{"Messages, an error that has no name", "anthropic", []string{msgA, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, 4, event.ErrStream, 1, "Overloaded"},
		{"Messages, another kind of error", "anthropic", []string{msgA, `{"error":{"message":"boom","code":500}}`}, 4, event.ErrStream, 1, "boom"},
		{"Responses, full", "responses", []string{respA, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"usage":{"output_tokens":4}}}`}, 4, event.OKFull, 4, ""},
		{"Responses, completed", "responses", []string{respA, `{"type":"response.completed","response":{"usage":{"output_tokens":3}}}`, "[DONE]"}, 4, event.OKShort, 3, ""},
		{"Responses, completed with all that was asked", "responses", []string{respA, `{"type":"response.completed","response":{"usage":{"output_tokens":4}}}`}, 4, event.OKFull, 4, ""},
		{"Responses, completed, not counted", "responses", []string{respA, `{"type":"response.completed","response":{}}`}, 1, event.OKShort, 1, ""},
		{"Responses, filtered", "responses", []string{respA, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`}, 4, event.ErrStream, 1, "content_filter"},
		{"Responses, failed", "responses", []string{respA, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"boom"}}}`}, 4, event.ErrStream, 1, "boom"},
		{"Responses, failed without saying why", "responses", []string{respA, `{"type":"response.failed"}`}, 4, event.ErrStream, 1, "failed"},
		{"Responses, error event", "responses", []string{respA, `event:error {"type":"error","code":"server_is_overloaded","message":"boom","param":null,"sequence_number":3}`}, 4, event.ErrStream, 1, "boom"},
		{"Responses, error without its name", "responses", []string{respA, `{"type":"error","code":"server_is_overloaded","message":"boom"}`}, 4, event.ErrStream, 1, "boom"},
		{"Responses, only [DONE]", "responses", []string{respA, "[DONE]"}, 4, event.ErrTruncated, 1, "mark of the end"},
		{"Ollama, full", "ollama", []string{ollA, `{"done":true,"done_reason":"length","eval_count":4}`}, 4, event.OKFull, 4, ""},
		{"Ollama, older than the reasons", "ollama", []string{ollA, `{"done":true,"eval_count":4}`}, 4, event.OKUnknownReason, 4, ""},
		{"Ollama, a reason but no end", "ollama", []string{ollA, `{"done":false,"done_reason":"stop"}`}, 4, event.ErrTruncated, 1, "without a finish reason"},
		{"Ollama, only loaded", "ollama", []string{`{"done":true,"done_reason":"load"}`}, 4, event.ErrEmpty, 0, "without a token"},
		{"Ollama, unloaded", "ollama", []string{ollA, `{"done":true,"done_reason":"unload"}`}, 4, event.ErrStream, 1, "unload"},
		{"Ollama, error", "ollama", []string{ollA, `{"error":"boom"}`}, 4, event.ErrStream, 1, "boom"},
		{"Ollama, error first", "ollama-generate", []string{`{"error":"boom"}`}, 4, event.ErrStream, 0, "boom"},
		{"llama.cpp, full", "llamacpp", []string{llamaA, `{"content":"","stop":true,"stop_type":"limit","tokens_predicted":4}`}, 4, event.OKFull, 4, ""},
		{"llama.cpp, eos", "llamacpp", []string{llamaA, `{"content":"","stop":true,"stop_type":"eos","tokens_predicted":4}`}, 4, event.OKShort, 4, ""},
		{"llama.cpp, no reason", "llamacpp", []string{llamaA, `{"content":"","stop":true,"stop_type":"none","tokens_predicted":4}`}, 4, event.OKUnknownReason, 4, ""},
		{"llama.cpp of 2024", "llamacpp", []string{llamaA, `{"content":"","stop":true,"stopped_eos":false,"stopped_limit":true,"stopped_word":false,"tokens_predicted":4}`}, 4, event.OKFull, 4, ""},
		{"llama.cpp, error", "llamacpp", []string{llamaA, `{"error":{"code":500,"message":"boom","type":"server_error"}}`}, 4, event.ErrStream, 1, "boom"},
		{"llama.cpp, flat error", "llamacpp", []string{llamaA, `{"code":500,"message":"boom","type":"server_error"}`}, 4, event.ErrStream, 1, "boom"},
		{"llama.cpp, error field", "llamacpp", []string{llamaA, `event:error {"code":500,"message":"boom"}`}, 4, event.ErrStream, 1, "boom"},
		{"LM Studio", "lmstudio", []string{studioA, `{"type":"chat.end","result":{"stats":{"total_output_tokens":4}}}`}, 4, event.OKUnknownReason, 4, ""},
		{"LM Studio, error", "lmstudio", []string{studioA, `event:error {"type":"error","error":{"type":"x","message":"boom"}}`}, 4, event.ErrStream, 1, "boom"},
		{"LM Studio, unknown path", "lmstudio", []string{`{"error":"Unexpected endpoint or method. (POST /api/v1/chat)"}`}, 4, event.ErrStream, 0, "Unexpected endpoint"},
		{"Bedrock's exceptions", "chat", []string{say("a"), `{"throttlingException":{"message":"boom"}}`}, 4, event.ErrStream, 1, "boom"},
		{"a typed exception", "chat", []string{say("a"), `{"__type":"ThrottlingException","message":"boom"}`}, 4, event.ErrStream, 1, "boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := feedTo(decoderOf(t, c.dialect), c.events...)
			r := s.Result(c.asked, io.EOF)
			if r.Class != c.class || r.N != c.n {
				t.Errorf("%s, N %d (%s); want %s, N %d", r.Class, r.N, r.Message, c.class, c.n)
			}
			if !strings.Contains(r.Message, c.message) || (c.message == "") != (r.Message == "") {
				t.Errorf("message %q, want %q in it", r.Message, c.message)
			}
		})
	}
}

// TestCountsOfDialects holds what a reply says of its prompt, its reasoning
// and the server's work.
func TestCountsOfDialects(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		events        []string
		want          Result
		server        *event.ServerTimings
	}{
		{"Messages with a cache", "anthropic", []string{
			`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"cache_creation_input_tokens":4,"cache_read_input_tokens":5,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`,
		}, Result{N: 9, Prompt: 12, Cached: 5, Model: "m"}, nil},
		{"Responses that thought in silence", "responses", []string{
			`{"type":"response.output_text.delta","delta":"a"}`,
			`{"type":"response.completed","response":{"model":"m","usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":6},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":8}}}}`,
		}, Result{N: 9, Prompt: 7, Cached: 6, Reasoning: 8, Hidden: true, Model: "m"}, nil},
		{"KoboldCpp's idea of Ollama's times", "ollama", []string{
			`{"model":"m","message":{"content":"a"},"done":false}`, `{"model":"m","done":true,"total_duration":1,"load_duration":1,"prompt_eval_count":5,"prompt_eval_duration":1,"eval_count":3,"eval_duration":1}`,
		}, Result{N: 3, Prompt: 5, Model: "m"}, nil},
		{"Ollama's times", "ollama", []string{
			`{"model":"m","message":{"content":"a"},"done":false}`, `{"model":"m","done":true,"total_duration":100000,"load_duration":20000,"prompt_eval_count":5,"prompt_eval_duration":30000,"eval_count":3,"eval_duration":9000}`,
		}, Result{N: 3, Prompt: 5, Model: "m"}, &event.ServerTimings{PromptN: 5, Prompt: 30000, DecodeN: 3, Decode: 9000, Load: 20000, Total: 100000, Queue: 41000, PerToken: 3000}},
		{"llama.cpp's times", "llamacpp", []string{
			`{"content":"a","stop":false,"tokens_predicted":1,"tokens_evaluated":5}`,
			`{"content":"","stop":true,"stop_type":"limit","model":"m","tokens_predicted":2,"tokens_evaluated":5,"timings":{"cache_n":4,"prompt_n":1,"prompt_ms":1.5,"predicted_n":2,"predicted_ms":8,"predicted_per_token_ms":8,"draft_n":6,"draft_n_accepted":3}}`,
		}, Result{N: 2, Prompt: 5, Cached: 4, Model: "m"}, &event.ServerTimings{PromptN: 1, Prompt: 1500000, DecodeN: 2, Decode: 8000000, PerToken: 8000000, Drafted: 6, Accepted: 3}},
		{"llama.cpp has no name for its model", "llamacpp", []string{
			`{"content":"a","stop":false,"tokens_predicted":1}`, `{"content":"","stop":true,"stop_type":"limit","model":"gpt-3.5-turbo","tokens_predicted":1}`,
		}, Result{N: 1}, nil},
		{"LM Studio's statistics", "lmstudio", []string{
			`{"type":"chat.start","model_instance_id":"m"}`, `{"type":"message.delta","content":"a"}`,
			`{"type":"chat.end","result":{"stats":{"input_tokens":5,"total_output_tokens":4,"reasoning_output_tokens":2,"tokens_per_second":100.0,"time_to_first_token_seconds":0.06,"model_load_time_seconds":1.5}}}`,
		}, Result{N: 4, Prompt: 5, Reasoning: 2, Hidden: true, Model: "m"}, &event.ServerTimings{PromptN: 5, Prompt: 60000000, DecodeN: 4, Load: 1500000000, PerToken: 10000000}},
		{"a gateway names who served it", "chat", []string{with(say("a"), `"provider":"X\u001b[31mY"`), with(stopChunk, usageOf(9))}, Result{N: 9, Prompt: 5, Provider: "XY"}, nil},
	} {
		s, _ := feedTo(decoderOf(t, c.dialect), c.events...)
		r := s.Result(9, io.EOF)
		if r.N != c.want.N || r.Prompt != c.want.Prompt || r.Cached != c.want.Cached || r.Reasoning != c.want.Reasoning || r.Hidden != c.want.Hidden || r.Model != c.want.Model || r.Provider != c.want.Provider {
			t.Errorf("%s: %+v", c.name, r)
		}
		if fmt.Sprint(r.Server) != fmt.Sprint(c.server) {
			t.Errorf("%s: server %+v, want %+v", c.name, r.Server, c.server)
		}
	}
}

// TestOverload: a server that is too busy is known by its code or its words.
func TestOverload(t *testing.T) {
	for dialect, data := range map[string]string{
		"anthropic": `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`,
		"responses": `{"type":"error","code":"server_is_overloaded","message":"x"}`,
		"ollama":    `{"error":"server busy, please try again.  maximum pending requests exceeded"}`,
		"llamacpp":  `{"error":{"code":503,"message":"x"}}`,
		"chat":      `{"throttlingException":{"message":"x"}}`,
	} {
		s, _ := feedTo(decoderOf(t, dialect), data)
		if r := s.Result(1, nil); !r.Overload || r.Class != event.ErrStream {
			t.Errorf("%s: %+v", dialect, r)
		}
	}
}
