package api

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teapot/probe/event"
)

// reasonIn finds a terminal reason in the bytes of a reply.
var reasonIn = regexp.MustCompile(`"(finish|stop|done)_?[rR]eason\\?": ?({"type":)?\\?"|"(done|stop)": ?true|response\.(completed|incomplete)|chat\.end`)

// complete is the part of a reply that is whole events: one whose JSON is cut
// says nothing yet, whatever words it already holds.
func complete(body []byte) []byte {
	if bytes.HasPrefix(body, []byte("[")) { // elements of an array, over many lines
		for n := len(body); n > 0; n = bytes.LastIndexByte(body[:n-1], '}') + 1 {
			if json.Valid(append(bytes.Clone(body[:n]), ']')) || json.Valid(body[:n]) {
				return body[:n]
			}
		}
		return nil
	}
	from := bytes.LastIndexByte(body, '\n') + 1
	if json.Valid(bytes.TrimPrefix(body[from:], []byte("data:"))) {
		return body
	}
	return body[:from]
}

// TestPrefixes cuts every case short after every byte, or in a short run after
// some of them and before every line end: without a terminal reason no prefix
// is a success. Triton has none: there a prefix is one if it ends in order and
// between two events, where nobody can tell it from the whole.
func TestPrefixes(t *testing.T) {
	paths, _ := filepath.Glob("testdata/cases/*.fix")
	for _, path := range paths {
		sc := readCase(t, path)
		var all []byte
		for _, w := range sc.writes {
			all = append(all, w.data...)
		}
		ends := 0
		for n := range len(all) {
			if testing.Short() && n%13 != 0 && all[n] != '\n' && all[max(n-1, 0)] != '\n' {
				continue
			}
			// The end of the body alternates between a clean one and a cut.
			end := []error{io.EOF, io.ErrUnexpectedEOF}[n%2]
			if dialectOf(path) == "triton" { // only a clean end is one there
				end = io.EOF
			}
			cut := script{writes: []write{{0, all[:n]}}, end: end, hint: sc.hint}
			if n == 0 {
				cut.writes = nil
			}
			s := replay(cut, 0, dialectOf(path))
			reason := reasonIn.Match(complete(all[:n])) || dialectOf(path) == "triton" && end == io.EOF && bytes.HasSuffix(all[:n], []byte("\n\n"))
			switch {
			case s.res.Class.OK() && !reason:
				t.Fatalf("%s: %d bytes without a finish reason are %s", path, n, s.res.Class)
			case !s.res.Class.OK() && s.res.Class != event.ErrTruncated && s.res.Class != event.ErrStream:
				t.Fatalf("%s: %d bytes are %s (%s)", path, n, s.res.Class, s.res.Message)
			case s.res.Class == event.ErrTruncated && s.res.Message == "":
				t.Fatalf("%s: %d bytes are truncated without a message", path, n)
			}
			if s.res.Class != event.ErrTruncated {
				ends++
			}
		}
		if ends == 0 && !strings.Contains(sc.expect["outcome"], "truncated") {
			t.Errorf("%s: no prefix reached an end", path)
		}
	}
}
