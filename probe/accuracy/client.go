package accuracy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// client is one way to read streams.
type client struct {
	Name string
	can  func(Transport) bool
	run  func(ctx context.Context, t *target, l Load) (ran, error)
}

// asks tells whether a client takes part in a scenario.
func (s scenario) asks(c client) bool {
	return c.can(s.Transport) && (s.clients == nil || slices.Contains(s.clients, c.Name))
}

// ran is what a client told, and what it cost.
type ran struct {
	heard  []Heard
	offset int64 // to the log's clock
	known  bool
	cpu    int64 // ns
	rss    int64 // bytes
	probe  *probed
}

// probed is what the probe alone tells.
type probed struct {
	source    string // of its stamps
	overshoot int64  // the worst oversleep of its heartbeat, ns
	nice      int    // its priority
	slice     int64  // its time slice, ns; 0 unknown
	rtt       int64  // of its newest connection, ns
	transport int    // gaps that the report lays to the network; -1 unknown
}

// measure has a client take a load, and compares.
func measure(ctx context.Context, c client, t *target, l Load) (Result, error) {
	r, _, err := measured(ctx, c, t, l)
	return r, err
}

// measured does so and hands out what the client told.
func measured(ctx context.Context, c client, t *target, l Load) (Result, ran, error) {
	if _, err := t.log(); err != nil { // what a failed client left
		return Result{}, ran{}, err
	}
	limited, cancel := context.WithTimeout(ctx, 3*l.lasts()+20*time.Second)
	defer cancel()
	got, err := c.run(limited, t, l)
	if err != nil {
		return Result{}, got, fmt.Errorf("it failed: %w", err)
	}
	log, err := t.log()
	if err != nil {
		return Result{}, got, err
	}
	offset := got.offset
	if got.probe != nil {
		for i := range log.Streams {
			log.Streams[i].ID = number(log.Streams[i].ID)
		}
		offset -= log.WallOffset // the probe told when it began by the wall clock
	}
	r, err := compare(log, got.heard, offset, got.known)
	if err != nil {
		return Result{}, got, err
	}
	if want := l.Streams * l.Tokens; r.Tokens < want {
		return Result{}, got, fmt.Errorf("it told of %d of %d tokens", r.Tokens, want)
	}
	r.CPU, r.RSS, r.Probe = got.cpu, got.rss, got.probe
	r.Realtime, r.Pinned = log.Realtime, log.Pinned
	return r, got, nil
}

// execute runs a client that prints what it heard, and watches what it costs.
func execute(ctx context.Context, t *target, l Load, name string, args ...string) (ran, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := t.start(l, cmd.Start); err != nil {
		return ran{}, err
	}
	w := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	rss := w.stop()
	if err != nil {
		return ran{}, fmt.Errorf("%w: %s", err, lastLine(diag.String()))
	}
	got, err := parse(&out)
	got.rss = rss
	return got, err
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// parse reads what a C or a Python client printed: of each stream a line
// "sent STREAM NS" and then one for each token, and at the end "cpu NS".
func parse(r io.Reader) (ran, error) {
	got := ran{known: true}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		var err error
		switch {
		case len(f) == 3 && f[0] == "sent":
			h := Heard{ID: "c-" + f[1]}
			h.Sent, err = strconv.ParseInt(f[2], 10, 64)
			got.heard = append(got.heard, h)
		case len(f) == 2 && f[0] == "cpu":
			got.cpu, err = strconv.ParseInt(f[1], 10, 64)
		default:
			err = got.token(f)
		}
		if err != nil {
			return ran{}, fmt.Errorf("it printed %q: %w", sc.Text(), err)
		}
	}
	return got, sc.Err()
}

// token takes a line "STREAM INDEX NS LATE".
func (got *ran) token(f []string) error {
	var n [4]int64
	if len(f) != len(n) {
		return errors.New("four numbers are due")
	}
	for i := range f {
		var err error
		if n[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
			return err
		}
	}
	last := len(got.heard) - 1
	if n[0] != int64(last) {
		return fmt.Errorf("stream %d is due", last)
	}
	h := &got.heard[last]
	if n[1] != int64(len(h.At)) {
		return fmt.Errorf("token %d is due", len(h.At))
	}
	h.At, h.Late = append(h.At, n[2]), append(h.Late, n[3])
	return nil
}
