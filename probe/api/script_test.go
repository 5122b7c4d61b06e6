package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"teapot/probe/sse"
)

// script is a reply as its writes: what went out, when, and how it ended.
type script struct {
	writes []write
	end    error // io.EOF, or what the client sees of a worse end
	hint   sse.Format
	expect map[string]string
}

type write struct {
	at   time.Duration
	data []byte
}

// readCase reads the notation of testdata/cases: EV, EVN, LN, RAW and JOIN are writes,
// D is a pause, END says how the body ends, EXPECT what must be found.
func readCase(t testing.TB, path string) script {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := script{end: io.EOF, expect: map[string]string{}, hint: sse.SSE}
	var at time.Duration
	join := false
	put := func(data []byte) {
		if n := len(s.writes); join && n > 0 && s.writes[n-1].at < 0 {
			s.writes[n-1].data = append(s.writes[n-1].data, data...)
			return
		}
		w := write{at, data}
		if join {
			w.at = -1
		}
		s.writes = append(s.writes, w)
	}
	for line := range strings.Lines(strings.NewReplacer("$ID", "id1", "$M", "model-1").Replace(string(raw))) {
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch word {
		case "HTTP", "HTTP/1.0", "FLUSH", "":
		case "H":
			if kind, ok := strings.CutPrefix(rest, "content-type: "); ok {
				s.hint = sse.FormatOf(kind)
			}
		case "D":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			at += d
		case "EV":
			put([]byte("data: " + rest + "\n\n"))
		case "EVN":
			name, text, _ := strings.Cut(rest, " ")
			put([]byte("event: " + name + "\ndata: " + text + "\n\n"))
		case "LN":
			put([]byte(rest + "\n"))
		case "RAW":
			text, err := strconv.Unquote(rest)
			if err != nil {
				t.Fatal(err)
			}
			put([]byte(text))
		case "JOIN":
			join = true
		case "ENDJOIN":
			join = false
			s.writes[len(s.writes)-1].at = at
		case "END":
			switch rest {
			case "nochunkend":
				s.end = io.ErrUnexpectedEOF
			case "reset":
				s.end = errors.New("read: connection reset by peer")
			}
		case "EXPECT":
			for _, f := range strings.Fields(strings.ReplaceAll(rest, "≈", "=")) {
				k, v, _ := strings.Cut(f, "=")
				s.expect[k] = v
			}
		default:
			t.Fatalf("%s: unknown line %q", path, line)
		}
	}
	return s
}

// wire is a body whose reads follow a script: each write is one read, or with
// size set is cut into reads of that many bytes at the same instant. It
// remembers when each read was.
type wire struct {
	script
	size  int
	next  int
	stamp []time.Duration // by the ordinal of the read, from 1
}

func (w *wire) Read(p []byte) (int, error) {
	if w.next == len(w.writes) {
		w.stamp = append(w.stamp, w.last())
		return 0, w.end
	}
	one := &w.writes[w.next]
	limit := len(one.data)
	if w.size > 0 {
		limit = min(limit, w.size)
	}
	n := copy(p, one.data[:limit])
	w.stamp = append(w.stamp, one.at)
	if one.data = one.data[n:]; len(one.data) == 0 {
		w.next++
	}
	return n, nil
}

func (w *wire) last() time.Duration {
	if len(w.stamp) == 0 {
		return 0
	}
	return w.stamp[len(w.stamp)-1]
}

// near tells whether two spans agree to a microsecond.
func near(a time.Duration, ms float64) bool {
	return math.Abs(float64(a)/1e6-ms) < 0.001
}

// readRecorded reads a transcript: one line for each read, with its time in ms
// and its bytes.
func readRecorded(t *testing.T, path string) script {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s := script{end: io.EOF}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "+") {
			continue
		}
		head, data, _ := strings.Cut(line[1:], "B ")
		var ms float64
		var n int
		if _, err := fmt.Sscan(head, &ms, &n); err != nil {
			t.Fatal(err)
		}
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(data, `"`, `\"`) + `"`)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if len(text) != n {
			t.Fatalf("%s: %d bytes, the line says %d", path, len(text), n)
		}
		s.writes = append(s.writes, write{time.Duration(math.Round(ms * 1e6)), []byte(text)})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}
