package signals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"teapot/probe/event"
)

// GPUConfig says how the GPUs of this machine are looked at.
type GPUConfig struct {
	Path  string                               // of nvidia-smi; "" looks it up
	Env   []string                             // beside that of this process
	Now   func() int64                         // ns of the session's clock
	After func(time.Duration) <-chan time.Time // nil for time.After
}

const (
	gpuPatience = 10 * time.Second // without a line, the child hangs
	gpuStop     = 2 * time.Second  // for a killed child to be gone
)

// GPU runs nvidia-smi as a child that prints a line for each GPU once a second,
// and hands on the newest lines. It is not safe for concurrent use.
type GPU struct {
	cfg   GPUConfig
	child *child
	query int // which of the queries this driver understands
	seen  bool
	final *Absent // nothing will come any more
	last  int64   // number of the batch handed on before
	cost  Cost
}

// NewGPU makes a watcher of the GPUs. It starts nothing yet.
func NewGPU(cfg GPUConfig) (*GPU, error) {
	if cfg.Now == nil {
		return nil, errors.New("signals: no clock")
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
	return &GPU{cfg: cfg}, nil
}

// Every is how long to wait until the next look.
func (g *GPU) Every() time.Duration {
	if g.final != nil || g.child == nil && g.seen {
		return seldom
	}
	return often
}

// Cost is what was read so far. The Time is 0: the child waits, not a server.
func (g *GPU) Cost() Cost { return g.cost }

// Poll hands on the newest lines, and waits for some only if there were none
// since the call before. The Age of the signal is that of its last line. An
// [*Absent] says why there is nothing to see: no nvidia-smi, no driver, no GPU,
// or a child that hangs. It is the same at every later call, except after a
// child that had worked, which is started again.
func (g *GPU) Poll(ctx context.Context) (event.Signal, error) {
	sig := event.Signal{At: g.cfg.Now(), Source: event.SignalGPU}
	if g.final != nil {
		return g.nothing(sig, g.final)
	}
	for {
		if g.child == nil {
			if err := g.start(); err != nil {
				return g.nothing(sig, g.end("nvidia-smi cannot be started: "+reason(err)))
			}
		}
		b, err := g.next(ctx)
		switch {
		case err != nil:
			sig.At = g.cfg.Now()
			return g.nothing(sig, err)
		case b == nil: // the child ended over a field: with another query
			continue
		}
		g.seen, g.last = true, b.number
		g.cost.Looks++
		g.cost.Bytes += int64(b.bytes)
		sig.At = g.cfg.Now()
		sig.Age, sig.Bytes, sig.Values = max(sig.At-b.at, 0), b.bytes, b.values
		return sig, nil
	}
}

// nothing is the signal beside an error.
func (g *GPU) nothing(sig event.Signal, err error) (event.Signal, error) {
	sig.Detail = err.Error()
	return sig, err
}

// end notes that nothing will come any more.
func (g *GPU) end(why string) *Absent {
	g.final = &Absent{Why: why}
	return g.final
}

// reason is the error of a start in a few words.
func reason(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return "it is not installed"
	case errors.Is(err, os.ErrPermission):
		return "it may not be run"
	}
	return err.Error()
}

// next waits for a batch that was not handed on yet. Both nil: the child did
// not understand the query, and the next one is to be tried.
func (g *GPU) next(ctx context.Context) (*batch, error) {
	for {
		b, changed := g.child.newest()
		if b != nil && b.number > g.last {
			return b, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-g.child.done:
			if b, _ := g.child.newest(); b != nil && b.number > g.last {
				return b, nil
			}
			return nil, g.ended()
		case <-g.cfg.After(gpuPatience):
			g.child.kill()
			g.child = nil
			return nil, g.end(fmt.Sprintf("nvidia-smi says nothing for %v: the driver hangs", gpuPatience))
		}
	}
}

// ended decides what the end of the child means.
func (g *GPU) ended() error {
	said, unknown := g.child.said()
	g.child = nil
	switch {
	case unknown && !g.seen && g.query+1 < len(gpuQueries()):
		g.query++
		return nil
	case g.seen:
		return &Absent{Why: "nvidia-smi ended: " + said}
	}
	return g.end("nvidia-smi shows no GPU: " + said)
}

// Close ends the child. A child that cannot be killed because it waits for the
// driver is left behind.
func (g *GPU) Close() {
	if g.child == nil {
		return
	}
	g.child.kill()
	select {
	case <-g.child.done:
	case <-g.cfg.After(gpuStop):
	}
	g.child = nil
}
