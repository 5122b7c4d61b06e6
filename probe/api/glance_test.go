package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// glances are those of all dialects, by name.
func glances() map[string]*glance {
	return map[string]*glance{
		"small": newGlance("a", "b", "o.a", "o.b", "p.b", "o"), "messages": newMessages().look, "responses": newResponse().look,
		"ollama": newOllama().look, "llama": newLlama().look, "studio": newStudio().look,
		"sglang": newGenerate().look, "tgi": newTokens().look, "triton": newExtension().look, "gemini": newCandidates().look, "kobold": newKobold().look,
	}
}

// copied are the fields of a look in their own memory, as text.
func copied(found []field) string {
	var b strings.Builder
	for i, f := range found {
		if f.is {
			fmt.Fprintf(&b, "%d:%q/%q ", i, f.text, f.raw)
		}
	}
	return b.String()
}

// twoWays reads an event in both ways; quick is false where the quick way
// refuses it.
func twoWays(g *glance, data []byte) (a, b string, quick, sense bool) {
	quick = g.plainly(data)
	a = copied(g.found)
	sense = g.thoroughly(data)
	return a, copied(g.found), quick, sense
}

// TestGlanceAgrees makes up objects and reads each in both ways.
func TestGlanceAgrees(t *testing.T) {
	g := newGlance("a", "b", "o.a", "o.b", "p.b", "o")
	leaf := rapid.SampledFrom([]string{`"x"`, `"\u00e9\n"`, `"\ud83d\ude42"`, `"\ud83d"`, `"é🙂"`, `""`, `null`, `true`, `1.5e3`, `-0`, `[1, {"a":2}]`, `{}`, `{"a" : "deep"}`})
	object := func(t *rapid.T, inner *rapid.Generator[string]) string {
		var parts []string
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"b"`, `"o"`, `"p"`, `"z"`, `"\u0061"`, `"o.a"`, `""`}), 0, 6).Draw(t, "keys") {
			parts = append(parts, key+": "+inner.Draw(t, "value"))
		}
		return "{" + strings.Join(parts, " ,\n") + "}"
	}
	nested := rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) string { return object(t, leaf) }))
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(" " + object(t, nested) + "\n")
		if !json.Valid(data) {
			t.Fatalf("the generator made no JSON: %s", data)
		}
		a, b, quick, sense := twoWays(g, data)
		if !sense {
			t.Fatalf("the slow way refuses %s", data)
		}
		if quick && a != b {
			t.Fatalf("the ways differ:\n%s\n%s\n%s", data, a, b)
		}
	})
}

func TestGlanceTakesTheQuickWay(t *testing.T) {
	for _, c := range []struct {
		name, data string
		quick      bool
	}{
		{"plain", `{"a":"x","o":{"a":"y","z":[1]},"z":{"a":{"b":"no"}}}`, true},
		{"null", `{"a":null,"o":null,"p":7}`, true},
		{"escapes", `{"a":"\n","o":{"a":"\u00e9"}}`, true},
		{"a repeated key", `{"a":"x","a":"y"}`, false},
		{"a repeated object", `{"o":{"a":"x"},"o":{"b":"y"}}`, false},
		{"a key repeated elsewhere", `{"a":"x","o":{"a":"y"},"p":{"a":"z"}}`, true},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", false},
		{"no object", `["a"]`, false},
		{"cut", `{"a":"x"`, false},
		{"more behind", `{"a":"x"} y`, false},
	} {
		g := newGlance("a", "b", "o.a", "o.b", "p.b", "o")
		a, b, quick, _ := twoWays(g, []byte(c.data))
		if quick != c.quick {
			t.Errorf("%s: quick is %v", c.name, quick)
		}
		if quick && a != b {
			t.Errorf("%s: %s, %s", c.name, a, b)
		}
	}
}

func FuzzGlanceAgrees(f *testing.F) {
	for _, lines := range caseObjects(f) {
		for _, line := range lines {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte(`{"a":"x","\u0061":"y","o":{"a":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, g := range glances() {
			a, b, quick, sense := twoWays(g, data)
			if quick && (!sense || a != b) {
				t.Fatalf("%s: the ways differ: %s\n%s", name, a, b)
			}
		}
	})
}

// plainEvents are the events that bring a token, in every dialect.
var plainEvents = map[string]string{
	"anthropic":       `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" th\u00e9"}}`,
	"responses":       `{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" there\n","logprobs":[],"obfuscation":"z"}`,
	"ollama":          `{"model":"qwen3:0.6b","created_at":"2026-08-21T10:00:00.110000001Z","message":{"role":"assistant","content":"Hi"},"done":false}`,
	"ollama-generate": `{"model":"tiny","created_at":"2026-11-30T19:10:19.318051947Z","response":" Le","done":false}`,
	"llamacpp":        `{"index":0,"content":" sends","tokens":[16003],"stop":false,"id_slot":-1,"tokens_predicted":1,"tokens_evaluated":3,"timings":{"cache_n":2,"prompt_n":1,"prompt_ms":1.955,"prompt_per_token_ms":1.955,"prompt_per_second":511.5089514066496,"predicted_n":1,"predicted_ms":0.001,"predicted_per_token_ms":0.0,"predicted_per_second":0.0}}`,
	"lmstudio":        `{"type":"message.delta","content":" there"}`,
	"sglang":          `{"text":"Hi there","output_ids":[13048,1052],"meta_info":{"id":"a1","finish_reason":null,"prompt_tokens":5,"weight_version":"default","num_retractions":0,"reasoning_tokens":0,"completion_tokens":2,"cached_tokens":0,"dp_rank":null}}`,
	"tgi":             `{"index":2,"token":{"id":1052,"text":" there","logprob":-0.12,"special":false},"top_tokens":[],"generated_text":null,"details":null}`,
	"triton":          `{"model_name":"ensemble","model_version":"1","sequence_end":false,"text_output":" th\u00e9re"}`,
	"koboldcpp":       `{"token": " there", "finish_reason": null}`,
}

// TestPlainEventsAllocateNothing extends the promise of the token path to the
// dialects that are read at a glance. Gemini's are not: an event of it has tens
// of tokens, and the parts of its candidates are read in the slow way.
func TestPlainEventsAllocateNothing(t *testing.T) {
	elsewhere := map[string]bool{"chat": true, "completions": true, "gemini": true} // the first two are those of the picker
	for _, name := range Names() {
		if (plainEvents[name] == "") != elsewhere[name] {
			t.Errorf("%s: which event of it is plain?", name)
		}
	}
	for name, data := range plainEvents {
		dec := decoderOf(t, name)
		ev := sse.Event{Type: sse.TypeMessage, Data: []byte(data)}
		var p Part
		dec.Decode(&ev, &p) // makes the buffers
		if !p.Evidence || p.Channel != event.Answer || len(p.Text) == 0 {
			t.Fatalf("%s: %+v", name, p)
		}
		dec.Decode(&ev, &p)
		if n := testing.AllocsPerRun(200, func() { dec.Decode(&ev, &p) }); n != 0 {
			t.Errorf("%s: %v allocations for an event", name, n)
		}
	}
}

func BenchmarkPlainEvent(b *testing.B) {
	for name, data := range plainEvents {
		b.Run(name, func(b *testing.B) {
			dec := decoderOf(b, name)
			ev := sse.Event{Type: sse.TypeMessage, Data: []byte(data)}
			var p Part
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				dec.Decode(&ev, &p)
			}
		})
	}
}
