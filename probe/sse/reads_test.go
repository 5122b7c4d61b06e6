package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each event names the Read that completed it, counted as the caller counts.
func TestReadOrdinals(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		want   []uint64
	}{
		{"one each", []string{"data: 1\n\n", "data: 2\n\n", "data: 3\n\n"}, []uint64{1, 2, 3}},
		{"several in one", []string{"data: 1\n\ndata: 2\n\n", "data: 3\n\n"}, []uint64{1, 1, 2}},
		{"over several", []string{"da", "ta: 1", "\n", "\ndata: 2\n", "\n"}, []uint64{4, 5}},
		{"CRLF cut after its CR", []string{"data: 1\r\n\r", "\ndata: 2\r\n\r\n"}, []uint64{1, 2}},
		{"lone CR at the end of a read", []string{"data: 1\r\r", "data: 2\r\r"}, []uint64{1, 2}},
		{"one line end: known by the next one only", []string{"data: {\"a\":1}\n", "data: {\"a\":2}\n", "data: {\"a\":3}\n"}, []uint64{1, 2, 3}},
		{"not ended: known by the end only", []string{"data: 1\n\ndata: {}", ""}, []uint64{1, 1}},
		{"lines of JSON", []string{"{\"a\":1}\n{", "\"a\":2}\n{\"a\":3}\n"}, []uint64{1, 2, 2}},
		{"line of JSON, not ended", []string{"{\"a\":1}\n", "{\"a\":2}"}, []uint64{1, 2}},
		{"document", []string{"{\n", "\"a\":1", "}", "\n"}, []uint64{3}},
		{"array", []string{"[{\"a\":1}", ",{\"a\":2", "}]"}, []uint64{1, 3}},
		{"bare JSON", []string{"data: 1\n\n", "{\"error\":1}\n", "\n"}, []uint64{1, 2}},
		{"comments", []string{": 1\n", ": 2\n: 3\n"}, []uint64{1, 2, 2}},
		{"text", []string{"Bad", " gateway"}, []uint64{2}},
	} {
		out := run(t, &cuts{pieces: c.pieces, err: io.EOF}, 100, Options{})
		if d := cmp.Diff(c.want, out.Reads); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// blocking fails the test when it is read more often than it may be.
type blocking struct {
	t       *testing.T
	pieces  []string
	allowed int
	reads   int
}

func (b *blocking) Read(p []byte) (int, error) {
	if b.reads++; b.reads > b.allowed {
		b.t.Helper()
		b.t.Errorf("read number %d; the stream would wait here", b.reads)
		return 0, io.EOF
	}
	return copy(p, b.pieces[b.reads-1]), nil
}

// No event waits for bytes behind it, and nothing is read while an event is
// left.
func TestNoEventWaits(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		events []int // how many each Read completes
	}{
		{"LF", []string{"data: 1\n\ndata: 2\n\n", "data: 3\n\n"}, []int{2, 1}},
		{"CRLF cut in the middle", []string{"data: 1\r\n\r", "\ndata: 2\r\n\r"}, []int{1, 1}},
		{"lone CR", []string{"data: 1\r\r", "data: 2\r\r"}, []int{1, 1}},
		{"comment with a lone CR", []string{": ping\r", "\n: ping\r"}, []int{1, 1}},
		{"lines of JSON", []string{"{\"a\":1}\n", "{\"a\":2}\n{\"a\":3}\n"}, []int{1, 2}},
		{"blank lines missing, once that is known", []string{"data: {\"a\":1}\ndata: {\"a\":2}\n", "data: {\"a\":3}\n", "data: [DONE]\n"}, []int{2, 1, 1}},
		{"array", []string{"[{\"a\":1}", ",{\"a\":2}"}, []int{1, 1}},
		{"bare JSON", []string{": x\n\n{\"error\":{}}\n"}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := &blocking{t: t, pieces: c.pieces}
			r := NewReader(src, Options{})
			for i, n := range c.events {
				src.allowed = i + 1
				for range n {
					if ev, err := r.Next(); err != nil || ev.Read != uint64(i+1) {
						t.Fatalf("%+v, %v; want an event of read %d", ev, err, i+1)
					}
				}
			}
		})
	}
}

func TestBuffered(t *testing.T) {
	r := NewReader(whole("data: 1\n\ndata: 2\r\n\r\n\n\nda"), Options{})
	if r.Buffered() != 0 {
		t.Errorf("%d before the first read", r.Buffered())
	}
	r.Next()
	if r.Buffered() == 0 {
		t.Error("nothing behind the first event")
	}
	r.Next()
	if r.Buffered() != 2 {
		t.Errorf("%d bytes behind the second event, want 2", r.Buffered())
	}
	r = NewReader(whole("data: 1\n\n\r\n"), Options{})
	r.Next()
	if r.Buffered() != 0 {
		t.Errorf("%d bytes behind the last event", r.Buffered())
	}
}

// The caller is asked for 64 KiB at a time, and always for something.
func TestBufferOffered(t *testing.T) {
	src := &offered{body: strings.Repeat("data: "+strings.Repeat("x", 300)+"\n\n", 2000)}
	r := NewReader(src, Options{})
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if src.least < bufferSize-1000 || src.most > bufferSize {
		t.Errorf("offered between %d and %d bytes", src.least, src.most)
	}
}

type offered struct {
	body        string
	least, most int
}

func (o *offered) Read(b []byte) (int, error) {
	if o.least == 0 || len(b) < o.least {
		o.least = len(b)
	}
	o.most = max(o.most, len(b))
	n := copy(b[:min(len(b), 1000)], o.body)
	o.body = o.body[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

type liar int

func (l liar) Read(b []byte) (int, error) {
	if l == 0 {
		return 0, nil
	}
	return int(l) * (len(b) + 1), nil
}

func TestBadReaders(t *testing.T) {
	for _, l := range []liar{0, 1, -1} {
		if _, err := NewReader(l, Options{}).Next(); err == nil || err == io.EOF {
			t.Errorf("reader %d: %v", l, err)
		}
	}
	// Empty reads now and then are no error.
	src := &cuts{pieces: []string{"data"}, err: nil}
	r := NewReader(io.MultiReader(&sparse{body: "data: 1\n\n"}, src), Options{})
	if ev, err := r.Next(); err != nil || string(ev.Data) != "1" {
		t.Errorf("%+v, %v", ev, err)
	}
	if _, err := r.Next(); err != io.ErrNoProgress {
		t.Errorf("%v, want %v", err, io.ErrNoProgress)
	}
}

// sparse gives a byte in every third read.
type sparse struct {
	body string
	n    int
}

func (s *sparse) Read(b []byte) (int, error) {
	if s.body == "" {
		return 0, io.EOF
	}
	if s.n++; s.n%3 != 0 {
		return 0, nil
	}
	n := copy(b[:1], s.body)
	s.body = s.body[n:]
	return n, nil
}

// Short lines, and a stream that uses only one kind of line end, cost no more
// than others: each byte is searched once.
func TestManyShortLines(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		// In one buffer of 8 MiB, grown by a long line in front.
		body := "data: " + strings.Repeat("x", 5<<20) + end + end + strings.Repeat("data"+end+end, 400_000)
		r := NewReader(strings.NewReader(body), Options{})
		n := 0
		for ; ; n++ {
			if _, err := r.Next(); err != nil {
				break
			}
		}
		if n != 400_001 {
			t.Errorf("%q: %d events", end, n)
		}
	}
}
