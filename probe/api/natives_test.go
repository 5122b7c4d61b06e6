package api

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// sgl is an event of SGLang with all the text so far, as many ids, and more of
// its meta_info.
func sgl(text string, n int, meta string) string {
	ids := strings.TrimSuffix(strings.Repeat("7,", n), ",")
	return fmt.Sprintf(`{"text":%q,"output_ids":[%s],"meta_info":{"finish_reason":null,"prompt_tokens":5,"completion_tokens":%d%s}}`, text, ids, n, meta)
}

// gem is an event of Gemini with a part and more of its candidate.
func gem(part, rest string) string {
	return `{"candidates":[{"content":{"parts":[` + part + `],"role":"model"},"index":0` + rest + `}]}`
}

func TestEventsOfNatives(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		events        []string
		want          string // as brief writes it
	}{
		{"SGLang repeats all of it", "sglang", []string{sgl("a", 1, ""), sgl("a", 2, ""), sgl("a🙂", 4, ""), sgl("a🙂", 4, ""), sgl("a🙂b", 5, "")}, "A:1:a C:1: A:2:🙂 - A:1:b"},
		{"SGLang without ids, known by its text", "sglang", []string{
			`{"text":"a","meta_info":{"completion_tokens":1}}`, `{"text":"ab","meta_info":{"completion_tokens":2}}`, `{"text":"abab","meta_info":{"completion_tokens":3}}`,
		}, "A:1:a A:1:b A:1:ab"},
		{"SGLang in parts, without ids", "sglang", []string{
			`{"text":"a","meta_info":{"completion_tokens":1}}`, `{"text":"b","meta_info":{"completion_tokens":2}}`, `{"text":"bc","meta_info":{"completion_tokens":4}}`,
		}, "A:1:a A:1:b A:2:bc"},
		{"SGLang in parts that look repeated at first", "sglang", []string{
			`{"text":"1","meta_info":{"completion_tokens":1}}`, `{"text":"10","meta_info":{"completion_tokens":2}}`, `{"text":"2","meta_info":{"completion_tokens":3}}`, `{"text":"2","meta_info":{"completion_tokens":4}}`,
		}, "A:1:1 A:1:0 A:1:2 A:1:2"},
		{"SGLang in parts that look repeated, with ids", "sglang", []string{
			`{"text":"1","output_ids":[1],"meta_info":{"completion_tokens":1}}`, `{"text":"10","output_ids":[2],"meta_info":{"completion_tokens":2}}`,
		}, "A:1:1 A:1:10"},
		{"SGLang takes back what it said", "sglang", []string{sgl("a\ufffd", 1, ""), sgl("a\ufffd", 2, ""), sgl("aé", 3, "")}, "A:1:a\ufffd C:1: A:1:é"},
		{"SGLang without a tokenizer", "sglang", []string{`{"output_ids":[5],"meta_info":{"completion_tokens":1}}`, `{"output_ids":[5,6],"meta_info":{"completion_tokens":2}}`}, "C:1: C:1:"},
		{"SGLang without a count", "sglang", []string{`{"text":"a","output_ids":[5],"meta_info":{}}`, `{"text":"abc","output_ids":[5,6,7],"meta_info":{}}`}, "A:1:a A:2:bc"},
		{"SGLang counts what its ids leave out", "sglang", []string{`{"text":"a","output_ids":[5],"meta_info":{"completion_tokens":2}}`, `{"text":"b","output_ids":[6],"meta_info":{"completion_tokens":4}}`}, "A:2:a A:2:b"},
		{"SGLang repeats pieces that seem to grow", "sglang", []string{sgl("1", 1, ""), sgl("110", 2, ""), sgl("110100", 3, ""), sgl("1101001000", 4, "")}, "A:1:1 A:1:10 A:1:100 A:1:1000"},
		{"SGLang divides its ids and repeats its text", "sglang", []string{
			`{"text":"Hi","output_ids":[1],"meta_info":{"completion_tokens":1}}`, `{"text":"Hi there","output_ids":[2],"meta_info":{"completion_tokens":2}}`, `{"text":"Hi there my","output_ids":[3],"meta_info":{"completion_tokens":3}}`,
			`{"text":"Hi there my friend","output_ids":[4],"meta_info":{"completion_tokens":4}}`, `{"text":"Hi there my friend!","output_ids":[5],"meta_info":{"completion_tokens":5}}`,
		}, "A:1:Hi A:1:Hi there A:1:Hi there my A:1: friend A:1:!"},
		{"TGI: one event, one token", "tgi", []string{
			`{"token":{"id":1,"text":"1","special":false}}`, `{"token":{"id":2,"text":"10","special":false}}`, `{"token":{"id":3,"text":"100","special":false}}`, `{"token":{"id":4,"text":"1000","special":false}}`,
			`{"token":{"id":5,"text":"","special":false}}`, `{"token":{"id":2,"text":"</s>","special":true},"generated_text":"x","details":null}`, `{"token":{"id":6,"text":"late"}}`,
		}, "A:1:1 A:1:10 A:1:100 A:1:1000 C:1: C:1: -"},
		{"TGI: a total is nothing new", "tgi", []string{`{"token":{"id":1,"text":"a","special":false}}`, `{"generated_text":"a","details":{"generated_tokens":4}}`}, "A:1:a -"},
		{"Triton: pieces, and tensors of one element", "triton", []string{`{"text_output":"a"}`, `{"text_output":["b"]}`, `{"text_output":""}`, `{"text_output":[]}`, `{"model_name":"m"}`}, "A:0:a A:0:b - - -"},
		{"Triton: a backend that repeats", "triton", []string{`{"text_output":"Hi"}`, `{"text_output":"Hi there"}`, `{"text_output":"Hi there my"}`, `{"text_output":"Hi there my friend"}`}, "A:0:Hi A:0:Hi there A:0:Hi there my A:0: friend"},
		{"Gemini: parts of every kind", "gemini", []string{
			gem(`{"text":"Hm","thought":true}`, ""), gem(`{"text":"a"},{"text":"b"}`, ""), gem(`{"functionCall":{"name":"f","args":{"x":1}}}`, ""),
			gem(`{"executableCode":{"code":"1+1"}}`, ""), gem(`{"codeExecutionResult":{"output":"2"}}`, ""), gem(`{"inlineData":{"data":"UklG"}}`, ""), gem("", ""),
		}, `R:0:Hm A:0:ab T:0:f{"x":1} A:0:1+1 A:0:2 - -`},
		{"Gemini: counts that only sometimes come", "gemini", []string{
			with(gem(`{"text":"a"}`, ""), `"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":3}`), gem(`{"text":"b"}`, ""),
			with(gem(`{"text":"c"}`, ""), `"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}`), with(gem(`{"text":"d"}`, ""), `"usageMetadata":{"candidatesTokenCount":11}`),
		}, "A:3:a A:0:b A:0:c A:2:d"},
		{"Gemini: thoughts that are only counted", "gemini", []string{
			with(gem("", ""), `"usageMetadata":{"thoughtsTokenCount":7}`), with(gem(`{"text":"a"}`, ""), `"usageMetadata":{"candidatesTokenCount":2,"thoughtsTokenCount":9}`),
		}, "C:7: A:4:a"},
		{"KoboldCpp", "koboldcpp", []string{`{"token":"1","finish_reason":null}`, `{"token":"10"}`, `{"token":"","finish_reason":null}`, `{"token":"100","finish_reason":"stop"}`, `{"token":"late"}`}, "A:0:1 A:0:10 - A:0:100 -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, parts := feedTo(decoderOf(t, c.dialect), c.events...)
			if got := brief(parts); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOutcomesOfNatives(t *testing.T) {
	const (
		tgiA = `{"token":{"id":1,"text":"a","special":false}}`
		triA = `{"text_output":"a"}`
		kobA = `{"token":"a","finish_reason":null}`
	)
	gemA := gem(`{"text":"a"}`, "")
	fin := func(reason string) string { return strings.Replace(sgl("a", 4, ""), "null", reason, 1) }
	for _, c := range []struct {
		name, dialect string
		events        []string
		end           error
		class         event.Class
		n             int
		message       string // a part of it
	}{
		{"SGLang, full", "sglang", []string{sgl("a", 1, ""), fin(`{"type":"length","length":4}`), "[DONE]"}, io.EOF, event.OKFull, 4, ""},
		{"SGLang, its own end", "sglang", []string{sgl("a", 1, ""), fin(`{"type":"stop","matched":7}`)}, io.EOF, event.OKShort, 4, ""},
		{"SGLang, all in one event", "sglang", []string{fin(`{"type":"length","length":4}`)}, io.EOF, event.OKFull, 4, ""},
		{"SGLang, a reason that is a word", "sglang", []string{fin(`"length"`)}, io.EOF, event.OKFull, 4, ""},
		{"SGLang, aborted", "sglang", []string{fin(`{"type":"abort","message":"boom","status_code":500}`)}, io.EOF, event.ErrStream, 4, "boom"},
		{"SGLang, aborted without a word", "sglang", []string{fin(`{"type":"abort"}`), "[DONE]"}, io.EOF, event.ErrStream, 4, "abort"},
		{"SGLang, only the mark of the end", "sglang", []string{sgl("a", 1, ""), "[DONE]"}, io.EOF, event.ErrTruncated, 1, "mark of the end"},
		{"SGLang, flat error", "sglang", []string{`{"object":"error","message":"boom","code":400}`}, io.EOF, event.ErrStream, 0, "boom"},
		{"TGI, full", "tgi", []string{tgiA, `{"token":{"id":2,"text":"b"},"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":4}}`}, io.EOF, event.OKFull, 4, ""},
		{"TGI, its own end", "tgi", []string{tgiA, `{"token":{"id":2,"text":"b"},"generated_text":"ab","details":{"finish_reason":"eos_token","generated_tokens":2}}`}, io.EOF, event.OKShort, 2, ""},
		{"TGI, no details", "tgi", []string{tgiA, `{"token":{"id":2,"text":"b"},"generated_text":"ab","details":null}`}, io.EOF, event.OKUnknownReason, 2, ""},
		{"TGI, broken off", "tgi", []string{tgiA}, io.EOF, event.ErrTruncated, 1, "without a finish reason"},
		{"TGI, error", "tgi", []string{tgiA, `{"error":"boom","error_type":"generation"}`}, io.EOF, event.ErrStream, 1, "boom"},
		{"Triton, in order", "triton", []string{triA, triA}, io.EOF, event.OKUnknownReason, 2, ""},
		{"Triton, cut", "triton", []string{triA, triA}, io.ErrUnexpectedEOF, event.ErrTruncated, 2, "unexpected EOF"},
		{"Triton, with a reason", "triton", []string{`{"text_output":"a","finish_reason":"None"}`, `{"text_output":"b","finish_reason":"stop"}`}, io.EOF, event.OKShort, 2, ""},
		{"Triton, the word for no reason yet", "triton", []string{`{"text_output":"a","finish_reason":"None"}`}, io.ErrUnexpectedEOF, event.ErrTruncated, 1, "unexpected EOF"},
		{"Triton, a reason that is a failure", "triton", []string{`{"text_output":"a","finish_reason":["abort"]}`}, io.EOF, event.ErrStream, 1, "abort"},
		{"Triton, nothing said", "triton", []string{`{"model_name":"m","text_output":""}`}, io.EOF, event.ErrEmpty, 0, "without a token"},
		{"Triton, not one event", "triton", nil, io.EOF, event.ErrTruncated, 0, "before any event"},
		{"Triton, error", "triton", []string{triA, `{"error":"boom"}`}, io.EOF, event.ErrStream, 1, "boom"},
		{"Gemini, full", "gemini", []string{gemA, with(gem("", `,"finishReason":"MAX_TOKENS"`), `"usageMetadata":{"candidatesTokenCount":4}`)}, io.EOF, event.OKFull, 4, ""},
		{"Gemini, its own end", "gemini", []string{gem(`{"text":"a"}`, `,"finishReason":"STOP"`)}, io.EOF, event.OKShort, 1, ""},
		{"Gemini, a reason that is none", "gemini", []string{gem(`{"text":"a"}`, `,"finishReason":"FINISH_REASON_UNSPECIFIED"`)}, io.EOF, event.ErrTruncated, 1, "without a finish reason"},
		{"Gemini, a reason of failure", "gemini", []string{gemA, gem("", `,"finishReason":"RECITATION"`)}, io.EOF, event.ErrStream, 1, "RECITATION"},
		{"Gemini, one that was invented later", "gemini", []string{gemA, gem("", `,"finishReason":"TOO_ODD","finishMessage":"boom"`)}, io.EOF, event.ErrStream, 1, "TOO_ODD: boom"},
		{"Gemini, thinking ate it all", "gemini", []string{with(gem("", `,"finishReason":"MAX_TOKENS"`), `"usageMetadata":{"thoughtsTokenCount":4}`)}, io.EOF, event.ErrEmpty, 4, "counted 4"},
		{"Gemini, the prompt was refused", "gemini", []string{`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}`}, io.EOF, event.ErrEmpty, 0, "prompt blocked: SAFETY"},
		{"Gemini, refused on the way", "gemini", []string{gemA, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":5}}`}, io.EOF, event.ErrStream, 1, "prompt blocked: PROHIBITED_CONTENT"},
		{"Gemini, no reason to refuse", "gemini", []string{`{"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"}}`, gem(`{"text":"a"}`, `,"finishReason":"STOP"`)}, io.EOF, event.OKShort, 1, ""},
		{"Gemini, refused beside an answer", "gemini", []string{with(gem(`{"text":"a"}`, ""), `"promptFeedback":{"blockReason":"OTHER"}`)}, io.EOF, event.ErrStream, 1, "prompt blocked: OTHER"},
		{"Gemini, error", "gemini", []string{gemA, `{"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}}`}, io.EOF, event.ErrStream, 1, "boom"},
		{"Gemini, broken off", "gemini", []string{gemA}, io.EOF, event.ErrTruncated, 1, "without a finish reason"},
		{"KoboldCpp, as long as asked", "koboldcpp", []string{kobA, `{"token":" b","finish_reason":"length"}`}, io.EOF, event.OKUnknownReason, 2, ""},
		{"KoboldCpp, its own end", "koboldcpp", []string{kobA, `{"token":"","finish_reason":"stop"}`}, io.EOF, event.OKShort, 1, ""},
		{"KoboldCpp, broken off", "koboldcpp", []string{kobA}, io.EOF, event.ErrTruncated, 1, "without a finish reason"},
		{"KoboldCpp, busy", "koboldcpp", []string{`{"detail":{"msg":"boom","type":"service_unavailable"}}`}, io.EOF, event.ErrStream, 0, "boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := feedTo(decoderOf(t, c.dialect), c.events...)
			r := s.Result(4, c.end)
			if r.Class != c.class || r.N != c.n {
				t.Errorf("%s, N %d (%s); want %s, N %d", r.Class, r.N, r.Message, c.class, c.n)
			}
			if !strings.Contains(r.Message, c.message) || (c.message == "") != (r.Message == "") {
				t.Errorf("message %q, want %q in it", r.Message, c.message)
			}
		})
	}
}

func TestCountsOfNatives(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		events        []string
		want          Result
		server        *event.ServerTimings
	}{
		{"SGLang says how long it took", "sglang", []string{
			sgl("a", 1, `,"cached_tokens":3,"num_retractions":0`),
			strings.Replace(sgl("ab", 3, `,"cached_tokens":3,"num_retractions":2,"reasoning_tokens":1,"e2e_latency":1.5,"queue_time":0.25,"forward_entry_time":1767225600.5,"prefill_finished_time":1767225601,"decode_throughput":4`), "null", `{"type":"length"}`, 1),
		}, Result{N: 3, Prompt: 5, Cached: 3}, &event.ServerTimings{PromptN: 5, DecodeN: 3, Prompt: 500e6, Decode: 500e6, Queue: 250e6, Total: 1500e6, PerToken: 250e6, Retracted: 2}},
		{"SGLang without its metrics", "sglang", []string{sgl("a", 1, `,"num_retractions":0,"queue_time":-1.5,"decode_throughput":0`)}, Result{N: 1, Prompt: 5}, nil},
		{"TGI's counts", "tgi", []string{`{"token":{"id":2,"text":"b"},"generated_text":"b","details":{"finish_reason":"length","generated_tokens":1,"input_length":7}}`}, Result{N: 1, Prompt: 7}, nil},
		{"Triton names the model", "triton", []string{`{"model_name":"m","text_output":"a"}`}, Result{N: 1, Model: "m"}, nil},
		{"Gemini: thoughts in a running count hide nothing of it", "gemini", []string{
			with(gem(`{"text":"a"}`, ""), `"modelVersion":"m","usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":20}`),
			with(gem(`{"text":"b"}`, `,"finishReason":"STOP"`), `"usageMetadata":{"candidatesTokenCount":4,"thoughtsTokenCount":20}`),
		}, Result{N: 24, Prompt: 5, Cached: 4, Reasoning: 20, Model: "m"}, nil},
		{"Gemini: thoughts in the only event", "gemini", []string{
			with(gem(`{"text":"ab"}`, `,"finishReason":"STOP"`), `"usageMetadata":{"candidatesTokenCount":4,"thoughtsTokenCount":20}`),
		}, Result{N: 24, Reasoning: 20, Hidden: true}, nil},
	} {
		s, _ := feedTo(decoderOf(t, c.dialect), c.events...)
		r := s.Result(9, io.EOF)
		if r.N != c.want.N || r.Prompt != c.want.Prompt || r.Cached != c.want.Cached || r.Reasoning != c.want.Reasoning || r.Hidden != c.want.Hidden || r.Model != c.want.Model {
			t.Errorf("%s: %+v", c.name, r)
		}
		if fmt.Sprint(r.Server) != fmt.Sprint(c.server) {
			t.Errorf("%s: server %+v, want %+v", c.name, r.Server, c.server)
		}
	}
}

// A dialect that has no mark of its end takes an end inside an event for what
// it is, also where the connection closes in order.
func TestTritonCutInOrder(t *testing.T) {
	const one, two = "data: {\"text_output\":\"a\"}\n\n", "data: {\"text_output\":\"b\"}\n\n"
	for n := range len(two) + 1 {
		s := replay(script{writes: []write{{0, []byte(one + two[:n])}}, end: io.EOF, hint: sse.SSE}, 0, "triton")
		whole := n == 0 || n == len(two)
		if whole != (s.res.Class == event.OKUnknownReason) {
			t.Errorf("%d bytes of the second event: %s (%s)", n, s.res.Class, s.res.Message)
		}
		if !whole && s.res.Message != "the body ended inside an event" {
			t.Errorf("%d bytes of the second event: %q", n, s.res.Message)
		}
	}
}

func TestServerHeaders(t *testing.T) {
	for _, c := range []struct {
		name string
		h    http.Header
		want *event.ServerTimings
	}{
		{"none", http.Header{"X-Queue-Time": {""}, "X-Compute-Type": {"gpu"}}, nil},
		{"counts alone", http.Header{"X-Prompt-Tokens": {"5"}}, nil},
		{"TGI", http.Header{"X-Queue-Time": {"12"}, "X-Total-Time": {" 480 "}, "X-Time-Per-Token": {"10"}, "X-Prompt-Tokens": {"5"}, "X-Generated-Tokens": {"32"}},
			&event.ServerTimings{Queue: 12e6, Total: 480e6, PerToken: 10e6, PromptN: 5, DecodeN: 32}},
		{"OpenAI", http.Header{"Openai-Processing-Ms": {"251"}}, &event.ServerTimings{Replied: 251e6}},
		{"nonsense", http.Header{"X-Queue-Time": {"NaN"}, "X-Total-Time": {"-3"}, "X-Time-Per-Token": {"Inf"}, "Openai-Processing-Ms": {"soon"}}, nil},
	} {
		if got := ServerHeaders(c.h); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestResultHeaders(t *testing.T) {
	h := http.Header{"X-Queue-Time": {"12"}, "X-Total-Time": {"480"}}
	said := &event.ServerTimings{Queue: 1, Decode: 2}
	r := Result{Server: said}
	r.Headers(h)
	if *r.Server != (event.ServerTimings{Queue: 1, Decode: 2, Total: 480e6}) || *said != (event.ServerTimings{Queue: 1, Decode: 2}) {
		t.Errorf("%+v from %+v", r.Server, said)
	}
	r = Result{}
	r.Headers(http.Header{})
	if r.Server != nil {
		t.Errorf("%+v from nothing", r.Server)
	}
	if r.Headers(h); r.Server.Queue != 12e6 {
		t.Errorf("%+v", r.Server)
	}
}
