package accuracy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// httpClient reaches a target by its transport.
func httpClient(t *testing.T, tg *target) (*http.Client, string) {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	base := tg.where
	switch tg.Transport {
	case Unix:
		path := strings.TrimPrefix(tg.where, "unix://")
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		base = "http://server"
	case HTTPS, HTTP2:
		pem, err := os.ReadFile(tg.ca)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		tr.TLSClientConfig = &tls.Config{RootCAs: pool}
		tr.ForceAttemptHTTP2 = tg.Transport == HTTP2
	}
	return &http.Client{Transport: tr}, base
}

// asks sends a request and reads the arrival of each of its tokens.
func asks(t *testing.T, c *http.Client, base, id, model string, tokens int) (Heard, string) {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"max_tokens":%d,"stream":true}`, model, tokens)
	req, err := http.NewRequest(http.MethodPost, base+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", id)
	h := Heard{ID: id, Sent: monotonic()}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		msg, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, msg)
	}
	var rest strings.Builder
	for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
		switch line := sc.Text(); {
		case strings.Contains(line, `"content":" tea"`):
			h.At = append(h.At, monotonic())
		case line != "":
			rest.WriteString(line + "\n")
		}
	}
	return h, rest.String()
}

func TestTheServerRemembersWhatItWrote(t *testing.T) {
	for _, tr := range Transports() {
		t.Run(string(tr), func(t *testing.T) {
			t.Parallel()
			tg, err := startTarget(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			defer tg.stop()
			c, base := httpClient(t, tg)
			const n = 40
			a, rest := asks(t, c, base, "a", "constant:2000", n)
			b, _ := asks(t, c, base, "b", "lockstep:5000", n)
			if !strings.Contains(rest, `"completion_tokens":40`) || !strings.HasSuffix(rest, "data: [DONE]\n") {
				t.Errorf("the stream ends with %q", rest)
			}
			log, err := tg.log()
			if err != nil {
				t.Fatal(err)
			}
			r, err := compare(log, []Heard{a, b}, 0, true)
			if err != nil {
				t.Fatal(err)
			}
			if r.Tokens != 2*n || r.Missing != 0 {
				t.Errorf("%d tokens, %d missing", r.Tokens, r.Missing)
			}
			if r.Delays[0] < 0 {
				t.Errorf("a token arrived %d ns before it was written", -r.Delays[0])
			}
			for _, s := range log.Streams {
				for i := 1; i < len(s.Before); i++ {
					if s.Before[i] < s.After[i-1] || s.After[i] < s.Before[i] {
						t.Fatalf("stream %s, token %d: written at %d to %d, the one before until %d", s.ID, i, s.Before[i], s.After[i], s.After[i-1])
					}
				}
				if s.Before[0] < s.Heard+int64(lead) {
					t.Errorf("stream %s begins %d ns after it was asked for", s.ID, s.Before[0]-s.Heard)
				}
			}
			if again, err := tg.log(); err != nil || len(again.Streams) != 0 {
				t.Errorf("asked again: %d streams, %v", len(again.Streams), err)
			}
		})
	}
}

func TestTheServerRefuses(t *testing.T) {
	tg, err := startTarget(t.Context(), HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.stop()
	c, base := httpClient(t, tg)
	for _, body := range []string{"", "{}", `{"model":"gamma","max_tokens":3}`, `{"model":"constant:0","max_tokens":3}`, `{"model":"constant","max_tokens":99999999}`} {
		resp, err := c.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", body, resp.Status)
		}
	}
}

func TestSchedules(t *testing.T) {
	due := func(model string, seed uint64, n int) (at []int64) {
		s, err := newSchedule(model, 1e9, seed)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			at = append(at, s.next)
			s.advance()
		}
		return at
	}
	a, b := due("constant:2000", 1, 10), due("constant:2000", 2, 10)
	if a[0] == b[0] || a[9]-a[0] != 9*2e6 {
		t.Errorf("two streams begin at %d and %d; nine gaps last %d", a[0], b[0], a[9]-a[0])
	}
	a, b = due("lockstep:3000", 1, 10), due("lockstep:3000", 2, 10)
	if a[0] != b[0] || a[9]-a[0] != 9*3e6 {
		t.Errorf("in lock-step two streams begin at %d and %d; nine gaps last %d", a[0], b[0], a[9]-a[0])
	}
	law := due("article", 1, 20001)
	if mean := time.Duration((law[20000] - law[0]) / 20000); mean < 3300*time.Microsecond || mean > 3650*time.Microsecond {
		t.Errorf("the article's mean is %v", mean)
	}
}

// The C client says of the same stream what the log says of it, whatever it
// costs it in time.
func TestTheCClient(t *testing.T) {
	dir := t.TempDir()
	bin, err := buildC(t.Context(), dir)
	if err != nil {
		t.Skip(err) // a machine without a C compiler; the race detector's has one
	}
	tg, err := startTarget(t.Context(), HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.stop()
	for _, whom := range []string{"user", "kernel"} {
		r, err := measure(t.Context(), inC(bin, nameCUser, whom), tg, Load{Model: "constant:5000", Streams: 3, Tokens: 50, Spread: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if r.Streams != 3 || r.Tokens != 150 || r.Missing != 0 || len(r.Errors) != 3*(50-settle) || r.Delays[0] < -int64(time.Millisecond) {
			t.Errorf("%s: %d streams, %d tokens, %d missing, %d errors, least delay %d", whom, r.Streams, r.Tokens, r.Missing, len(r.Errors), r.Delays[0])
		}
	}
}
