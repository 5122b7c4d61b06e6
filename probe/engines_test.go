//go:build engines

package probe_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/probe/record"
)

// TestLlamaCPP runs the built program against llama.cpp's own server, whose
// address .ci/run gives, and checks everything that can be known about the
// outcome from the server's side.
func TestLlamaCPP(t *testing.T) {
	bin, url := os.Getenv("TEAPOT_BIN"), os.Getenv("TEAPOT_LLAMACPP")
	if bin == "" || url == "" {
		t.Fatal("TEAPOT_BIN and TEAPOT_LLAMACPP must name the program and the server; .ci/run sets both")
	}
	for _, api := range []string{"chat", "completions"} {
		for _, streams := range []int{2, 4} {
			t.Run(fmt.Sprintf("%s, %d streams", api, streams), func(t *testing.T) { watchLlama(t, bin, url, api, streams) })
		}
	}
}

// TestLlamaCPPInOtherWords speaks the other dialects that this server has: the
// tokens that it counts itself are those of the report, in each.
func TestLlamaCPPInOtherWords(t *testing.T) {
	bin, url := os.Getenv("TEAPOT_BIN"), os.Getenv("TEAPOT_LLAMACPP")
	if bin == "" || url == "" {
		t.Fatal("TEAPOT_BIN and TEAPOT_LLAMACPP must name the program and the server; .ci/run sets both")
	}
	const few = 4
	for _, api := range []string{"responses", "anthropic", "llamacpp"} {
		t.Run(api, func(t *testing.T) {
			before := tokensPredicted(t, url)
			report, events := runReport(t, bin, url, api, filepath.Join(t.TempDir(), "run.teapot"), few, 2)
			target := report.Targets[0]
			if target.Engine != "llama.cpp" || target.Requests.OK != few || target.Requests.Failed != 0 || !report.Complete {
				t.Errorf("engine %q, complete %v, requests %+v", target.Engine, report.Complete, target.Requests)
			}
			if got := tokensPredicted(t, url) - before; got != few*llamaTokens || target.Throughput.OutputTokens != got {
				t.Errorf("the server counted %d tokens, the report %d, asked were %d", got, target.Throughput.OutputTokens, few*llamaTokens)
			}
			for id, l := range readLives(t, events) {
				if l.end == nil || l.end.Class != event.OKFull || l.end.N != llamaTokens || l.end.Count != event.CountUsage || len(l.tokens) == 0 {
					t.Errorf("request %d: %+v with %d token events", id, l.end, len(l.tokens))
				}
			}
		})
	}
}

const llamaRequests, llamaTokens = 12, 48

func watchLlama(t *testing.T, bin, url, api string, streams int) {
	before := tokensPredicted(t, url)
	file := filepath.Join(t.TempDir(), "run.teapot")
	report, events := runReport(t, bin, url, api, file, llamaRequests, streams)
	after := tokensPredicted(t, url)

	target := report.Targets[0]
	if target.Engine != "llama.cpp" {
		t.Errorf("engine is %q", target.Engine)
	}
	if target.Requests.OK != llamaRequests || target.Requests.Failed != 0 {
		t.Errorf("requests: %+v, want %d ok", target.Requests, llamaRequests)
	}
	if got := after - before; got != llamaRequests*llamaTokens || target.Throughput.OutputTokens != got {
		t.Errorf("the server counted %d tokens, the report %d, asked were %d", got, target.Throughput.OutputTokens, llamaRequests*llamaTokens)
	}
	if !report.Complete {
		t.Error("the run is not complete")
	}

	lives := readLives(t, events)
	if len(lives) != llamaRequests {
		t.Fatalf("%d requests in the recording", len(lives))
	}
	var decode, prefill []float64
	for id, l := range lives {
		if l.end == nil || !l.end.Class.OK() {
			t.Fatalf("request %d ended %+v", id, l.end)
		}
		d, p := l.check(t, id)
		decode, prefill = append(decode, d), append(prefill, p)
	}
	// Half of all requests agree within half a token's share of the decode time,
	// so a rule that is off by a token fails; single ones may be off by what a
	// busy machine does between the server's clock and the wire.
	slices.Sort(decode)
	slices.Sort(prefill)
	t.Logf("here − server: decode %.2f ms, prefill %.2f ms, medians", decode[len(decode)/2], prefill[len(prefill)/2])
	share := target.Figures["gap"].Mean / 2
	if m := decode[len(decode)/2]; math.Abs(m) > share {
		t.Errorf("decode times differ by %.2f ms from the server's, half a token takes %.2f", m, share)
	}
	if m := prefill[len(prefill)/2]; m < -1 || m > 2*share+5 {
		t.Errorf("from headers to the first token it takes %.2f ms longer than the server says", m)
	}
	// The mean of the report is that of the recording: same events, same rule.
	var sum float64
	for _, l := range lives {
		sum += float64(l.tokens[0].At - l.start.At)
	}
	if mean := sum / float64(len(lives)) / 1e6; math.Abs(mean-target.Figures["ttft"].Mean) > 0.001*mean {
		t.Errorf("mean TTFT %.3f ms in the report, %.3f in the recording", target.Figures["ttft"].Mean, mean)
	}
}

// life is one request as recorded.
type life struct {
	start   *event.Start
	headers *event.Headers
	tokens  []*event.Token
	end     *event.End
}

// check compares one request with what the server said of it, and returns by
// how much its decode and prefill times here exceed the server's, in ms. The
// server sends its headers when it begins a request.
func (l *life) check(t *testing.T, id uint64) (decode, prefill float64) {
	if l.end.N != llamaTokens || l.end.Count != event.CountUsage {
		t.Errorf("request %d: N %d by %s", id, l.end.N, l.end.Count)
	}
	var k, gaps int64
	for i, tok := range l.tokens {
		k += int64(tok.K)
		if i > 0 {
			gaps += tok.At - l.tokens[i-1].At
		}
	}
	first, last := l.tokens[0], l.tokens[len(l.tokens)-1]
	if e2e := last.At - l.start.At; first.At-l.start.At+gaps != e2e {
		t.Errorf("request %d: TTFT + Σ gaps = %d, E2E = %d", id, first.At-l.start.At+gaps, e2e)
	}
	if k != llamaTokens {
		t.Errorf("request %d: events carry %d tokens", id, k)
	}
	s := l.end.Server
	if s == nil || s.DecodeN != llamaTokens {
		t.Fatalf("request %d: server timings %+v", id, s)
	}
	return float64(last.At-first.At-s.Decode) / 1e6, float64(first.At-l.headers.At-s.Prompt) / 1e6
}

type llamaReport struct {
	Complete bool
	Targets  []struct {
		Engine     string
		Requests   struct{ OK, Failed int }
		Figures    map[string]struct{ Mean float64 }
		Throughput struct {
			OutputTokens int `json:"output_tokens"`
		}
	}
}

func runReport(t *testing.T, bin, url, api, file string, requests, streams int) (llamaReport, string) {
	t.Helper()
	cmd := exec.Command(bin, "report", url, "--api", api, "-n", strconv.Itoa(requests), "-c", strconv.Itoa(streams), "--warmup", "0",
		"--max-tokens", strconv.Itoa(llamaTokens), "--record", file, "--output-format", "json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("teapot report: %v\n%s", err, out)
	}
	var r llamaReport
	if err := json.Unmarshal(out, &r); err != nil || len(r.Targets) != 1 {
		t.Fatalf("report: %v\n%s", err, out)
	}
	return r, file
}

func readLives(t *testing.T, file string) map[uint64]*life {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lives := map[uint64]*life{}
	for {
		ev, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := ev.(type) {
		case *event.Start:
			lives[e.Request] = &life{start: e}
		case *event.Headers:
			lives[e.Request].headers = e
		case *event.Token:
			lives[e.Request].tokens = append(lives[e.Request].tokens, e)
		case *event.End:
			lives[e.Request].end = e
			if e.SentAgain() { // the server closes a connection after each stream, and says otherwise
				delete(lives, e.Request)
			}
		case *event.Text:
			t.Fatal("the recording holds text though --save-text was not given")
		}
	}
	if d := r.Damage(); d != "" {
		t.Fatal(d)
	}
	return lives
}

// tokensPredicted is the server's own counter of generated tokens.
func tokensPredicted(t *testing.T, url string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for s := bufio.NewScanner(resp.Body); s.Scan(); {
		if v, ok := strings.CutPrefix(s.Text(), "llamacpp:tokens_predicted_total "); ok {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
	}
	t.Fatal("the server exports no llamacpp:tokens_predicted_total")
	return 0
}
