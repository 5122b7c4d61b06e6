package http1

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func post(content string) *http.Request {
	r, _ := http.NewRequest(http.MethodPost, "http://host:8000/v1/chat/completions?k=1", strings.NewReader(content))
	r.Header.Set("X-Request-Id", "7")
	return r
}

// A request leaves whole in one write, however long it is.
func TestARequestIsOneWrite(t *testing.T) {
	for _, n := range []int{0, 10, 5000, 3 * keptOut} {
		content := strings.Repeat("x", n)
		src := &pieces{}
		c := NewConn(src)
		if err := c.Send(post(content)); err != nil {
			t.Fatal(err)
		}
		if len(src.wrote) != 1 {
			t.Fatalf("%d bytes left in %d writes", n, len(src.wrote))
		}
		head, body, _ := strings.Cut(src.wrote[0], "\r\n\r\n")
		if !strings.HasPrefix(head, "POST /v1/chat/completions?k=1 HTTP/1.1\r\nHost: host:8000\r\n") || !strings.Contains(head, "\r\nX-Request-Id: 7") || body != content {
			t.Errorf("%.300q", src.wrote[0])
		}
		if c.Answered() || c.Reusable() {
			t.Error("another request could follow at once")
		}
	}
}

// broken is a connection that never does what it should.
type broken struct{ io.Writer }

func (broken) Read([]byte) (int, error) { return 0, nil }

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestABrokenConnection(t *testing.T) {
	c := NewConn(broken{})
	req := post("x")
	if err := c.Send(req); err == nil || err.Error() != "broken" {
		t.Errorf("error of writing: %v", err)
	}
	if _, err := c.Response(req); err != io.ErrNoProgress || c.Answered() || c.Reusable() {
		t.Errorf("error of reading: %v", err)
	}
}

// After Reset nothing of the old connection is left.
func TestReset(t *testing.T) {
	c, resp, err := ask(&script{parts: []string{okHead + "Content-Length: 9\r\n\r\nold"}})
	if err != nil {
		t.Fatal(err)
	}
	io.ReadAll(resp.Body)
	c.Reset(&script{parts: []string{chunkedHead + "3\r\nn", "ew\r\n0\r\n\r\n"}})
	if !c.Reusable() || c.Answered() {
		t.Error("not as new")
	}
	if n, err := resp.Body.Read(make([]byte, 9)); n != 0 || err == nil {
		t.Errorf("the old body reads %d from the new connection, %v", n, err)
	}
	req := get()
	if err := c.Send(req); err != nil {
		t.Fatal(err)
	}
	if resp, err = c.Response(req); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); string(got) != "new" || err != nil || !c.Reusable() {
		t.Errorf("%q, %v", got, err)
	}
}
