package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"teapot/probe/api"
	"teapot/probe/event"
)

// voice is how a server speaks a dialect: the events of a reply in pieces.
type voice struct {
	text func(piece, whole string, n int) string // token n, from 1; whole is the text so far
	end  func(reason, model string) string
	line bool // a line of JSON each
}

// voices has one for each dialect.
func voices() map[string]voice {
	same := func(format string) func(string, string, int) string {
		return func(piece, _ string, _ int) string { return fmt.Sprintf(format, piece) }
	}
	both := func(format string) func(string, string) string {
		return func(reason, model string) string { return fmt.Sprintf(format, model, reason) }
	}
	return map[string]voice{
		"chat":        {text: same(`{"choices":[{"index":0,"delta":{"content":%s}}]}`), end: both(`{"model":%s,"choices":[{"index":0,"delta":{},"finish_reason":%s}]}`)},
		"completions": {text: same(`{"choices":[{"index":0,"text":%s}]}`), end: both(`{"model":%s,"choices":[{"index":0,"text":"","finish_reason":%s}]}`)},
		"responses": {
			text: same(`{"type":"response.output_text.delta","delta":%s}`),
			end:  both(`{"type":"response.incomplete","response":{"model":%s,"incomplete_details":{"reason":%s}}}`),
		},
		"anthropic": {
			text: same(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`),
			end:  both(`{"type":"message_delta","message":{"model":%s},"delta":{"stop_reason":%s},"usage":{"output_tokens":2}}`),
		},
		"ollama":          {text: same(`{"message":{"content":%s},"done":false}`), end: both(`{"model":%s,"message":{"content":""},"done":true,"done_reason":%s}`), line: true},
		"ollama-generate": {text: same(`{"response":%s,"done":false}`), end: both(`{"model":%s,"response":"","done":true,"done_reason":%s}`), line: true},
		"llamacpp":        {text: same(`{"content":%s,"stop":false}`), end: both(`{"model":%s,"content":"","stop":true,"stop_type":%s,"tokens_predicted":2}`)},
		"lmstudio":        {text: same(`{"type":"message.delta","content":%s}`), end: both(`{"type":"chat.end","model_instance_id":%s,"result":{"reason":%s}}`)},
		"sglang": {
			text: func(_, whole string, n int) string {
				return fmt.Sprintf(`{"text":%s,"meta_info":{"id":"1","finish_reason":null,"completion_tokens":%d}}`, whole, n)
			},
			end: both(`{"text":"","model":%s,"meta_info":{"id":"1","finish_reason":{"type":%s},"completion_tokens":2}}`),
		},
		"tgi": {
			text: same(`{"index":1,"token":{"id":1,"text":%s,"logprob":-1,"special":false},"generated_text":null,"details":null}`),
			end:  both(`{"index":2,"model":%s,"token":{"id":2,"text":"","special":true},"generated_text":"","details":{"finish_reason":%s,"generated_tokens":2}}`),
		},
		"triton": {text: same(`{"model_name":"m","model_version":"1","text_output":%s}`), end: both(`{"model_name":%s,"model_version":%s,"text_output":""}`)},
		"gemini": {
			text: same(`{"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}]}`),
			end:  both(`{"modelVersion":%s,"candidates":[{"index":0,"finishReason":%s}]}`),
		},
		"koboldcpp": {text: same(`{"token":%s,"finish_reason":null}`), end: both(`{"model":%s,"token":"","finish_reason":%s}`)},
	}
}

// quoted is a text as JSON writes it.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// frames puts the events of a reply in the framing of its dialect.
func (v voice) frames(events ...string) (framed []string) {
	for _, e := range events {
		if v.line {
			framed = append(framed, e+"\n")
		} else {
			framed = append(framed, "data: "+e+"\n\n")
		}
	}
	return framed
}

// spoken is a text in pieces of n bytes.
func (v voice) spoken(text string, n int) (events []string) {
	for at := 0; at < len(text); at += n {
		end := min(at+n, len(text))
		events = append(events, v.text(quoted(text[at:end]), quoted(text[:end]), len(events)+1))
	}
	return events
}

// In every dialect a server sends back the key it was given, in everything that
// is shown or recorded.
func TestCanaryInEveryDialect(t *testing.T) {
	const key, token = `canary/<xyz>,"42"`, "abc123def;tail,part@tail"
	t.Setenv("CANARY_TEST_KEY", key)
	for _, name := range api.Names() {
		v, ok := voices()[name]
		if !ok {
			t.Errorf("nobody speaks %s here", name)
			continue
		}
		replies := map[string][]string{
			"finish reason": append(v.spoken("a", 1), v.end(quoted(strings.Repeat("x", 190)+key), quoted("m"))),
			"model":         append(v.spoken("ab", 1), v.end(quoted("length"), quoted(key))),
			"provider":      append(v.spoken("ab", 1), `{"provider":`+quoted(strings.Repeat("y", 190)+key)+`,"choices":[]}`, v.end(quoted("length"), quoted("m"))),
			"error":         append(v.spoken("a", 1), `{"error":{"message":`+quoted(strings.Repeat("word ", 37)+key)+`}}`),
			"marks":         append(v.spoken("a", 1), `{"error":{"message":`+quoted("this is wrong: api_key="+token)+`}}`),
			"flat error":    append(v.spoken("a", 1), `{"type":"error","message":`+quoted("the key "+key)+`}`),
			"no sense":      {quoted(key), key, "[" + quoted(key) + "]"},
		}
		// Text and an error in one, as gateways send it.
		both := strings.TrimSuffix(v.spoken("a", 1)[0], "}") + `,"error":{"message":` + quoted("this is wrong: api_key="+token) + `}}`
		replies["text and error"] = []string{both}
		for _, n := range []int{1, 3, 5, 7, 99} {
			replies[fmt.Sprintf("pieces of %d", n)] = append(v.spoken("a "+key+key+" b "+token+" c", n), v.end(quoted("length"), quoted("m")))
		}
		for what, events := range replies {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				kind := "text/event-stream"
				if v.line {
					kind = "application/x-ndjson"
				}
				s := serve(t, func(_ int, c net.Conn, r *http.Request) bool {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: "+kind+"\r\nX-Echo: "+r.Header.Get("Authorization")+"\r\nTransfer-Encoding: chunked\r\n\r\n")
					say(c, v.frames(events...)...)
					io.WriteString(c, lastOne)
					return true
				})
				cfg := config(s.url, 1)
				cfg.Targets[0].API, cfg.Targets[0].Model, cfg.Targets[0].KeyEnv = name, "m", "CANARY_TEST_KEY"
				cfg.Targets[0].Headers, cfg.Verbose = []string{"X-Api-Token: " + token}, true
				all := watchUntil(t, cfg)
				leaks(t, all, key, token)
				if strings.HasPrefix(what, "pieces") {
					heard(t, all, len(events))
				}
			})
		}
	}
}

// heard sees to it that a text arrived at all, without its secrets.
func heard(t *testing.T, all []event.Event, events int) {
	t.Helper()
	var text strings.Builder
	for _, part := range of[*event.Text](all) {
		text.WriteString(part.Text)
	}
	if got := text.String(); !strings.HasPrefix(got, "a ") || !strings.HasSuffix(got, " c") || strings.Count(got, redacted) != 3 {
		t.Errorf("of %d events the text is %q", events, got)
	}
}
