package probe

import "sync/atomic"

// budget bounds the tokens of a whole run, prompts included. What a request
// may need is taken before it is sent, and what it did not need given back.
type budget struct {
	max  int64 // 0 is no bound
	used atomic.Int64
}

// take reserves n tokens. It is false when they are not left.
func (b *budget) take(n int) bool {
	if b.max > 0 && b.used.Add(int64(n)) > b.max {
		b.used.Add(-int64(n))
		return false
	}
	return true
}

// settle replaces a reservation by what was used.
func (b *budget) settle(reserved, used int) {
	if b.max > 0 {
		b.used.Add(int64(used - reserved))
	}
}
