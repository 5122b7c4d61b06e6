package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"teapot/probe/event"
)

// Child is a probe in a process of its own. It ends with the process that
// started it, however that one ends: at the end of its control pipe, and on
// Linux also by a signal from the kernel.
type Child struct {
	proc   *process
	events *os.File
	lines  chan []byte
	stop   sync.Once
	quit   chan struct{}
}

// StartChild starts `teapot probe --child` from the same binary and tells it
// cfg through its control pipe. The arguments hold no part of cfg.
func StartChild(cfg event.Config) (*Child, error) {
	return startChild(cfg, "probe", "--child")
}

func startChild(cfg event.Config, args ...string) (*Child, error) {
	first, err := json.Marshal(event.Control{Do: event.DoStart, Config: &cfg})
	if err != nil {
		return nil, fmt.Errorf("start the probe: %w", err)
	}
	p, err := startProcess("probe", args...)
	if err != nil {
		return nil, err
	}
	c := &Child{proc: p, events: p.stdout, lines: make(chan []byte, 64), quit: make(chan struct{})}
	c.lines <- append(first, '\n')
	go c.write()
	return c, nil
}

// write carries controls into the pipe, so that Send never waits for it.
func (c *Child) write() {
	defer c.proc.stdin.Close()
	for {
		select {
		case line := <-c.lines:
			if _, err := c.proc.stdin.Write(line); err != nil {
				return // the child is gone; Wait says why
			}
		case <-c.proc.done:
			return
		case <-c.quit:
			for { // what was sent before Close still goes out
				select {
				case line := <-c.lines:
					if _, err := c.proc.stdin.Write(line); err != nil {
						return
					}
				default:
					return
				}
			}
		}
	}
}

// Events is the stream of events as the child writes it, for record.NewReader.
// It ends when the child does.
func (c *Child) Events() io.Reader { return c.events }

// PID is the process id of the child.
func (c *Child) PID() int { return c.proc.cmd.Process.Pid }

// Send gives the child a control. It never waits; it fails when the child is
// gone or does not listen.
func (c *Child) Send(ctl event.Control) error {
	line, err := json.Marshal(ctl)
	if err != nil {
		return fmt.Errorf("tell the probe %q: %w", ctl.Do, err)
	}
	select {
	case <-c.proc.done:
		return fmt.Errorf("tell the probe %q: %w", ctl.Do, os.ErrProcessDone)
	default:
	}
	select {
	case c.lines <- append(line, '\n'):
		return nil
	default:
		return fmt.Errorf("tell the probe %q: it does not listen", ctl.Do)
	}
}

// Close closes the control pipe, which asks the child to end at once. It is
// safe to call twice.
func (c *Child) Close() { c.stop.Do(func() { close(c.quit) }) }

// Kill ends the child without asking it.
func (c *Child) Kill() { c.proc.kill() }

// Wait waits for the end of the child. The error says how it ended, with the
// last line of its standard error; nil is an ordinary end. Events can still be
// read to their end after it.
func (c *Child) Wait() error {
	<-c.proc.done
	return c.proc.err
}

// EngineProc is the built-in engine in a process of its own.
type EngineProc struct {
	proc *process
	url  string
}

// engineStart is how long an engine may take until it says its address.
const engineStart = 15 * time.Second

// StartEngine starts `teapot engine PROFILE` from the same binary on a free
// port of the loopback interface. It ends with the process that started it.
func StartEngine(profile string, seed uint64) (*EngineProc, error) {
	return startEngine("engine", profile, "--addr", "127.0.0.1:0", "--seed", fmt.Sprint(seed), "--child")
}

func startEngine(args ...string) (*EngineProc, error) {
	p, err := startProcess("engine", args...)
	if err != nil {
		return nil, err
	}
	e := &EngineProc{proc: p}
	if e.url, err = readURL(p.stdout); err != nil {
		p.kill()
		<-p.done
		if p.err != nil {
			err = p.err
		}
		p.stdout.Close()
		p.stdin.Close()
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	go func() { // it may say more, and must not be stopped by that
		_, _ = io.Copy(io.Discard, p.stdout)
		p.stdout.Close()
	}()
	return e, nil
}

// readURL finds the address in the first line an engine writes.
func readURL(f *os.File) (string, error) {
	_ = f.SetReadDeadline(time.Now().Add(engineStart))
	defer func() { _ = f.SetReadDeadline(time.Time{}) }()
	var line []byte
	var one [1]byte
	for len(line) < 4096 {
		if _, err := f.Read(one[:]); err != nil {
			return "", fmt.Errorf("it did not say its address: %w", err)
		}
		if one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	for word := range strings.FieldsSeq(string(line)) {
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			return strings.TrimRight(word, ".,;"), nil
		}
	}
	return "", errors.New("it did not say its address")
}

// URL is where the engine listens, "http://127.0.0.1:PORT".
func (e *EngineProc) URL() string { return e.url }

// Scene has the engine play a scene of its demo from now on.
func (e *EngineProc) Scene(name string) error {
	line, err := json.Marshal(event.Control{Do: event.DoScene, Label: name})
	if err == nil {
		_, err = e.proc.stdin.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("play scene %q: %w", name, err)
	}
	return nil
}

// PID is the process id of the engine.
func (e *EngineProc) PID() int { return e.proc.cmd.Process.Pid }

// Close ends the engine: it is asked first, and killed after two seconds. It
// is safe to call twice.
func (e *EngineProc) Close() error {
	e.proc.stdin.Close()
	select {
	case <-e.proc.done:
		return e.proc.err
	case <-time.After(2 * time.Second):
		e.proc.kill()
		<-e.proc.done
		return nil
	}
}
