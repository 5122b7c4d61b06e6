package signals

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"teapot/probe/api"
	"teapot/probe/event"
)

// batch is what the child said at one tick: a line for each GPU.
type batch struct {
	number int64 // from 1
	at     int64 // when its last line came
	bytes  int
	values []event.Sample
}

// child is a running nvidia-smi.
type child struct {
	process *os.Process
	done    chan struct{} // closed when it has ended and everything is read

	mu      sync.Mutex
	latest  *batch
	changed chan struct{} // closed at the next batch
	odd     []string      // the first lines that are no figures
}

const maxOdd = 4 // lines kept of what the child says instead of figures

// start starts the child with the query that is believed to be understood.
func (g *GPU) start() error {
	fields := gpuQueries()[g.query]
	cmd := exec.Command(cmp.Or(g.cfg.Path, "nvidia-smi"),
		"--query-gpu="+strings.Join(fields, ","), "--format=csv,noheader,nounits", "-lms", "1000")
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), g.cfg.Env...)
	out, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = out.Close()
		return err
	}
	c := &child{process: cmd.Process, done: make(chan struct{}), changed: make(chan struct{})}
	g.child = c
	from := g.last
	go func() {
		defer close(c.done)
		c.read(out, fields, from, g.cfg.Now)
		_ = out.Close()
		_ = cmd.Wait()
	}()
	return nil
}

// read takes the lines of the child until it ends. A batch is complete with the
// line of the last GPU, known from the first tick.
func (c *child) read(out io.Reader, fields []string, number int64, now func() int64) {
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 64<<10)
	var b batch
	gpus, lines, last := 0, 0, -1
	for sc.Scan() {
		index, values, ok := readGPU(fields, sc.Text())
		if !ok {
			c.note(sc.Text())
			continue
		}
		if index <= last { // the next tick has begun
			gpus = max(gpus, lines)
			if lines > 0 {
				number++
				c.put(b, number)
			}
			b, lines = batch{}, 0
		}
		last, lines = index, lines+1
		b.at, b.bytes, b.values = now(), b.bytes+len(sc.Bytes())+1, append(b.values, values...)
		if lines == gpus {
			number++
			c.put(b, number)
			b, lines, last = batch{}, 0, -1
		}
	}
	if lines > 0 {
		c.put(b, number+1)
	}
}

// put hands a batch over.
func (c *child) put(b batch, number int64) {
	b.number = number
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = &b
	close(c.changed)
	c.changed = make(chan struct{})
}

// newest is the newest batch, nil before the first, and a channel that is
// closed when there is another.
func (c *child) newest() (*batch, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest, c.changed
}

// note keeps a line that is no figures.
func (c *child) note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if line = strings.TrimSpace(line); line != "" && len(c.odd) < maxOdd {
		c.odd = append(c.odd, line)
	}
}

// said is what the child said instead of figures, and whether it was that it
// does not know a field.
func (c *child) said() (line string, unknown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.odd, " ")
	return cmp.Or(api.OneLine(all), "it says nothing"), strings.Contains(all, "not a valid field")
}

// kill ends the child.
func (c *child) kill() { _ = c.process.Kill() }
