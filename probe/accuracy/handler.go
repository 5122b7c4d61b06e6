package accuracy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// maxTokens bounds a reply.
const maxTokens = 1 << 20

// server answers requests with streams that the writer writes.
type server struct {
	w    *writer
	ln   *listener
	seen atomic.Uint64
}

// connKey finds a request's connection in its context.
type connKey struct{}

func newServer(w *writer, ln *listener) *http.Server {
	s := &server{w: w, ln: ln}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 30 * time.Second, Protocols: new(http.Protocols)}
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	// The listener has ended TLS already.
	srv.Protocols.SetHTTP1(!ln.http2)
	srv.Protocols.SetUnencryptedHTTP2(ln.http2)
	return srv
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
	var q ask
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	heard := arrived(r)
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
	}
	s.stream(w, r, st, n)
}

// arrived is when the last bytes of a request came: the kernel's receive time
// where there is one, so that no slowness of the server's is taken for a
// client's. Where several requests share a connection it is now.
func arrived(r *http.Request) int64 {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	if t := timedOf(c); t != nil {
		return t.came.Load()
	}
	return monotonic()
}

// Events of a reply. The number in a token's is that of the stream.
const (
	tokenLine = tokenHead + `%d","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" tea"},"finish_reason":null}]}` + "\n\n"
	lastLines = `data: {"id":"e","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n" +
		`data: {"id":"e","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n" +
		"data: [DONE]\n\n"
)

// stream has the writer write the reply of stream number n, and ends it.
func (s *server) stream(w http.ResponseWriter, r *http.Request, st *stream, n uint64) {
	tokens := st.left
	st.token = fmt.Appendf(nil, tokenLine, n)
	end := fmt.Sprintf(lastLines, tokens, tokens+1)
	if r.ProtoMajor == 2 {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		st.out = flushed{w, rc}
		s.w.take(st)
		<-st.done
		if left, ok := s.ln.notes.take(n, tokens); ok {
			st.log.Before, st.log.After = left.Before, left.After
		}
		s.w.publish(st.log)
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
	st.token = fmt.Appendf(nil, "%x\r\n%s\r\n", len(st.token), st.token)
	st.out = direct{conn, timedOf(conn)}
	s.w.take(st)
	<-st.done
	s.w.publish(st.log)
	_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n0\r\n\r\n", len(end), end)
}

// flushed writes through HTTP/2, whose writes are a goroutine's of its own: its
// times are those of handing over, until the connection tells the true ones.
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
