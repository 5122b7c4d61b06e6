package sse

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bodies are replies of every format, told apart by their bytes alone unless a
// hint is given.
var bodies = []struct {
	name string
	body string
	opt  Options
	want outcome
}{
	{"empty", "", Options{}, outcome{Err: "EOF"}},
	{"blank", " \r\n\t\n", Options{}, outcome{Err: "EOF"}},
	{"byte order mark only", "\xef\xbb\xbf", Options{}, outcome{Err: "EOF"}},
	{"half a byte order mark", "\xef\xbb", Options{}, outcome{[]got{typed(TypeText, "\xef\xbb")}, "EOF", Text, nil}},
	{"stream that starts with a comment", ": x\n\n", Options{}, outcome{[]got{typed(TypeComment, "x")}, "EOF", SSE, nil}},
	{"stream that starts with an event", "event: x\ndata: y\n\n", Options{}, outcome{[]got{typed("x", "y")}, "EOF", SSE, nil}},
	{"stream that starts with an id", "id: 1\n\n", Options{}, outcome{nil, "EOF", SSE, nil}},
	{"stream that starts with a retry", "retry: 1\n\n", Options{}, outcome{nil, "EOF", SSE, nil}},
	{"stream that starts with an error", "error: {}\n\n", Options{}, outcome{[]got{typed(TypeError, "{}")}, "EOF", SSE, nil}},
	{"a field name is all there is", "data", Options{}, outcome{[]got{torn}, "EOF", SSE, nil}},
	{"a word that begins like a field", "database is down", Options{}, outcome{[]got{typed(TypeText, "database is down")}, "EOF", Text, nil}},
	{"the beginning of a field name is all there is", "dat", Options{}, outcome{[]got{typed(TypeText, "dat")}, "EOF", Text, nil}},
	{"stream of unknown fields, by its hint", "x: 1\n\ndata: y\n\n", Options{Hint: SSE}, outcome{[]got{msg("y")}, "EOF", SSE, nil}},
	{"no stream in spite of its hint", "<html>", Options{Hint: SSE}, outcome{[]got{typed(TypeText, "<html>")}, "EOF", HTML, nil}},
	{"forced stream", "<x\ndata: y\n\n", Options{Force: SSE}, outcome{[]got{msg("y")}, "EOF", SSE, nil}},
	{"forced stream with a byte order mark", "\xef\xbb\xbfdata: y\n\n", Options{Force: SSE}, outcome{[]got{msg("y")}, "EOF", SSE, nil}},

	{"lines of JSON", "{\"a\":1}\n{\"a\":2}\n", Options{}, outcome{[]got{msg(`{"a":1}`), msg(`{"a":2}`)}, "EOF", NDJSON, nil}},
	{"lines of JSON, CRLF, blank lines", "\n{\"a\":1}\r\n\r\n \n{\"a\":2}\r\n", Options{}, outcome{[]got{msg(`{"a":1}`), msg(`{"a":2}`)}, "EOF", NDJSON, nil}},
	{"lines of JSON, the last not ended", "{\"a\":1}\n{\"a\":2}", Options{}, outcome{[]got{msg(`{"a":1}`), msg(`{"a":2}`, NoTerminator)}, "EOF", NDJSON, nil}},
	{"lines of JSON, the last cut", "{\"a\":1}\n{\"a\":", Options{}, outcome{[]got{msg(`{"a":1}`), torn}, "EOF", NDJSON, nil}},
	{"lines of JSON by their hint, the last cut", "{\"a\":1}\n{\"a\":", Options{Hint: NDJSON}, outcome{[]got{msg(`{"a":1}`), torn}, "EOF", NDJSON, nil}},
	{"a broken line among lines of JSON", "{\"a\":1}\n{oops\n{\"a\":2}\n", Options{}, outcome{[]got{msg(`{"a":1}`), msg("{oops"), msg(`{"a":2}`)}, "EOF", NDJSON, nil}},
	{"lines of JSON under the type of a stream", "{\"a\":1}\n{\"a\":2}\n", Options{Hint: SSE}, outcome{[]got{msg(`{"a":1}`), msg(`{"a":2}`)}, "EOF", NDJSON, nil}},
	{"stream under the type of JSON", "data: 1\n\n", Options{Hint: JSON}, outcome{[]got{msg("1")}, "EOF", SSE, nil}},
	{"a CR in a line is no line end", "{\"a\":\r1}\n{\"a\":2}\n", Options{}, outcome{[]got{msg("{\"a\":\r1}"), msg(`{"a":2}`)}, "EOF", NDJSON, nil}},
	{"lines that are numbers, by the hint", "1\n2\n", Options{Hint: NDJSON}, outcome{[]got{msg("1"), msg("2")}, "EOF", NDJSON, nil}},
	{"forced lines", "data: 1\nx\n", Options{Force: NDJSON}, outcome{[]got{msg("data: 1"), msg("x")}, "EOF", NDJSON, nil}},

	{"a document", "{\"error\":\"x\"}", Options{}, outcome{[]got{msg(`{"error":"x"}`)}, "EOF", JSON, nil}},
	{"a document with a line end", "{\"error\":\"x\"}\n", Options{}, outcome{[]got{msg(`{"error":"x"}`)}, "EOF", JSON, nil}},
	{"a document over lines", "{\n  \"error\": {\n    \"m\": \"}\\\"\\\\\"\n  }\n}\n", Options{}, outcome{[]got{msg("{\n  \"error\": {\n    \"m\": \"}\\\"\\\\\"\n  }\n}")}, "EOF", JSON, nil}},
	{"two documents over lines", "{\n\"a\":1}\n{\n\"a\":2}", Options{}, outcome{[]got{msg("{\n\"a\":1}"), msg("{\n\"a\":2}")}, "EOF", JSON, nil}},
	{"a document cut short", "{\"error\":\"x", Options{}, outcome{[]got{torn}, "EOF", JSON, nil}},

	{"an array", "[{\"a\":1}\n,\r\n{\"a\":[2,\"]\"]}\n]", Options{}, outcome{[]got{msg(`{"a":1}`), msg(`{"a":[2,"]"]}`)}, "EOF", Array, nil}},
	{"an array of an error", "[{\n  \"error\": {\n    \"code\": 503\n  }\n}\n]\n", Options{}, outcome{[]got{msg("{\n  \"error\": {\n    \"code\": 503\n  }\n}")}, "EOF", Array, nil}},
	{"an array of this and that", "[1,\"a,]\",null , [2]]{\"a\":1}", Options{}, outcome{[]got{msg("1"), msg("\"a,]\""), msg("null"), msg("[2]")}, "EOF", Array, nil}},
	{"an array cut short", "[{\"a\":1},{\"a\":", Options{}, outcome{[]got{msg(`{"a":1}`), torn}, "EOF", Array, nil}},
	{"an array cut between its elements", "[{\"a\":1}\n,", Options{}, outcome{[]got{msg(`{"a":1}`), torn}, "EOF", Array, nil}},
	{"an empty array", "[]", Options{}, outcome{nil, "EOF", Array, nil}},

	{"HTML", "\n<!DOCTYPE html>\n<title>502</title>", Options{}, outcome{[]got{typed(TypeText, "<!DOCTYPE html>\n<title>502</title>")}, "EOF", HTML, nil}},
	{"text", "upstream request timeout", Options{}, outcome{[]got{typed(TypeText, "upstream request timeout")}, "EOF", Text, nil}},
	{"text without an end in sight", strings.Repeat("x", 3*textSize), Options{}, outcome{[]got{typed(TypeText, strings.Repeat("x", textSize))}, "EOF", Text, nil}},
}

func TestFormats(t *testing.T) {
	for _, c := range bodies {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, src io.Reader) {
				t.Helper()
				out := run(t, src, len(c.body)+1, c.opt)
				out.Reads = nil
				if d := cmp.Diff(c.want, out); d != "" {
					t.Errorf("%s (-want +got):\n%s", how, d)
				}
			}
			check("in one read", whole(c.body))
			check("byte by byte", bytewise(c.body))
			check("the end with the last bytes", &cuts{pieces: []string{c.body}, err: io.EOF, early: true})
		})
	}
}

func TestFormatIsKnownAsSoonAsItCanBe(t *testing.T) {
	for _, c := range []struct {
		first string
		want  Format
	}{
		{": ping\n\n", SSE}, {"data: 1\n\n", SSE}, {"{\"a\":1}\n", NDJSON}, {"[{}", Array},
	} {
		r := NewReader(&cuts{pieces: []string{c.first}, err: io.EOF}, Options{})
		if r.Format() != Unknown {
			t.Errorf("%q: %v before anything was read", c.first, r.Format())
		}
		if _, err := r.Next(); err != nil || r.Format() != c.want {
			t.Errorf("%q: %v, %v; want %v", c.first, r.Format(), err, c.want)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for in, want := range map[string]Format{
		"text/event-stream":                SSE,
		"text/event-stream; charset=utf-8": SSE,
		"Text/Event-Stream;charset=UTF-8":  SSE,
		"text/event-stream; ;bad":          SSE,
		"application/x-ndjson":             NDJSON,
		"application/jsonl":                NDJSON,
		"application/json; charset=utf-8":  JSON,
		"application/problem+json":         JSON,
		"text/html":                        HTML,
		"text/plain; charset=utf-8":        Text,
		"application/octet-stream":         Unknown,
		"":                                 Unknown,
	} {
		if got := FormatOf(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	if s := (NoTerminator | Bare).String(); s != "no terminator+bare" {
		t.Error(s)
	}
	if s := Flags(0).String(); s != "" {
		t.Error(s)
	}
	if SSE.String() != "SSE" || Array.String() != "JSON array" || Format(99).String() != "unknown" {
		t.Error(SSE, Array, Format(99))
	}
}

// What exceeds the cap is refused with an error of its own, which names the
// cap, however it arrives; what fits exactly is not.
func TestTooLong(t *testing.T) {
	long, fits := strings.Repeat("x", 95), strings.Repeat("x", 94)
	for _, c := range []struct {
		name, body string
		events     int
		ok         bool
	}{
		{"line that just fits", "data: " + fits + "\n\n", 1, true},
		{"line", "data: 1\n\ndata: " + long + "\n\ndata: 2\n\n", 1, false},
		{"line without an end", "data: 1\n\ndata: " + long + fits, 1, false},
		{"last line", "data: 1\n\ndata: " + long, 1, false},
		{"comment", ":" + fits + long + "\n\n", 0, false},
		{"data over several lines", "data: 1\n\ndata: " + fits + "\ndata: 123456\n\n", 1, false},
		{"data over several lines that just fits", "data: " + fits + "\ndata: 12345\n\n", 1, true},
		{"line of JSON", "{\"a\":1}\n{\"a\":\"" + long + "\"}\n", 1, false},
		{"first line of JSON", "{\"a\":\"" + long + "\"}\n", 0, false},
		{"document", "{\n\"a\":\"" + long + "\"}\n", 0, false},
		{"array element", "[1,\"" + long + "xxxx\"]", 1, false},
		{"array of many", "[" + strings.Repeat("\"xxxxxxxx\",", 50) + "1]", 51, true},
		{"bare JSON", "data: 1\n\n{\n\"" + fits + "\":\n\"" + fits + "\"}\n\n", 1, false},
	} {
		for how, src := range map[string]io.Reader{"in one read": whole(c.body), "byte by byte": bytewise(c.body)} {
			r := NewReader(src, Options{Max: 100})
			n := 0
			var err error
			for ; ; n++ {
				if _, err = r.Next(); err != nil {
					break
				}
			}
			if n != c.events {
				t.Errorf("%s, %s: %d events, want %d", c.name, how, n, c.events)
			}
			if c.ok != errors.Is(err, io.EOF) || c.ok == errors.Is(err, ErrTooLong) {
				t.Errorf("%s, %s: %v", c.name, how, err)
			}
			if !c.ok && !strings.Contains(err.Error(), "100 bytes") {
				t.Errorf("%s: the cap is not named: %v", c.name, err)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("%s: %v, then %v", c.name, err, again)
			}
		}
	}
}

// Beyond the default cap nothing more is read or kept.
func TestTooLongByDefault(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader("data: "), endless{}), Options{})
	_, err := r.Next()
	if !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), "16777216") {
		t.Fatal(err)
	}
	if len(r.buf) > DefaultMax+bufferSize {
		t.Errorf("a buffer of %d bytes", len(r.buf))
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
