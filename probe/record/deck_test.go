package record

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"teapot/probe/event"
)

var errAgain = errors.New("again")

// at gives marks at the times ats, in ns, and then the end.
func at(ats ...int64) func() (event.Event, error) {
	return func() (event.Event, error) {
		if len(ats) == 0 {
			return nil, io.EOF
		}
		ev := &event.Mark{At: ats[0]}
		ats = ats[1:]
		return ev, nil
	}
}

// taken is what came out of a deck, and when.
type taken struct {
	ev  int64 // time of the event, −1 for a restart
	due time.Duration
}

// runDeck has a deck play marks at every second from 0 to last and returns it
// with a function that lists what came since the call before.
func runDeck(t *testing.T, last int64, speed float64) (*Deck, func() []taken) {
	t.Helper()
	opened := 0
	d, err := NewDeck(func() (func() (event.Event, error), error) {
		opened++
		var ats []int64
		for s := range last + 1 {
			ats = append(ats, s*1e9)
		}
		return at(ats...), nil
	}, last*1e9, speed)
	if err != nil {
		t.Fatal(err)
	}
	d.Restart = errAgain
	start, out := time.Now(), make(chan taken, 1000)
	go func() {
		defer close(out)
		for {
			ev, err := d.Next()
			switch {
			case err == io.EOF:
				return
			case err == errAgain:
				out <- taken{-1, time.Since(start)}
			case ev != nil:
				out <- taken{ev.Time() / 1e9, time.Since(start)}
			}
		}
	}()
	return d, func() (list []taken) {
		synctest.Wait()
		for {
			select {
			case v, ok := <-out:
				if !ok {
					return list
				}
				list = append(list, v)
			default:
				return list
			}
		}
	}
}

func same(t *testing.T, what string, got []taken, want ...taken) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}

func TestDeckPausesAndChangesItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, list := runDeck(t, 100, 1)
		const s = time.Second
		time.Sleep(2500 * time.Millisecond)
		same(t, "real time", list(), taken{0, 0}, taken{1, s}, taken{2, 2 * s})
		if !d.Pause() {
			t.Error("not held")
		}
		time.Sleep(time.Hour)
		same(t, "held", list())
		if at, _, _ := d.Position(); at != 2.5e9 {
			t.Errorf("held at %d", at)
		}
		d.Pause()
		start := 2500*time.Millisecond + time.Hour
		time.Sleep(600 * time.Millisecond)
		same(t, "it goes on", list(), taken{3, start + s/2})
		if v := d.Faster(2); v != 2 {
			t.Errorf("speed %v", v)
		}
		start += 600 * time.Millisecond
		time.Sleep(s)
		same(t, "twice as fast", list(), taken{4, start + 450*time.Millisecond}, taken{5, start + 950*time.Millisecond})
		for range 20 {
			d.Faster(.5)
		}
		if v, _, _, _ := d.Pace(); v != slowest {
			t.Errorf("the slowest is %v", v)
		}
		for range 20 {
			d.Faster(2)
		}
		if v, _, _, _ := d.Pace(); v != fastest {
			t.Errorf("the fastest is %v", v)
		}
		d.Stop()
		list()
	})
}

func TestDeckGoesBackAndForth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, list := runDeck(t, 10, 1)
		ends := 0
		d.AtEnd = func() { ends++ }
		list()
		d.GoTo(4.5e9)
		same(t, "forth", list(), taken{1, 0}, taken{2, 0}, taken{3, 0}, taken{4, 0})
		if at, first, end := d.Position(); at != 4.5e9 || first != 0 || end != 10e9 {
			t.Errorf("at %d of %d..%d", at, first, end)
		}
		time.Sleep(600 * time.Millisecond)
		same(t, "from there in real time", list(), taken{5, time.Second / 2})
		d.Pause()
		d.GoTo(1e9)
		now := 600 * time.Millisecond
		same(t, "back, while held", list(), taken{-1, now}, taken{0, now}, taken{1, now})
		if _, paused, seeking, over := d.Pace(); !paused || seeking || over {
			t.Errorf("held %v, seeking %v, over %v", paused, seeking, over)
		}
		d.GoTo(1000e9)
		if got := list(); len(got) != 9 || got[8].ev != 10 {
			t.Errorf("beyond the end: %v", got)
		}
		if at, _, _ := d.Position(); at != 10e9 || ends != 1 {
			t.Errorf("at %d, %d ends", at, ends)
		}
		d.Pause()
		time.Sleep(time.Hour)
		same(t, "at the end it waits", list())
		d.GoTo(-5e9)
		if got := list(); len(got) != 2 || got[0].ev != -1 || got[1].ev != 0 {
			t.Errorf("from the end to the beginning: %v", got)
		}
		d.Stop()
		list()
		if _, err := d.Next(); err != io.EOF {
			t.Errorf("after Stop: %v", err)
		}
	})
}

// Any time and any speed is survived, and nothing drifts.
func TestDeckSurvivesAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, speed := range []float64{math.NaN(), math.Inf(1), -1, 0} {
			d, err := NewDeck(func() (func() (event.Event, error), error) {
				return at(math.MinInt64, math.MaxInt64, 0, 5e9, math.MinInt64), nil
			}, 0, speed)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for range 5 {
				if ev, err := d.Next(); ev == nil || err != nil {
					t.Fatal(ev, err)
				}
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("speed %v: %v", speed, took)
			}
		}
		n := int64(0)
		d, _ := NewDeck(func() (func() (event.Event, error), error) {
			return func() (event.Event, error) { n++; return &event.Mark{At: n * 7e6}, nil }, nil
		}, 0, 1)
		var start time.Time
		for i := range 10000 {
			ev, _ := d.Next()
			if i == 0 {
				start = time.Now()
			}
			time.Sleep(3 * time.Millisecond) // whoever takes them is slow
			if late := time.Since(start) - time.Duration(ev.Time()-7e6); late < 3*time.Millisecond-early || late > 4*time.Millisecond {
				t.Fatalf("event %d is %v late", i, late)
			}
		}
	})
}

// A source that cannot be opened again says so where it was to go back.
func TestDeckSaysWhyItCannotGoBack(t *testing.T) {
	gone := errors.New("the file is gone")
	times := 0
	d, err := NewDeck(func() (func() (event.Event, error), error) {
		if times++; times > 1 {
			return nil, gone
		}
		return at(0, 1e9), nil
	}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
	}
	d.GoTo(0)
	if _, err := d.Next(); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

func TestLastNeedsOnlyTheEnd(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, Options{Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	var cuts []int
	for i := range int64(40) {
		for _, ev := range tokens(200) {
			if err := w.Add(ev); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Add(&event.Mark{At: 1e15 + i})
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		cuts = append(cuts, b.Len())
	}
	all := b.Bytes()
	for i := 30; i < len(cuts); i++ {
		for _, more := range []int{0, 1, blockSize, blockSize + 20} {
			n := min(cuts[i]+more, len(all))
			if got := Last(bytes.NewReader(all), int64(n)); got != 1e15+int64(i) {
				t.Errorf("block %d and %d bytes: %d", i, more, got)
			}
		}
	}
	for _, n := range []int{0, 7, fileSize, fileSize + 10} {
		if got := Last(bytes.NewReader(all), int64(n)); got != 0 {
			t.Errorf("%d bytes: %d", n, got)
		}
	}
}
