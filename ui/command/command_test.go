package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"teapot/probe/event"
	"teapot/probe/record"
)

// asProgram makes this test binary behave as teapot itself, so that the
// processes it starts are the real program, built as the tests are.
const asProgram = "BEHAVE_AS_TEAPOT"

func TestMain(m *testing.M) {
	if how := os.Getenv(asProgram); how != "" {
		if faulty := faults[how]; faulty != nil {
			os.Exit(faulty())
		}
		os.Exit(Main(os.Args[1:]))
	}
	if err := os.Chdir("../.."); err != nil { // to where go run and the documents are
		panic(err)
	}
	os.Setenv(asProgram, "1")
	for _, name := range []string{"TEAPOT_CONFIG", "NO_COLOR", "OPENAI_API_KEY"} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

func teapot(args ...string) *exec.Cmd { return exec.Command(os.Args[0], args...) }

// run runs teapot to its end.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := teapot(args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), diag.String(), cmd.ProcessState.ExitCode()
}

// engine starts the built-in engine and returns its address and truth log.
func engine(t *testing.T, profile string) (url, truth string) {
	t.Helper()
	truth = filepath.Join(t.TempDir(), "truth")
	cmd := teapot("engine", profile, "--seed", "7", "--truth", truth)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the engine said %q: %v", line, err)
	}
	return strings.TrimSpace(line[strings.Index(line, "http://"):]), truth
}

// write is one line of the truth log: when the engine wrote a token.
type write struct {
	Req    string
	I      int
	Before int64
	T      int64
}

// truthGaps reads the true gaps, in ns, by request number and token index.
// The log is written every tenth of a second, so it is read until it holds the
// last token of every request in want.
func truthGaps(t *testing.T, file string, want map[uint64]int) map[[2]uint64]int64 {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at, seen := map[[2]uint64]int64{}, map[uint64]int{}
		for line := range bytes.Lines(b) {
			var w write
			if json.Unmarshal(line, &w) != nil || w.T == 0 {
				continue
			}
			id, err := strconv.ParseUint(w.Req[strings.LastIndex(w.Req, "-")+1:], 10, 64)
			if err != nil {
				t.Fatalf("request %q", w.Req)
			}
			at[[2]uint64{id, uint64(w.I)}] = w.Before
			seen[id]++
		}
		missing := 0
		for id, n := range want {
			missing += max(0, n-seen[id])
		}
		if missing > 0 && time.Now().Before(deadline) {
			continue
		}
		gaps := map[[2]uint64]int64{}
		for k, v := range at {
			if prev, ok := at[[2]uint64{k[0], k[1] - 1}]; ok && k[1] > 0 {
				gaps[k] = v - prev
			}
		}
		return gaps
	}
}

// gap is one measured gap beside the true one.
type gap struct {
	ours, truth int64
	merged      bool
	at          int64
}

// compare reads a recording and pairs its gaps with the engine's own.
func compare(t *testing.T, recording, truth string) []gap {
	t.Helper()
	tokens, warm, _ := readRecording(t, recording)
	want := map[uint64]int{}
	for id, toks := range tokens {
		if !warm[id] {
			want[id] = len(toks)
		}
	}
	true_ := truthGaps(t, truth, want)
	var gaps []gap
	for id := range want {
		toks := tokens[id]
		for i := 1; i < len(toks); i++ {
			tg, ok := true_[[2]uint64{id, uint64(i)}]
			if !ok {
				t.Fatalf("the engine wrote no token %d of request %d", i, id)
			}
			gaps = append(gaps, gap{ours: toks[i].At - toks[i-1].At, truth: tg, merged: toks[i].Merged, at: toks[i].At})
		}
	}
	return gaps
}

func readRecording(t *testing.T, file string) (tokens map[uint64][]*event.Token, warm map[uint64]bool, texts int) {
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
	tokens, warm = map[uint64][]*event.Token{}, map[uint64]bool{}
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return tokens, warm, texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := ev.(type) {
		case *event.Start:
			warm[e.Request] = e.Warmup
		case *event.Token:
			tokens[e.Request] = append(tokens[e.Request], e)
		case *event.Text:
			texts++
		}
	}
}

type figures struct {
	N                             int
	Mean, P50, P90, P95, P99, Max float64
	P999                          float64 `json:"p99.9"`
	P9999                         float64 `json:"p99.99"`
}

type runReport struct {
	Complete bool
	Targets  []struct {
		Requests struct {
			OK, Failed int
			ByClass    map[string]int `json:"by_class"`
		}
		Figures map[string]figures
		Reading []struct{ Rule, Text string }
	}
}

func parseReport(t *testing.T, text string) runReport {
	t.Helper()
	var r runReport
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Targets) != 1 {
		t.Fatalf("report: %v\n%s", err, text)
	}
	return r
}

// The report of a run equals the engine's own log of its writes, percentile by
// percentile, over exactly the gaps that the probe did not disown.
func TestReportEqualsTruth(t *testing.T) {
	url, truth := engine(t, "article")
	rec := filepath.Join(t.TempDir(), "run")
	out, diag, code := run(t, "report", url, "-c", "8", "-d", "8s", "--record", rec, "--output-format", "json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	f := parseReport(t, out).Targets[0].Figures["gap"]
	var truths []float64
	var sum float64
	for _, g := range compare(t, rec, truth) {
		if !g.merged {
			truths = append(truths, float64(g.truth)/1e6)
			sum += float64(g.truth) / 1e6
		}
	}
	sort.Float64s(truths)
	if f.N != len(truths) || f.N < 1000 {
		t.Fatalf("%d gaps in the report, %d in the log", f.N, len(truths))
	}
	rank := func(p float64) float64 { return truths[int(p*float64(len(truths))+0.9999999)-1] }
	for _, c := range []struct {
		name      string
		got, want float64
		within    float64
	}{
		{"mean", f.Mean, sum / float64(len(truths)), 0.02},
		{"p50", f.P50, rank(0.5), 0.02}, {"p90", f.P90, rank(0.9), 0.02}, {"p95", f.P95, rank(0.95), 0.02},
		{"p99", f.P99, rank(0.99), 0.02}, {"p99.9", f.P999, rank(0.999), 0.02}, {"p99.99", f.P9999, rank(0.9999), 0.05},
	} {
		if c.got == 0 && (c.name != "p99.99" || f.N >= 10000) {
			t.Errorf("%s is missing", c.name)
		}
		if c.got != 0 && (c.got < c.want*(1-c.within) || c.got > c.want*(1+c.within)) {
			t.Errorf("%s is %.3f ms, the engine wrote %.3f", c.name, c.got, c.want)
		}
	}
}

// Text goes into a pipe, and into a regular file only when it was asked for.
func TestProbeTextGoesToPipesAlone(t *testing.T) {
	url, _ := engine(t, "smooth")
	for _, c := range []struct {
		name string
		args []string
		pipe bool
		want bool
	}{
		{"pipe", nil, true, true},
		{"file", nil, false, false},
		{"file, asked for", []string{"--save-text"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "events")
			f, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd := teapot(append([]string{"probe", url, "-n", "1", "--max-tokens", "8", "--warmup", "0"}, c.args...)...)
			cmd.Stdout = f
			if c.pipe {
				cmd.Stdout = struct{ io.Writer }{f} // not an *os.File: exec makes a pipe
			}
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			if _, _, texts := readRecording(t, file); (texts > 0) != c.want {
				t.Errorf("%d texts", texts)
			}
		})
	}
}

// Each way an endpoint can fail has its class, one clear line, and its code.
func TestFailuresOfAReport(t *testing.T) {
	serve := func(h http.HandlerFunc) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: h}
		go func() { _ = s.Serve(ln) }()
		t.Cleanup(func() { s.Close() })
		return "http://" + ln.Addr().String()
	}
	answer := func(code int, kind, body string) string {
		return serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		})
	}
	for _, c := range []struct {
		name, url, class, says string
		args                   []string
	}{
		{"port closed", "http://127.0.0.1:9", "connect_refused", "connection refused", nil},
		{"no such host", "http://teapot.invalid", "dns", "teapot.invalid", nil},
		{"401", answer(401, "application/json", `{"error":{"message":"bad key"}}`), "http_auth", "bad key", nil},
		{"404", answer(404, "application/json", `{"error":{"message":"no such model"}}`), "http_not_found", "no such model", nil},
		{"503 for ever", answer(503, "application/json", `{"error":{"message":"overloaded"}}`), "http_overload", "overloaded", nil},
		{"HTML", answer(200, "text/html", "<html><body>Welcome</body></html>"), "not_a_stream", "HTML", nil},
		{"JSON error in a 200", answer(200, "application/json", `{"error":"Unexpected endpoint"}`), "error_body_200", "Unexpected endpoint", nil},
		{"never answers", serve(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "timeout_first", "no token within", []string{"--ttft-timeout", "200ms"}},
		{"stops mid-stream", serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}), "truncated", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"report", c.url, "-d", "3s", "--output-format", "json"}, c.args...)
			out, diag, code := run(t, args...)
			if code != 1 {
				t.Errorf("exit %d", code)
			}
			if strings.Count(diag, "\n") != 1 || !strings.HasPrefix(diag, "teapot: ") || !strings.Contains(diag, c.says) {
				t.Errorf("stderr: %q", diag)
			}
			r := parseReport(t, out).Targets[0].Requests
			if r.OK != 0 || r.ByClass[c.class] == 0 {
				t.Errorf("requests: %+v", r)
			}
		})
	}
}

// A server that loads its model is waited for, and the time asked for begins
// when it answers.
func TestReportWaitsForLoading(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case asked.Add(1) <= 3:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(503)
			_, _ = io.WriteString(w, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
		case r.Method == http.MethodPost:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	out, diag, code := run(t, "report", s.URL, "-d", "500ms", "--output-format", "json")
	r := parseReport(t, out)
	if code != 0 || !r.Complete || r.Targets[0].Requests.OK == 0 || r.Targets[0].Requests.Failed != 0 {
		t.Errorf("exit %d, %q, %+v", code, diag, r.Targets[0].Requests)
	}
	if !strings.Contains(diag, "it loads its model (Loading model); for at most 15m00s in all (--ready-timeout)\n") {
		t.Errorf("what was waited for is not told: %q", diag)
	}
}

// An SLO that is missed gives exit code 3, one that is met gives 0.
func TestServiceLevels(t *testing.T) {
	url, _ := engine(t, "smooth")
	for expr, want := range map[string]int{"gap<=1us:99%": 3, "gap<=60s:99%": 0} {
		_, diag, code := run(t, "report", url, "-n", "2", "--max-tokens", "16", "--slo", expr)
		if code != want || (want == 3) != strings.Contains(diag, "gap<=1us") {
			t.Errorf("%s: exit %d, %q", expr, code, diag)
		}
	}
}

// An interrupted report still reports, says that it is not complete, and
// carries the signal in its exit code.
func TestInterruptedReport(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 131} {
		t.Run(sig.String(), func(t *testing.T) {
			url, _ := engine(t, "smooth")
			cmd := teapot("report", url, "-d", "60s", "--output-format", "json")
			var out bytes.Buffer
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(20 * time.Second); len(children(t, cmd.Process.Pid, "probe")) == 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("no probe")
				}
			}
			_ = cmd.Process.Signal(sig)
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit %d, want %d", got, want)
			}
			if parseReport(t, out.String()).Complete {
				t.Error("an interrupted run calls itself complete")
			}
		})
	}
}

// screenRun is the live screen in a real pty, recording what it measures.
type screenRun struct {
	cmd    *exec.Cmd
	tty    *os.File
	record string
	truth  string
	raw    syncBuffer // what the terminal got, where somebody keeps it
}

func startScreen(t *testing.T) *screenRun {
	t.Helper()
	url, truth := engine(t, "smooth")
	s := &screenRun{record: filepath.Join(t.TempDir(), "run"), truth: truth}
	s.cmd = teapot(url, "-c", "2", "--warmup", "0", "--record", s.record)
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8")
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		s.tty.Close()
	})
	return s
}

// drain reads the terminal until stop is closed.
func (s *screenRun) drain(stop <-chan struct{}) {
	buf := make([]byte, 64<<10)
	for {
		select {
		case <-stop:
			return
		default:
		}
		_ = s.tty.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := s.tty.Read(buf); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// quit presses q and waits for the end.
func (s *screenRun) quit(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	go s.drain(stop)
	defer close(stop)
	if _, err := s.tty.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("teapot: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("q does not end the program")
	}
}

// shown is a terminal with the real program in it, as a person sees it.
type shown struct {
	*screenRun
	mu sync.Mutex
	vt *vt.Emulator
}

func show(t *testing.T, args ...string) *shown {
	t.Helper()
	s := &shown{screenRun: &screenRun{cmd: teapot(args...)}, vt: vt.NewEmulator(120, 40)}
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8")
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		s.tty.Close()
	})
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := s.tty.Read(buf)
			s.mu.Lock()
			_, _ = s.raw.Write(buf[:n])
			_, _ = s.vt.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *shown) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.String()
}

// await waits until every one of the words stands on the screen at once; one
// that begins with "!" must not.
func (s *shown) await(t *testing.T, words ...string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		screen, missing := s.screen(), ""
		for _, w := range words {
			if word, not := strings.CutPrefix(w, "!"); strings.Contains(screen, word) == not {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q is not on the screen:\n%s", missing, screen)
		}
	}
}

func (s *shown) keys(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// A person starts it, looks around, and leaves.
func TestTheScreenFromTheFirstKeyToTheLast(t *testing.T) {
	s := show(t, "demo:smooth", "-c", "2", "--slo", "gap<=60s:99%")
	s.await(t, "LIVE", "teapot-smooth", "teapot engine", "gap≤60s", "tok/min", "gap ms, worst per 1s", "kernel stamps")
	s.keys(t, "3")
	s.await(t, "reader 10/s", "median")
	s.keys(t, "?")
	s.await(t, "hold the picture still", "esc closes")
	s.keys(t, "\x1b")
	s.await(t, "!esc closes")
	s.keys(t, "1 ")
	s.await(t, "PAUSED", "worst per 1s")
	s.keys(t, " w")
	s.await(t, "window 5m")
	s.keys(t, "p")
	s.await(t, "PROBING PAUSED")
	s.keys(t, "p")
	s.await(t, "LIVE")
	s.keys(t, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("teapot: %v", err)
	}
	s.await(t, "ttft", "gap", "e2e") // the last table, on the main screen
	s.mu.Lock()
	defer s.mu.Unlock()
	if out := s.raw.String(); !strings.Contains(out, "\x1b[?1049l") || !strings.HasSuffix(strings.TrimRight(out, "\r\n"), strings.TrimRight(lastLine(s.vt.String()), " ")) {
		t.Error("the terminal is not left on its main screen, after the table")
	}
}

func lastLine(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, " \n"), "\n")
	return lines[len(lines)-1]
}

// An endpoint that is down is said to be down, and watched until it answers.
func TestTheScreenOutlivesItsEndpoint(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	s := show(t, "http://"+addr)
	s.await(t, "DOWN", "connection refused", "next try in")
	e := teapot("engine", "smooth", "--addr", addr)
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.Process.Kill()
		_ = e.Wait()
	})
	s.await(t, "LIVE", "teapot engine")
	if pids := children(t, s.cmd.Process.Pid, "probe"); len(pids) != 1 || syscall.Kill(pids[0], syscall.SIGKILL) != nil {
		t.Fatalf("probes: %v", pids)
	}
	s.await(t, "PROBE ENDED", "killed")
	s.keys(t, "q")
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// children lists the processes that teapot started, by command.
func children(t *testing.T, pid int, what string) []int {
	t.Helper()
	var found []int
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(entries) == 0 {
		t.Skip("no /proc to find a child in")
	}
	for _, e := range entries {
		b, err := os.ReadFile(e)
		if err != nil {
			continue
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(e)))
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if len(f) > 1 && f[1] == strconv.Itoa(pid) && strings.Contains(string(args), "\x00"+what+"\x00") {
			found = append(found, child)
		}
	}
	return found
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b[bytes.LastIndexByte(b, ')'):]), " Z ")
}

// What happens on our side of the wire leaves no trace in what is measured.
func TestNothingOnOurSideBecomesASpike(t *testing.T) {
	const stop = time.Second
	for _, c := range []struct {
		name    string
		disturb func(t *testing.T, s *screenRun)
		probe   bool // it is the probe that is stopped
	}{
		{"the terminal is not read for five seconds", func(t *testing.T, s *screenRun) { time.Sleep(5 * time.Second) }, false},
		{"the screen is stopped for a second", func(t *testing.T, s *screenRun) { pause(s.cmd.Process.Pid, stop) }, false},
		{"the probe is stopped for a second", func(t *testing.T, s *screenRun) {
			pids := children(t, s.cmd.Process.Pid, "probe")
			if len(pids) != 1 {
				t.Fatalf("%d probes", len(pids))
			}
			pause(pids[0], stop)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startScreen(t)
			quiet := make(chan struct{})
			drained := make(chan struct{})
			go func() { s.drain(quiet); close(drained) }()
			time.Sleep(2 * time.Second)
			close(quiet)
			<-drained
			c.disturb(t, s)
			s.quit(t)
			gaps := compare(t, s.record, s.truth)
			if len(gaps) < 50 {
				t.Fatalf("%d gaps", len(gaps))
			}
			merged := 0
			for _, g := range gaps {
				if g.merged {
					merged++
				}
				// Half of the disturbance would be its trace; a busy machine
				// disturbs by far less.
				if off := time.Duration(g.ours - g.truth).Abs(); off > stop/2 && !g.merged {
					t.Errorf("a gap of %v in the recording was %v at the engine", time.Duration(g.ours), time.Duration(g.truth))
				}
			}
			if c.probe && merged == 0 {
				t.Error("the probe was stopped, and no gap is its own")
			}
		})
	}
}

func pause(pid int, d time.Duration) {
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	time.Sleep(d)
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// However the screen ends, nothing it started is left behind.
func TestNothingIsLeftBehind(t *testing.T) {
	cmd := teapot("demo:smooth", "--record", filepath.Join(t.TempDir(), "run"))
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	go func() { _, _ = io.Copy(io.Discard, tty) }()
	var pids []int
	for deadline := time.Now().Add(15 * time.Second); len(pids) < 2 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		pids = append(children(t, cmd.Process.Pid, "probe"), children(t, cmd.Process.Pid, "engine")...)
	}
	if len(pids) != 2 {
		t.Fatalf("children: %v", pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range pids {
		for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("process %d outlives the screen", pid)
			}
		}
	}
}

// The floors of the house: who may depend on whom. Imports only ever point
// down, and neither the screen nor the numbers touch the network.
var floors = []struct {
	room      string   // package path below the module, and everything below it
	forbidden []string // what must not be among its dependencies
	why       string
}{
	{"probe", []string{"teapot/ui", "teapot/stats", "charm.land"}, "the probe measures and knows nothing of numbers or screens"},
	{"stats", []string{"teapot/ui", "teapot/probe", "net/http", "charm.land"}, "statistics are pure code over events"},
	{"ui", []string{"teapot/probe", "net/http"}, "the screen reads snapshots and never the network"},
	{"probe/event", []string{"teapot"}, "the vocabulary is a leaf"},
	{"probe/sse", []string{"teapot"}, "the parser is a leaf"},
	{"probe/sim", []string{"teapot"}, "the built-in engine shares nothing with what measures it"},
	{"probe/stamp", []string{"teapot"}, "stamping knows sockets and clocks only"},
	{"probe/record", []string{"teapot", "net/http"}, "a recording is events and bytes"},
}

// leaves import nothing of teapot, not even its vocabulary.
var leaves = map[string]bool{"probe/event": true, "probe/sse": true, "probe/sim": true}

func TestFloors(t *testing.T) {
	type pkg struct {
		ImportPath string
		Deps       []string
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	under := func(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }
	const wires = "teapot/ui/command" // stands in main's place
	const serves = "teapot/ui/export" // for others to read, over HTTP
	for _, f := range floors {
		seen := false
		for _, p := range pkgs {
			if !under(p.ImportPath, "teapot/"+f.room) || p.ImportPath == wires {
				continue
			}
			seen = true
			for _, dep := range p.Deps {
				own := under(dep, "teapot/"+f.room) || dep == "teapot/probe/event" && !leaves[f.room]
				for _, bad := range f.forbidden {
					if !own && under(dep, bad) && !(p.ImportPath == serves && bad == "net/http") {
						t.Errorf("%s depends on %s: %s", p.ImportPath, dep, f.why)
					}
				}
			}
		}
		if !seen {
			t.Errorf("no package in %s: has the room moved?", f.room)
		}
	}
}

// What the self-test says of a machine hangs together, however busy it is.
func TestSelfTest(t *testing.T) {
	stdout, stderr, code := run(t, "selftest", "-d", "1s", "--output-format", "json")
	if code != 0 {
		t.Fatalf("code %d: %s", code, stderr)
	}
	var f struct {
		Source   string  `json:"stamp_source"`
		Streams  int     `json:"streams"`
		Tokens   int     `json:"tokens"`
		Missing  int     `json:"tokens_missing"`
		P50      float64 `json:"error_p50_ms"`
		P99      float64 `json:"error_p99_ms"`
		Max      float64 `json:"error_max_ms"`
		Trust    float64 `json:"trusted_from_ms"`
		Disowned float64 `json:"disowned_share"`
	}
	if err := json.Unmarshal([]byte(stdout), &f); err != nil {
		t.Fatal(err)
	}
	if f.Streams != 8 || f.Tokens != 8*625 || f.Missing != 0 || f.Source == "" {
		t.Errorf("%+v", f)
	}
	if f.P50 > f.P99 || f.P99 > f.Max || f.Trust != 10*f.P99 || f.Disowned < 0 || f.Disowned > 1 {
		t.Errorf("%+v", f)
	}
	stdout, _, code = run(t, "selftest", "-d", "200ms")
	if code != 0 || !strings.Contains(stdout, "Believe a gap percentile on this machine from about") {
		t.Errorf("code %d: %s", code, stdout)
	}
}

// syncBuffer is a buffer that one goroutine fills and another reads.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A promise that names a test which is not there is none.
func TestPromisesNameTheirTests(t *testing.T) {
	doc, err := os.ReadFile("docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	err = filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			var b []byte
			b, err = os.ReadFile(path)
			all.Write(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w+)`").FindAllStringSubmatch(string(doc), -1)
	if len(names) < 60 {
		t.Fatalf("only %d tests are named", len(names))
	}
	for _, n := range names {
		if !strings.Contains(all.String(), "\nfunc "+n[1]+"(") {
			t.Errorf("there is no %s", n[1])
		}
	}
}
