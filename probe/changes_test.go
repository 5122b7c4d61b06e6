package probe

import (
	"testing"
	"time"

	"teapot/probe/event"
)

func TestChangesAreOneMarkAtTheNextRequest(t *testing.T) {
	const s = int64(time.Second)
	var c changes
	if c.take(1*s, 0) != nil {
		t.Error("a mark without a change")
	}
	c.add(10*s, 1, "concurrency", "4", "5")
	c.add(10*s+1, 2, "concurrency", "5", "6")
	c.add(10*s+2, 3, "max_tokens", "256", "512")
	if m := c.take(11*s, 2); m != nil {
		t.Errorf("a request with settings of before brings %+v", m)
	}
	want := func(name string, got *event.Mark, want event.Mark) {
		t.Helper()
		if got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	want("the burst", c.take(25*s, 3), event.Mark{At: 25 * s, Label: "concurrency 4 → 6, max_tokens 256 → 512", Auto: true})
	if c.take(26*s, 3) != nil {
		t.Error("it is marked twice")
	}
	c.add(10*s+burst, 4, "concurrency", "6", "4")
	want("more of the burst", c.take(27*s, 4), event.Mark{At: 27 * s, Label: "concurrency 4 again, max_tokens 256 → 512", Auto: true, Amends: true})
	c.add(10*s+2*burst+1, 5, "paused", "false", "true")
	want("later", c.take(28*s, 5), event.Mark{At: 28 * s, Label: "probing paused", Auto: true})
	// Nothing is sent for a long time: what is changed meanwhile is one mark, too.
	c.add(60*s, 6, "rate", "1", "2")
	c.add(90*s, 7, "rate", "2", "5")
	want("a slow rate", c.take(95*s, 7), event.Mark{At: 95 * s, Label: "rate 1 → 5", Auto: true})
}
