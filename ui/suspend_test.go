//go:build unix

package ui

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// jobShell is a shell with job control and one job: it starts the screen in the
// foreground, waits until it stops, takes the terminal back, and some time later
// brings it to the foreground again.
func jobShell() int {
	signal.Ignore(syscall.SIGTTOU)
	job := exec.Command(os.Args[0])
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, childEnv+"=") {
			job.Env = append(job.Env, v)
		}
	}
	job.Env = append(job.Env, childEnv+"=live")
	job.Stdin, job.Stdout, job.Stderr = os.Stdin, os.Stdout, os.Stderr
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := job.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	pid := job.Process.Pid
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		fmt.Fprintf(os.Stderr, "the job did not stop: %v %v\n", ws, err)
		return 1
	}
	if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "STOPPED")
	time.Sleep(1500 * time.Millisecond)
	_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, pid)
	_ = syscall.Kill(-pid, syscall.SIGCONT)
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		return 1
	}
	return ws.ExitStatus()
}

func TestSuspendAndBack(t *testing.T) {
	s := startSession(t, "shell", 100, 30)
	go s.read()
	s.await("LIVE")
	s.keys("\x1a")
	for range 1000 {
		if strings.Contains(s.stderr(), "STOPPED") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.Contains(s.stderr(), "STOPPED") {
		t.Fatalf("it did not stop; stderr %q", s.stderr())
	}
	stopped, err := term.GetState(s.slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	if *stopped != *s.before {
		t.Error("while it is stopped the terminal's settings differ")
	}
	modesReset(t, s.output())
	s.await("was suspended for")
	s.keys("q")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d; stderr %s", code, s.stderr())
	}
	s.whole()
}
