package probe

import "math"

// veil hides secrets in a text that comes in pieces, however they are cut. A
// piece that ends in the beginning of a secret is handed on as long as that is
// shorter than minPart bytes, so that ordinary words are not delayed; what is
// longer waits for the next pieces to tell. Its buffers are kept.
type veil struct {
	find  *matcher
	state int32
	held  []byte // not handed on yet
	marks []byte // what each of these is
	open  int    // bytes handed on as they are since the last hidden one
}

// What a byte is to a veil.
const (
	markOpen   byte = iota // shown
	markHead               // the first of what is replaced
	markInside             // what follows that
)

// reset begins a new text.
func (v *veil) reset(find *matcher) {
	*v = veil{find: find, held: v.held[:0], marks: v.marks[:0], open: math.MaxInt32}
}

// push takes a piece and appends to dst what can be handed on.
func (v *veil) push(dst, text []byte) []byte { return v.pushHiding(dst, text, 0, false) }

// pushHiding is push where the first hide bytes of the piece are part of a secret
// that began elsewhere. With told, its replacement stands there already.
func (v *veil) pushHiding(dst, text []byte, hide int, told bool) []byte {
	at := len(v.held)
	v.held = append(v.held, text...)
	for i := at; i < len(v.held); i++ {
		v.marks = append(v.marks, markOpen)
		var size int
		if v.state, size = v.find.step(v.state, v.held[i]); size > 0 {
			v.cover(size)
		}
	}
	for i := at; i < at+hide; i++ {
		if v.marks[i] == markOpen || told {
			v.marks[i] = markInside
		}
		if i == at && !told {
			v.marks[i] = markHead
		}
	}
	wait := v.begun()
	if wait < minPart {
		wait = 0
	}
	return v.emit(dst, len(v.held)-min(wait, len(v.held)))
}

// begun is how many of the last bytes may be the beginning of a secret.
func (v *veil) begun() int {
	if v.state == 0 {
		return 0
	}
	return int(v.find.nodes[v.state].depth)
}

// cover hides the last size bytes. Some of them may have been handed on.
func (v *veil) cover(size int) {
	from := len(v.marks) - size
	if from < 0 {
		joins := -from > v.open && v.open == 0
		from = 0
		if joins { // with what was hidden already
			v.marks[0] = markInside
		}
	}
	if v.marks[from] == markOpen {
		v.marks[from] = markHead
	}
	for i := from + 1; i < len(v.marks); i++ {
		v.marks[i] = markInside
	}
}

// emit hands on the first n of the bytes held.
func (v *veil) emit(dst []byte, n int) []byte {
	for i, b := range v.held[:n] {
		switch v.marks[i] {
		case markOpen:
			dst = append(dst, b)
			v.open = min(v.open+1, math.MaxInt32-1)
			continue
		case markHead:
			dst = append(dst, redacted...)
		}
		v.open = 0
	}
	v.held = v.held[:copy(v.held, v.held[n:])]
	v.marks = v.marks[:copy(v.marks, v.marks[n:])]
	return dst
}

// finish hands on the rest at the end of the text. Where it ends inside a
// secret, which the limit of tokens may have cut, that is hidden.
func (v *veil) finish(dst []byte) []byte {
	if n := v.begun(); n >= minPart && len(v.held) > 0 {
		v.cover(n)
	}
	v.state = 0
	return v.emit(dst, len(v.held))
}

// matcher finds all secrets in one pass (Aho and Corasick, 1975). Its state is
// the longest beginning of a secret that the text so far ends with.
type matcher struct {
	nodes []node // the first is the state of having seen nothing
	first [256]int32
}

// node is one beginning of secrets.
type node struct {
	child, sibling int32 // 0: none
	fail           int32 // the longest end of it that is also a beginning
	depth          int32 // its length in bytes
	size           int32 // length of the longest secret that it ends with
	b              byte  // its last byte
}

func newMatcher(secrets []string) matcher {
	m := matcher{nodes: make([]node, 1)}
	for _, secret := range secrets {
		at := int32(0)
		for i := range len(secret) {
			next := m.after(at, secret[i])
			if next == 0 {
				next = int32(len(m.nodes))
				n := node{b: secret[i], depth: int32(i) + 1}
				if at == 0 {
					m.first[n.b] = next
				}
				n.sibling, m.nodes[at].child = m.nodes[at].child, next
				m.nodes = append(m.nodes, n)
			}
			at = next
		}
		m.nodes[at].size = int32(len(secret))
	}
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] { // shorter ones first
		at := queue[0]
		for c := m.nodes[at].child; c != 0; c = m.nodes[c].sibling {
			n := &m.nodes[c]
			for f := at; f != 0 && n.fail == 0; {
				f = m.nodes[f].fail
				n.fail = m.after(f, n.b)
			}
			n.size = max(n.size, m.nodes[n.fail].size)
			queue = append(queue, c)
		}
	}
	return m
}

// after is the beginning at, with b behind it; 0 for none.
func (m *matcher) after(at int32, b byte) int32 {
	if at == 0 {
		return m.first[b]
	}
	c := m.nodes[at].child
	for c != 0 && m.nodes[c].b != b {
		c = m.nodes[c].sibling
	}
	return c
}

// step takes one more byte. size is the length of the longest secret that ends
// with it, 0 for none. A state that nothing can follow is not kept.
func (m *matcher) step(at int32, b byte) (next int32, size int) {
	for next = m.after(at, b); next == 0 && at != 0; next = m.after(at, b) {
		at = m.nodes[at].fail
	}
	if next == 0 {
		return 0, 0
	}
	size = int(m.nodes[next].size)
	for next != 0 && m.nodes[next].child == 0 {
		next = m.nodes[next].fail
	}
	return next, size
}

// begun is the length of the longest end of s that begins a secret.
func (m *matcher) begun(s string) int {
	at := int32(0)
	for i := range len(s) {
		at, _ = m.step(at, s[i])
	}
	if at == 0 {
		return 0
	}
	return int(m.nodes[at].depth)
}
