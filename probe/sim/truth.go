package sim

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"
)

// truthRing is how many token writes fit between two flushes before the log
// has to grow; truthMost is where it stops growing and counts what it lost.
const (
	truthRing = 1 << 14
	truthMost = 1 << 20
	truthTick = 100 * time.Millisecond
)

// wrote is one token's write, as the hot path notes it.
type wrote struct {
	req           string
	i, k          int
	sched, at, by int64 // wanted; just before the write; just after it
}

// truth is the log of what really happened: NDJSON, written by a goroutine of
// its own from two buffers that take turns, so that noting a token costs a
// lock and a copy. A nil *truth notes nothing.
type truth struct {
	mu    sync.Mutex
	notes []wrote
	lines []byte // requests, ends and faults, already as JSON
	lost  int
	err   error

	w    *bufio.Writer
	back []wrote
	text []byte
}

func newTruth(w io.Writer) *truth {
	if w == nil {
		return nil
	}
	return &truth{
		w:     bufio.NewWriterSize(w, 1<<16),
		notes: make([]wrote, 0, truthRing),
		back:  make([]wrote, 0, truthRing),
	}
}

// token notes a write. It does not allocate while the flusher keeps up.
func (t *truth) token(n wrote) {
	if t == nil {
		return
	}
	t.mu.Lock()
	if len(t.notes) < truthMost {
		t.notes = append(t.notes, n)
	} else {
		t.lost++
	}
	t.mu.Unlock()
}

// line notes one finished JSON line, without its line end.
func (t *truth) line(b []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.lines = append(append(t.lines, b...), '\n')
	t.mu.Unlock()
}

// run flushes until stop is closed, and once more then. The first error of the
// writer ends the log; Engine.Run returns it.
func (t *truth) run(stop <-chan struct{}) {
	tick := time.NewTicker(truthTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.flush()
		case <-stop:
			t.flush()
			return
		}
	}
}

func (t *truth) flush() {
	t.mu.Lock()
	notes, lost := t.notes, t.lost
	t.notes, t.back = t.back[:0], nil
	t.lost = 0
	t.text = append(t.text[:0], t.lines...)
	t.lines = t.lines[:0]
	failed := t.err != nil
	t.mu.Unlock()
	if !failed {
		t.write(notes, lost)
	}
	t.back = notes[:0]
}

func (t *truth) write(notes []wrote, lost int) {
	for i := range notes {
		t.text = notes[i].append(t.text)
	}
	if lost > 0 {
		t.text = append(t.text, `{"lost":`...)
		t.text = strconv.AppendInt(t.text, int64(lost), 10)
		t.text = append(t.text, "}\n"...)
	}
	if len(t.text) == 0 {
		return
	}
	_, err := t.w.Write(t.text)
	if err == nil {
		err = t.w.Flush()
	}
	if err != nil {
		t.mu.Lock()
		t.err = err
		t.mu.Unlock()
	}
}

func (t *truth) failure() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// append writes the note as a line of JSON. A request id needs no escaping.
func (n *wrote) append(b []byte) []byte {
	b = append(b, `{"req":"`...)
	b = append(b, n.req...)
	b = append(b, `","i":`...)
	b = strconv.AppendInt(b, int64(n.i), 10)
	b = append(b, `,"k":`...)
	b = strconv.AppendInt(b, int64(n.k), 10)
	b = append(b, `,"sched":`...)
	b = strconv.AppendInt(b, n.sched, 10)
	b = append(b, `,"before":`...)
	b = strconv.AppendInt(b, n.at, 10)
	b = append(b, `,"t":`...)
	b = strconv.AppendInt(b, n.by, 10)
	return append(b, "}\n"...)
}

// head notes what the rest of the log needs to be understood.
func (t *truth) head(e *Engine) {
	if t == nil {
		return
	}
	b, err := json.Marshal(struct {
		Truth   int    `json:"truth"`
		Clock   string `json:"clock"`
		Now     int64  `json:"now"`
		Wall    int64  `json:"wall"`
		Profile string `json:"profile"`
		Seed    uint64 `json:"seed"`
	}{1, e.clock.Name(), e.clock.Now(), time.Now().UnixNano(), e.profile.Name, e.opt.Seed})
	if err == nil {
		t.line(b)
	}
}
