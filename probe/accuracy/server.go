package accuracy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"
)

// Transport is what a server is reached by.
type Transport string

// The transports.
const (
	HTTP  Transport = "http"
	HTTPS Transport = "https" // HTTP/1.1 under TLS
	HTTP2 Transport = "h2"    // HTTP/2 under TLS, and nothing else offered
	Unix  Transport = "unix"
)

// Transports lists them.
func Transports() []Transport { return []Transport{HTTP, HTTPS, HTTP2, Unix} }

// maxTokens bounds a reply.
const maxTokens = 1 << 20

// Serve is the scheduled server: it listens in the way the transport says,
// says where in its first line on out, and then answers each line "log" on in
// with a Log in gob's encoding. It ends at the end of in. dir is where its
// socket or its certificate goes.
func Serve(ctx context.Context, tr Transport, dir string, in io.Reader, out io.Writer) error {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(512 << 20)
	w := newWriter()
	stop := make(chan struct{})
	defer close(stop)
	go w.run(stop)

	ln, where, conf, err := listen(tr, dir)
	if err != nil {
		return err
	}
	srv := newServer(w, conf)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	defer srv.Close()
	if _, err := fmt.Fprintf(out, "listens on %s\n", where); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	enc := gob.NewEncoder(out)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return fmt.Errorf("serve: %w", err)
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if line == "log" {
				if err := enc.Encode(w.written()); err != nil {
					return fmt.Errorf("hand out the log: %w", err)
				}
			}
		}
	}
}

// listen opens the socket. The TLS configuration is nil where there is none.
func listen(tr Transport, dir string) (net.Listener, string, *tls.Config, error) {
	if tr == Unix {
		path := filepath.Join(dir, "server.sock")
		ln, err := net.Listen("unix", path)
		return ln, "unix://" + path, nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, fmt.Errorf("listen: %w", err)
	}
	if tr == HTTP {
		return ln, "http://" + ln.Addr().String(), nil, nil
	}
	conf, err := certify(filepath.Join(dir, "ca.pem"))
	if err != nil {
		ln.Close()
		return nil, "", nil, err
	}
	conf.NextProtos = []string{"http/1.1"}
	if tr == HTTP2 {
		conf.NextProtos = []string{"h2"}
	}
	return ln, "https://" + ln.Addr().String(), conf, nil
}

// server answers requests with streams that the writer writes.
type server struct {
	w    *writer
	seen atomic.Uint64
	conf *tls.Config
}

type httpServer struct {
	*http.Server
	conf *tls.Config
}

// Serve serves, under TLS where there is a configuration for it.
func (s httpServer) Serve(ln net.Listener) error {
	ln = timedListener{ln}
	if s.conf == nil {
		return s.Server.Serve(ln)
	}
	return s.Server.ServeTLS(ln, "", "")
}

func newServer(w *writer, conf *tls.Config) httpServer {
	s := &server{w: w, conf: conf}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	srv := &http.Server{Handler: mux, TLSConfig: conf, ReadHeaderTimeout: 30 * time.Second}
	return httpServer{srv, conf}
}

func (s *server) models(w http.ResponseWriter, _ *http.Request) {
	var list []map[string]any
	for _, law := range []Law{Constant, Article, LockStep} {
		list = append(list, map[string]any{"id": string(law), "object": "model", "owned_by": "teapot-schedule"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list})
}

// ask is what is read of a request.
type ask struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
}

func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	heard := monotonic()
	var q ask
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err == nil && (q.MaxTokens < 1 || q.MaxTokens > maxTokens) {
		err = errors.New("max_tokens is out of range")
	}
	n := s.seen.Add(1)
	var sched *schedule
	if err == nil {
		sched, err = newSchedule(q.Model, heard, n)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	st := &stream{
		sched: sched, left: q.MaxTokens, done: make(chan struct{}),
		log: Written{
			ID: r.Header.Get("X-Request-Id"), Heard: heard,
			Before: make([]int64, 0, q.MaxTokens), After: make([]int64, 0, q.MaxTokens),
		},
		token: func(int) []byte { return tokenLine },
	}
	s.stream(w, r, st, q.MaxTokens)
}

var (
	tokenLine = []byte(`data: {"id":"s","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" tea"},"finish_reason":null}]}` + "\n\n")
	lastLines = `data: {"id":"s","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n" +
		`data: {"id":"s","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n" +
		"data: [DONE]\n\n"
)

// stream has the writer write the reply and waits for its end.
func (s *server) stream(w http.ResponseWriter, r *http.Request, st *stream, n int) {
	end := fmt.Sprintf(lastLines, n, n+1)
	if r.ProtoMajor == 2 {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		st.out = flushed{w, rc}
		s.w.take(st)
		<-st.done
		_, _ = io.WriteString(w, end)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(tokenLine), tokenLine)
	st.token = func(int) []byte { return chunk }
	st.out = direct{conn, timedOf(conn)}
	s.w.take(st)
	<-st.done
	_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n0\r\n\r\n", len(end), end)
}

// timedListener makes connections that note when they write.
type timedListener struct{ net.Listener }

func (l timedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &timed{Conn: c}, nil
}

// timed notes the times around its last write. One goroutine writes at a time.
type timed struct {
	net.Conn
	before, after int64
}

func (t *timed) Write(b []byte) (int, error) {
	t.before = monotonic()
	n, err := t.Conn.Write(b)
	t.after = monotonic()
	return n, err
}

// timedOf finds the noting connection under c.
func timedOf(c net.Conn) *timed {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c.(*timed)
}

// direct writes on the connection itself.
type direct struct {
	conn net.Conn
	t    *timed
}

func (d direct) put(b []byte) (before, after int64, err error) {
	_, err = d.conn.Write(b)
	return d.t.before, d.t.after, err
}

// flushed writes through HTTP/2, whose writes are a goroutine's of its own: the
// flush returns when that one has written.
type flushed struct {
	w  io.Writer
	rc *http.ResponseController
}

func (f flushed) put(b []byte) (before, after int64, err error) {
	before = monotonic()
	if _, err = f.w.Write(b); err == nil {
		err = f.rc.Flush()
	}
	return before, monotonic(), err
}

// readWhere reads a server's first line.
func readWhere(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("it did not say where it listens: %w", err)
	}
	where, ok := strings.CutPrefix(strings.TrimSpace(line), "listens on ")
	if !ok {
		return "", fmt.Errorf("it said %q", line)
	}
	return where, nil
}

// selfPath is the program that runs.
func selfPath() (string, error) { return os.Executable() }
