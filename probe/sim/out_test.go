package sim

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// socket takes as much as it is told to, like a kernel with a full buffer.
type socket struct {
	mu   sync.Mutex
	got  []byte
	room int           // what the next try takes; negative: everything
	slow time.Duration // how long a blocking write takes
	fail error
	took []int // sizes of the writes
}

func (s *socket) Write(b []byte) (int, error) {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return 0, s.fail
	}
	s.got = append(s.got, b...)
	s.took = append(s.took, len(b))
	return len(b), nil
}

func (s *socket) try(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return 0, s.fail
	}
	n := len(b)
	if s.room >= 0 {
		n = min(n, s.room)
	}
	if n > 0 {
		s.got = append(s.got, b[:n]...)
		s.took = append(s.took, n)
	}
	return n, nil
}

func newTestOut(s *socket, fast bool) (*out, *bytes.Buffer, *int) {
	log, stops := &bytes.Buffer{}, new(int)
	o := &out{w: s, clock: RuntimeClock(), truth: newTruth(log), done: make(chan struct{})}
	o.stop = func() { *stops++ }
	if fast {
		o.try = s.try
	}
	return o, log, stops
}

// TestOutKeepsOrder: whatever the kernel takes at once and however long a
// write lasts, the bytes arrive once and in order, every token is noted once,
// and the reply ends once.
func TestOutKeepsOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var acts []int
		for range rapid.IntRange(1, 40).Draw(rt, "n") {
			acts = append(acts, rapid.IntRange(0, 9).Draw(rt, "act"))
		}
		fast := rapid.Bool().Draw(rt, "fast")
		synctest.Test(t, func(t *testing.T) {
			s := &socket{room: -1, slow: time.Millisecond}
			o, log, stops := newTestOut(s, fast)
			var want []byte
			sent := 0
			for i, a := range acts {
				switch a {
				case 0:
					o.hold(true)
				case 1:
					o.hold(false)
				case 2:
					time.Sleep(700 * time.Microsecond)
				case 3, 4, 5:
					s.mu.Lock()
					s.room = []int{-1, 0, 3}[a-3]
					s.mu.Unlock()
				default:
					b := bytes.Repeat([]byte{byte('a' + i%26)}, a)
					want = append(want, b...)
					o.send(b, wrote{req: "r", i: sent, k: 1})
					sent++
				}
			}
			o.finish(endKeep)
			o.hold(false)
			<-o.done
			if !bytes.Equal(s.got, want) {
				t.Errorf("got %q, want %q", s.got, want)
			}
			if _, how, err := o.state(); how != endKeep || err != nil || *stops != 1 {
				t.Errorf("ended %v, %v, %d times", how, err, *stops)
			}
			o.truth.flush()
			tokens, _, _ := facts(t, log.Bytes())
			for i, f := range tokens {
				if *f.I != i || f.T < f.Before {
					t.Errorf("token %d is noted as %d, %d to %d", i, *f.I, f.Before, f.T)
				}
			}
			if len(tokens) != sent {
				t.Errorf("%d tokens noted, %d sent", len(tokens), sent)
			}
		})
	})
}

func TestHoldMergesWrites(t *testing.T) {
	s := &socket{room: -1}
	o, _, _ := newTestOut(s, true)
	o.send([]byte("one "), wrote{})
	o.hold(true)
	o.send([]byte("two "), wrote{})
	o.send([]byte("three "), wrote{})
	if string(s.got) != "one " {
		t.Errorf("held, and %q got out", s.got)
	}
	o.hold(false)
	o.send([]byte("four"), wrote{})
	if len(s.took) != 3 || string(s.got) != "one two three four" {
		t.Errorf("%q in writes of %v bytes", s.got, s.took)
	}
}

func TestOutEndsOnError(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, fast := range []bool{true, false} {
		s := &socket{room: -1, fail: broken}
		o, _, stops := newTestOut(s, fast)
		o.send([]byte("x"), wrote{k: 1})
		<-o.done
		o.send([]byte("y"), wrote{k: 1})
		o.finish(endKeep)
		if ended, how, err := o.state(); !ended || how != endCut || !errors.Is(err, broken) || *stops != 1 {
			t.Errorf("fast %v: ended %v %v %v, %d times", fast, ended, how, err, *stops)
		}
	}
}

func TestCutDropsWhatWaits(t *testing.T) {
	s := &socket{room: 2}
	o, _, _ := newTestOut(s, true)
	o.hold(true)
	o.send([]byte("never"), wrote{k: 1})
	o.finish(endReset)
	o.hold(false)
	if ended, how, _ := o.state(); !ended || how != endReset || len(s.got) != 0 {
		t.Errorf("ended %v %v, %q got out", ended, how, s.got)
	}
}

// TestSlowClient: a client that stops reading delays nobody else, its tokens
// are kept back without limit on time but not on memory, and all of them come
// when it reads again.
func TestSlowClient(t *testing.T) {
	bubble(t, Options{Profile: "lockstep"}, func(w *world) {
		const n = 3000
		body := `{"messages":[{"role":"user","content":"x"}],"max_tokens":3000,` + usual + `}`
		res, err := w.post("/v1/chat/completions", body)
		if err != nil {
			w.Fatal(err)
		}
		other := w.ask(usual + `,"max_tokens":2000`)
		if g := longest([]reply{other}); other.tokens != 2000 || g > 6*time.Millisecond {
			w.Errorf("the neighbour got %d tokens, longest gap %v", other.tokens, g)
		}
		time.Sleep(2 * time.Second)
		r := w.read(res, nil)
		if r.tokens != n || r.reason != "length" || !r.done || r.err != nil {
			w.Errorf("in the end it has %d tokens, %q, %v", r.tokens, r.reason, r.err)
		}
		if len(r.events) >= n-500 {
			w.Errorf("%d events for %d tokens: none were kept back", len(r.events), n)
		}
		tokens, faults, _ := w.facts()
		if len(faults) != 1 || faults[0].Fault != string(faultBacklog) {
			w.Fatalf("faults %+v", faults)
		}
		sum := 0
		for _, f := range tokens {
			if f.Req == faults[0].Reqs[0] {
				sum += *f.K
			}
		}
		if sum != n {
			w.Errorf("the truth log has %d of its tokens", sum)
		}
	})
}
