//go:build unix

package ui

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// session is a child on a pty.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // kept open, to read the terminal's settings
	before *term.State
	errs   safeBuffer
	mu     sync.Mutex
	out    []byte
	exited chan error
}

func startSession(t *testing.T, how string, cols, rows int, env ...string) *session {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatalf("no pty: %v", err)
	}
	s := &session{t: t, master: master, slave: slave, exited: make(chan error, 1)}
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		t.Fatal(err)
	}
	if s.before, err = term.GetState(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append([]string{childEnv + "=" + how, "TERM=xterm-256color", "LANG=C.UTF-8", "COLORTERM=truecolor"}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, &s.errs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.exited <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = master.Close()
		_ = slave.Close()
	})
	return s
}

// safeBuffer is a buffer that one goroutine fills and another reads.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *session) stderr() string { return s.errs.String() }

// read takes the terminal's output until the master is closed.
func (s *session) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.out = append(s.out, buf[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *session) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.out)
}

// await waits until the output holds a text.
func (s *session) await(text string) {
	s.t.Helper()
	for range 1500 {
		if strings.Contains(s.output(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%q never came; stderr %s", text, s.errs.String())
}

func (s *session) keys(k string) {
	if _, err := s.master.WriteString(k); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the child and returns its exit code.
func (s *session) end() int {
	s.t.Helper()
	select {
	case <-s.exited:
		time.Sleep(50 * time.Millisecond) // let the reader take the last bytes
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		s.t.Fatal("it does not end")
		return -1
	}
}

// whole checks that the terminal is as it was: its settings, and every mode.
func (s *session) whole() {
	s.t.Helper()
	after, err := term.GetState(s.slave.Fd())
	if err != nil {
		s.t.Fatal(err)
	}
	if *after != *s.before {
		s.t.Errorf("the terminal's settings differ:\nbefore %+v\nafter  %+v", *s.before, *after)
	}
	modesReset(s.t, s.output())
}

// modesReset checks that every private mode that was set was reset, and that
// nothing was asked of the terminal.
func modesReset(t *testing.T, out string) {
	t.Helper()
	for _, mode := range []string{"1000", "1002", "1003", "1004", "1006", "1049", "2004", "2026", "2027"} {
		on, off := strings.LastIndex(out, "\x1b[?"+mode+"h"), strings.LastIndex(out, "\x1b[?"+mode+"l")
		if on > off {
			t.Errorf("mode %s is left on", mode)
		}
	}
	if hide, show := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); hide > show {
		t.Error("the cursor is left hidden")
	}
	for _, ask := range []string{"\x1b[c", "\x1b[>c", "\x1b[?u", "\x1b]10;?", "\x1b]11;?", "$p", "\x1b[6n", "\x1b[>q"} {
		if strings.Contains(out, ask) {
			t.Errorf("the terminal is asked something: %q", ask)
		}
	}
	for _, push := range []string{"\x1b[>1u", "\x1b[>4;2m"} {
		if strings.Contains(out, push) {
			t.Errorf("the keyboard's protocol is changed: %q", push)
		}
	}
}

func startIgnoringHangup(t *testing.T) *session {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, master: master, slave: slave, exited: make(chan error, 1)}
	s.cmd = exec.Command("/bin/sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0])
	s.cmd.Env = []string{childEnv + "=live", "TERM=xterm-256color", "LANG=C.UTF-8"}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, &s.errs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.exited <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}
