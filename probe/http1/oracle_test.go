package http1

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reading is what came of one answer.
type reading struct {
	Head    string // "" or "refused", "cut": what is wrong with it
	Proto   string
	Status  int
	Length  int64
	Header  http.Header
	Body    string
	End     string // of the body: "", "cut" or "refused"
	Trailer http.Header
	Rest    string // what is left on the connection, if all was well
	Keep    bool   // and whether that may carry another request
}

// wrong puts an error into one of the three words.
func wrong(err error) string {
	switch {
	case err == nil, err == io.EOF:
		return ""
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "unexpected EOF"):
		return "cut"
	}
	return "refused"
}

// oracle reads with net/http.
func oracle(raw, method string) reading {
	src := strings.NewReader(raw)
	buffered := bufio.NewReaderSize(src, 64<<10)
	req := &http.Request{Method: method}
	for range maxInformational + 1 {
		resp, err := http.ReadResponse(buffered, req)
		if err != nil {
			return reading{Head: wrong(err)}
		}
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return reading{Head: "refused"} // nobody asked for it
		case resp.StatusCode/100 == 1:
			continue
		}
		out := of(resp)
		if out.End != "" {
			return out
		}
		rest, _ := io.ReadAll(buffered)
		out.Rest = string(rest)
		out.Keep = !resp.Close && len(rest) == 0
		return out
	}
	return reading{Head: "refused"}
}

// of reads the body of an answer to its end.
func of(resp *http.Response) reading {
	content, err := io.ReadAll(resp.Body)
	out := reading{
		Proto: resp.Proto, Status: resp.StatusCode, Length: resp.ContentLength,
		Header: resp.Header, Body: string(content), End: wrong(err),
	}
	if err == nil && len(resp.Trailer) > 0 {
		out.Trailer = resp.Trailer
	}
	return out
}

// pieces is a connection whose reads bring the bytes piece by piece, each whole
// if there is room, and whose end comes alone.
type pieces struct {
	left   []string
	before func() // called before every read
	wrote  []string
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.before != nil {
		p.before()
	}
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
	}
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error) {
	p.wrote = append(p.wrote, string(b))
	return len(b), nil
}

// ours reads with this package, the bytes cut into reads.
func ours(cut []string, method string) reading {
	src := &pieces{left: slices.DeleteFunc(slices.Clone(cut), func(s string) bool { return s == "" })}
	c := NewConn(src)
	c.reusable = false
	resp, err := c.Response(&http.Request{Method: method})
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF // net/http's parser makes no difference
		}
		return reading{Head: wrong(err)}
	}
	out := of(resp)
	if out.End == "" {
		out.Rest = string(c.buf[c.r:c.w]) + strings.Join(src.left, "")
		out.Keep = c.Reusable() && len(src.left) == 0
	}
	return out
}

// failer is a test of any kind.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// compare has both readers read the same bytes, ours in each of the given ways
// to cut them, and returns what net/http saw.
func compare(t failer, raw, method string, cuts ...[]string) reading {
	t.Helper()
	want := oracle(raw, method)
	for _, cut := range cuts {
		got := ours(cut, method)
		switch {
		case want.Head == "refused" && got.Head == "cut":
			continue // a line that the end cut short is taken for a whole one there
		case want.End != "" && got.End != "", want.End == "" && got.End == "refused" && badTrailer(raw):
			// Which of two things wrong is met first may differ, and so may
			// what came before; that there is one may not.
			want, got := want, got
			want.End, got.End, want.Trailer, want.Rest, want.Keep = "", "", nil, "", false
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%.300q (-net/http +ours):\n%s", raw, d)
			}
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%.300q (-net/http +ours):\n%s", raw, d)
		}
	}
	return want
}

// badTrailer tells whether bytes may hold a trailer that this reader refuses
// and net/http does not: one with a line that a line feed alone ends.
func badTrailer(raw string) bool {
	return strings.Count(raw, "\n") > strings.Count(raw, "\r\n")
}

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestAgreesWithNetHTTP: whatever is taken or refused, net/http does the same.
// The wanted words say it once more, so that a mistake of the test is seen.
func TestAgreesWithNetHTTP(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name string
		raw  string
		head string // wanted
		body string
		end  string
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "", "hello", ""},
		{"length and more behind", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 ", "", "hello", ""},
		{"length of nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", "", ""},
		{"length, cut", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "", "hell", "cut"},
		{"length with blanks", "HTTP/1.1 200 OK\r\nContent-Length:  \t5 \r\n\r\nhello", "", "hello", ""},
		{"length twice the same", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "", "hello", ""},
		{"lengths that differ", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "refused", "", ""},
		{"lengths in one line", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", "refused", "", ""},
		{"length below zero", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "refused", "", ""},
		{"length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "refused", "", ""},
		{"length in hexadecimal", "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", "refused", "", ""},
		{"length beyond all", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello", "refused", "", ""},
		{"length without digits", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nhello", "refused", "", ""},
		{"until the end", "HTTP/1.1 200 OK\r\n\r\nhello", "", "hello", ""},
		{"until the end, 1.0", "HTTP/1.0 200 OK\r\n\r\nhello", "", "hello", ""},
		{"1.0 knows no chunks", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", "5\r\nhello\r\n0\r\n\r\n", ""},
		{"1.0 kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"1.1 closed", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"chunks", chunkedHead + "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "", "hello!", ""},
		{"chunks and more behind", chunkedHead + "5\r\nhello\r\n0\r\n\r\nHTTP/1.1", "", "hello", ""},
		{"chunks outrank a length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", "hello", ""},
		{"chunks do not mend a wrong length", "HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "refused", "", ""},
		{"chunks in capitals", "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n", "", "0123456789", ""},
		{"another encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "refused", "", ""},
		{"two encodings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "refused", "", ""},
		{"encoding twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "refused", "", ""},
		{"identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhi", "refused", "", ""},
		{"extensions", chunkedHead + "5;a=b;c=\"d\"\r\nhello\r\n0;last\r\n\r\n", "", "hello", ""},
		{"blanks behind a size", chunkedHead + "5 \t\r\nhello\r\n0\r\n\r\n", "", "hello", ""},
		{"blanks before an extension", chunkedHead + "5 ;x\r\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"zeros in front", chunkedHead + "0000000000000005\r\nhello\r\n000\r\n\r\n", "", "hello", ""},
		{"a size of 17 digits", chunkedHead + "00000000000000005\r\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"the largest size", chunkedHead + "ffffffffffffffff\r\nhello", "", "hello", "cut"},
		{"a size below zero", chunkedHead + "-5\r\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"no size", chunkedHead + "\r\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"a size that is none", chunkedHead + "0x5\r\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"a size ended by LF alone", chunkedHead + "5\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"a CR in a size line", chunkedHead + "5;\r \r\nhello\r\n0\r\n\r\n", "", "", "refused"},
		{"a chunk ended by LF alone", chunkedHead + "5\r\nhello\n0\r\n\r\n", "", "hello", "refused"},
		{"a chunk longer than it says", chunkedHead + "5\r\nhello!\r\n0\r\n\r\n", "", "hello", "refused"},
		{"a chunk, cut", chunkedHead + "5\r\nhel", "", "hel", "cut"},
		{"cut behind a chunk", chunkedHead + "5\r\nhello", "", "hello", "cut"},
		{"cut in the end of a chunk", chunkedHead + "5\r\nhello\r", "", "hello", "cut"},
		{"cut between chunks", chunkedHead + "5\r\nhello\r\n", "", "hello", "cut"},
		{"cut in a size", chunkedHead + "5\r\nhello\r\n1", "", "hello", "cut"},
		{"cut before the trailer", chunkedHead + "5\r\nhello\r\n0\r\n", "", "hello", "cut"},
		{"cut in the trailer's end", chunkedHead + "5\r\nhello\r\n0\r\n\r", "", "hello", "cut"},
		{"trailer", chunkedHead + "5\r\nhello\r\n0\r\nA: b\r\nA: c\r\nX-Y:  z \r\n\r\n", "", "hello", ""},
		{"trailer announced", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\nA: b\r\n\r\n", "", "", ""},
		{"trailer over two lines", chunkedHead + "0\r\nA: b\r\n c\r\n\r\n", "", "", ""},
		{"trailer without a colon", chunkedHead + "2\r\nhi\r\n0\r\nA b\r\n\r\n", "", "hi", "refused"},
		{"a size line as long as may be", chunkedHead + "1;" + long(maxSizeLine-2) + "\r\nx\r\n0\r\n\r\n", "", "x", ""},
		{"a size line too long", chunkedHead + "1;" + long(maxSizeLine-1) + "\r\nx\r\n0\r\n\r\n", "", "", "refused"},
		{"bytes one by one", chunkedHead + strings.Repeat("1\r\nx\r\n", 5000) + "0\r\n\r\n", "", long(5000), ""},
		{"padding", chunkedHead + strings.Repeat("1;"+long(998)+"\r\nx\r\n", 16) + "0\r\n\r\n", "", long(16), ""},
		{"more padding than that", chunkedHead + strings.Repeat("1;"+long(998)+"\r\nx\r\n", 20) + "0\r\n\r\n", "", long(16), "refused"},
		{"no body with 204", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "", "", ""},
		{"no body with 304", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "", "", ""},
		{"1xx before", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"1xx with a length before", "HTTP/1.1 102 Processing\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"five 1xx", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 5) + "HTTP/1.1 200 OK\r\n\r\n", "", "", ""},
		{"six 1xx", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 6) + "HTTP/1.1 200 OK\r\n\r\n", "refused", "", ""},
		{"1xx and the end", "HTTP/1.1 100 Continue\r\n\r\n", "cut", "", ""},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes", "refused", "", ""},
		{"LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "", "hi", ""},
		{"folded", "HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n d\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"folded with nothing", "HTTP/1.1 200 OK\r\nA: b\r\n \r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"folded at once", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "refused", "", ""},
		{"no colon", "HTTP/1.1 200 OK\r\nA b\r\n\r\n", "refused", "", ""},
		{"no name", "HTTP/1.1 200 OK\r\n: b\r\n\r\n", "refused", "", ""},
		{"a blank in a name", "HTTP/1.1 200 OK\r\nA b: c\r\nContent-Length: 0\r\n\r\n", "", "", ""},
		{"a zero byte", "HTTP/1.1 200 OK\r\nA: b\x00c\r\nContent-Length: 0\r\n\r\n", "refused", "", ""},
		{"no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "", "hi", ""},
		{"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "refused", "", ""},
		{"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "refused", "", ""},
		{"a status that is none", "HTTP/1.1 abc OK\r\n\r\n", "refused", "", ""},
		{"no status", "HTTP/1.1\r\n\r\n", "refused", "", ""},
		{"a version that is none", "HTTP/1.x 200 OK\r\n\r\n", "refused", "", ""},
		{"in small letters", "http/1.1 200 OK\r\n\r\n", "refused", "", ""},
		{"an empty line in front", "\r\nHTTP/1.1 200 OK\r\n\r\n", "refused", "", ""},
		{"not HTTP", "SSH-2.0-OpenSSH_9.6\r\n", "refused", "", ""},
		{"frames of HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\n\n", "refused", "", ""},
		{"nothing", "", "cut", "", ""},
		{"cut in the status line", "HTTP/1.1 20", "refused", "", ""},
		{"cut in the header", "HTTP/1.1 200 OK\r\nA: ", "cut", "", ""},
		{"cut before the empty line", "HTTP/1.1 200 OK\r\nA: b\r\n", "cut", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compare(t, c.raw, http.MethodPost, []string{c.raw}, strings.Split(c.raw, ""))
			if got.Head != c.head || got.Body != c.body || got.End != c.end {
				t.Errorf("head %q, body %.40q, end %q; want %q, %.40q, %q", got.Head, got.Body, got.End, c.head, c.body, c.end)
			}
			compare(t, c.raw, http.MethodHead, []string{c.raw}, strings.Split(c.raw, ""))
		})
	}
}

// Where this reader is stricter than net/http's, it says so with an error of
// its own.
func TestStricterThanNetHTTP(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  string
		want error
	}{
		{"a header without end", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", maxHead), ErrHeadTooLong},
		{"a header of countless lines", "HTTP/1.1 200 OK\r\n" + strings.Repeat("a:\r\n", maxLines) + "\r\n", ErrHeadTooLong},
		{"a trailer without end", chunkedHead + "0\r\nA: " + strings.Repeat("x", maxTrailer), ErrTrailer},
		{"a trailer with a line feed alone", chunkedHead + "0\r\nA: b\nB: c\r\n\r\n", ErrTrailer},
		{"too many 1xx", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 6), ErrInformational},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, resp, err := ask(&script{parts: []string{c.raw}})
			if err == nil {
				_, err = io.ReadAll(resp.Body)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if conn.Reusable() {
				t.Error("reusable all the same")
			}
		})
	}
}
