package probe

import (
	"slices"
	"strings"
	"sync"
	"time"

	"teapot/probe/event"
)

// burst is how long after a change a further one still belongs to it: somebody
// presses a key several times until the number is the one wanted.
const burst = int64(2 * time.Second)

// changes gathers what the operator changed until the next request is sent with
// it. Then it is one mark: what was sent before it, and what is sent from then
// on. A change that follows soon amends that mark instead of adding another.
type changes struct {
	mu     sync.Mutex
	list   []changed
	last   int64 // when the newest of them came
	serial int   // of the settings that hold all of them
	due    bool  // the mark for them is still to be made
	marked bool  // there is one already, which the next amends
}

// changed is a setting that was changed, over the whole of a burst.
type changed struct{ name, from, to string }

// add notes a change that came at an instant and is in the settings from serial
// on.
func (c *changes) add(at int64, serial int, name, from, to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.marked && at-c.last > burst {
		c.list, c.marked = nil, false
	}
	i := slices.IndexFunc(c.list, func(e changed) bool { return e.name == name })
	if i < 0 {
		c.list = append(c.list, changed{name, from, to})
	} else {
		c.list[i].to = to
	}
	c.last, c.serial, c.due = at, serial, true
}

// take makes the mark of what changed, at the instant at which a request with
// the settings of serial is sent; nil where nothing new takes effect with it.
func (c *changes) take(at int64, serial int) *event.Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.due || serial < c.serial {
		return nil
	}
	m := &event.Mark{At: at, Label: labelOf(c.list), Auto: true, Amends: c.marked}
	c.due, c.marked = false, true
	return m
}

// stopped makes the mark at once when the change is that nothing is sent any
// more: no request would ever bring it.
func (c *changes) stopped(at int64, set *settings) *event.Mark {
	if !set.paused {
		return nil
	}
	return c.take(at, set.serial)
}

// labelOf says what changed: "concurrency 4 → 8, max_tokens 256 → 512".
func labelOf(list []changed) string {
	var out []string
	for _, e := range list {
		switch {
		case e.name == "paused" && e.to == "true":
			out = append(out, "probing paused")
		case e.name == "paused":
			out = append(out, "probing goes on")
		case e.from == e.to:
			out = append(out, e.name+" "+e.to+" again")
		default:
			out = append(out, e.name+" "+e.from+" → "+e.to)
		}
	}
	return strings.Join(out, ", ")
}
