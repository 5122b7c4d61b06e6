package sse

import (
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	gosse "github.com/tmaxmax/go-sse"
	"pgregory.net/rapid"
)

// bits are what streams are made of, whole, broken and mixed up.
var bits = []string{
	"data: ", "data:", "data", "event: ", "event", "id: ", "retry: ", "error: ", ":", ": ", "x: ",
	"\n", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\r\r", " ", "\t", "\x00", "\xef\xbb\xbf", "\v", "\f", "\u2028", "\u0085",
	"{}", "{\"a\":1}", "{\"a\":", "\"b\\\"}\"", "}", "{", "[", "]", "[DONE]", "[1,2]", ",", "1", "null", "\"", "\\",
	"ping", "message", "comment", "\xff\xc3", "\U0001f600", "<html>", "hello",
	strings.Repeat("long", 20),
}

func drawBody(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 40).Draw(t, "body"), "")
}

// cutUp cuts a body at random, empty reads included.
func cutUp(t *rapid.T, body string) (pieces []string) {
	for body != "" {
		n := rapid.IntRange(0, min(len(body), 20)).Draw(t, "cut")
		if n == 0 && rapid.Bool().Draw(t, "whole rest") {
			n = len(body)
		}
		pieces = append(pieces, body[:n])
		body = body[n:]
	}
	return pieces
}

// What a body gives does not depend on how it is cut into reads: not the
// events, nor their flags, the error or the format.
func TestIndependentOfReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := drawBody(t)
		opt := Options{
			Max:   rapid.SampledFrom([]int{0, 10, 30, 100}).Draw(t, "max"),
			Hint:  rapid.SampledFrom([]Format{Unknown, SSE, NDJSON, JSON}).Draw(t, "hint"),
			Force: rapid.SampledFrom([]Format{Unknown, Unknown, SSE, NDJSON}).Draw(t, "force"),
		}
		end := rapid.SampledFrom([]error{io.EOF, io.ErrUnexpectedEOF}).Draw(t, "end")
		size := len(body) + 1
		want := run(t, &cuts{pieces: []string{body}, err: end}, size, opt)
		for how, src := range map[string]*cuts{
			"byte by byte":               {pieces: single(body), err: end},
			"at random":                  {pieces: cutUp(t, body), err: end},
			"the end with the last read": {pieces: cutUp(t, body), err: end, early: true},
		} {
			out := run(t, src, size, opt)
			last := uint64(1)
			for i, n := range out.Reads {
				if out.Events[i].Type == TypeComment {
					continue // one inside an event may have come after its data
				}
				if n < last {
					t.Fatalf("%s: ordinals go back: %v", how, out.Reads)
				}
				last = n
			}
			out.Reads, want.Reads = nil, nil
			if d := cmp.Diff(want, out); d != "" {
				t.Fatalf("%q %s (-in one read +cut):\n%s", body, how, d)
			}
		}
	})
}

// A reader used again has forgotten the body before.
func TestReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewReader(&cuts{err: io.EOF}, Options{})
		for range 3 {
			body := drawBody(t)
			want := run(t, &cuts{pieces: []string{body}, err: io.EOF}, len(body)+1, Options{})
			r.Reset(&cuts{pieces: []string{body}, err: io.EOF}, Options{})
			out := drain(t, r, len(body)+1)
			if d := cmp.Diff(want, out); d != "" {
				t.Fatalf("%q (-new +used):\n%s", body, d)
			}
		}
	})
}

// A stream by the book is read as another implementation reads it. The bodies
// keep to what the standard defines and leave out where the two differ on
// purpose: we deliver an event that the end of the body left without its blank
// line if it is whole, comments, error fields and bare JSON, we divide data
// lines that are whole objects, and deliver nothing for an event or id field
// without data, where the other delivers an empty event.
func TestAgreesWithGoSSE(t *testing.T) {
	text := rapid.StringMatching(`[ a-z0-9:é\x{1F600}\x{2028}\x{85}\x0b\x0c"{}\[\],]{0,30}`)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		line := func(s string) {
			ends := []string{"\n", "\r\n", "\r"}
			if s == "" && strings.HasSuffix(b.String(), "\r") {
				ends = ends[1:] // an LF would belong to the CR before it
			}
			b.WriteString(s + rapid.SampledFrom(ends).Draw(t, "eol"))
		}
		if rapid.Bool().Draw(t, "bom") {
			b.WriteString("\xef\xbb\xbf")
		}
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			for range rapid.IntRange(0, 2).Draw(t, "comments") {
				line(": " + text.Draw(t, "comment"))
			}
			if rapid.Bool().Draw(t, "named") {
				line("event: " + rapid.SampledFrom([]string{"a", "message_stop", " x"}).Draw(t, "name"))
			}
			if rapid.Bool().Draw(t, "with id") {
				line("id: " + text.Draw(t, "id"))
			}
			if rapid.Bool().Draw(t, "with retry") {
				line("retry: 100")
			}
			for i := range rapid.IntRange(1, 3).Draw(t, "data lines") {
				d := text.Draw(t, "data")
				if i == 0 && strings.HasPrefix(d, "{") {
					d = "x" + d // no JSON object
				}
				line(rapid.SampledFrom([]string{"data:", "data: "}).Draw(t, "data field") + d)
			}
			if rapid.Bool().Draw(t, "unknown field") {
				line("unknown: " + text.Draw(t, "value"))
			}
			line("")
		}
		body := b.String()

		var want []got
		for ev, err := range gosse.Read(strings.NewReader(body), &gosse.ReadConfig{MaxEventSize: 1 << 20}) {
			if err != nil {
				t.Fatalf("the oracle fails on %q: %v", body, err)
			}
			if ev.Type == "" {
				ev.Type = TypeMessage
			}
			want = append(want, got{Type: ev.Type, Data: ev.Data, ID: ev.LastEventID})
		}
		out := run(t, &cuts{pieces: cutUp(t, body), err: io.EOF}, len(body), Options{Force: SSE})
		out.Events = slices.DeleteFunc(out.Events, func(g got) bool { return g.Type == TypeComment })
		if len(out.Events) == 0 {
			out.Events = nil
		}
		if d := cmp.Diff(want, out.Events); d != "" {
			t.Fatalf("%q (-go-sse +ours):\n%s", body, d)
		}
		if out.Err != "EOF" || !utf8.ValidString(body) {
			t.Fatalf("%q: %s", body, out.Err)
		}
	})
}
