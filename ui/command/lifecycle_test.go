package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"teapot/probe"
	"teapot/probe/event"
	"teapot/ui"
	"teapot/ui/options"
	"teapot/ui/session"
)

// faults are programs like teapot with something broken in them, by the value of
// asProgram that starts them.
var faults = map[string]func() int{
	"stats": func() int { return faulty(faultyEvents, nil) },
	"ui":    func() int { return faulty(nil, func() string { panic("the picture\nbroke") }) },
	"scene": func() int { return faulty(nil, nil) }, // the key S is broken in all of them
}

// faultyEvents has the statistics, which are fed from it, panic once the screen is
// up.
func faultyEvents(next func() (event.Event, error)) func() (event.Event, error) {
	begun := time.Now()
	return func() (event.Event, error) {
		if time.Since(begun) > 2*time.Second {
			panic("the numbers\nbroke")
		}
		return next()
	}
}

// brokenLive is a source whose end cannot be asked for without a fault, a while
// after it began: the screen asks in every frame.
type brokenLive struct {
	session.Live
	begun time.Time
	ended func() string
}

func (b *brokenLive) Ended() string {
	if b.ended != nil && time.Since(b.begun) > 2*time.Second && time.Since(b.begun) < 3*time.Second {
		return b.ended()
	}
	return b.Live.Ended()
}

// faulty is the command watch with a fault in the events or in the screen.
func faulty(events func(func() (event.Event, error)) func() (event.Event, error), ended func() string) int {
	o, code := options.Parse(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if code != options.GoOn {
		return code
	}
	os.Setenv(asProgram, "1") // what it starts is not broken
	engines, urls, err := probe.StartEngines(o.URLs, 7)
	if err != nil {
		return 9
	}
	defer probe.CloseEngines(engines)
	code, err = faultySession(o, urls, events, ended)
	if err != nil {
		fmt.Fprintln(os.Stderr, "teapot: "+options.Line(err))
	}
	return code
}

func faultySession(o *options.Options, urls []string, events func(func() (event.Event, error)) func() (event.Event, error), ended func() string) (int, error) {
	s, err := session.New(o)
	if err != nil {
		return 9, err
	}
	source, err := probe.Watch(o.Config(urls))
	if err != nil {
		return 9, err
	}
	next := source.Next
	if events != nil {
		next = events(next)
	}
	s.Start(session.Source{
		Next: next, Stop: source.Stop, Live: &brokenLive{source, time.Now(), ended},
		Scene: func() (ui.Scene, error) { panic("no scene") },
	})
	defer s.Close()
	return s.Show()
}

// way is a way for a session to end.
type way struct {
	name   string
	end    func(*testing.T, *screenRun)
	code   int
	broken string // which of faults runs; "": teapot itself
	shell  bool   // it is a job of a shell
	unread bool   // nobody reads the terminal
	gone   bool   // there is no terminal left to be whole
	says   string // on standard error
}

// However a session ends, the terminal is as it was, the exit code says how,
// and the report that was asked for is on disk.
func TestEveryEndOfASession(t *testing.T) {
	signal := func(sig syscall.Signal) func(*testing.T, *screenRun) {
		return func(t *testing.T, s *screenRun) {
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Error(err)
			}
		}
	}
	keys := func(k string) func(*testing.T, *screenRun) {
		return func(t *testing.T, s *screenRun) {
			if _, err := s.tty.WriteString(k); err != nil {
				t.Error(err)
			}
		}
	}
	wait := func(*testing.T, *screenRun) {}
	for _, c := range []way{
		{name: "q", end: keys("q")},
		{name: "ctrl+c", end: keys("\x03")},
		{name: "ctrl+c twice", end: keys("\x03\x03")},
		{name: "INT", end: signal(syscall.SIGINT), code: 130},
		{name: "TERM", end: signal(syscall.SIGTERM), code: 143},
		{name: "HUP", end: signal(syscall.SIGHUP), code: 129},
		{name: "QUIT", end: signal(syscall.SIGQUIT), code: 131},
		{name: "a panic in the probe, then q", end: panicProbe},
		{name: "a panic in the statistics", broken: "stats", end: wait, code: 1, says: "teapot: internal fault: the numbers broke"},
		{name: "a panic in the screen", broken: "ui", end: wait, code: 1, says: "the picture broke"},
		{name: "a panic behind a key, then q", broken: "scene", end: keys("Sq")},
		{name: "the terminal is closed", end: func(_ *testing.T, s *screenRun) { s.tty.Close() }, code: 129, gone: true},
		{name: "the terminal is not read", end: keys("qq"), unread: true},
		{name: "ctrl+z where nobody could bring it back, then q", end: keys("\x1aq")},
		{name: "ctrl+z in a shell with jobs, fg, then q", shell: true, end: stopAndReturn},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// panicProbe has the probe die as of a panic: with a trace of every goroutine.
func panicProbe(t *testing.T, s *screenRun) {
	pids := children(t, s.cmd.Process.Pid, "probe")
	if len(pids) != 1 {
		t.Fatalf("probes: %v", pids)
	}
	if err := syscall.Kill(pids[0], syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	s.seen(t, "PROBE ENDED")
	if _, err := s.tty.WriteString("q"); err != nil {
		t.Error(err)
	}
}

// stopAndReturn presses ctrl+z and waits for the shell, which brings it back.
func stopAndReturn(t *testing.T, s *screenRun) {
	for _, step := range [][2]string{{"\x1a", "BACK IN THE SHELL"}, {"", "was suspended for"}, {"q", ""}} {
		if _, err := s.tty.WriteString(step[0]); err != nil {
			t.Error(err)
		}
		s.seen(t, step[1])
	}
}

// seen waits until the terminal got a text.
func (s *screenRun) seen(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !strings.Contains(s.raw.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q never came: %q", text, s.raw.String())
		}
	}
}

// start runs the session on a terminal of its own.
func (c *way) start(t *testing.T, file string, master, slave *os.File) *screenRun {
	s := &screenRun{cmd: teapot("demo:smooth", "-o", file), tty: master}
	if c.shell {
		sh, err := exec.LookPath("bash")
		if err != nil {
			t.Skip("no shell with jobs")
		}
		args := append([]string{"-c", `set -m; "$@"; echo BACK IN THE SHELL; sleep 1.5; fg >/dev/null`, "sh"}, s.cmd.Args...)
		s.cmd = exec.Command(sh, args...)
	}
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8")
	if c.broken != "" {
		s.cmd.Env = append(s.cmd.Env, asProgram+"="+c.broken)
	}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *way) run(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	s := c.start(t, file, master, slave)
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); master.Close() })
	if c.unread {
		time.Sleep(3 * time.Second) // its frames fill the terminal meanwhile
	} else { // a fault need not wait until it is live
		go func() { _, _ = io.Copy(&s.raw, master) }()
		s.seen(t, map[bool]string{true: "streams:", false: "LIVE"}[c.code == 1])
	}
	c.end(t, s)
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("it does not end")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != c.code && !(c.gone && code == 0) {
		t.Errorf("exit code %d, want %d", code, c.code)
	}
	b, err := os.ReadFile(file)
	var report struct {
		Version  int   `json:"version"`
		Targets  []any `json:"targets"`
		Complete bool  `json:"complete"`
	}
	if err != nil || json.Unmarshal(b, &report) != nil || report.Version != 1 || len(report.Targets) != 1 || report.Complete {
		t.Errorf("the report: %v, %.200s", err, b)
	}
	if c.gone {
		return
	}
	after, err := term.GetState(slave.Fd())
	if err != nil || *after != *before {
		t.Errorf("the terminal's settings differ (%v)", err)
	}
	if !c.unread {
		c.left(t, s)
	}
}

// left looks at what the terminal got: every mode is off, and a fault is one line.
func (c *way) left(t *testing.T, s *screenRun) {
	if c.says != "" {
		s.seen(t, c.says)
	}
	time.Sleep(50 * time.Millisecond) // let the reader take the last bytes
	raw := s.raw.String()
	for _, mode := range []string{"1000", "1002", "1003", "1004", "1006", "1049", "2004", "2026"} {
		if strings.LastIndex(raw, "\x1b[?"+mode+"h") > strings.LastIndex(raw, "\x1b[?"+mode+"l") {
			t.Errorf("mode %s is left on", mode)
		}
	}
	if strings.LastIndex(raw, "\x1b[?25l") > strings.LastIndex(raw, "\x1b[?25h") {
		t.Error("the cursor is left hidden")
	}
	if strings.Contains(raw, "goroutine ") {
		t.Error("a trace of goroutines is on the terminal")
	}
}
