package stamp

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

const ms = int64(time.Millisecond)

func TestBeats(t *testing.T) {
	// Beats are given as the time at which each came; the first was due at 1 ms.
	cases := []struct {
		name       string
		beats      []int64
		since, now int64
		want       int64
	}{
		{"on time", []int64{1 * ms, 2 * ms, 3 * ms}, 0, 3*ms + 1, 0},
		{"one late beat", []int64{1 * ms, 5 * ms, 6 * ms}, 0, 6 * ms, 3 * ms},
		{"late beat before the instant asked about", []int64{1 * ms, 5 * ms, 6 * ms}, 6 * ms, 6 * ms, 0},
		{"late beat exactly then", []int64{1 * ms, 5 * ms, 6 * ms}, 5 * ms, 6 * ms, 3 * ms},
		{"the longest wins", []int64{3 * ms, 9 * ms, 11 * ms}, 0, 11 * ms, 5 * ms},
		{"only what came after", []int64{3 * ms, 9 * ms, 11 * ms}, 10 * ms, 11 * ms, 1 * ms},
		{"still asleep", []int64{1 * ms}, 1000 * ms, 1001 * ms, 999 * ms},
		{"never beaten", nil, 0, 500 * ms, 499 * ms},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := beats{due: ms}
			for _, at := range c.beats {
				b.beat(at)
			}
			if got := b.since(c.since, c.now); got != c.want {
				t.Errorf("overshot %d, want %d", got, c.want)
			}
		})
	}
}

// The memory is bounded, so it may call an old oversleep younger than it was,
// but it never makes one smaller, and while it is not full it is exact.
func TestBeatsAgainstAllOfThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := beats{due: ms}
		var all []peak
		now, full := int64(0), false
		steps := rapid.SliceOfN(rapid.Int64Range(0, 20*ms), 1, 200).Draw(t, "steps")
		falling := rapid.Bool().Draw(t, "falling") // fills the memory
		for i, s := range steps {
			if falling {
				s = 2*ms + int64(len(steps)-i)*1000
			}
			full = full || b.n == len(b.peaks)
			over := max(now+s-b.due, 0)
			now += s
			b.beat(now)
			all = append(all, peak{now, over})
		}
		since := rapid.Int64Range(0, now).Draw(t, "since")
		want := int64(0)
		for _, p := range all {
			if p.at >= since {
				want = max(want, p.over)
			}
		}
		got := b.since(since, now)
		if got < want || !full && got != want {
			t.Fatalf("since %d: %d, want %d (full: %v)", since, got, want, full)
		}
	})
}

// fakeTime is a clock that moves when somebody sleeps, and then by as much more
// as the test wants.
type fakeTime struct {
	now   atomic.Int64
	extra chan int64 // oversleep of each sleep; closed: none
}

func (f *fakeTime) sleep(d time.Duration) { f.now.Add(int64(d) + <-f.extra) }

func TestHeartbeatRuns(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := &fakeTime{extra: make(chan int64)}
	h := NewHeartbeat(f.now.Load, f.sleep)
	h.Start()
	h.Start() // only once
	for _, over := range []int64{0, 7 * ms, 2 * ms} {
		f.extra <- over
	}
	f.extra <- 0 // the beats above are noted once this one is asked for
	f.extra <- 0
	if got := h.Overshot(0); got != 7*ms {
		t.Errorf("overshot %d, want %d", got, 7*ms)
	}
	if got := h.Overshot(10 * ms); got != 2*ms {
		t.Errorf("overshot %d since 10 ms, want %d", got, 2*ms)
	}
	if got := h.Worst(); got != 7*ms {
		t.Errorf("worst %d, want %d", got, 7*ms)
	}
	if got := h.Worst(); got != 0 {
		t.Errorf("worst %d after it was drained", got)
	}
	f.now.Add(300 * ms) // the goroutine does not run, whatever it would say
	if got := h.Overshot(f.now.Load()); got < 298*ms {
		t.Errorf("overshot %d while asleep for 300 ms", got)
	}
	if got := h.Worst(); got < 298*ms {
		t.Errorf("worst %d while asleep for 300 ms", got)
	}
	close(f.extra)
	h.Stop()
	h.Stop()
}

func TestHeartbeatWithRealSleep(t *testing.T) {
	defer goleak.VerifyNone(t)
	k := NewClock()
	beats := make(chan struct{}, 1)
	h := NewHeartbeat(k.Now, func(d time.Duration) {
		time.Sleep(d)
		select {
		case beats <- struct{}{}:
		default:
		}
	})
	h.Start()
	for range 5 {
		<-beats
	}
	h.Stop()
	if w := h.Worst(); w < 0 {
		t.Errorf("worst %d", w)
	}
}

func TestHeartbeatStoppedBeforeStart(t *testing.T) {
	defer goleak.VerifyNone(t)
	var now atomic.Int64
	h := NewHeartbeat(now.Load, func(time.Duration) { t.Error("slept") })
	h.Stop()
	h.Start()
	now.Store(100 * ms)
	if got := h.Overshot(0); got != 99*ms {
		t.Errorf("overshot %d; without a beat everything is overdue", got)
	}
}

func TestHeartbeatDoesNotAllocate(t *testing.T) {
	k := NewClock()
	h := NewHeartbeat(k.Now, time.Sleep)
	r := Read{At: ms, Since: 0, Source: "read"}
	if n := testing.AllocsPerRun(1000, func() { h.Merged(2, r, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHeartbeatMerged(b *testing.B) {
	k := NewClock()
	h := NewHeartbeat(k.Now, time.Sleep)
	h.Start()
	defer h.Stop()
	b.ReportAllocs()
	for b.Loop() {
		now := k.Now()
		h.Merged(2, Read{At: now, Since: now - 10*ms}, 0)
	}
}
