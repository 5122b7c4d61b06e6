package accuracy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// target is a scheduled server at work.
type target struct {
	Transport
	where string // its URL
	ca    string // the certificate to trust, "" for none
	cmd   *exec.Cmd
	in    io.WriteCloser
	dec   *gob.Decoder
	dir   string
}

// startTarget starts the server in a process of its own.
func startTarget(ctx context.Context, tr Transport) (t *target, err error) {
	t = &target{Transport: tr}
	if t.dir, err = os.MkdirTemp("", "teapot-accuracy-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.stop()
		}
	}()
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t.cmd = exec.CommandContext(ctx, exe, "accuracy", "--serve", string(tr), "--work-dir", t.dir)
	t.cmd.Stderr = os.Stderr
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err = t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the scheduled server: %w", err)
	}
	r := bufio.NewReader(out)
	if t.where, err = readWhere(r); err != nil {
		return nil, fmt.Errorf("start the scheduled server: %w", err)
	}
	t.dec = gob.NewDecoder(r)
	if tr == HTTPS || tr == HTTP2 {
		t.ca = t.dir + "/ca.pem"
	}
	return t, nil
}

// log asks for what was written since the last time.
func (t *target) log() (Log, error) {
	var l Log
	if _, err := io.WriteString(t.in, "log\n"); err != nil {
		return l, fmt.Errorf("ask the scheduled server: %w", err)
	}
	if err := t.dec.Decode(&l); err != nil {
		return l, fmt.Errorf("read the log of the scheduled server: %w", err)
	}
	return l, nil
}

// stop ends the server and forgets its files.
func (t *target) stop() {
	if t.in != nil {
		t.in.Close()
	}
	if t.cmd != nil && t.cmd.Process != nil {
		_ = t.cmd.Wait()
	}
	os.RemoveAll(t.dir)
}

// Load is what a client asks for, once.
type Load struct {
	Model   string        // a law, with its beat
	Streams int           // at once
	Tokens  int           // of each
	Spread  time.Duration // over which the starts are spread; 0: all at once
}

// lasts is about how long the load takes.
func (l Load) lasts() time.Duration {
	beat := usualBeat
	if _, micros, ok := strings.Cut(l.Model, ":"); ok {
		n, _ := strconv.Atoi(micros)
		beat = time.Duration(n) * time.Microsecond
	} else if strings.HasPrefix(l.Model, string(Article)) {
		beat = 3470 * time.Microsecond
	}
	return lead + l.Spread + time.Duration(l.Tokens)*beat
}

// client is one way to read streams.
type client struct {
	Name string
	can  func(Transport) bool
	run  func(ctx context.Context, t *target, l Load) (ran, error)
}

// ran is what a client told, and what it cost.
type ran struct {
	heard  []Heard
	offset int64 // to the log's clock
	known  bool
	cpu    int64 // ns
	rss    int64 // bytes

	// What the probe alone tells.
	source    string // of its stamps
	overshoot int64  // the worst oversleep of its heartbeat, ns
	nice      int    // its priority
}

// measure has a client take a load, and compares.
func measure(ctx context.Context, c client, t *target, l Load) (Result, error) {
	if _, err := t.log(); err != nil { // what a warm-up left
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*l.lasts()+30*time.Second)
	defer cancel()
	got, err := c.run(ctx, t, l)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	log, err := t.log()
	if err != nil {
		return Result{}, err
	}
	for i := range log.Streams {
		if c.Name == probeName || c.Name == screenName {
			log.Streams[i].ID = number(log.Streams[i].ID)
		}
	}
	offset := got.offset
	if c.Name == probeName || c.Name == screenName {
		offset -= log.WallOffset // the probe told when it began by the wall clock
	}
	r, err := compare(log, got.heard, offset, got.known)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	if want := l.Streams * l.Tokens; r.Tokens < want*9/10 {
		return Result{}, fmt.Errorf("%s: %d of %d tokens", c.Name, r.Tokens, want)
	}
	r.CPU, r.RSS = got.cpu, got.rss
	if !log.Realtime || !log.Pinned {
		r.Notes = append(r.Notes, "the server had no real-time priority or no core of its own")
	}
	return r, nil
}

// execute runs a client that prints what it heard, and watches what it costs.
func execute(ctx context.Context, name string, args ...string) (ran, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Start(); err != nil {
		return ran{}, err
	}
	w := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	rss := w.stop()
	if err != nil {
		return ran{}, fmt.Errorf("%w: %s", err, lastLine(diag.String()))
	}
	heard, err := parse(&out)
	return ran{heard: heard, known: true, cpu: int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()), rss: rss}, err
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// parse reads what a C or a Python client printed.
func parse(r io.Reader) ([]Heard, error) {
	var heard []Heard
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) == 3 && f[0] == "sent" {
			at, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("a client printed %q", sc.Text())
			}
			heard = append(heard, Heard{ID: "c-" + f[1], Sent: at})
			continue
		}
		var n [4]int64
		err := errors.New("fields")
		if len(f) == len(n) {
			for i := range f {
				if n[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
					break
				}
			}
		}
		if err != nil || n[0] != int64(len(heard)-1) {
			return nil, fmt.Errorf("a client printed %q", sc.Text())
		}
		h := &heard[len(heard)-1]
		if n[1] != int64(len(h.At)) {
			return nil, fmt.Errorf("a client printed token %d behind %d", n[1], len(h.At))
		}
		h.At, h.Late = append(h.At, n[2]), append(h.Late, n[3])
	}
	return heard, sc.Err()
}

// memory watches a process's anonymous memory.
type memory struct {
	quit chan struct{}
	done sync.WaitGroup
	most int64
}

func watchMemory(pid int) *memory {
	m := &memory{quit: make(chan struct{})}
	m.done.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			m.most = max(m.most, rssAnon(pid))
			select {
			case <-m.quit:
				return
			case <-tick.C:
			}
		}
	})
	return m
}

func (m *memory) stop() int64 {
	close(m.quit)
	m.done.Wait()
	return m.most
}

// rssAnon is a process's anonymous resident memory in bytes; 0 unknown.
func rssAnon(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "RssAnon:")
	var kb int64
	_, _ = fmt.Sscan(rest, &kb)
	return kb << 10
}

// ticksPerSecond is that of the times in /proc, on every Linux.
const ticksPerSecond = 100

// cpuTime is a running process's CPU time in ns, to 10 ms; 0 unknown.
func cpuTime(pid int) int64 {
	f := procStat(pid)
	if f == nil {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return (user + system) * int64(time.Second) / ticksPerSecond
}

// running tells whether a process is there and has not ended.
func running(pid int) bool {
	f := procStat(pid)
	return f != nil && f[0] != "Z" && f[0] != "X"
}

// procStat is what stands behind the name in a process's stat file, its state
// first; nil when there is no such process.
func procStat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return nil
	}
	return f
}

// interrupt asks a process of ours to end.
func interrupt(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }
