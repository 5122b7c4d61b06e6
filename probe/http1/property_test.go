package http1

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// answer draws an answer, most of the time one that is well formed.
func answer(t *rapid.T) (raw string, payload string) {
	var b strings.Builder
	for range rapid.IntRange(0, 2).Draw(t, "1xx") {
		b.WriteString("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
	}
	proto := rapid.SampledFrom([]string{"HTTP/1.1", "HTTP/1.1", "HTTP/1.0"}).Draw(t, "proto")
	status := rapid.SampledFrom([]int{200, 200, 200, 204, 304, 404, 503}).Draw(t, "status")
	fmt.Fprintf(&b, "%s %d Reason\r\n", proto, status)
	for range rapid.IntRange(0, 3).Draw(t, "lines") {
		b.WriteString(rapid.SampledFrom([]string{
			"Content-Type: text/event-stream\r\n", "X-A: b\r\n folded\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n", "Date: x\n", "X-Empty:\r\n",
		}).Draw(t, "line"))
	}
	parts := rapid.SliceOfN(rapid.StringMatching(`[a-z\r\n:{}]{1,40}`), 0, 6).Draw(t, "parts")
	payload = strings.Join(parts, "")
	switch rapid.IntRange(0, 2).Draw(t, "framing") {
	case 0:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(payload), payload)
	case 1:
		b.WriteString("\r\n" + payload)
	default:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for _, part := range parts {
			ext := rapid.SampledFrom([]string{"", "", ";a=b", " ", "\t"}).Draw(t, "extension")
			fmt.Fprintf(&b, "%x%s\r\n%s\r\n", len(part), ext, part)
		}
		b.WriteString("0\r\n" + rapid.SampledFrom([]string{"", "", "A: b\r\n", "A: b\r\nC: d\r\n e\r\n"}).Draw(t, "trailer") + "\r\n")
	}
	return b.String(), payload
}

// cutUp cuts a string at random places.
func cutUp(t *rapid.T, s string) (parts []string) {
	for s != "" {
		n := min(rapid.IntRange(1, 60).Draw(t, "cut"), len(s))
		parts, s = append(parts, s[:n]), s[n:]
	}
	return parts
}

// Whatever the reads, and whatever is wrong with the bytes, both readers see
// the same.
func TestAgreesOnWhateverIsDrawn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw, _ := answer(rt)
		switch rapid.IntRange(0, 3).Draw(rt, "damage") {
		case 0: // cut short
			raw = raw[:rapid.IntRange(0, len(raw)).Draw(rt, "end")]
		case 1: // a byte replaced
			at := rapid.IntRange(0, len(raw)-1).Draw(rt, "at")
			raw = raw[:at] + string(rapid.SampledFrom([]byte("\r\n :;0fz\x00")).Draw(rt, "byte")) + raw[at+1:]
		case 2: // followed by another one
			next, _ := answer(rt)
			raw += next
		}
		compare(rt, raw, http.MethodPost, cutUp(rt, raw), strings.Split(raw, ""))
	})
}

// No Read waits while payload that came is not handed out, and none hands out
// what two reads of the connection brought.
func TestEveryReadHandsOutOneRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var reads, origin []string
		parts := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,30}`), 1, 8).Draw(rt, "parts")
		var wire strings.Builder
		for _, p := range parts {
			fmt.Fprintf(&wire, "%x\r\n%s\r\n", len(p), p)
		}
		reads = append(cutUp(rt, wire.String()), "0\r\n\r\n")
		origin = payloads(reads)
		src := &pieces{left: append([]string{chunkedHead}, reads...)}
		got, begun := "", false
		src.before = func() {
			if !begun {
				return
			}
			came := strings.Join(origin[:len(reads)-len(src.left)], "")
			if got != came {
				rt.Fatalf("waits with %q handed out of %q", got, came)
			}
		}
		resp, err := NewConn(src).Response(&http.Request{Method: http.MethodPost})
		if err != nil {
			rt.Fatal(err)
		}
		begun = true
		room := make([]byte, rapid.IntRange(1, 50).Draw(rt, "room"))
		for {
			n, err := resp.Body.Read(room)
			last := len(reads) - len(src.left) - 1
			if n > 0 && !strings.Contains(origin[last], string(room[:n])) {
				rt.Fatalf("%q is not all of the read that brought %q", room[:n], origin[last])
			}
			got += string(room[:n])
			if err == io.EOF {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		if got != strings.Join(parts, "") {
			rt.Fatalf("%q, want %q", got, parts)
		}
	})
}

// payloads is what each read brings of a chunked body's payload.
func payloads(reads []string) (out []string) {
	var k chunks
	for _, r := range reads {
		room := make([]byte, len(r))
		n, _, _ := k.decode(room, []byte(r))
		out = append(out, string(room[:n]))
	}
	return out
}
