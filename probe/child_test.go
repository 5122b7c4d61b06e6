package probe

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
)

// follow reads everything a child says.
func follow(t *testing.T, c *Child, on func(event.Event)) (all []event.Event) {
	t.Helper()
	r, err := record.NewReader(c.Events())
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := r.Next()
		if err != nil {
			return all
		}
		all = append(all, ev)
		if on != nil {
			on(ev)
		}
	}
}

func TestChildProbes(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	cfg := config(s.url, 0)
	cfg.Prompts = []string{strings.Repeat("more than a pipe holds ", 20_000)}
	c, err := StartChild(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	all := follow(t, c, func(ev event.Event) {
		if _, ok := ev.(*event.End); ok {
			if ends++; ends == 3 {
				if err := c.Send(event.Control{Do: event.DoStop}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if err := c.Wait(); err != nil {
		t.Errorf("wait: %v", err)
	}
	if f := only[*event.Finished](t, all); f.Reason != ReasonStopped {
		t.Errorf("finished: %+v", f)
	}
	if pid := only[*event.Session](t, all).PID; pid != c.PID() || pid == os.Getpid() {
		t.Errorf("pid %d in the session, %d of the child", pid, c.PID())
	}
	if err := c.Send(event.Control{Do: event.DoPause}); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("told a dead child something: %v", err)
	}
	c.Close()
	c.Close()
}

func TestChildEndsWithItsControls(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	c, err := StartChild(config(s.url, 0))
	if err != nil {
		t.Fatal(err)
	}
	all := follow(t, c, func(ev event.Event) {
		if _, ok := ev.(*event.End); ok {
			c.Close()
		}
	})
	if err := c.Wait(); err != nil {
		t.Errorf("wait: %v", err)
	}
	if f := only[*event.Finished](t, all); f.Reason != ReasonInterrupted {
		t.Errorf("finished: %+v", f)
	}
}

func TestChildThatDies(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	for _, c := range []struct {
		name string
		seed uint64
		kill bool
		want string
	}{
		{"killed", 1, true, "probe ended: signal: killed"},
		{"panics", seedPanics, false, "probe ended: exit status 2: panic: a bug in the probe"},
		{"gives up", seedExits, false, "probe ended: exit status 3: cannot go on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(s.url, 0)
			cfg.Load.Seed = c.seed
			child, err := StartChild(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if c.kill {
				follow(t, child, func(event.Event) { child.Kill() })
			}
			err = child.Wait()
			if runtime.GOOS == "windows" && c.kill {
				return // there are no signals to name
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestNoChildIsLeftBehind kills a parent so that it can do nothing about its
// child, which must end all the same.
func TestNoChildIsLeftBehind(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe, "parent", s.url)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	for s.posts.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for alive(pid) { // the test's own limit ends this
		time.Sleep(5 * time.Millisecond)
	}
}

func TestEngineProc(t *testing.T) {
	e, err := StartEngine("smooth", 7)
	if err != nil {
		t.Fatal(err)
	}
	if e.URL() != "http://127.0.0.1:12345" {
		t.Errorf("URL %q", e.URL())
	}
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if alive(e.PID()) {
		t.Error("still there after Close")
	}
}

func TestEngineThatDoesNotStart(t *testing.T) {
	for profile, want := range map[string]string{
		"silent": "start the engine: it did not say its address",
		"broken": "start the engine: engine ended: exit status 2: no such profile",
	} {
		if _, err := StartEngine(profile, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", profile, err, want)
		}
	}
}

func TestStubbornEngineIsKilled(t *testing.T) {
	t.Parallel()
	e, err := StartEngine("stubborn", 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.URL() != "http://127.0.0.1:9" {
		t.Errorf("URL %q", e.URL())
	}
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if alive(e.PID()) {
		t.Error("still there after Close")
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var s tail
	for range 1000 {
		s.Write([]byte("some line of no interest\n"))
	}
	s.Write([]byte("the\x1b last\n\n"))
	if len(s.buf) > tailSize || s.lastLine() != "the last" {
		t.Errorf("%d bytes, last line %q", len(s.buf), s.lastLine())
	}
}
