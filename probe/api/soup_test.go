package api

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teapot/probe/sse"
)

// FuzzDecoders feeds lines to the decoder of every dialect, in the framing of a
// stream and in that of lines. Nothing may panic, no failure may pass for a
// success, and nothing may be shown that could control a terminal.
func FuzzDecoders(f *testing.F) {
	for _, lines := range caseObjects(f) {
		f.Add([]byte(strings.Join(lines, "\n")), uint8(3))
	}
	for _, seed := range []string{
		`{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_reason":null},"usage":{"output_tokens":-1}}`,
		`{"done":true,"total_duration":1e300,"load_duration":-5,"eval_count":"7"}`, `{"message":"x"}`, `{"message":{"content":{"a":[]}}}`,
		`{"type":"response.completed","response":[1]}`, `{"stop":true,"tokens":{},"timings":7}`, "{\"content\":\"\xff\"}", `{"th\u0069nking":"x"}`,
		strings.Repeat(`{"delta":`, 3000), `{"type":"error"}`, "[DONE]\n[DONE]",
	} {
		f.Add([]byte(seed), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, asked uint8) {
		for _, name := range Names() {
			for _, framed := range []bool{false, true} {
				text := string(data)
				if framed {
					text = "data: " + strings.ReplaceAll(text, "\n", "\n\ndata: ") + "\n\n"
				}
				soup(t, name, text, int(asked))
			}
		}
	})
}

// soup decodes a text whole and with an error at its end.
func soup(t *testing.T, name, text string, asked int) {
	dec := decoderOf(t, name)
	r := sse.NewReader(strings.NewReader(text), sse.Options{Hint: sse.NDJSON})
	var p Part
	tokens := 0
	for {
		ev, err := r.Next()
		if err != nil {
			break
		}
		dec.Decode(&ev, &p)
		if p.Evidence {
			tokens++
		}
	}
	dec.Framed(r.Format())
	res := dec.Result(asked, io.EOF)
	switch {
	case res.Class.OK() && (tokens == 0 || res.Message != ""):
		t.Fatalf("%s: %d token events and %q are %s", name, tokens, res.Message, res.Class)
	case !res.Class.OK() && res.Message == "":
		t.Fatalf("%s: %s without a message", name, res.Class)
	case strings.ContainsAny(res.Message+res.Finish+res.Provider, "\x1b\n\r\x00"):
		t.Fatalf("%s: control characters in %q %q", name, res.Message, res.Finish)
	case res.N < 0 || res.Prompt < 0 || res.Cached < 0 || res.Reasoning < 0:
		t.Fatalf("%s: %+v", name, res)
	}
	if s := res.Server; s != nil && (s.Queue < 0 || s.Prompt < 0 || s.Decode < 0 || s.Load < 0 || s.Total < 0 || s.PerToken < 0) {
		t.Fatalf("%s: %+v", name, s)
	}
	dec.Decode(&sse.Event{Type: sse.TypeError, Data: []byte(text)}, &p)
	if res := dec.Result(asked, errors.New("x")); res.Class.OK() {
		t.Fatalf("%s: %s in spite of an error", name, res.Class)
	}
}

// caseObjects are the JSON objects of every case, one a line.
func caseObjects(t testing.TB) [][]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/cases/*.fix")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases found", err)
	}
	var all [][]string
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(string(raw)) {
			if i := strings.IndexByte(line, '{'); i >= 0 {
				lines = append(lines, strings.TrimSpace(line[i:]))
			}
		}
		all = append(all, lines)
	}
	return all
}
