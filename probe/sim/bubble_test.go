package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a network inside the process, so that an engine can live in a
// bubble of testing/synctest, where seconds take no time.
type memory struct {
	mu   sync.Mutex
	open *memListener
}

type memListener struct {
	of   *memory
	in   chan net.Conn
	done chan struct{}
	once sync.Once
}

var errRefused = errors.New("connection refused")

func (m *memory) listen() (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = &memListener{of: m, in: make(chan net.Conn), done: make(chan struct{})}
	return m.open, nil
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	m.mu.Lock()
	l := m.open
	m.mu.Unlock()
	if l == nil {
		return nil, errRefused
	}
	here, there := net.Pipe()
	select {
	case l.in <- there:
		return here, nil
	case <-l.done:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.in:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.of.mu.Lock()
		defer l.of.mu.Unlock()
		if l.of.open == l {
			l.of.open = nil
		}
	})
	return nil
}

func (l *memListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// world is an engine in a bubble, and a client for it.
type world struct {
	*testing.T
	e     *Engine
	net   *memory
	http  *http.Client
	truth *bytes.Buffer
	stop  func() // ends the engine; the truth log is complete then
}

// bubble runs f with an engine whose time is the bubble's.
func bubble(t *testing.T, o Options, f func(w *world)) {
	t.Helper()
	p, err := profileNamed(o.Profile)
	if err != nil {
		t.Fatal(err)
	}
	bubbleOf(t, o, p, f)
}

func bubbleOf(t *testing.T, o Options, p Profile, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, net: &memory{}, truth: &bytes.Buffer{}}
		o.Clock, o.Truth = RuntimeClock(), w.truth
		e := newEngine(o, p)
		w.e = e
		ln, _ := w.net.listen()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.serve(ctx, ln, w.net.listen) }()
		tr := &http.Transport{DialContext: w.net.dial, MaxIdleConnsPerHost: 100}
		w.http = &http.Client{Transport: tr}
		var once sync.Once
		w.stop = func() {
			once.Do(func() {
				cancel()
				if err := <-ended; err != nil {
					t.Errorf("Serve returns %v", err)
				}
				tr.CloseIdleConnections()
			})
		}
		defer w.stop()
		f(w)
	})
}

// reply is what came back for one request.
type reply struct {
	status  int
	header  http.Header
	body    string
	events  []arrived
	err     error // of reading the body
	tokens  int   // completion tokens, by the usage
	reason  string
	content string
	thought string
	failed  bool // an error event
	done    bool // [DONE]
}

// arrived is an event with token text.
type arrived struct {
	at    time.Time
	count int // running count, where there is one
}

const usual = `"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"ignore_eos":true`

func (w *world) post(path, body string, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(w.Context(), http.MethodPost, "http://engine"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return w.http.Do(r)
}

// ask sends a chat request and reads the whole reply. fields are its further
// members.
func (w *world) ask(fields string) reply {
	return w.read(w.post("/v1/chat/completions", `{"messages":[{"role":"user","content":"hello there"}],`+fields+`}`))
}

func (w *world) read(res *http.Response, err error) reply {
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	r := reply{status: res.StatusCode, header: res.Header}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		b, err := io.ReadAll(res.Body)
		r.body, r.err = string(b), err
		return r
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			r.done = true
		default:
			r.event(w.T, data)
		}
	}
	r.err = lines.Err()
	return r
}

func (r *reply) event(t *testing.T, data string) {
	var c struct {
		Error   *struct{ Message string }
		Choices []struct {
			Text  string
			Delta struct {
				Content string
				Thought string `json:"reasoning_content"`
			}
			Finish string `json:"finish_reason"`
		}
		Usage struct {
			N int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		t.Errorf("event %q: %v", data, err)
		return
	}
	r.tokens = max(r.tokens, c.Usage.N)
	if c.Error != nil {
		r.failed = true
	}
	for _, x := range c.Choices {
		r.content += x.Text + x.Delta.Content
		r.thought += x.Delta.Thought
		if x.Text+x.Delta.Content+x.Delta.Thought != "" {
			r.events = append(r.events, arrived{time.Now(), c.Usage.N})
		}
		if x.Finish != "" {
			r.reason = x.Finish
		}
	}
}

// fact is a line of the truth log.
type fact struct {
	Req, Why, Fault, Cause     string
	I, K, N                    *int
	Received, Sched, Before, T int64
	Start, End                 int64
	Reqs                       []string
}

func (f *fact) lasts() time.Duration { return time.Duration(f.End - f.Start) }

// facts stops the engine and reads its truth log.
func (w *world) facts() (tokens, faults, ends []fact) {
	w.stop()
	return facts(w.T, w.truth.Bytes())
}

func facts(t *testing.T, log []byte) (tokens, faults, ends []fact) {
	t.Helper()
	for line := range bytes.Lines(log) {
		var f fact
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("truth log: %q: %v", line, err)
		}
		switch {
		case f.I != nil:
			tokens = append(tokens, f)
		case f.Fault != "":
			faults = append(faults, f)
		case f.Why != "":
			ends = append(ends, f)
		}
	}
	return tokens, faults, ends
}
