package api

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func TestHTTPErrorClassAndMessage(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		body    string
		class   event.Class
		message string
	}{
		{"object", 400, `{"error":{"message":"bad value","type":"invalid_request_error","param":null,"code":null}}`, event.ErrParam, "bad value"},
		{"flat", 400, `{"object":"error","message":"bad value","type":"BadRequestError","param":null,"code":400}`, event.ErrParam, "bad value"},
		{"message as object", 422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error"}`, event.ErrParam, "Extra inputs are not permitted"},
		{"string", 401, `{"error":"Unauthorized"}`, event.ErrAuth, "Unauthorized"},
		{"forbidden", 403, `{"error":{"type":"forbidden","message":"not yours"}}`, event.ErrAuth, "not yours"},
		{"error_type", 429, `{"error":"Model is overloaded","error_type":"overloaded"}`, event.ErrRate, "Model is overloaded"},
		{"detail string", 404, `{"detail":"Not Found"}`, event.ErrModel, "Not Found"},
		{"detail list", 422, `{"detail":[{"loc":["body","max_tokens"],"msg":"field required","type":"value_error"}]}`, event.ErrParam, "field required"},
		{"nested type error", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, event.ErrOverload, "Overloaded"},
		{"array", 503, "[{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"Too much to do.\\nTry later.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}]", event.ErrOverload, "Too much to do. Try later."},
		{"errors list", 500, `{"errors":[{"message":"broken"}]}`, event.ErrHTTP, "broken"},
		{"plain text", 500, "upstream request timeout", event.ErrHTTP, "upstream request timeout"},
		{"nothing", 404, "", event.ErrModel, "404 Not Found"},
		{"unknown status", 599, "  ", event.ErrHTTP, "599"},
		{"HTML with title", 502, "<html>\r\n<head><title>502 Bad Gateway</title></head></html>", event.ErrHTTP, "HTML page: 502 Bad Gateway"},
		{"HTML without", 524, "<!DOCTYPE html><p>x", event.ErrHTTP, "HTML page instead of an answer: 524"},
		{"loading, llama.cpp", 503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, event.ErrLoading, "Loading model"},
		{"loading, another", 503, `{"error":"Model x is currently loading","estimated_time":20}`, event.ErrLoading, "Model x is currently loading"},
		{"busy", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, event.ErrOverload, "server busy, please try again. maximum pending requests exceeded"},
		{"method", 405, `{"detail":"Method Not Allowed"}`, event.ErrParam, "Method Not Allowed"},
		{"too large", 413, `{"error":{"message":"request too large"}}`, event.ErrParam, "request too large"},
		{"media type", 415, `x`, event.ErrParam, "x"},
		{"Groq is full", 498, `{"error":{"message":"capacity exceeded","type":"capacity_exceeded"}}`, event.ErrOverload, "capacity exceeded"},
		{"problem details", 400, `{"type":"urn:kserve:problem","title":"Bad Request","status":400,"detail":"Inference error"}`, event.ErrParam, "Inference error"},
		{"AWS", 400, `{"__type":"ValidationException","Message":"bad value"}`, event.ErrParam, "bad value"},
		{"an exception", 500, `{"internalServerException":{"message":"boom"}}`, event.ErrHTTP, "boom"},
		{"LiteLLM", 500, `{"error":{"message":"boom","type":"None","param":"None","code":"500"}}`, event.ErrHTTP, "boom"},
		{"TGI through OpenAI", 422, `{"error":{"message":"Input validation error: x","http_status_code":422}}`, event.ErrParam, "Input validation error: x"},
		{"credits", 402, `{"error":{"code":402,"message":"no credits"}}`, event.ErrHTTP, "no credits"},
		{"error without text", 500, `{"error":{"code":"E7"}}`, event.ErrHTTP, "E7"},
		{"unknown shape", 500, `{"a":1}`, event.ErrHTTP, `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			class, message, _ := HTTPError(c.status, http.Header{}, []byte(c.body))
			if class != c.class || message != c.message {
				t.Errorf("%s %q, want %s %q", class, message, c.class, c.message)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		head map[string]string
		want time.Duration
	}{
		{"none", nil, 0},
		{"seconds", map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{"fraction", map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{"milliseconds win", map[string]string{"Retry-After": "7", "Retry-After-Ms": "120"}, 120 * time.Millisecond},
		{"date", map[string]string{"Retry-After": "Mon, 30 Nov 2026 12:00:20 GMT"}, 20 * time.Second},
		{"date by the server's clock", map[string]string{"Retry-After": "Mon, 30 Nov 2026 15:00:20 GMT", "Date": "Mon, 30 Nov 2026 15:00:00 GMT"}, 20 * time.Second},
		{"date that is over", map[string]string{"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0},
		{"negative", map[string]string{"Retry-After": "-3"}, 0},
		{"absurd", map[string]string{"Retry-After": "1e30"}, 24 * time.Hour},
		{"not a number", map[string]string{"Retry-After": "NaN"}, 0},
		{"rubbish", map[string]string{"Retry-After": "soon"}, 0},
		{"a limit that is used up", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6m0s", "X-Ratelimit-Remaining-Tokens": "5", "X-Ratelimit-Reset-Tokens": "9h"}, 6 * time.Minute},
		{"two that are", map[string]string{"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "20ms", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "1.5s"}, 1500 * time.Millisecond},
		{"none that is", map[string]string{"X-Ratelimit-Remaining-Requests": "7", "X-Ratelimit-Reset-Requests": "6m0s"}, 0},
		{"Anthropic's limits", map[string]string{"Anthropic-Ratelimit-Output-Tokens-Remaining": "0", "Anthropic-Ratelimit-Output-Tokens-Reset": "2026-11-30T12:00:30Z"}, 30 * time.Second},
		{"Retry-After outranks them", map[string]string{"Retry-After": "2", "X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6m0s"}, 2 * time.Second},
	} {
		h := http.Header{}
		for k, v := range c.head {
			h.Set(k, v)
		}
		if _, _, got := HTTPErrorAt(now, 429, h, nil); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNoRefillUnlessTooManyRequests(t *testing.T) {
	h := http.Header{"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"6m0s"}}
	if _, _, wait := HTTPErrorAt(time.Unix(0, 0), 500, h, nil); wait != 0 {
		t.Errorf("a 500 makes us wait %v", wait)
	}
}

func TestRejectsFields(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   bool
	}{
		{"nameless", 400, `{"error":{"message":"Extra inputs are not permitted"}}`, true},
		{"a field that is not ours", 400, `{"error":{"message":"Unrecognized request argument supplied: frobnicate"}}`, true},
		{"vague", 400, `{"error":{"message":"Invalid request payload"}}`, true},
		{"pydantic", 422, `{"error":"1 validation error for ChatCompletionRequest"}`, true},
		{"the model", 400, `{"error":{"message":"The model does not support this request"}}`, false},
		{"too long", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens"}}`, false},
		{"filtered", 400, `{"error":{"message":"unsupported: the content filter was triggered"}}`, false},
		{"nothing of it", 400, `{"error":{"message":"boom"}}`, false},
		{"another status", 500, `{"error":{"message":"Extra inputs are not permitted"}}`, false},
	} {
		if got := RejectsFields(c.status, []byte(c.body)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRejectedField(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"param", 400, `{"error":{"message":"Unrecognized request argument supplied: ignore_eos","type":"invalid_request_error","param":null}}`, FieldIgnoreEOS},
		{"param before message", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, FieldMaxTokens},
		{"first in the message", 400, `{"error":"'max_tokens' is not supported, use 'max_completion_tokens'"}`, FieldMaxTokens},
		{"the other limit", 400, `{"error":{"message":"Unknown parameter","param":"max_completion_tokens"}}`, FieldMaxCompletion},
		{"loc", 422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}}`, FieldSeed},
		{"loc, nested field", 422, `{"detail":[{"loc":["body","stream_options","continuous_usage_stats"],"msg":"extra fields not permitted"}]}`, FieldRunningUsage},
		{"dotted", 400, `{"error":{"message":"Unknown parameter: 'stream_options.include_usage'."}}`, FieldIncludeUsage},
		{"the whole group", 400, `{"error":{"message":"property 'stream_options' is unsupported"}}`, FieldStreamOptions},
		{"value refused", 400, `{"error":{"message":"temperature does not support 0 with this model","param":"temperature"}}`, FieldTemperature},
		{"pydantic text", 400, "{\"error\":\"1 validation error for ChatCompletionRequest\\nmin_tokens\\n  Extra inputs are not permitted [type=extra_forbidden, input_value=32]\"}", FieldMinTokens},
		{"prompt too long", 400, `{"error":{"message":"maximum context length is 2048 tokens, you asked for 4096 in the completion (max_tokens)","param":"max_tokens"}}`, ""},
		{"the model", 400, `{"error":{"message":"unknown model","param":"model"}}`, ""},
		{"a part of a word", 400, `{"error":"seedling is unknown"}`, ""},
		{"another status", 500, `{"error":"ignore_eos is unknown"}`, ""},
		{"not JSON", 400, `ignore_eos unsupported`, FieldIgnoreEOS},
		{"nothing", 400, ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := RejectedField(c.status, []byte(c.body)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestOneLineHidesKeys(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"OpenAI", "Incorrect API key provided: sk-proj-Ab12Cd34Ef56. You can find it", "Incorrect API key provided: [hidden] You can find it"},
		{"bearer", `got "Authorization: Bearer abcdef0123456789"`, `got "Authorization: Bearer [hidden]"`},
		{"named", `invalid api_key="hunter2hunter2"`, `invalid api_key="[hidden]"`},
		{"Hugging Face", "token hf_abcDEF123456 is not valid", "token [hidden] is not valid"},
		{"JWT", "bad eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "bad [hidden]"},
		{"long run", "key 0123456789abcdef0123456789abcdef refused", "key [hidden] refused"},
		{"URL", "dial http://user:pass@host/v1?key=s3cret: refused", "dial http://host/v1 refused"},
		{"a number of tokens", "requested tokens: 131072, allowed tokens: 32768", "requested tokens: 131072, allowed tokens: 32768"},
		{"a model", "model Qwen2.5-72B-Instruct-GPTQ-Int4 not found", "model Qwen2.5-72B-Instruct-GPTQ-Int4 not found"},
		{"plain words", "Invalid API Key", "Invalid API Key"},
	} {
		if got := OneLine(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := OneLine("wrong key: horse", "horse"); strings.Contains(got, "horse") {
		t.Errorf("a known secret stayed: %q", got)
	}
}

func TestOneLineIsOneCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\tc":                            "a b c",
		"\x1b[31mred\x1b[0m \x1b]0;title\aend": "red end",
		"\x1bPq#0\x1b\\x":                      "x",
		"\u202eabc\u200b\ufeff":                "abc",
		"a\x00b\u009bc":                        "abc",
		"  \n ":                                "",
		"\xff":                                 "\uFFFD",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "in")
		in += strings.Repeat(in, rapid.IntRange(0, 40).Draw(t, "times"))
		out := OneLine(in)
		if utf8.RuneCountInString(out) > maxMessage {
			t.Fatalf("%d runes", utf8.RuneCountInString(out))
		}
		if !utf8.ValidString(out) || strings.ContainsFunc(out, unicode.IsControl) {
			t.Fatalf("not clean: %q", out)
		}
		if again := OneLine(out); strings.ContainsFunc(again, unicode.IsControl) || utf8.RuneCountInString(again) > maxMessage {
			t.Fatalf("cleaning twice gives %q", again)
		}
	})
}

func FuzzHTTPError(f *testing.F) {
	for _, seed := range []string{
		`{"error":{"message":"x","param":"seed"}}`, `{"error":[[[{"msg":"x"}]]]}`, `{"detail":[{"loc":["body","seed"],"msg":"x"}]}`, `<title>x`, `{"message":{"detail":{"msg":{"error":{}}}}}`,
		"\x1b[31m\u202e", strings.Repeat(`{"detail":`, 200) + "1" + strings.Repeat("}", 200), `"text"`, `[1]`,
	} {
		f.Add(400, seed, "3")
	}
	f.Fuzz(func(t *testing.T, status int, body, retry string) {
		class, message, wait := HTTPErrorAt(time.Unix(0, 0), status, http.Header{"Retry-After": {retry}}, []byte(body))
		if class == "" || class.OK() || message == "" {
			t.Fatalf("%s %q", class, message)
		}
		if strings.ContainsFunc(message, unicode.IsControl) || utf8.RuneCountInString(message) > maxMessage {
			t.Fatalf("message %q", message)
		}
		if wait < 0 || wait > maxRetry {
			t.Fatalf("wait %v", wait)
		}
		if field := RejectedField(status, []byte(body)); field != "" && !strings.Contains(body, field[strings.LastIndexByte(field, '.')+1:]) && !strings.Contains(body, `\u`) {
			t.Fatalf("complains of %q", field)
		}
	})
}
