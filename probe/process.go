package probe

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// process is a child that must not outlive its parent.
type process struct {
	what   string
	cmd    *exec.Cmd
	stdin  *os.File // our end: closing it asks the child to end
	stdout *os.File // our end
	stderr tail
	done   chan struct{} // closed when the process has ended
	err    error         // how it ended; read after done
}

// startProcess starts this binary with args. The goroutine that starts it
// stays on its thread for as long as the child lives: the kernel's signal at a
// parent's death comes when the starting thread ends.
func startProcess(what string, args ...string) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", what, err)
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", what, err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, fmt.Errorf("start the %s: %w", what, err)
	}
	p := &process{what: what, stdin: inW, stdout: outR, done: make(chan struct{})}
	p.cmd = exec.Command(exe, args...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, &p.stderr
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = childAttr()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		inR.Close()
		outW.Close()
		started <- err
		if err != nil {
			return
		}
		defer close(p.done)
		p.err = p.ended(p.cmd.Wait())
	}()
	if err := <-started; err != nil {
		inW.Close()
		outR.Close()
		return nil, fmt.Errorf("start the %s: %w", what, err)
	}
	return p, nil
}

// ended puts into words how the process ended.
func (p *process) ended(err error) error {
	if err == nil {
		return nil
	}
	if last := p.stderr.lastLine(); last != "" {
		return fmt.Errorf("%s ended: %w: %s", p.what, err, last)
	}
	return fmt.Errorf("%s ended: %w", p.what, err)
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// tail keeps the last 4 KiB of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if n := len(t.buf) - tailSize; n > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[n:])]
	}
	return len(b), nil
}

// lastLine is the line that says most: the one that begins with "panic:" or
// "fatal error:" if there is one, else the last that is not empty.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var last string
	for line := range strings.Lines(string(t.buf)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			last = line
			break
		}
		if line != "" {
			last = line
		}
	}
	return (&redactor{}).line(last)
}
