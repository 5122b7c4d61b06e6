//go:build unix

package ui

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// errNotStopped: the stop signal was sent and nothing stopped.
var errNotStopped = errors.New("the stop signal had no effect")

// suspend stops the job, as ctrl+z does everywhere. In an orphaned process group
// the kernel throws the stop signal away, nothing would ever continue us, and
// Bubble Tea would wait for ever: there the key only says so.
func suspend(drained func(time.Duration) bool) tea.Cmd {
	if orphaned() || signal.Ignored(syscall.SIGTSTP) {
		return func() tea.Msg { return suspendedMsg{orphan: true} }
	}
	s := &stopper{drained: drained}
	return tea.Exec(s, func(err error) tea.Msg {
		return suspendedMsg{orphan: err != nil, away: s.away}
	})
}

// stopper is the "command" that Bubble Tea runs with the terminal released.
type stopper struct {
	drained func(time.Duration) bool
	away    time.Duration
}

// Run stops the process group and returns when it is continued, or soon after
// when nothing stopped.
func (s *stopper) Run() error {
	s.drained(time.Second)
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	start := time.Now()
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	const patience = 500 * time.Millisecond
	select {
	case <-cont:
	case <-time.After(patience):
		select {
		case <-cont: // both came while we were stopped
		default:
			if time.Since(start) < 2*patience {
				return errNotStopped
			}
		}
	}
	s.away = time.Since(start)
	return nil
}

// SetStdin and the others are of no use here.
func (*stopper) SetStdin(io.Reader)  {}
func (*stopper) SetStdout(io.Writer) {}
func (*stopper) SetStderr(io.Writer) {}

// orphaned tells whether this process's group is orphaned: no ancestor inside
// the session, but outside of the group, is there to continue it.
func orphaned() bool {
	sid, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group, pid := unix.Getpgrp(), os.Getppid()
	for range 64 {
		s, err := unix.Getsid(pid)
		if pid <= 1 && s != sid || err != nil || s != sid {
			return true
		}
		g, err := unix.Getpgid(pid)
		if err != nil {
			return true
		}
		if g != group {
			return false
		}
		parent, ok := parentOf(pid)
		if !ok {
			return false // the wait in Run is the safety net
		}
		pid = parent
	}
	return false
}
