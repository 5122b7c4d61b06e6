package engine

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// answer is what a fake gives to one path.
type answer struct {
	status int // 200 if 0
	header map[string]string
	body   string
}

// fake is a server with fixed answers. It notes what it was asked.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	auth  string
}

// serve starts a fake; paths without an answer get the one of "*", or a 404
// with JSON.
func serve(t *testing.T, answers map[string]answer) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+r.URL.Path)
		f.auth = r.Header.Get("Authorization")
		f.mu.Unlock()
		a, ok := answers[r.URL.Path]
		if !ok {
			if a, ok = answers["*"]; !ok {
				a = answer{status: 404, body: `{"detail":"Not Found"}`}
			}
		}
		if a.header["Content-Type"] == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		for k, v := range a.header {
			w.Header().Set(k, v)
		}
		if a.status != 0 {
			w.WriteHeader(a.status)
		}
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(f.Close)
	return f
}

// paths are the requests made so far.
func (f *fake) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

// recorded is an answer of a real server, from a transcript of its bytes.
func recorded(t *testing.T, name string) answer {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var wire bytes.Buffer
	for line := range strings.Lines(string(raw)) {
		_, data, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "B ")
		if !ok {
			continue
		}
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(data, `"`, `\"`) + `"`)
		if err != nil {
			t.Fatal(err)
		}
		wire.WriteString(text)
	}
	resp, err := http.ReadResponse(bufio.NewReader(&wire), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: map[string]string{}, body: string(body)}
	for _, k := range []string{"Server", "Content-Type"} {
		if v := resp.Header.Get(k); v != "" {
			a.header[k] = v
		}
	}
	return a
}

// models is a list with the given entries, each the fields of an object.
func models(entries ...string) answer {
	var all []string
	for _, e := range entries {
		all = append(all, "{"+e+"}")
	}
	return answer{body: `{"object":"list","data":[` + strings.Join(all, ",") + `]}`}
}

func owned(id, by string) string {
	return fmt.Sprintf(`"id":%q,"object":"model","created":1767225600,"owned_by":%q`, id, by)
}

// mayAsk fails for a request that is not among those that cost a server
// nothing: whatever is not listed here may generate, load, drain or wake.
func mayAsk(t *testing.T, request string) {
	t.Helper()
	for _, free := range []string{
		"/v1/models", "/v1beta/models", "/models", "/version", "/v1/metadata", "/v1/version", "/server_info", "/get_server_info",
		"/props", "/info", "/v2", "/", "/health", "/api/version", "/api/tags", "/api/ps", "/api/extra/version", "/api/v1/model", "/api/v0/models",
	} {
		if request == "GET "+free {
			return
		}
	}
	t.Errorf("asked %s", request)
}

// at is a client for which every host is this server.
func (f *fake) at() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, f.Listener.Addr().String())
	}}}
}
