package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

var (
	colour  = regexp.MustCompile(`\x1b\[([0-9;]*;)?[349][0-7](;[0-9;]*)?m`)
	colours = regexp.MustCompile(`\x1b\[[0-9;]*38;([25]);`)
)

// What a terminal is said to be is heeded by the program as a whole, from its
// first byte to its last.
func TestTheTerminalAsTheEnvironmentHasIt(t *testing.T) {
	depth := func(raw string) string {
		m := colours.FindStringSubmatch(raw)
		switch {
		case m != nil:
			return map[string]string{"2": "true", "5": "256"}[m[1]]
		case colour.MatchString(raw):
			return "16"
		}
		return "none"
	}
	for _, c := range []struct {
		name  string
		env   []string
		args  []string
		depth string
		ascii bool
		plain bool // lines, and no screen
	}{
		{"a true-colour terminal", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, nil, "true", false, false},
		{"tmux", []string{"TERM=tmux-256color"}, nil, "256", false, false},
		{"screen", []string{"TERM=screen-256color"}, nil, "256", false, false},
		{"an old one", []string{"TERM=xterm"}, nil, "16", false, false},
		{"NO_COLOR=1", []string{"TERM=xterm-256color", "NO_COLOR=1"}, nil, "none", false, false},
		{"NO_COLOR=0", []string{"TERM=xterm-256color", "NO_COLOR=0"}, nil, "none", false, false},
		{"NO_COLOR=", []string{"TERM=xterm-256color", "NO_COLOR="}, nil, "256", false, false},
		{"NO_COLOR and --color always", []string{"TERM=xterm-256color", "NO_COLOR=1"}, []string{"--color", "always"}, "256", false, false},
		{"--theme contrast", []string{"TERM=xterm-256color"}, []string{"--theme", "contrast"}, "256", false, false},
		{"LC_ALL=C", []string{"TERM=xterm-256color", "LC_ALL=C"}, nil, "256", true, false},
		{"TERM=dumb", []string{"TERM=dumb"}, nil, "none", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := teapot(append([]string{"demo:smooth", "--warmup", "0"}, c.args...)...)
			cmd.Env = append(append(os.Environ(), "LANG=C.UTF-8", "COLORTERM="), c.env...)
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			s := &screenRun{cmd: cmd, tty: tty}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				buf := make([]byte, 64<<10)
				for {
					n, err := tty.Read(buf)
					_, _ = s.raw.Write(buf[:n])
					if err != nil {
						return
					}
				}
			}()
			if c.plain {
				s.seen(t, "ttft")
				if _, err := tty.WriteString("\x03"); err != nil { // of a terminal that was left as it is: a signal
					t.Fatal(err)
				}
			} else {
				s.seen(t, "LIVE")
				if _, err := tty.WriteString("3q"); err != nil {
					t.Fatal(err)
				}
			}
			<-ended
			_ = cmd.Wait()
			raw := s.raw.String()
			if got := depth(raw); got != c.depth {
				t.Errorf("colours: %s, want %s", got, c.depth)
			}
			if c.plain && strings.Contains(raw, "\x1b") {
				t.Errorf("an escape sequence: %q", raw)
			}
			for i := range len(raw) {
				if c.ascii && raw[i] >= 0x80 {
					t.Fatalf("byte %#x in %q", raw[i], raw[max(i-40, 0):i+1])
				}
			}
		})
	}
}

// In tmux the screen follows the pane's size, and what tmux holds of it is a whole
// screen: one title, one row of keys, nothing of the size before.
func TestInTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	sock := filepath.Join(t.TempDir(), "tmux")
	run := func(args ...string) string {
		out, err := exec.Command(tmux, append([]string{"-S", sock, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("new-session", "-d", "-x", "120", "-y", "40", "-e", asProgram+"=1", "-e", "LANG=C.UTF-8",
		fmt.Sprintf("%q demo:smooth -c 2 --warmup 0; echo CODE $?; exec cat", os.Args[0]))
	t.Cleanup(func() { _ = exec.Command(tmux, "-S", sock, "kill-server").Run() })
	run("set", "-g", "status", "off")
	whole := func(w, h int) string {
		pane := run("capture-pane", "-p")
		lines := strings.Split(strings.TrimSuffix(pane, "\n"), "\n")
		switch {
		case len(lines) != h || !strings.Contains(lines[0], "● LIVE"):
			return "no title in the first row"
		case !strings.HasPrefix(lines[h-1], "? help"):
			return "no keys in the last row"
		case strings.Count(pane, "LIVE") != 1 || strings.Count(pane, "? help") != 1:
			return "rests of another size"
		}
		return ""
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {140, 45}, {60, 15}, {100, 30}} {
		run("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		wrong := ""
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			if wrong = whole(size[0], size[1]); wrong == "" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v: %s:\n%s", size, wrong, run("capture-pane", "-p"))
			}
		}
	}
	run("send-keys", "q")
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(run("capture-pane", "-p"), "CODE 0"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not end:\n%s", run("capture-pane", "-p"))
		}
	}
	if pane := run("capture-pane", "-p"); !strings.Contains(pane, "e2e") || strings.Contains(pane, "LIVE") {
		t.Errorf("the last table is not left:\n%s", pane)
	}
}
