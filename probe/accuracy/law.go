package accuracy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"teapot/probe/sim"
)

// Law is when a server writes.
type Law string

// The laws of the schedule. A client asks for one as its model, with the mean
// time between tokens in microseconds behind a colon where one can be chosen:
// "constant:1600".
const (
	Constant Law = "constant" // every stream at a beat of its own, 1.6 ms
	Article  Law = "article"  // gaps drawn from the law of the engine's profile of that name
	LockStep Law = "lockstep" // all streams at one beat, as a batching engine writes
)

// usualBeat is that of 625 tok/s.
const usualBeat = 1600 * time.Microsecond

// lead is how long after a request its first token is due.
const lead = 20 * time.Millisecond

// schedule gives the due times of a stream's tokens.
type schedule struct {
	law  Law
	beat time.Duration
	next int64
	rng  *rand.Rand
	gaps sim.Law
}

// newSchedule makes the schedule of a stream asked for at now. name is the
// model that the client named. Streams of a lock-step have their beat in common.
func newSchedule(name string, now int64, seed uint64) (*schedule, error) {
	law, micros, chosen := strings.Cut(name, ":")
	s := &schedule{law: Law(law), beat: usualBeat, rng: rand.New(rand.NewPCG(seed, 0x7ea)), gaps: sim.ArticleLaw()}
	if chosen {
		var n int64
		if _, err := fmt.Sscan(micros, &n); err != nil || n < 1 || n > 1e6 {
			return nil, fmt.Errorf("a beat of %q microseconds", micros)
		}
		s.beat = time.Duration(n) * time.Microsecond
	}
	switch s.law {
	case Constant, Article:
		s.next = now + int64(lead) + s.rng.Int64N(int64(s.beat))
	case LockStep:
		beats := (now+int64(lead))/int64(s.beat) + 1
		s.next = beats * int64(s.beat)
	default:
		return nil, fmt.Errorf("there is no law %q", law)
	}
	return s, nil
}

// advance moves on to the next token.
func (s *schedule) advance() {
	if s.law == Article {
		s.next += int64(s.gaps.Quantile(s.rng.Float64()))
		return
	}
	s.next += int64(s.beat)
}
