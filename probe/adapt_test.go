package probe

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"teapot/probe/api"
	"teapot/probe/engine"
	"teapot/probe/event"
	"teapot/probe/stamp"
)

// asked is one request that a server got.
type asked struct {
	path, body string
	header     http.Header
}

// answering serves a function that decides by the request, and keeps them all.
func answering(t *testing.T, answer func(n int, c net.Conn, a asked) bool) (*server, func() []asked) {
	t.Helper()
	var mu sync.Mutex
	var all []asked
	s := serve(t, func(n int, c net.Conn, r *http.Request) bool {
		b, _ := io.ReadAll(r.Body)
		a := asked{r.URL.Path, string(b), r.Header}
		mu.Lock()
		all = append(all, a)
		mu.Unlock()
		return answer(n, c, a)
	})
	return s, func() []asked {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// fullCompletion answers with a whole stream of completions.
func fullCompletion(c net.Conn) bool {
	io.WriteString(c, streamHead)
	say(c, `data: {"model":"tiny","choices":[{"index":0,"text":"a"}]}`+"\n\n",
		`data: {"model":"tiny","choices":[{"index":0,"text":"b","finish_reason":"length"}]}`+"\n\n", usage(2), done)
	io.WriteString(c, lastOne)
	return true
}

func nope(c net.Conn, status int, body string) bool {
	plain(c, status, "application/json", body)
	return true
}

// classes lists how requests ended.
func classes(all []event.Event) (list []event.Class) {
	for _, e := range of[*event.End](all) {
		list = append(list, e.Class)
	}
	return list
}

const nameless = `{"error":{"message":"Extra inputs are not permitted"}}`

func TestFieldsAreGivenUpOneByOne(t *testing.T) {
	s, got := answering(t, func(_ int, c net.Conn, a asked) bool {
		if strings.Contains(a.body, `"temperature"`) {
			return nope(c, 422, nameless)
		}
		return full(c)
	})
	all := watch(t, config(s.url, 2), nil)
	same(t, "classes", []event.Class{event.Aborted, event.Aborted, event.OKFull, event.OKFull}, classes(all))
	for i, e := range of[*event.End](all) {
		if e.SentAgain() != (i < 2) {
			t.Errorf("end %d: %+v", i, e)
		}
	}
	last := got()[3].body
	if strings.Contains(last, "temperature") || strings.Contains(last, "stream_options") || !strings.Contains(last, `"max_tokens":2`) {
		t.Errorf("the next request has %s", last)
	}
	expectNote(t, all, "temperature")
}

// expectNote looks for a note that holds a text.
func expectNote(t *testing.T, all []event.Event, text string) {
	t.Helper()
	for _, n := range of[*event.Note](all) {
		if strings.Contains(n.Text, text) {
			return
		}
	}
	t.Errorf("no note says %q", text)
}

func TestFieldsThatWereNotToBlameComeBack(t *testing.T) {
	t.Parallel()
	s, got := answering(t, func(_ int, c net.Conn, _ asked) bool { return nope(c, 400, nameless) })
	all := watch(t, config(s.url, 2), nil)
	failed, first := 0, got()[0].body
	for i, e := range of[*event.End](all) {
		if e.SentAgain() {
			continue
		}
		failed++
		if e.Class != event.ErrParam || !strings.Contains(e.Message, "Extra inputs") {
			t.Errorf("end: %+v", e)
		}
		if next := i + 1; failed == 1 && (strings.Count(got()[next].body, ":") != strings.Count(first, ":")) {
			t.Errorf("the next request has %s, the first had %s", got()[next].body, first)
		}
	}
	if n := len(got()); failed != 2 || n > maxTries+1 { // the second is not sent again
		t.Errorf("%d failures in %d requests", failed, n)
	}
}

func TestTheLimitOfTokensIsSwapped(t *testing.T) {
	s, got := answering(t, func(_ int, c net.Conn, a asked) bool {
		if strings.Contains(a.body, `"max_tokens"`) {
			return nope(c, 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`)
		}
		return full(c)
	})
	all := watch(t, config(s.url, 2), nil)
	same(t, "classes", []event.Class{event.Aborted, event.OKFull, event.OKFull}, classes(all))
	if b := got()[2].body; !strings.Contains(b, `"max_completion_tokens":2`) {
		t.Errorf("the next request has %s", b)
	}
	expectNote(t, all, "max_tokens")
}

func TestStreamsThatAreRejectedTogether(t *testing.T) {
	const streams = 4
	var ready sync.WaitGroup
	ready.Add(streams)
	s, _ := answering(t, func(n int, c net.Conn, a asked) bool {
		if !strings.Contains(a.body, "temperature") {
			return full(c)
		}
		ready.Done() // each of them asks once with the field
		ready.Wait()
		return nope(c, 400, `{"error":{"message":"unknown field","param":"temperature"}}`)
	})
	cfg := config(s.url, streams)
	cfg.Load.Concurrency = streams
	all := watch(t, cfg, nil)
	ok := 0
	for _, e := range of[*event.End](all) {
		if e.Class.OK() {
			ok++
		} else if !e.SentAgain() {
			t.Errorf("end: %+v", e)
		}
	}
	if ok != streams {
		t.Errorf("%d succeeded", ok)
	}
}

func TestADialectThatIsNotSpoken(t *testing.T) {
	ollamaLines := `{"model":"tiny","message":{"content":"a"},"done":false}` + "\n" +
		`{"model":"tiny","message":{"content":"b"},"done":true,"done_reason":"length","eval_count":2}` + "\n"
	lines := func(c net.Conn) bool {
		plain(c, 200, "application/x-ndjson", ollamaLines)
		return true
	}
	isOllama := func(c net.Conn, r *http.Request) bool {
		switch r.URL.Path {
		case "/":
			plain(c, 200, "text/plain", "Ollama is running")
		case "/api/version":
			plain(c, 200, "application/json", `{"version":"0.9.1"}`)
		case "/api/tags":
			plain(c, 200, "application/json", `{"models":[{"name":"tiny"}]}`)
		default:
			plain(c, 404, "text/plain", "404 page not found")
		}
		return true
	}
	const noTemplate = `{"error":{"message":"As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.","code":400}}`
	for _, c := range []struct {
		name, api, path string
		get             func(net.Conn, *http.Request) bool
		status          int    // of what is not served
		refusal         string // and its body
		serves          string // the only path that is served
		answer          func(net.Conn) bool
		class           event.Class
		spoken          string
		requests        int // for two successes
	}{
		{"404", "auto", "", nil, 404, `{"detail":"Not Found"}`, "/v1/completions", fullCompletion, event.OKFull, "completions", 3},
		{"405", "", "", nil, 405, `{"detail":"Method Not Allowed"}`, "/v1/completions", fullCompletion, event.OKFull, "completions", 3},
		{"no chat template", "auto", "", nil, 400, noTemplate, "/v1/completions", fullCompletion, event.OKFull, "completions", 3},
		{"cannot be chatted with", "auto", "", nil, 400, `{"error":{"message":"\"tiny\" does not support chat"}}`, "/v1/completions", fullCompletion, event.OKFull, "completions", 3},
		{"nothing but its own", "auto", "", isOllama, 404, "404 page not found", "/api/chat", lines, event.OKFull, "ollama", 4},
		{"nothing at all", "auto", "", nil, 404, `{"detail":"Not Found"}`, "", nil, event.ErrModel, "chat", 0},
		{"a model that is not there", "auto", "", nil, 404, `{"error":{"message":"The model tiny does not exist"}}`, "/v1/completions", fullCompletion, event.ErrModel, "chat", 0},
		{"the user insists", "chat", "", nil, 404, `{"detail":"Not Found"}`, "/v1/completions", fullCompletion, event.ErrModel, "chat", 0},
		{"the address insists", "auto", "/v1/chat/completions", nil, 404, `{"detail":"Not Found"}`, "/v1/completions", fullCompletion, event.ErrModel, "chat", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, got := answering(t, func(_ int, conn net.Conn, a asked) bool {
				if a.path == c.serves {
					return c.answer(conn)
				}
				return nope(conn, c.status, c.refusal)
			})
			s.get = c.get
			cfg := config(s.url+c.path, 2)
			cfg.Targets[0].API, cfg.Verbose = c.api, true
			if !c.class.OK() {
				cfg.Load.Requests = 1
			}
			all := watch(t, cfg, nil)
			ends := of[*event.End](all)
			if e := ends[len(ends)-1]; e.Class != c.class || e.SentAgain() {
				t.Errorf("end: %+v", e)
			}
			for _, e := range ends[:len(ends)-1] {
				if e.Class != c.class && !e.SentAgain() {
					t.Errorf("end: %+v", e)
				}
			}
			targets := of[*event.Target](all)
			if api := targets[len(targets)-1].API; api != c.spoken {
				t.Errorf("%s is spoken in the end", api)
			}
			if n := len(got()); c.requests > 0 && n != c.requests || n > 4 {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if c.class.OK() {
				expectNote(t, all, c.spoken+" is tried instead")
			}
		})
	}
}

// What was found out stays for as long as the same server answers, and no
// longer.
func TestWhatIsLearnedIsOfOneServer(t *testing.T) {
	version := "0.9.1"
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	s.get = func(c net.Conn, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/models":
			plain(c, 200, "application/json", `{"data":[{"id":"tiny","owned_by":"vllm","max_model_len":9}]}`)
		case "/version":
			plain(c, 200, "application/json", `{"version":"`+version+`"}`)
		default:
			return false
		}
		return true
	}
	cfg := config(s.url, 1)
	ep, err := newEndpoint(1, cfg.Targets[0], &cfg, patience, 0, stamp.NewClock())
	if err != nil {
		t.Fatal(err)
	}
	defer ep.rt.CloseIdleConnections()
	look := func() {
		t.Helper()
		if err := ep.detect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	spoken := func() string { return ep.speech.Load().dialect.Name() }
	look()
	ep.drop(api.FieldSeed)
	if to, first := ep.turn(ep.speech.Load()); to == nil || !first || spoken() != "completions" {
		t.Fatalf("turned to %v", to)
	}
	look()
	if spoken() != "completions" || !ep.dropped()[api.FieldSeed] {
		t.Errorf("forgotten of the same server: %s, %v", spoken(), ep.dropped())
	}
	version = "0.10.0"
	look()
	if spoken() != "chat" || ep.dropped()[api.FieldSeed] {
		t.Errorf("kept of another: %s, %v", spoken(), ep.dropped())
	}
	if d := ep.speech.Load().det; d.Engine != engine.VLLM || d.Version != version {
		t.Errorf("found %+v", d)
	}
}
