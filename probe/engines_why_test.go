//go:build engines

package probe_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// llama is a server of llama.cpp that a test has for itself.
type llama struct {
	url  string
	cmd  *exec.Cmd
	hold io.Closer // it ends with this
}

// llamaBatch is how many prompt tokens such a server works on at a time.
const llamaBatch = 256

// startLlama starts one; port 0 takes a free one. It ends with the test.
func startLlama(t *testing.T, slots, port int) *llama {
	t.Helper()
	python, script, model := os.Getenv("TEAPOT_LLAMACPP_PYTHON"), os.Getenv("TEAPOT_LLAMACPP_SERVER"), os.Getenv("TEAPOT_LLAMACPP_MODEL")
	if python == "" || script == "" || model == "" {
		t.Fatal("TEAPOT_LLAMACPP_PYTHON, _SERVER and _MODEL must name what starts the server; .ci/run sets them")
	}
	l := &llama{cmd: exec.Command(python, script, model, strconv.Itoa(slots), strconv.Itoa(port), strconv.Itoa(llamaBatch), "4096")}
	in, err := l.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.hold = in
	t.Cleanup(l.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			l.url = url
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return l
		}
	}
	t.Fatal("llama.cpp did not start")
	return nil
}

// kill ends the server at once.
func (l *llama) kill() {
	if l.cmd.ProcessState == nil {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		l.hold.Close()
	}
}

func (l *llama) port(t *testing.T) int {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(l.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// complete is a request of somebody else.
func (l *llama) complete(prompt string, tokens int) error {
	body, err := json.Marshal(map[string]any{"prompt": prompt, "n_predict": tokens, "cache_prompt": false, "ignore_eos": true})
	if err != nil {
		return err
	}
	res, err := http.Post(l.url+"/completion", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// prompt is a long prompt of somebody else. It returns how many tokens each of
// the batches had that the server says it worked on.
func (l *llama) prompt(text string) (batches []int, err error) {
	body, err := json.Marshal(map[string]any{"prompt": text, "n_predict": 1, "cache_prompt": false, "stream": true, "return_progress": true})
	if err != nil {
		return nil, err
	}
	res, err := http.Post(l.url+"/completion", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	done := 0
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var r struct {
			Progress *struct{ Processed int } `json:"prompt_progress"`
		}
		if ok && json.Unmarshal([]byte(data), &r) == nil && r.Progress != nil && r.Progress.Processed > done {
			batches = append(batches, r.Progress.Processed-done)
			done = r.Progress.Processed
		}
	}
	return batches, lines.Err()
}

// decoding waits until so many of the slots have produced so many tokens.
func (l *llama) decoding(t *testing.T, slots int, tokens float64) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(l.url + "/slots")
		if err != nil {
			continue
		}
		var all []struct {
			Busy bool `json:"is_processing"`
			Next []struct {
				N float64 `json:"n_decoded"`
			} `json:"next_token"`
		}
		err = json.NewDecoder(res.Body).Decode(&all)
		res.Body.Close()
		n := 0
		for _, s := range all {
			if s.Busy && len(s.Next) > 0 && s.Next[0].N >= tokens {
				n++
			}
		}
		if err == nil && n >= slots {
			return
		}
	}
	t.Fatalf("%d slots never had %v tokens", slots, tokens)
}

type whyReport struct {
	Targets []struct {
		Engine string
		Causes []struct {
			Cause, Verdict string
			Spikes         int
			Worst          struct {
				Length float64 `json:"length_ms"`
				First  bool
				Peers  int
				Why    struct{ Evidence []string }
			}
		}
		Server struct {
			Sources []struct {
				Name  string
				Looks int
			}
		}
	}
}

// why runs a report while something is done to the server.
func (l *llama) why(t *testing.T, do func(), args ...string) whyReport {
	t.Helper()
	bin := os.Getenv("TEAPOT_BIN")
	if bin == "" {
		t.Fatal("TEAPOT_BIN must name the program; .ci/run sets it")
	}
	cmd := exec.Command(bin, append([]string{"report", l.url, "--api", "llamacpp", "--warmup", "0", "--output-format", "json"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	do()
	err := cmd.Wait()
	var r whyReport
	if jsonErr := json.Unmarshal(out.Bytes(), &r); err != nil || jsonErr != nil || len(r.Targets) != 1 {
		t.Fatalf("report: %v, %v\n%s", err, jsonErr, out.String())
	}
	for _, c := range r.Targets[0].Causes {
		t.Logf("%s (%s): %d spikes, the worst %.0f ms: %q", c.Cause, c.Verdict, c.Spikes, c.Worst.Length, c.Worst.Why.Evidence)
	}
	for _, s := range r.Targets[0].Server.Sources {
		t.Logf("%s: %d looks", s.Name, s.Looks)
	}
	return r
}

// evidence is what is said of the worst spike of a cause; ok is false where
// there is none of it.
func (r *whyReport) evidence(cause string) (lines string, ok bool) {
	for _, c := range r.Targets[0].Causes {
		if c.Cause == cause {
			return strings.Join(c.Worst.Why.Evidence, "\n"), true
		}
	}
	return "", false
}

// words is a prompt of about so many tokens that nobody has sent before.
func words(n, seed int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", (i*7919+seed*104729)%10007)
	}
	return b.String()
}

// Three streams decode, and somebody else sends a long prompt: all of them stop
// together, once for each batch of it.
func TestLlamaCPPPrefillOfSomebodyElse(t *testing.T) {
	l := startLlama(t, 4, 0)
	var batches []int
	var lines string
	ok := false
	// Where other programs take the processors, every step may be as long as one
	// with a batch of the prompt in it, and none of them is a stop: then again.
	for try := 1; try <= 3 && !ok; try++ {
		r := l.why(t, func() {
			l.decoding(t, 3, 150)
			var err error
			if batches, err = l.prompt(words(230, try)); err != nil {
				t.Error(err)
			}
		}, "-n", "3", "-c", "3", "--max-tokens", "500")
		lines, ok = r.evidence("prefill interference")
		ok = ok && countedRight(t, batches, lines)
	}
	if !ok {
		t.Fatalf("the stop is not called prefill interference of %d batches: %q", batches, lines)
	}
	if want := "3 of the 3 streams that were receiving stood still and went on together"; !strings.Contains(lines, want) {
		t.Errorf("%q is not said:\n%s", want, lines)
	}
}

// The server is killed and comes back.
func TestLlamaCPPRestart(t *testing.T) {
	l := startLlama(t, 2, 0)
	r := l.why(t, func() {
		l.decoding(t, 2, 100)
		port := l.port(t)
		l.kill()
		startLlama(t, 2, port)
	}, "-d", "30s", "-c", "2", "--max-tokens", "300")
	if _, ok := r.evidence("restart"); !ok {
		t.Error("it is not called a restart")
	}
}

// Others have all the slots, and a request waits for one.
func TestLlamaCPPQueue(t *testing.T) {
	l := startLlama(t, 2, 0)
	r := l.why(t, func() {
		for tokensPredicted(t, l.url) < 12*8 { // what is usual is known by then
			time.Sleep(100 * time.Millisecond)
		}
		var others sync.WaitGroup
		for i := range 4 {
			others.Go(func() {
				if err := l.complete(words(3, i), 80); err != nil {
					t.Error(err)
				}
			})
		}
		others.Wait()
	}, "-n", "40", "-c", "1", "--max-tokens", "8", "--prompt-tokens", "16", "--ttft-timeout", "5m")
	lines, ok := r.evidence("queueing")
	if !ok {
		t.Fatal("it is not called queueing")
	}
	if !strings.Contains(lines, "waiting at the server") && !strings.Contains(lines, "headers came after") {
		t.Errorf("the evidence: %s", lines)
	}
}

// countedRight tells whether as many long gaps were seen as there were batches. A
// batch that is not full may take no longer than any step.
func countedRight(t *testing.T, batches []int, lines string) bool {
	t.Helper()
	full := 0
	for _, n := range batches {
		if n >= llamaBatch*3/4 {
			full++
		}
	}
	said := 0
	for _, line := range strings.Split(lines, "\n") {
		if n, ok := strings.CutSuffix(strings.SplitN(line, ",", 2)[0], " long gaps follow each other"); ok {
			said, _ = strconv.Atoi(n)
		}
	}
	t.Logf("batches of %d tokens, %d long gaps", batches, said)
	return full >= 4 && said >= full && said <= len(batches)
}
