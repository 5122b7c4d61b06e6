package command

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// engineAt starts the built-in engine on an address, and waits until it listens.
func engineAt(t *testing.T, addr, profile string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := teapot(append([]string{"engine", profile, "--addr", addr, "--seed", "7"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the engine said %q: %v", line, err)
	}
	return cmd
}

// freeAddr is an address of this machine that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// Somebody changes a flag of the server in another window, starts it anew, and
// comes back: the screen says in turn that it is down, and for how long, that it
// loads, that it is warmed up, and then holds what is after against what was
// before.
func TestAServerIsStartedAnewWithAnotherFlag(t *testing.T) {
	addr := freeAddr(t)
	e := engineAt(t, addr, "smooth")
	s := show(t, "http://"+addr, "-c", "2", "--max-tokens", "20", "--warmup", "2")
	s.await(t, "LIVE", "teapot-smooth")
	s.awaitRequests(t, 8)
	if err := e.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = e.Wait()
	s.await(t, "✗ DOWN ", "connection refused", "next try in", "!LIVE")
	s.await(t, "✗ DOWN 2s") // its age
	engineAt(t, addr, "reasoning", "--loading", "4s")
	s.await(t, "… LOADING", "Loading model")
	s.await(t, "● LIVE", "teapot-reasoning", "answers again", "vs A ")
	// Every figure has its change; what the screen compares with is named.
	s.await(t, "vs A ", ", n ")
	s.keys(t, "4")
	s.await(t, "requests: ", "warm-up")
	s.keys(t, "5")
	s.await(t, "4 warm-ups left out") // two at the start, two of the new server
	s.keys(t, "1B")
	s.await(t, "no comparison", "!vs A ")
	s.quit(t)
}

// awaitRequests waits until so many requests succeeded.
func (s *shown) awaitRequests(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		screen, ok := s.screen(), 0
		if _, rest, found := strings.Cut(screen, "  ok "); found {
			_, _ = fmt.Sscan(rest, &ok)
		}
		if ok >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d requests of %d:\n%s", ok, n, screen)
		}
	}
}

// Keys change the load while it runs. Several presses in a row are one change:
// one mark on the time axis, where it took effect, and one comparison.
func TestTuningByHandIsMarkedAndCompared(t *testing.T) {
	addr := freeAddr(t)
	engineAt(t, addr, "smooth")
	s := show(t, "http://"+addr, "-c", "2", "--max-tokens", "20", "--warmup", "0")
	s.awaitRequests(t, 8)
	s.await(t, "!vs A")
	s.keys(t, "}}")
	s.await(t, "streams in flight", "vs A ", "c4 ")
	s.keys(t, "p")
	s.await(t, "PROBING PAUSED")
	s.keys(t, "p")
	s.await(t, "LIVE")
	for _, k := range []struct {
		key  string
		says []string
	}{
		{"]", []string{"requests/s 0 → ", "!→ 0.1,"}}, // more than the closed loop came to
		{"[", []string{"requests/s ", "!requests/s 0 → "}}, {"{", []string{"streams in flight 4 → 3"}},
		{">", []string{"output tokens 20 → 40"}}, {"<", []string{"output tokens 40 → 20"}},
		{".", []string{"prompt tokens 128 → 256"}}, {",", []string{"prompt tokens 256 → 128"}},
	} {
		s.keys(t, k.key)
		s.await(t, k.says...)
		time.Sleep(150 * time.Millisecond) // the probe says what became of it
	}
	s.quit(t)
}

// S takes a demo from scene to scene, and the engine plays each of them. What it
// is and what to look for stand on the screen, also at 80 columns.
func TestADemoGoesFromSceneToScene(t *testing.T) {
	s := show(t, "demo", "-c", "2")
	s.await(t, "LIVE", "S goes from scene to scene")
	s.mu.Lock()
	s.vt.Resize(80, 24)
	s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	s.keys(t, "3")
	for _, look := range [][2]string{
		{"smooth", "an even strip"}, {"prefill interference", "a long prompt next door slows all streams in steps"},
		{"preemption", "the youngest stream stands still alone"}, {"garbage collection", "one long gap in every stream at once"},
		{"buffering proxy", "many tokens in one read: pause, burst"}, {"overload", "× on the lane, counted"},
		{"restart", "DOWN and its age, loading, back: ↓ ↑ A on the lane"}, {"smooth", "an even strip"},
	} {
		s.keys(t, "S")
		s.await(t, "scene "+look[0], look[1])
	}
	s.quit(t)
}
