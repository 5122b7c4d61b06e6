package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/probe/sse"
)

const (
	runningChunk = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":" there"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":5,"total_tokens":%d,"completion_tokens":%d}}`
	escapedChunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"\n\"é\" \ud83d\ude42"},"finish_reason":null}],"usage":{"completion_tokens":%d}}`
	llamaChunk   = `{"choices":[{"finish_reason":null,"index":0,"delta":{"content":" ca"}}],"created":1796064883,"id":"chatcmpl-m","model":"tiny","system_fingerprint":"b10573-d775b8967","object":"chat.completion.chunk","timings":{"cache_n":10,"prompt_n":1,"prompt_ms":4.536,"prompt_per_token_ms":4.536,"prompt_per_second":220.45855379188714,"predicted_n":%d,"predicted_ms":1.718,"predicted_per_token_ms":1.718,"predicted_per_second":582.07}}`
	textChunk    = `{"id":"cmpl-1","object":"text_completion","created":1767225600,"model":"m","choices":[{"index":0,"text":"Hi","logprobs":null,"finish_reason":null,"stop_reason":null,"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null}],"usage":{"prompt_tokens":5,"total_tokens":%[1]d,"completion_tokens":%[1]d}}`
)

// fill puts the same number in every place of a template.
func fill(template string, n int) []byte {
	args := make([]any, strings.Count(template, "%d"))
	for i := range args {
		args[i] = n
	}
	if len(args) == 0 {
		args = []any{n}
	}
	return fmt.Appendf(nil, template, args...)
}

// both reads data in both ways.
func both(data []byte) (fast, slow chunk, picked, sense bool) {
	fast.reset()
	picked = newPicker().pick(data, &fast)
	slow.reset()
	sense = decode(data, &slow)
	return fast, slow, picked, sense
}

// differ says in what two readings differ, "" if in nothing.
func differ(a, b *chunk) string {
	switch {
	case !bytes.Equal(a.model, b.model):
		return fmt.Sprintf("model %q, %q", a.model, b.model)
	case !bytes.Equal(a.text, b.text):
		return fmt.Sprintf("text %q, %q", a.text, b.text)
	case !bytes.Equal(a.finish, b.finish):
		return fmt.Sprintf("finish %q, %q", a.finish, b.finish)
	case a.channel != b.channel:
		return fmt.Sprintf("channel %v, %v", a.channel, b.channel)
	case a.usage != b.usage:
		return fmt.Sprintf("usage %+v, %+v", a.usage, b.usage)
	case a.work != b.work:
		return fmt.Sprintf("work %+v, %+v", a.work, b.work)
	case a.choices != b.choices || a.indices != b.indices || a.finished != b.finished:
		return fmt.Sprintf("choices %d %b %b, %d %b %b", a.choices, a.indices, a.finished, b.choices, b.indices, b.finished)
	case a.ids != b.ids || a.logprobs != b.logprobs:
		return fmt.Sprintf("ids %d %d, %d %d", a.ids, a.logprobs, b.ids, b.logprobs)
	case (a.fail == nil) != (b.fail == nil):
		return fmt.Sprintf("failure %v, %v", a.fail, b.fail)
	}
	return ""
}

func TestPickTakesPlainChunks(t *testing.T) {
	for name, template := range map[string]string{"continuous usage": runningChunk, "escapes": escapedChunk, "llama.cpp timings": llamaChunk, "completions": textChunk} {
		fast, slow, picked, sense := both(fill(template, 7))
		if !picked || !sense {
			t.Fatalf("%s: picked %v, decoded %v", name, picked, sense)
		}
		if d := differ(&fast, &slow); d != "" {
			t.Errorf("%s: the ways differ: %s", name, d)
		}
		if len(fast.text) == 0 || (fast.usage.completion != 7 && fast.work.running != 7) {
			t.Errorf("%s: text %q, usage %+v, work %+v", name, fast.text, fast.usage, fast.work)
		}
	}
}

func TestPickUnescapes(t *testing.T) {
	fast, _, _, _ := both(fill(escapedChunk, 1))
	if got, want := string(fast.text), "\n\"é\" 🙂"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestPickRefusesWhatIsUnusual(t *testing.T) {
	for name, data := range map[string]string{
		"error":            `{"error":{"message":"x"},"choices":[]}`,
		"flat error":       `{"object":"error","message":"x"}`,
		"two choices":      `{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`,
		"blocks":           `{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`,
		"tool call":        `{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f"}}]}}]}`,
		"ids":              `{"choices":[{"token_ids":[1,2],"delta":{"content":"a"}}]}`,
		"repeated key":     `{"choices":[{"delta":{"content":"a","content":"b"}}]}`,
		"repeated usage":   `{"usage":{"completion_tokens":1},"usage":{"completion_tokens":2},"choices":[]}`,
		"repeated choices": `{"choices":[],"choices":[{"delta":{"content":"a"}}]}`,
		"number as string": `{"choices":[],"usage":{"completion_tokens":"5"}}`,
		"huge number":      `{"choices":[],"usage":{"completion_tokens":12345678901234567890}}`,
		"fraction":         `{"choices":[],"usage":{"completion_tokens":1.5}}`,
		"bad UTF-8":        "{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}",
		"array":            `[{"choices":[]}]`,
		"null":             `null`,
		"cut short":        `{"choices":[{"delta":{"content":"a"}}]`,
		"rubbish inside":   `{"x":{bad},"choices":[]}`,
		"rubbish behind":   `{"choices":[]} x`,
		"message":          `{"choices":[{"message":{"content":"a"}}]}`,
	} {
		var c chunk
		c.reset()
		if newPicker().pick([]byte(data), &c) {
			t.Errorf("%s: picked", name)
		}
	}
}

// TestWaysAgree makes up chunks and reads each in both ways.
func TestWaysAgree(t *testing.T) {
	var plain, all int
	rapid.Check(t, func(t *rapid.T) {
		data := genChunk().Draw(t, "chunk")
		if !json.Valid(data) {
			t.Fatalf("the generator made no JSON: %s", data)
		}
		fast, slow, picked, sense := both(data)
		all++
		if !picked {
			return
		}
		plain++
		if !sense {
			t.Fatalf("picked what encoding/json refuses: %s", data)
		}
		if d := differ(&fast, &slow); d != "" {
			t.Fatalf("the ways differ: %s\n%s", d, data)
		}
	})
	if plain*4 < all {
		t.Errorf("only %d of %d chunks were plain: the test compares too little", plain, all)
	}
}

// genChunk makes chunks that are mostly plain, with keys in any order, escapes
// of every kind, and now and then something odd.
func genChunk() *rapid.Generator[[]byte] {
	str := rapid.Custom(func(t *rapid.T) string {
		plain := rapid.StringN(0, 12, -1).Draw(t, "s")
		coded, _ := json.Marshal(plain)
		text := string(coded)
		if rapid.IntRange(0, 3).Draw(t, "escape") == 0 {
			text = text[:len(text)-1] + rapid.SampledFrom([]string{`\u00e9`, `\ud83d\ude42`, `\ud83d`, `\ude42x`, `\ud83d\u0041`, `\/`, `\b\f\n\r\t`, `\u0000`, `\\`, `\"`}).Draw(t, "esc") + `"`
		}
		return text
	})
	odd := rapid.SampledFrom([]string{`null`, `[]`, `{}`, `""`, `0`, `-1`, `1e3`, `"7"`, `true`, `[1,2]`, `{"a":[{"b":"]}"}]}`, `12345678901`})
	num := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 5000).Draw(t, "n")) })
	float := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.Float64Range(0, 1e6).Draw(t, "f")) })
	pick := func(t *rapid.T, gens ...*rapid.Generator[string]) string {
		if rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
			return odd.Draw(t, "value")
		}
		return rapid.OneOf(gens...).Draw(t, "value")
	}
	null := rapid.Just("null")
	object := func(t *rapid.T, fields map[string][]*rapid.Generator[string], order []string) string {
		var parts []string
		for _, key := range rapid.Permutation(order).Draw(t, "order") {
			if rapid.Bool().Draw(t, key) {
				parts = append(parts, fmt.Sprintf("%q: %s", key, pick(t, fields[key]...)))
			}
		}
		return "{" + strings.Join(parts, rapid.SampledFrom([]string{",", " , ", ",\n"}).Draw(t, "comma")) + "}"
	}
	return rapid.Custom(func(t *rapid.T) []byte {
		type f = map[string][]*rapid.Generator[string]
		sub := func(fields f, order ...string) *rapid.Generator[string] {
			return rapid.Custom(func(t *rapid.T) string { return object(t, fields, order) })
		}
		delta := sub(f{"role": {str}, "content": {str, null}, "reasoning_content": {str, null}, "reasoning": {str}, "thinking": {str}, "refusal": {str, null}, "tool_calls": {null}},
			"role", "content", "reasoning_content", "reasoning", "thinking", "refusal", "tool_calls")
		choice := sub(f{"index": {num}, "delta": {delta}, "text": {str, null}, "finish_reason": {null, rapid.Just(`"stop"`), rapid.Just(`"length"`), rapid.Just(`""`)}, "logprobs": {null}, "token_ids": {null}, "stop_reason": {str}},
			"index", "delta", "text", "finish_reason", "logprobs", "token_ids", "stop_reason")
		usage := sub(f{"prompt_tokens": {num}, "completion_tokens": {num}, "total_tokens": {num}, "reasoning_tokens": {num}, "prompt_tokens_details": {null}},
			"prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "prompt_tokens_details")
		timings := sub(f{"predicted_n": {num}, "predicted_ms": {float}, "prompt_n": {num}, "prompt_ms": {float}, "cache_n": {num}, "draft_n": {num}},
			"predicted_n", "predicted_ms", "prompt_n", "prompt_ms", "cache_n", "draft_n")
		choices := rapid.Custom(func(t *rapid.T) string {
			n := rapid.SampledFrom([]int{0, 1, 1, 1, 1, 1, 2}).Draw(t, "choices")
			var list []string
			for range n {
				list = append(list, choice.Draw(t, "choice"))
			}
			return "[" + strings.Join(list, ",") + "]"
		})
		return []byte(object(t, f{"id": {str}, "object": {rapid.Just(`"chat.completion.chunk"`)}, "created": {num}, "model": {str}, "choices": {choices}, "usage": {usage, null}, "timings": {timings}, "obfuscation": {str}, "error": {null}},
			[]string{"id", "object", "created", "model", "choices", "usage", "timings", "obfuscation", "error"}))
	})
}

// FuzzWaysAgree holds the same for whatever bytes a server may send, and that
// neither way panics.
func FuzzWaysAgree(f *testing.F) {
	for _, template := range []string{runningChunk, escapedChunk, llamaChunk, textChunk} {
		f.Add(fill(template, 3))
	}
	for _, seed := range []string{
		`{"choices":[{"delta":{"content":"a","content":null}}]}`, `{"choices":{"0":{}}}`, `[[]]`, `{"error":[{"error":[]}]}`,
		`{"usage":{"completion_tokens":1e308}}`, `{"ch\u006fices":[{"t\u0065xt":"a"}]}`, strings.Repeat("[", 20000), strings.Repeat(`{"error":`, 3000),
		`{"choices":[{"delta":{"reasoning":{"text":"x"},"content":[{"type":"thinking","thinking":[{"text":"y"}]}]}}]}`, "\"\\ud83d\"", `{"":{"":""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fast, slow, picked, sense := both(data)
		if picked && !sense {
			t.Fatalf("picked what encoding/json refuses")
		}
		if picked {
			if d := differ(&fast, &slow); d != "" {
				t.Fatalf("the ways differ: %s", d)
			}
		}
		var p Part
		s := newStream()
		for range 4 {
			s.Decode(&sse.Event{Type: "message", Data: data}, &p)
		}
		s.Decode(&sse.Event{Type: "error", Data: data}, &p)
		r := s.Result(4, nil)
		if r.Class.OK() {
			t.Fatalf("a reply with an error event is %s", r.Class)
		}
		if strings.ContainsAny(r.Message+r.Finish, "\x1b\n\r\x00") {
			t.Fatalf("a message with control characters: %q", r.Message)
		}
	})
}

// TestPlainChunkAllocatesNothing is the promise of the token path.
func TestPlainChunkAllocatesNothing(t *testing.T) {
	for name, template := range map[string]string{"continuous usage": runningChunk, "escapes": escapedChunk, "llama.cpp timings": llamaChunk, "completions": textChunk} {
		s := newStream()
		var events []sse.Event
		for i := range 200 {
			events = append(events, sse.Event{Type: "message", Data: fill(template, i+1)})
		}
		var p Part
		i := 0
		allocs := testing.AllocsPerRun(150, func() {
			s.Decode(&events[i], &p)
			if !p.Evidence || p.K != 1 || p.Channel != event.Answer {
				t.Fatalf("%s: event %d is %+v", name, i, p)
			}
			i++
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations for a chunk", name, allocs)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	for name, template := range map[string]string{"usage": runningChunk, "llama": llamaChunk, "escapes": escapedChunk} {
		data := fill(template, 7)
		b.Run(name+"/picker", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			p, c := newPicker(), chunk{}
			for b.Loop() {
				c.reset()
				if !p.pick(data, &c) {
					b.Fatal("not plain")
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			var c chunk
			for b.Loop() {
				c.reset()
				if !decode(data, &c) {
					b.Fatal("no sense")
				}
			}
		})
	}
}
