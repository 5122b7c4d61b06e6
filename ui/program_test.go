//go:build unix

package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"teapot/probe/event"
	"teapot/stats"
)

// childEnv makes the test binary a program that shows the screen, so that
// signals, ptys and panics can be tried on a process of its own.
const childEnv = "TEAPOT_SCREEN_TEST"

func TestMain(m *testing.M) {
	switch how := os.Getenv(childEnv); how {
	case "":
	case "shell":
		os.Exit(jobShell())
	default:
		os.Exit(child(how))
	}
	os.Exit(m.Run())
}

// child shows a live synthetic world and says on stderr how it ended.
func child(how string) int {
	w := newWorld(3, 2)
	w.run(20e9)
	var mu sync.Mutex
	start := time.Now()
	stopped := false
	draws := 0
	cfg := Config{
		In: os.Stdin, Out: os.Stdout, Env: os.Getenv, Window: 1,
		Snapshot: func() *stats.Snapshot {
			mu.Lock()
			defer mu.Unlock()
			if draws++; how == "panic-view" && draws > 10 {
				var none *stats.Target
				none.InFlight++
			}
			w.run(20e9 + int64(time.Since(start)))
			s := w.snapshot()
			if stopped {
				s.Finished = &event.Finished{Reason: "stopped"}
			}
			return s
		},
		Control: func(c event.Control) {
			if how == "panic-control" {
				panic("control\nin two lines")
			}
			mu.Lock()
			stopped = stopped || c.Do == event.DoStop
			mu.Unlock()
		},
	}
	cfg.NoSync = how == "no-sync"
	if how == "failed" {
		ch := make(chan error, 1)
		ch <- errors.New("the exporter broke")
		cfg.Failed = ch
	}
	o, err := Run(context.Background(), cfg)
	if err != nil {
		fmt.Fprintf(os.Stderr, "teapot: %v\n", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "outcome signal=%v quit=%v aborted=%v gone=%v normal=%v\n", o.Signal, o.Quit, o.Aborted, o.Gone, o.Normal())
	if s, ok := o.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 0
}

func TestInAVirtualTerminal(t *testing.T) {
	s := startSession(t, "live", 120, 40)
	go s.read()
	s.await("LIVE")
	s.await("streams:")
	s.keys("3")
	s.await("reader 5/s")
	time.Sleep(500 * time.Millisecond)
	screen := vt.NewEmulator(120, 40)
	if _, err := screen.WriteString(s.output()); err != nil {
		t.Fatal(err)
	}
	text := screen.String()
	for _, want := range []string{"● LIVE", "Llama-3.3-70B-Instruct", "16.7 60fps", "? help"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "gap ms, worst") {
		t.Error("the overview shows through the words")
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	s.keys("qq")
	s.end()
}

func TestScriptedKeysOnAPty(t *testing.T) {
	s := startSession(t, "live", 100, 30)
	go s.read()
	s.await("LIVE")
	s.keys("?")
	s.await("esc closes")
	s.keys("\x1b")
	time.Sleep(100 * time.Millisecond)
	s.keys(" ")
	s.await("PAUSED")
	s.keys(" m")
	s.await("marked")
	s.keys("w")
	s.await("window 5m")
	s.keys("R")
	s.await("y / n")
	s.keys("n3t\x0c1")
	s.await("worst per")
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: 8, Cols: 20}); err != nil {
		t.Fatal(err)
	}
	s.await("needs 40x8")
	s.keys("q")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := s.errs.String(); !strings.Contains(got, "quit=true aborted=false gone=false normal=true") {
		t.Errorf("it ended as %s", got)
	}
	if out := s.output(); !strings.Contains(out, "\x1b[?2026h") {
		t.Error("no synchronized output")
	}
	s.whole()
}

func TestSynchronizedOutputOverSSH(t *testing.T) {
	for how, want := range map[string]bool{"live": true, "no-sync": false} {
		t.Run(how, func(t *testing.T) {
			s := startSession(t, how, 80, 24, "SSH_TTY=/dev/pts/9", "SSH_CONNECTION=a b c d")
			go s.read()
			s.await("LIVE")
			s.await("now")
			s.keys("qq")
			s.end()
			if got := strings.Contains(s.output(), "\x1b[?2026h"); got != want {
				t.Errorf("synchronized output: %v", got)
			}
			s.whole()
		})
	}
}

func TestSignalsLeaveTheTerminalWhole(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			s := startSession(t, "live", 80, 24)
			go s.read()
			s.await("LIVE")
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := s.end(); code != 128+int(sig) {
				t.Errorf("exit code %d; stderr %s", code, s.errs.String())
			}
			s.whole()
		})
	}
}

func TestPanicsLeaveTheTerminalWhole(t *testing.T) {
	cases := []struct{ how, keys, want string }{
		{"panic-view", "", "internal fault while handling an input (ui.child.func1"},
		{"panic-control", "m", "internal fault while steering the probe (ui.child.func2"},
		{"failed", "", "the exporter broke"},
	}
	for _, c := range cases {
		t.Run(c.how, func(t *testing.T) {
			s := startSession(t, c.how, 80, 24)
			go s.read()
			if c.keys != "" {
				s.await("LIVE")
				s.keys(c.keys)
			}
			if code := s.end(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			got := s.errs.String()
			if !strings.HasPrefix(got, "teapot: ") || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("stderr %q", got)
			}
			s.whole()
		})
	}
}

func TestAClosedTerminalEndsIt(t *testing.T) {
	for _, how := range []string{"hang-up delivered", "hang-up ignored"} {
		t.Run(how, func(t *testing.T) {
			s := startSession(t, "live", 80, 24)
			if how == "hang-up ignored" {
				// as nohup does: a shell that ignores it and becomes the child
				_ = s.cmd.Process.Kill()
				<-s.exited
				s = startIgnoringHangup(t)
			}
			go s.read()
			s.await("LIVE")
			_ = s.slave.Close()
			_ = s.master.Close()
			select {
			case <-s.exited:
			case <-time.After(20 * time.Second):
				t.Fatal("it lives on without a terminal")
			}
			if got := s.errs.String(); !strings.Contains(got, "gone=true") && !strings.Contains(got, "signal=hangup") {
				t.Errorf("it ended as %q", got)
			}
		})
	}
}

func TestAStalledTerminalDoesNotHoldItUp(t *testing.T) {
	s := startSession(t, "live", 300, 100) // nobody reads; its frames fill the pty
	time.Sleep(2 * time.Second)
	s.keys("qq")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d; stderr %s", code, s.errs.String())
	}
	after, err := term.GetState(s.slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	if *after != *s.before {
		t.Error("the terminal's settings differ")
	}
	go s.read() // the terminal wakes up
	s.await("\x1b[?1049l")
	time.Sleep(50 * time.Millisecond)
	modesReset(t, s.output())
}

func TestSuspendInAnOrphanedGroupGoesOn(t *testing.T) {
	s := startSession(t, "live", 100, 30) // a session of its own: nobody could continue it
	go s.read()
	s.await("LIVE")
	s.keys("\x1a")
	s.await("no job control")
	s.keys("qq")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.whole()
}

func TestWithoutATerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	if _, err := Run(context.Background(), Config{Snapshot: empty, In: r, Out: w}); err == nil {
		t.Error("it draws into a pipe")
	}
}
