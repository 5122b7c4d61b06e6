package http1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// script is a connection whose every read brings one of the parts, and which
// then ends with err.
type script struct {
	parts []string
	err   error
	wrote bytes.Buffer
	reads int
	rest  string
}

func (s *script) Read(p []byte) (int, error) {
	if s.rest == "" {
		if len(s.parts) == 0 {
			if s.err != nil {
				return 0, s.err
			}
			return 0, io.EOF
		}
		s.rest, s.parts = s.parts[0], s.parts[1:]
		s.reads++
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *script) Write(p []byte) (int, error) { return s.wrote.Write(p) }

func get() *http.Request {
	r, _ := http.NewRequest(http.MethodGet, "http://host/v1/models", nil)
	return r
}

// ask has the script answer one request.
func ask(s *script) (*Conn, *http.Response, error) {
	c := NewConn(s)
	req := get()
	if err := c.Send(req); err != nil {
		return c, nil, err
	}
	resp, err := c.Response(req)
	return c, resp, err
}

const okHead = "HTTP/1.1 200 OK\r\n"

func TestBodies(t *testing.T) {
	for _, tc := range []struct {
		name     string
		wire     string
		body     string
		err      error // of reading the body; nil is a proper end
		reusable bool
	}{
		{"chunks", okHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "abcde", nil, true},
		{"chunks with extensions", okHead + "Transfer-Encoding: chunked\r\n\r\n3;a=b;c=\"d\"\r\nabc\r\n0;x\r\n\r\n", "abc", nil, true},
		{"chunks with spaces behind the length", okHead + "Transfer-Encoding: chunked\r\n\r\n3 \t\r\nabc\r\n0\r\n\r\n", "abc", nil, true},
		{"chunks with leading zeros", okHead + "Transfer-Encoding: chunked\r\n\r\n000B\r\nabcdefghijk\r\n0000\r\n\r\n", "abcdefghijk", nil, true},
		{"chunks and a trailer", okHead + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n1\r\na\r\n0\r\nX-Sum: 7\r\nX-More: 8\r\n\r\n", "a", nil, true},
		{"chunks cut in the data", okHead + "Transfer-Encoding: chunked\r\n\r\n9\r\nabc", "abc", io.ErrUnexpectedEOF, false},
		{"chunks cut behind the data", okHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc", "abc", io.ErrUnexpectedEOF, false},
		{"chunks cut before the last", okHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "abc", io.ErrUnexpectedEOF, false},
		{"chunks cut in the trailer", okHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", "abc", io.ErrUnexpectedEOF, false},
		{"a length that is no number", okHead + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n", "", ErrChunk, false},
		{"no length", okHead + "Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n", "", ErrChunk, false},
		{"a length of 17 digits", okHead + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 16) + "3\r\nabc\r\n0\r\n\r\n", "", ErrChunk, false},
		{"a chunk longer than announced", okHead + "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", "ab", ErrChunk, false},
		{"a bare line feed behind a length", okHead + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", "", ErrChunk, false},
		{"a carriage return in a length", okHead + "Transfer-Encoding: chunked\r\n\r\n3\r\r\nabc\r\n0\r\n\r\n", "", ErrChunk, false},
		{"a line of length without an end", okHead + "Transfer-Encoding: chunked\r\n\r\n3;" + strings.Repeat("x", 5000), "", ErrChunkLine, false},
		{"padding", okHead + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("x", 4000)+"\r\na\r\n", 6), "aaaa", ErrChunkPadding, false},
		{"a trailer without an end", okHead + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", 20000), "", ErrTrailer, false},
		{"a trailer that is no header", okHead + "Transfer-Encoding: chunked\r\n\r\n0\r\nnonsense\r\n\r\n", "", ErrTrailer, false},
		{"length", okHead + "Content-Length: 5\r\n\r\nabcde", "abcde", nil, true},
		{"length, and more behind it", okHead + "Content-Length: 3\r\n\r\nabcde", "abc", nil, false},
		{"length of nothing", okHead + "Content-Length: 0\r\n\r\n", "", nil, true},
		{"length cut", okHead + "Content-Length: 9\r\n\r\nabc", "abc", io.ErrUnexpectedEOF, false},
		{"length and then closing", okHead + "Content-Length: 3\r\nConnection: close\r\n\r\nabc", "abc", nil, false},
		{"until closed", okHead + "\r\nabcde", "abcde", nil, false},
		{"HTTP/1.0 until closed", "HTTP/1.0 200 OK\r\n\r\nabc", "abc", nil, false},
		{"HTTP/1.0 with a length", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", nil, false},
		{"HTTP/1.0 kept alive", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc", "abc", nil, true},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "", nil, true},
		{"behind a 100", "HTTP/1.1 100 Continue\r\n\r\n" + okHead + "Content-Length: 1\r\n\r\na", "a", nil, true},
		{"behind hints", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + okHead + "Content-Length: 1\r\n\r\na", "a", nil, true},
		{"line feeds alone in the head", "HTTP/1.1 200 OK\nContent-Length: 1\n\na", "a", nil, true},
	} {
		for _, cut := range []struct {
			name string
			how  func(string) []string
		}{{"whole", func(s string) []string { return []string{s} }}, {"byte by byte", func(s string) []string { return strings.Split(s, "") }}} {
			t.Run(tc.name+"/"+cut.name, func(t *testing.T) {
				c, resp, err := ask(&script{parts: cut.how(tc.wire)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if string(got) != tc.body || !errors.Is(err, tc.err) {
					t.Errorf("read %q, %v; want %q, %v", got, err, tc.body, tc.err)
				}
				// Cut finely, nobody has read yet what is behind the end.
				if want := tc.reusable || strings.Contains(tc.name, "more behind") && cut.name != "whole"; c.Reusable() != want {
					t.Errorf("reusable %v, want %v", c.Reusable(), want)
				}
				if tc.name == "chunks and a trailer" && (resp.Trailer.Get("X-Sum") != "7" || resp.Trailer.Get("X-More") != "8") {
					t.Errorf("trailer %v", resp.Trailer)
				}
			})
		}
	}
}

func TestHeadsThatFail(t *testing.T) {
	reset := errors.New("reset")
	for _, tc := range []struct {
		name, wire string
		end        error
		want       error // nil: any
		answered   bool
	}{
		{"nothing", "", nil, io.EOF, false},
		{"a reset", "", reset, reset, false},
		{"cut in the status line", "HTTP/1.", nil, io.ErrUnexpectedEOF, true},
		{"cut in the header", okHead + "A: b\r\n", nil, io.ErrUnexpectedEOF, true},
		{"a header without an end", okHead + strings.Repeat("A: b\r\n", 200_000), nil, ErrHeadTooLong, true},
		{"1xx for ever", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 7), nil, ErrInformational, true},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n", nil, ErrSwitched, true},
		{"no HTTP", "SSH-2.0-OpenSSH\r\n\r\n", nil, nil, true},
		{"two lengths", okHead + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", nil, nil, true},
		{"a negative length", okHead + "Content-Length: -1\r\n\r\nabc", nil, nil, true},
		{"an encoding that nobody knows", okHead + "Transfer-Encoding: gzip\r\n\r\nabc", nil, nil, true},
		{"a header that begins with a space", okHead + " A: b\r\n\r\n", nil, nil, true},
		{"a header without a colon", okHead + "nonsense\r\n\r\n", nil, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &script{err: tc.end}
			if tc.wire != "" {
				s.parts = []string{tc.wire}
			}
			c, resp, err := ask(s)
			if err == nil {
				t.Fatalf("answered %d", resp.StatusCode)
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if c.Answered() != tc.answered || c.Reusable() {
				t.Errorf("answered %v, reusable %v", c.Answered(), c.Reusable())
			}
		})
	}
}

// Two reads of the connection are never joined, and one is never split while
// the caller has room: that is what stamps rely on.
func TestReadsAreKeptApart(t *testing.T) {
	s := &script{parts: []string{
		okHead + "Transfer-Encoding: chunked\r\n\r\n", "5\r\nhel", "lo\r\n", "1\r\na\r\n1\r\nb\r\n1\r\nc", "\r\n3\r\nxyz\r\n0\r", "\n\r\n",
	}}
	c, resp, err := ask(s)
	if err != nil {
		t.Fatal(err)
	}
	type read struct {
		text string
		at   int // reads of the connection so far
	}
	var got []read
	p := make([]byte, 100)
	for {
		n, err := resp.Body.Read(p)
		if n > 0 {
			got = append(got, read{string(p[:n]), s.reads})
		}
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
	}
	want := []read{{"hel", 2}, {"lo", 3}, {"abc", 4}, {"xyz", 5}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("read %d: %v, want %v", i, got[i], want[i])
		}
	}
	if !c.Reusable() {
		t.Error("not reusable")
	}
}

func TestOneConnectionCarriesMany(t *testing.T) {
	s := &script{parts: []string{
		okHead + "Content-Length: 1\r\n\r\na",
		okHead + "Transfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n",
		okHead + "Content-Length: 1\r\nConnection: close\r\n\r\nc",
	}}
	c := NewConn(s)
	for i, want := range []string{"a", "b", "c"} {
		if !c.Reusable() {
			t.Fatalf("not reusable before request %d", i)
		}
		req := get()
		if err := c.Send(req); err != nil {
			t.Fatal(err)
		}
		resp, err := c.Response(req)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); string(got) != want || err != nil {
			t.Errorf("request %d: %q, %v", i, got, err)
		}
	}
	if c.Reusable() {
		t.Error("reusable after the server said that it closes")
	}
	if n := strings.Count(s.wrote.String(), "GET /v1/models HTTP/1.1\r\nHost: host\r\n"); n != 3 {
		t.Errorf("%d requests were written: %q", n, s.wrote.String())
	}
}

func TestAClosedBodyIsOver(t *testing.T) {
	c, resp, err := ask(&script{parts: []string{okHead + "Content-Length: 5\r\n\r\nab", "cde"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 9)); n != 0 || err != http.ErrBodyReadAfterClose {
		t.Errorf("read %d, %v", n, err)
	}
	if c.Reusable() {
		t.Error("half an answer is left on the connection")
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	chunk := "40\r\n" + strings.Repeat("x", 64) + "\r\n"
	s := &endless{head: okHead + "Transfer-Encoding: chunked\r\n\r\n", chunk: chunk}
	c := NewConn(s)
	req := get()
	if err := c.Send(req); err != nil {
		t.Fatal(err)
	}
	resp, err := c.Response(req)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4096)
	if n := testing.AllocsPerRun(1000, func() { _, _ = resp.Body.Read(p) }); n != 0 {
		t.Errorf("%v allocations a read", n)
	}
}

// endless is a connection whose body never ends, a chunk a read.
type endless struct{ head, chunk string }

func (e *endless) Read(p []byte) (int, error) {
	if e.head != "" {
		n := copy(p, e.head)
		e.head = ""
		return n, nil
	}
	return copy(p, e.chunk), nil
}

func (e *endless) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkRead(b *testing.B) {
	s := &endless{head: okHead + "Transfer-Encoding: chunked\r\n\r\n", chunk: "c8\r\n" + strings.Repeat("x", 200) + "\r\n"}
	c := NewConn(s)
	req := get()
	if err := c.Send(req); err != nil {
		b.Fatal(err)
	}
	resp, err := c.Response(req)
	if err != nil {
		b.Fatal(err)
	}
	p := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := resp.Body.Read(p); err != nil {
			b.Fatal(err)
		}
	}
}
