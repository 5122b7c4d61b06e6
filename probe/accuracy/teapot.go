package accuracy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"

	"teapot/probe/event"
	"teapot/probe/record"
)

// Names of the clients that are the probe itself.
const (
	probeName  = "teapot, no screen"
	screenName = "teapot, screen drawing"
)

// arguments are those of the probe and of the screen for a load.
func arguments(t *target, l Load) []string {
	args := []string{
		t.where, "--api", "chat", "-m", l.Model, "-c", strconv.Itoa(l.Streams), "-n", strconv.Itoa(l.Streams),
		"--max-tokens", strconv.Itoa(l.Tokens), "--warmup", "0", "--prompt-tokens", "8",
	}
	if t.ca != "" {
		args = append(args, "--cacert", t.ca)
	}
	if l.Spread == 0 {
		args = append(args, "--rate", "100000") // the open loop does not spread its starts
	}
	return args
}

// environment is that of a teapot under test: nothing of the user's settings,
// keys and proxies has a part in it.
func environment(dir string) []string {
	mine := slices.DeleteFunc(os.Environ(), func(s string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(s), "=")
		return strings.HasPrefix(name, "TEAPOT_") || strings.HasSuffix(name, "_PROXY") || name == "OPENAI_API_KEY" || name == "XDG_CONFIG_HOME"
	})
	return append(mine, "XDG_CONFIG_HOME="+dir, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
}

// bare is the probe by itself, its events read by the one who compares.
func bare() client {
	return client{Name: probeName, can: func(Transport) bool { return true }, run: func(ctx context.Context, t *target, l Load) (ran, error) {
		exe, err := os.Executable()
		if err != nil {
			return ran{}, err
		}
		cmd := exec.CommandContext(ctx, exe, append([]string{"probe"}, arguments(t, l)...)...)
		cmd.Env = environment(t.dir)
		var diag strings.Builder
		cmd.Stderr = &diag
		out, err := cmd.StdoutPipe()
		if err != nil {
			return ran{}, err
		}
		if err := t.start(l, cmd.Start); err != nil {
			return ran{}, err
		}
		w := watchMemory(cmd.Process.Pid)
		got, readErr := readEvents(bufio.NewReaderSize(out, 1<<20))
		err = cmd.Wait()
		got.rss = w.stop()
		if err != nil || readErr != nil {
			return ran{}, fmt.Errorf("%w: %s", errors.Join(err, readErr), lastLine(diag.String()))
		}
		got.cpu = int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
		return got, nil
	}}
}

// drawing is the whole program in a terminal, which is read as one over SSH
// would be; its events come from the recording.
func drawing() client {
	return client{Name: screenName, can: func(Transport) bool { return true }, run: func(ctx context.Context, t *target, l Load) (ran, error) {
		exe, err := os.Executable()
		if err != nil {
			return ran{}, err
		}
		file := filepath.Join(t.dir, "screen.teapot")
		cmd := exec.CommandContext(ctx, exe, append(arguments(t, l), "--record", file, "--no-summary", "--color", "always")...)
		cmd.Env = environment(t.dir)
		var tty *os.File
		err = t.start(l, func() (err error) {
			tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
			return err
		})
		if err != nil {
			return ran{}, err
		}
		defer tty.Close()
		go func() { _, _ = io.Copy(io.Discard, tty) }()
		cpu, rss, err := follow(ctx, cmd.Process.Pid, l)
		if err == nil {
			_, err = tty.WriteString("q")
		}
		if err != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		if waited := cmd.Wait(); err == nil && waited != nil {
			err = waited
		}
		if err != nil {
			return ran{}, err
		}
		f, err := os.Open(file)
		if err != nil {
			return ran{}, err
		}
		defer f.Close()
		got, err := readEvents(f)
		got.cpu, got.rss = cpu, rss
		if err == nil && t.Transport == Distant {
			got.probe.transport = laidToTransport(ctx, exe, file)
		}
		return got, err
	}}
}

// follow watches the probe that a screen has started until it has ended, and
// says what it cost.
func follow(ctx context.Context, screen int, l Load) (cpu, rss int64, err error) {
	deadline := time.Now().Add(2*l.lasts() + 15*time.Second)
	var pid int
	for {
		if pid == 0 {
			pid = childProbe(screen)
		}
		if pid != 0 && !running(pid) {
			return cpu, rss, nil
		}
		if pid != 0 {
			cpu, rss = max(cpu, cpuTime(pid)), max(rss, rssAnon(pid))
		}
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		switch {
		case !running(screen):
			return 0, 0, errors.New("the screen ended before its probe")
		case time.Now().After(deadline):
			return 0, 0, errors.New("the probe behind the screen does not end")
		}
	}
}

// laidToTransport is how many gaps of a recording the report lays to the
// network and not to the server; -1 if it cannot be had.
func laidToTransport(ctx context.Context, exe, file string) int {
	out, err := exec.CommandContext(ctx, exe, "replay", file, "--speed", "0", "--output-format", "json").Output()
	var said struct {
		Targets []struct {
			Transport struct {
				Gaps int `json:"gaps"`
			} `json:"transport"`
		} `json:"targets"`
	}
	if err != nil || json.Unmarshal(out, &said) != nil || len(said.Targets) != 1 {
		return -1
	}
	return said.Targets[0].Transport.Gaps
}

// readEvents reads what a probe says.
func readEvents(r io.Reader) (ran, error) {
	got := ran{known: true, probe: &probed{transport: -1}}
	rec, err := record.NewReader(r)
	if err != nil {
		return got, err
	}
	streams, order := map[uint64]*Heard{}, []uint64{}
	for {
		ev, err := rec.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return got, err
		}
		switch ev := ev.(type) {
		case *event.Session:
			got.offset, got.probe.nice, got.probe.slice = ev.Wall, ev.Priority, ev.Slice
		case *event.Headers:
			got.probe.source, got.probe.rtt = ev.Source, ev.RTT
		case *event.Floor:
			got.probe.overshoot = max(got.probe.overshoot, ev.Overshoot)
		case *event.Start:
			streams[ev.Request] = &Heard{ID: strconv.FormatUint(ev.Request, 10), Sent: ev.At}
			order = append(order, ev.Request)
		case *event.Token:
			if h := streams[ev.Request]; h != nil {
				h.At, h.Late, h.Merged = append(h.At, ev.At), append(h.Late, ev.Late), append(h.Merged, ev.Merged)
			}
		case *event.Dropped:
			if ev.Events > 0 {
				return got, fmt.Errorf("%d events were dropped", ev.Events)
			}
		case *event.End:
			if ev.Class.Failed() {
				return got, fmt.Errorf("request %d: %s %s", ev.Request, ev.Class, ev.Message)
			}
		}
	}
	for _, id := range order {
		got.heard = append(got.heard, *streams[id])
	}
	return got, nil
}
