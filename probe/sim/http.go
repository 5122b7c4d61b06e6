package sim

import (
	"bufio"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bodyMost is the longest request body that is read, bytes.
const bodyMost = 8 << 20

// routes builds the API. Every path goes through the doors: a dead process, a
// frozen one, a model that is being loaded, the key.
func (e *Engine) routes() http.Handler {
	get := map[string]http.HandlerFunc{
		"/v1/models": e.models,
		"/health":    e.health,
		"/ping":      e.health,
		"/version":   e.version,
		"/metrics":   e.exposition,
	}
	post := map[string]bool{"/v1/chat/completions": true, "/v1/completions": false}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "teapot")
		if e.doors(w, r) {
			return
		}
		if h, ok := get[r.URL.Path]; ok {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				w.Header().Set("Allow", "GET, HEAD")
				detail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
				return
			}
			h(w, r)
			return
		}
		if chat, ok := post[r.URL.Path]; ok {
			if r.Method != http.MethodPost {
				w.Header().Set("Allow", "POST")
				detail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
				return
			}
			e.complete(w, r, chat)
			return
		}
		detail(w, http.StatusNotFound, "Not Found")
	})
}

// doors answers a request that must not get further, and tells so.
func (e *Engine) doors(w http.ResponseWriter, r *http.Request) bool {
	e.mu.Lock()
	now := e.clock.Now()
	dead, loading, frozen := now < e.back, now < e.loaded, e.frozen-now
	e.mu.Unlock()
	if dead {
		panic(http.ErrAbortHandler) // net/http's way to break the connection
	}
	if frozen > 0 {
		time.Sleep(time.Duration(frozen))
	}
	if loading {
		fail(w, &refusal{status: http.StatusServiceUnavailable, kind: "unavailable_error", text: "Loading model"})
		return true
	}
	if e.opt.APIKey != "" && strings.HasPrefix(r.URL.Path, "/v1/") && !e.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		document(w, http.StatusUnauthorized, []byte(`{"error":"Unauthorized"}`))
		return true
	}
	return false
}

func (e *Engine) authorized(r *http.Request) bool {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(key), []byte(e.opt.APIKey)) == 1
}

func (e *Engine) models(w http.ResponseWriter, _ *http.Request) {
	type object = map[string]any
	b, _ := json.Marshal(object{"object": "list", "data": []object{{ // nothing in it can fail to marshal
		"id": e.opt.Model, "object": "model", "created": time.Now().Unix(), "owned_by": "teapot",
		"root": e.opt.Model, "parent": nil, "max_model_len": e.profile.context,
	}}})
	document(w, http.StatusOK, b)
}

func (e *Engine) health(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func (e *Engine) version(w http.ResponseWriter, _ *http.Request) {
	b, _ := json.Marshal(map[string]string{"version": e.opt.Version}) // a string always marshals
	document(w, http.StatusOK, b)
}

func (e *Engine) exposition(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(e.metrics.text()) // a client that is gone needs no answer
}

// complete answers a request for a completion.
func (e *Engine) complete(w http.ResponseWriter, r *http.Request, chat bool) {
	received := e.clock.Now()
	body, q, err := e.read(w, r, chat)
	if err == nil {
		if no := e.reserve(); no != nil {
			e.reject(requestID(r.Header, 0), received)
			err = no
		}
	}
	if err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			no = &refusal{status: http.StatusBadRequest, kind: "BadRequestError", text: "the request body could not be read"}
		}
		fail(w, no)
		return
	}
	e.mu.Lock()
	e.replies++
	n := e.replies
	e.mu.Unlock()
	s := newStream(requestID(r.Header, n), q, body, e.opt.Seed, e.prose)
	s.received = received
	if q.stream {
		e.stream(w, r, s)
		return
	}
	e.start(s)
	select {
	case <-s.ready:
	case <-r.Context().Done():
		e.leave(s)
		<-s.ready
	}
	if s.failed != "" {
		fail(w, &refusal{status: http.StatusInternalServerError, kind: "InternalServerError", text: s.failed})
		return
	}
	document(w, http.StatusOK, s.document(e.opt.Model, time.Now().Unix()))
}

// read takes the body in and checks it.
func (e *Engine) read(w http.ResponseWriter, r *http.Request, chat bool) ([]byte, *request, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, nil, badRequest("Unsupported Media Type: Only 'application/json' is allowed")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMost))
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			err = &refusal{status: http.StatusRequestEntityTooLarge, kind: "BadRequestError", text: "the request body is too large"}
		}
		return nil, nil, err
	}
	q, err := parseRequest(body, chat, e.opt.Model, e.profile.context)
	if err != nil {
		return nil, nil, err
	}
	if e.profile.forced && q.stream {
		q.usage, q.everyUsage = true, true
	}
	if chat {
		q.reasoning = e.profile.reason
	}
	return body, q, nil
}

// reject books a request that found no place.
func (e *Engine) reject(id string, now int64) {
	e.truth.end(id, now, 0, "refused")
	e.metrics.mu.Lock()
	defer e.metrics.mu.Unlock()
	e.metrics.rejected++
}

// stream answers with events. The connection is taken from net/http, because
// its way to flush costs a goroutine switch and two copies per token.
func (e *Engine) stream(w http.ResponseWriter, r *http.Request, s *stream) {
	chunked := r.ProtoAtLeast(1, 1)
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		e.unreserve()
		fail(w, &refusal{status: http.StatusHTTPVersionNotSupported, kind: "BadRequestError", text: "streams need HTTP/1"})
		return
	}
	relay, _ := r.Context().Value(relayKey{}).(*relay)
	keep := relay != nil && chunked && !r.Close
	_ = conn.SetDeadline(time.Time{}) // a dead connection shows at the write
	s.frame = newFramer(s.id, e.opt.Model, time.Now().Unix(), s.q, chunked)
	s.out = e.newOut(conn)
	if _, err := conn.Write(streamHead(s.id, chunked, keep)); err != nil {
		e.unreserve()
		_ = conn.Close()
		return
	}
	e.start(s)
	early := e.watch(conn, rw.Reader, s)
	<-s.out.done
	_, how, _ := s.out.state()
	if how == endKeep && keep {
		_ = conn.SetDeadline(time.Time{})
		relay.give(conn, early)
		return
	}
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok && how == endReset {
		_ = tcp.SetLinger(0) // close then sends a reset
	}
	_ = conn.Close()
}

// newOut wires the sending side of a hijacked connection.
func (e *Engine) newOut(conn net.Conn) *out {
	o := &out{w: conn, try: tryWriter(conn), clock: e.clock, truth: e.truth, busy: &e.writes, done: make(chan struct{})}
	o.stop = func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) } // ends the watch
	o.late = func() { _ = conn.SetWriteDeadline(time.Now().Add(stuckLimit)) }
	return o
}

// watch waits for the end of the stream or for the client to go away. What a
// client sends ahead of time is returned; from then on its absence is seen
// only when a write fails.
func (e *Engine) watch(conn net.Conn, rd *bufio.Reader, s *stream) (early []byte) {
	if n := rd.Buffered(); n > 0 {
		early, _ = rd.Peek(n)
		return early
	}
	b := make([]byte, 1)
	n, err := conn.Read(b)
	ended, _, _ := s.out.state()
	if err != nil && !ended {
		e.leave(s)
	}
	return b[:n]
}

// streamHead is the header of a streamed reply, sent before the prefill as
// vLLM does.
func streamHead(id string, chunked, keep bool) []byte {
	b := []byte("HTTP/1.1 200 OK\r\nDate: ")
	b = time.Now().UTC().AppendFormat(b, http.TimeFormat)
	b = append(b, "\r\nServer: teapot\r\nContent-Type: text/event-stream; charset=utf-8\r\nX-Request-Id: "...)
	b = append(b, id...)
	if chunked {
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	}
	if !keep {
		b = append(b, "\r\nConnection: close"...)
	}
	return append(b, "\r\n\r\n"...)
}

// fail answers with an error object.
func fail(w http.ResponseWriter, r *refusal) {
	if r.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(r.retry))
	}
	b, _ := json.Marshal(map[string]any{"error": map[string]any{ // nothing in it can fail to marshal
		"message": r.text, "type": r.kind, "param": nil, "code": r.status,
	}})
	document(w, r.status, b)
}

// detail answers as FastAPI does for its own errors.
func detail(w http.ResponseWriter, status int, text string) {
	document(w, status, []byte(`{"detail":"`+text+`"}`))
}

func document(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that is gone needs no answer
}
