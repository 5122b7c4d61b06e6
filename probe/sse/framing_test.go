package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// msg is a plain event.
func msg(data string, f ...Flags) got { return typed(TypeMessage, data, f...) }

// torn is the event that tells of one cut short.
var torn = typed(TypeCut, "")

func typed(typ, data string, f ...Flags) got {
	g := got{Type: typ, Data: data}
	for _, x := range f {
		g.Flags |= x
	}
	return g
}

func withID(g got, id string) got { g.ID = id; return g }

// framing is every way of cutting a stream into events that servers are known
// to use, right or wrong.
var framing = []struct {
	name string
	body string
	want []got
}{
	{"LF", "data: {\"a\":1}\n\ndata: {\"a\":2}\n\n", []got{msg(`{"a":1}`), msg(`{"a":2}`)}},
	{"CRLF", "data: {\"a\":1}\r\n\r\ndata: {\"a\":2}\r\n\r\n", []got{msg(`{"a":1}`), msg(`{"a":2}`)}},
	{"lone CR", "data: {\"a\":1}\r\rdata: {\"a\":2}\r\r", []got{msg(`{"a":1}`), msg(`{"a":2}`)}},
	{"line ends mixed", "data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\n\r\ndata: 4\n\r", []got{msg("1"), msg("2"), msg("3"), msg("4")}},
	{"byte order mark", "\xef\xbb\xbfdata: x\n\n", []got{msg("x")}},
	{"two byte order marks: the second is of a field name", "data: a\n\n\xef\xbb\xbfdata: x\n\n", []got{msg("a")}},
	{"no space after the colon", "data:{\"a\":1}\n\n", []got{msg(`{"a":1}`)}},
	{"two spaces after the colon", "data:  x\n\n", []got{msg(" x")}},
	{"trailing blanks are data", "data: {\"a\":1} \t\n\n", []got{msg("{\"a\":1} \t")}},
	{"several data lines", "data: one\ndata: two\ndata:\ndata: four\n\n", []got{msg("one\ntwo\n\nfour")}},
	{"JSON over several data lines", "data: {\"a\":\ndata: 1}\n\n", []got{msg("{\"a\":\n1}")}},
	{"comments only", ": ping\n\n:\n:pong\n\n", []got{typed(TypeComment, "ping"), typed(TypeComment, ""), typed(TypeComment, "pong")}},
	{"comment between events", "data: 1\n\n: OPENROUTER PROCESSING\n\ndata: 2\n\n", []got{msg("1"), typed(TypeComment, "OPENROUTER PROCESSING"), msg("2")}},
	{"comment inside an event", "data: 1\n: ping\ndata: 2\n\n", []got{typed(TypeComment, "ping"), msg("1\n2")}},
	{"event and data", "event: message_start\ndata: {}\n\nevent: ping\ndata: {}\n\ndata: {}\n\n", []got{typed("message_start", "{}"), typed("ping", "{}"), msg("{}")}},
	{"data and event", "data: {}\nevent: late\n\ndata: {}\n\n", []got{typed("late", "{}"), msg("{}")}},
	{"event without data is no event", "event: ping\n\ndata: x\n\n", []got{msg("x")}},
	{"event named comment is no keep-alive", "event: comment\ndata: x\n\n", []got{msg("x")}},
	{"id and retry", "id: 7\nretry: 3000\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []got{withID(msg("a"), "7"), withID(msg("b"), "7"), msg("c")}},
	{"retry that is no number", "retry: soon\ndata: a\n\n", []got{msg("a")}},
	{"NUL in id", "id: 7\ndata: a\n\nid: 8\x009\ndata: b\n\n", []got{withID(msg("a"), "7"), withID(msg("b"), "7")}},
	{"data without colon", "data\n\ndata\ndata\n\n", []got{msg(""), msg("\n")}},
	{"empty data", "data:\n\ndata: \n\n", []got{msg(""), msg("")}},
	{"unknown fields", "data: a\nx: 1\ndatax: 2\n data: 3\nData: 4\n\n", []got{msg("a")}},
	{"blank lines in between", "\n\n\r\ndata: 1\n\n\n\n\ndata: 2\n\n\n", []got{msg("1"), msg("2")}},
	{"[DONE]", "data: 1\n\ndata: [DONE]\n\n", []got{msg("1"), msg("[DONE]")}},
	{"[DONE] with blanks, twice", "data:[DONE] \n\ndata:  [DONE]\n\n", []got{msg("[DONE] "), msg(" [DONE]")}},
	{"missing last blank line", "data: {\"a\":1}\n\ndata: {\"a\":2}\n", []got{msg(`{"a":1}`), msg(`{"a":2}`, NoTerminator)}},
	{"missing last line end", "data: {\"a\":1}\n\ndata: {\"a\":2}", []got{msg(`{"a":1}`), msg(`{"a":2}`, NoTerminator)}},
	{"[DONE] without line end", "data: 1\n\ndata: [DONE]", []got{msg("1"), msg("[DONE]", NoTerminator)}},
	{"last event with a name, not ended", "event: message_stop\ndata: {}\n", []got{typed("message_stop", "{}", NoTerminator)}},
	{"last event cut in its JSON", "data: 1\n\ndata: {\"a\":", []got{msg("1"), torn}},
	{"last event cut in its text", "data: 1\n\ndata: hel", []got{msg("1"), torn}},
	{"last event cut in its field name", "data: 1\n\ndat", []got{msg("1"), torn}},
	{"last event cut between its lines", "data: 1\n\ndata: {\ndata: \"a\":1\n", []got{msg("1"), torn}},
	{"last event cut behind its name", "data: 1\n\nevent: message\n", []got{msg("1"), torn}},
	{"last event cut in its name, a whole one before", "data: {\"a\":1}\neve", []got{msg(`{"a":1}`, NoTerminator)}},
	{"a line that is no field is no event cut short", "data: 1\n\nx", []got{msg("1")}},
	{"an id without an event is no event cut short", "data: 1\n\nid: 7", []got{msg("1")}},
	{"event named cut is none", "event: cut\ndata: x\n\n", []got{msg("x")}},
	{"comment cut short", "data: 1\n\n: pi", []got{msg("1"), typed(TypeComment, "pi", NoTerminator)}},
	{"one line end between events", "data: {\"a\":1}\ndata: {\"a\":2}\ndata: {\"a\":3}\ndata: [DONE]\n",
		[]got{msg(`{"a":1}`, NoBlankLine), msg(`{"a":2}`), msg(`{"a":3}`), msg("[DONE]")}},
	{"one line end between events, with names", "event: a\ndata: {\"a\":1}\nevent: b\ndata: {\"a\":2}\nevent: c\ndata: {\"a\":3}\n",
		[]got{typed("a", `{"a":1}`, NoBlankLine), typed("b", `{"a":2}`), typed("c", `{"a":3}`)}},
	{"one line end, then blank lines again", "data: {\"a\":1}\ndata: {\"a\":2}\n\ndata: {\"a\":3}\n\ndata: x\ndata: y\n\n",
		[]got{msg(`{"a":1}`, NoBlankLine), msg(`{"a":2}`), msg(`{"a":3}`), msg("x\ny")}},
	{"an object and a blank data line are one event", "data: {\"a\":1}\ndata:\n\n", []got{msg("{\"a\":1}\n")}},
	{"lines that are no objects are one event", "data: 1\ndata: 2\n\ndata: [1]\ndata: [2]\n\n", []got{msg("1\n2"), msg("[1]\n[2]")}},
	{"error field", "data: 1\n\nerror: {\"code\":500}\n\ndata: [DONE]\n\n", []got{msg("1"), typed(TypeError, `{"code":500}`), msg("[DONE]")}},
	{"error field, not ended", "error: {\"code\":5", []got{typed(TypeError, `{"code":5`, NoTerminator)}},
	{"error field right behind data", "data: {\"a\":1}\nerror: {\"code\":500}\n\n", []got{msg(`{"a":1}`, NoBlankLine), typed(TypeError, `{"code":500}`)}},
	{"error event", "event: error\ndata: {\"type\":\"error\"}\n\n", []got{typed("error", `{"type":"error"}`)}},
	{"bare JSON line", "data: 1\n\n{\"error\":{\"code\":503}}\ndata: [DONE]\n\n", []got{msg("1"), msg(`{"error":{"code":503}}`, Bare), msg("[DONE]")}},
	{"bare JSON over lines", "data: 1\n\n[{\n  \"error\": \"}\\\"x\"\n}\n]\n\ndata: 2\n\n", []got{msg("1"), msg("[{\n  \"error\": \"}\\\"x\"\n}\n]", Bare), msg("2")}},
	{"bare JSON without line end", "data: 1\n\n{\"error\":1}", []got{msg("1"), msg(`{"error":1}`, Bare, NoTerminator)}},
	{"bare JSON lines after a comment", ": hi\n\n{\"a\":1}\n{\"a\":2}\n", []got{typed(TypeComment, "hi"), msg(`{"a":1}`, Bare), msg(`{"a":2}`, Bare)}},
	{"bare JSON cut short", "data: 1\n\n{\"error\":", []got{msg("1"), torn}},
	{"bare JSON that never ends, then data", "data: 1\n\n{\"error\":\ndata: 2\n\n", []got{msg("1"), msg("2")}},
	{"bare JSON that never ends, then a blank line", "data: 1\n\n{\"error\":\n\ndata: 2\n\n", []got{msg("1"), msg("2")}},
	{"bare garbage in brackets", "data: 1\n\n{x}\n[y]\ndata: 2\n\n", []got{msg("1"), msg("2")}},
	{"bare [DONE]", "data: 1\n\n[DONE]\n", []got{msg("1"), msg("[DONE]", Bare)}},
	{"JSON line in front of a stream", "{\"error\":1}\n\ndata: [DONE]\n\n", []got{msg(`{"error":1}`), msg("[DONE]")}},
	{"four-byte character", "data: {\"c\":\"\U0001f600\"}\n\n", []got{msg("{\"c\":\"\U0001f600\"}")}},
	{"U+2028, U+2029, U+0085, VT and FF end no line", "data: {\"c\":\"a\u2028b\u2029c\u0085d\v\fe\"}\n\n", []got{msg("{\"c\":\"a\u2028b\u2029c\u0085d\v\fe\"}")}},
	{"invalid UTF-8 stays", "data: \xff\xc3\x28\xe4\xbd\n\n", []got{msg("\xff\xc3\x28\xe4\xbd")}},
	{"NUL in data", "data: a\x00b\n\n", []got{msg("a\x00b")}},
	{"line of 70 KB", "data: " + strings.Repeat("x", 70_000) + "\n\ndata: 1\n\n", []got{msg(strings.Repeat("x", 70_000)), msg("1")}},
	{"keep-alive blanks before the first event", " \n\t\r\n  data: x\n\n", []got{msg("x")}},
}

func TestFraming(t *testing.T) {
	for _, c := range framing {
		t.Run(c.name, func(t *testing.T) {
			want := outcome{Events: c.want, Err: "EOF", Format: SSE}
			check := func(how string, src io.Reader) {
				t.Helper()
				got := run(t, src, len(c.body), Options{})
				got.Reads = nil
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", how, d)
				}
			}
			check("in one read", whole(c.body))
			check("byte by byte", bytewise(c.body))
			check("the end with the last bytes", &cuts{pieces: []string{c.body}, err: io.EOF, early: true})
			if len(c.body) > 1000 {
				return
			}
			for i := range len(c.body) {
				check("in two reads", &cuts{pieces: []string{c.body[:i], c.body[i:]}, err: io.EOF})
			}
		})
	}
}

// A body that breaks off is told apart from one that ends, and what came whole
// before is delivered.
func TestBrokenBody(t *testing.T) {
	body := "data: {\"a\":1}\n\ndata: {\"a\":2}"
	out := run(t, &cuts{pieces: []string{body}, err: io.ErrUnexpectedEOF}, len(body), Options{})
	want := outcome{Events: []got{msg(`{"a":1}`), msg(`{"a":2}`, NoTerminator)}, Err: io.ErrUnexpectedEOF.Error(), Format: SSE, Reads: []uint64{1, 1}}
	if d := cmp.Diff(want, out); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestLineOfTwoMegabytes(t *testing.T) {
	big := strings.Repeat("0123456789", 200_000)
	body := "data: 1\n\ndata: " + big + "\n\ndata: 2\n\n"
	src := &cuts{err: io.EOF}
	for i := 0; i < len(body); i += 1460 {
		src.pieces = append(src.pieces, body[i:min(i+1460, len(body))])
	}
	r := NewReader(src, Options{})
	for _, want := range []string{"1", big, "2"} {
		ev, err := r.Next()
		if err != nil || string(ev.Data) != want {
			t.Fatalf("%d bytes, %v; want %d bytes", len(ev.Data), err, len(want))
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	if len(r.buf) != bufferSize || cap(r.stream.out) > bufferSize || cap(r.stream.data) > bufferSize {
		t.Errorf("buffers of %d, %d and %d bytes stay", len(r.buf), cap(r.stream.out), cap(r.stream.data))
	}
}
