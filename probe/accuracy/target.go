package accuracy

import (
	"bufio"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// target is a scheduled server at work.
type target struct {
	Transport
	where string // its URL
	note  string // how it is reached, where that is unusual
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
	var diag strings.Builder
	t.cmd.Stderr = &diag
	if tr == Distant {
		t.cmd.SysProcAttr = apartAttr()
	}
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
	at, err := readWhere(r)
	if err != nil {
		t.stop()
		if said := lastLine(diag.String()); said != "" {
			err = fmt.Errorf("%s", said)
		}
		return nil, fmt.Errorf("start the scheduled server: %w", err)
	}
	t.where, t.note = at.url, at.note
	t.dec = gob.NewDecoder(r)
	if tr == HTTPS || tr == HTTP2 {
		t.ca = t.dir + "/ca.pem"
	}
	return t, nil
}

// start starts a client of the load, where the server can be reached and on
// the cores that the load allows.
func (t *target) start(l Load, cmd func() error) error {
	network, core := 0, -1
	if t.Transport == Distant {
		network = t.cmd.Process.Pid
	}
	if l.OneCore && runtime.NumCPU() > 1 {
		core = 0 // the server's is the last
	}
	return within(network, core, cmd)
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

// stop ends the server and forgets its files. It may be called twice.
func (t *target) stop() {
	if t.in != nil {
		t.in.Close()
	}
	if t.cmd != nil && t.cmd.Process != nil && t.cmd.ProcessState == nil {
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
	OneCore bool          // the client may use a single core
}

// lasts is about how long the load takes.
func (l Load) lasts() time.Duration {
	beat := usualBeat
	if _, micros, ok := strings.Cut(l.Model, ":"); ok {
		n, _ := strconv.Atoi(micros)
		beat = time.Duration(n) * time.Microsecond
	} else if strings.HasPrefix(l.Model, string(Article)) {
		beat = meanArticle
	}
	return lead + l.Spread + time.Duration(l.Tokens)*beat
}

// stagger is the time between two starts, in microseconds.
func (l Load) stagger() string {
	return strconv.FormatInt(l.Spread.Microseconds()/int64(max(l.Streams, 1)), 10)
}
