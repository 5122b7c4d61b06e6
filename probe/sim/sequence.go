package sim

import (
	"math/bits"
	"math/rand/v2"
)

// window is how many values of the sequence are mixed. A prefix of n shuffled
// values misses at most so many of the stratified prefix of n+window values.
const window = 64

// sequence yields numbers in (0, 1) whose every prefix is stratified: it is
// the radical inverse in base 2 (van der Corput) under a seeded digital shift,
// so that any aligned block of 2^m values has exactly one in each of the 2^m
// equal intervals. 70 000 draws therefore already hold the seven that belong
// above 0.9999. Independent draws would need a million for that.
//
// Neighbours in that order are far from independent, so a window of values is
// mixed at random, which keeps every prefix nearly as good.
type sequence struct {
	n     uint32
	shift uint32
	rng   *rand.Rand
	ready [window]float64
}

func newSequence(seed uint64) *sequence {
	s := &sequence{rng: rand.New(rand.NewPCG(seed, 0x7ea907))}
	s.shift = s.rng.Uint32()
	for i := range s.ready {
		s.ready[i] = s.raw()
	}
	return s
}

// next returns the next value, strictly between 0 and 1.
func (s *sequence) next() float64 {
	i := s.rng.IntN(window)
	v := s.ready[i]
	s.ready[i] = s.raw()
	return v
}

// raw is the sequence before the mixing.
func (s *sequence) raw() float64 {
	v := bits.Reverse32(s.n) ^ s.shift
	s.n++
	return (float64(v) + 0.5) / (1 << 32)
}
