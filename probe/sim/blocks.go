package sim

// blockSize is the number of tokens whose keys and values share a KV block.
const blockSize = 16

// blocksFor is how many blocks hold so many tokens.
func blocksFor(tokens int) int { return (tokens + blockSize - 1) / blockSize }

// insert keeps the order of running: tenants first, then by arrival.
func (s *scheduler) insert(q *seq) {
	i := len(s.running)
	for i > 0 && before(q, s.running[i-1]) {
		i--
	}
	s.running = append(s.running, nil)
	copy(s.running[i+1:], s.running[i:])
	s.running[i] = q
}

func before(a, b *seq) bool {
	if a.tenant != b.tenant {
		return a.tenant
	}
	return a.order < b.order
}

func (s *scheduler) release(q *seq) {
	s.free += q.blocks
	q.blocks = 0
}

// usage is the share of KV blocks in use, 0..1.
func (s *scheduler) usage() float64 {
	return float64(s.blocks-s.free) / float64(s.blocks)
}

// without removes q from list in place, keeping the order.
func without(list []*seq, q *seq) []*seq {
	for i, x := range list {
		if x == q {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			return list[:len(list)-1]
		}
	}
	return list
}
