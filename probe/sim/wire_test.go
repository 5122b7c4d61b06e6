package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http/httputil"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFramesAreJSONInChunks: any reply, read by the standard library's chunked
// reader and JSON decoder, holds the text and the counts that went in.
func TestFramesAreJSONInChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &request{
			chat: rapid.Bool().Draw(t, "chat"), usage: rapid.Bool().Draw(t, "usage"),
			prompt: rapid.IntRange(1, 100000).Draw(t, "prompt"),
		}
		q.everyUsage = q.usage && rapid.Bool().Draw(t, "every")
		model := rapid.String().Draw(t, "model")
		f := newFramer("id", model, 7, q, true)
		var wire bytes.Buffer
		var want strings.Builder
		n := rapid.IntRange(1, 6).Draw(t, "events")
		tokens := 0
		for i := range n {
			text := rapid.StringN(0, 2000, -1).Draw(t, "text")
			want.WriteString(text)
			k := rapid.IntRange(1, 4).Draw(t, "k")
			tokens += k
			quoted, _ := json.Marshal(text)
			f.begin()
			if i == 0 && q.chat {
				f.role()
			}
			finish := ""
			if i == n-1 {
				finish = "stop"
			}
			f.tokens(quoted[1:len(quoted)-1], k, inAnswer, finish)
			if i == n-1 {
				f.last()
			}
			wire.Write(f.bytes(i == n-1))
		}
		body, err := io.ReadAll(httputil.NewChunkedReader(bufio.NewReader(&wire)))
		if err != nil {
			t.Fatalf("chunked coding: %v", err)
		}
		checkEvents(t, body, q, model, want.String(), tokens)
	})
}

func checkEvents(t *rapid.T, body []byte, q *request, model, want string, tokens int) {
	events := strings.Split(string(body), "\n\n")
	if len(events) < 3 || events[len(events)-1] != "" || events[len(events)-2] != "data: [DONE]" {
		t.Fatalf("the body ends in %q", events[max(0, len(events)-2):])
	}
	var text strings.Builder
	counted := -1
	for _, e := range events[:len(events)-2] {
		var c struct {
			Model   string
			Choices []struct {
				Text  string
				Delta struct{ Content string }
			}
			Usage *struct {
				P int `json:"prompt_tokens"`
				N int `json:"completion_tokens"`
				T int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(e, "data: ")), &c); err != nil {
			t.Fatalf("%q: %v", e, err)
		}
		if c.Model != strings.ToValidUTF8(model, "\ufffd") {
			t.Fatalf("model %q, want %q", c.Model, model)
		}
		for _, x := range c.Choices {
			text.WriteString(x.Text + x.Delta.Content)
		}
		if (c.Usage != nil) != q.everyUsage && len(c.Choices) > 0 {
			t.Fatalf("usage in %q, wanted in every event: %v", e, q.everyUsage)
		}
		if c.Usage != nil {
			if c.Usage.P != q.prompt || c.Usage.T != c.Usage.P+c.Usage.N {
				t.Fatalf("usage %+v for a prompt of %d", *c.Usage, q.prompt)
			}
			counted = c.Usage.N
		}
	}
	if text.String() != want {
		t.Fatalf("text %q, want %q", text.String(), want)
	}
	if q.usage && counted != tokens || !q.usage && counted != -1 {
		t.Fatalf("counted %d of %d tokens, usage wanted: %v", counted, tokens, q.usage)
	}
}

func TestProseIsTheText(t *testing.T) {
	p := newProse()
	var got strings.Builder
	for i, q := range p.pieces {
		got.WriteString(q.text)
		var back string
		if err := json.Unmarshal([]byte(`"`+q.escaped+`"`), &back); err != nil || back != q.text {
			t.Errorf("piece %d: %q is escaped as %q", i, q.text, q.escaped)
		}
	}
	if got.String() != strings.TrimSpace(text)+"\n\n" {
		t.Error("the pieces do not add up to the text")
	}
	words := len(strings.Fields(text))
	if len(p.pieces) < words || len(p.pieces) > words*5/4 {
		t.Errorf("%d pieces for %d words", len(p.pieces), words)
	}
	for _, s := range p.starts {
		if first := p.at(s, 0).text; first == "" || first[0] < 'A' || first[0] > 'Z' {
			t.Errorf("a reply begins with %q", first)
		}
	}
	if again := p.at(p.starts[3], len(p.pieces)); again.text != p.pieces[p.starts[3]].text {
		t.Errorf("it does not begin again: %q", again.text)
	}
}

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"words", "a b c d e f", 6},
		{"a long word", strings.Repeat("x", 40), 10},
		{"no spaces", "今日は良い天気です", 7},
		{"blanks", "   ", 1},
	} {
		if got := estimate(c.text); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPromptShapes(t *testing.T) {
	for _, c := range []struct {
		name, body string
		chat       bool
		prompt     int
	}{
		{"text", `{"prompt":"one two three"}`, false, 4},
		{"a text in a list", `{"prompt":["one two three"]}`, false, 4},
		{"ids", `{"prompt":[1,2,3,4,5]}`, false, 5},
		{"ids in a list", `{"prompt":[[1,2,3]]}`, false, 3},
		{"message", `{"messages":[{"role":"user","content":"one two"}]}`, true, 9},
		{"parts", `{"messages":[{"role":"user","content":[{"type":"text","text":"one two"},{"type":"image_url"}]}]}`, true, 9},
		{"no content", `{"messages":[{"role":"assistant","content":null}]}`, true, 7},
	} {
		q, err := parseRequest([]byte(c.body), c.chat, "m", 1000)
		if err != nil || q.prompt != c.prompt {
			t.Errorf("%s: %+v, %v; want %d tokens", c.name, q, err, c.prompt)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5}`, `{"prompt":["x"]}`,
		`{"prompt":[[1,2]],"min_tokens":-1}`, `{"prompt":[null]}`, `{"prompt":{}}`, `{"prompt":[["x"]]}`,
		`{"messages":[{}],"n":null,"seed":-1,"stream_options":null}`, `{"messages":[{"content":[null]}]}`,
		`{"prompt":"x","max_tokens":9223372036854775807}`, `null`, `[]`, `"`, `{"messages":[{"content":{}}]}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, chat bool) {
		const context = 4096
		q, err := parseRequest(body, chat, "m", context)
		if err != nil {
			if r, ok := err.(*refusal); !ok || r.status < 400 || r.text == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		if q.prompt < 1 || q.max < 1 || q.prompt+q.max > context || q.min < 0 {
			t.Fatalf("%s gives %+v", body, q)
		}
	})
}
