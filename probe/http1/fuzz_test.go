package http1

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzAgainstNetHTTP has both readers read the same bytes, ours in reads of a
// given size.
func FuzzAgainstNetHTTP(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.0 200 OK\r\n\r\nhello",
		"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\nA: b\n c\n\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		chunkedHead + "5;a=\"b\"\r\nhello\r\n00\r\nA: b\r\nC:\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		chunkedHead + "5\r\nhello\r\n0\r\nA: b\n\nB: c\r\n\r\n",
		chunkedHead + "fffffffffffffffff\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"SSH-2.0-x\r\n",
	} {
		f.Add([]byte(seed), uint8(1))
		f.Add([]byte(seed), uint8(7))
	}
	f.Fuzz(func(t *testing.T, raw []byte, size uint8) {
		if len(raw) > maxTrailer/2 || strings.Count(string(raw), "\n") > maxLines {
			return // beyond limits that are ours alone
		}
		var cut []string
		for rest := string(raw); rest != ""; {
			n := min(int(size)+1, len(rest))
			cut, rest = append(cut, rest[:n]), rest[n:]
		}
		for _, method := range []string{http.MethodPost, http.MethodHead} {
			compare(t, string(raw), method, cut, []string{string(raw)})
		}
	})
}
