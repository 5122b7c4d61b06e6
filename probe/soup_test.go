package probe

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
)

// soups is how many random answers are sent.
const soups = 200

// Whatever bytes a server sends, the request ends, and what is no reply is no
// success. Where a server falls silent a limit ends it.
func TestByteSoupEnds(t *testing.T) {
	names, n := api.Names(), soups
	if testing.Short() {
		n /= 4
	}
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(i)))
			answer := soup(r)
			silent := r.IntN(8) == 0
			s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
				r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				for rest := answer; rest != ""; {
					n := min(1+r.IntN(200), len(rest))
					if _, err := io.WriteString(c, rest[:n]); err != nil {
						return false
					}
					rest = rest[n:]
				}
				if silent {
					return hang(c)
				}
				return false
			})
			cfg := config(s.url, 1)
			cfg.Targets[0].API, cfg.Targets[0].Model, cfg.GiveUp = names[i%len(names)], "tiny", true
			cfg.Limits = event.Limits{First: 150 * time.Millisecond, Idle: 150 * time.Millisecond, Total: 300 * time.Millisecond}
			all := watchUntil(t, cfg)
			ends := of[*event.End](all)
			if len(ends) == 0 {
				t.Fatal("no request ended")
			}
			tokens := len(of[*event.Token](all))
			for _, e := range ends {
				switch {
				case e.Class == "", e.Class.OK() && tokens == 0, e.Class.Failed() && e.Message == "":
					t.Errorf("%d tokens of %q are %s (%s)", tokens, answer, e.Class, e.Message)
				case strings.ContainsFunc(e.Message+e.Finish+e.Provider, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0x9b }):
					t.Errorf("control characters in %q, %q", e.Message, e.Finish)
				}
			}
		})
	}
}

// soup makes an answer of pieces that are right by themselves, of broken ones,
// and of noise.
func soup(r *rand.Rand) string {
	heads := []string{
		streamHead, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n", "HTTP/1.1 500 \xff\r\nA\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "",
		"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n", "HTTP/1.1 206 \r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
	}
	parts := []string{
		role, tok("a"), length, done, usage(1 << 40), comment, lastOne, "\r\n", "\n", "{", `{"done":true}` + "\n", `data: {"choices":[{"delta":7}]}` + "\n\n",
		`{"message":{"content":"a"},"done":false}` + "\n", "data: {\"error\":\"\x1b[2J\"}\n\n", "event: \x00\n", "ffffffffffffffff\r\n", "-1\r\n", "5;x=y\r\nhello\r\n",
		`data: {"type":"content_block_delta","delta":{"text":"a"}}` + "\n\n", `data: {"content":"a","stop":true}` + "\n\n", "<html>", strings.Repeat("[", 900),
	}
	var b strings.Builder
	b.WriteString(heads[r.IntN(len(heads))])
	for range r.IntN(30) {
		switch r.IntN(6) {
		case 0:
			for range r.IntN(40) {
				b.WriteByte(byte(r.Uint32()))
			}
		case 1:
			part := parts[r.IntN(len(parts))]
			b.WriteString(part[:r.IntN(len(part)+1)])
		case 2:
			say(&b, parts[r.IntN(len(parts))])
		default:
			part := parts[r.IntN(len(parts))]
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
		}
	}
	return b.String()
}
