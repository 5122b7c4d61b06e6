package event

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

// The binary payloads. A reader ignores what follows the fields it knows, so a
// field may be added at the end.
//
//	Token: flags | channel | varint At | uvarint Request | uvarint Target |
//	       uvarint Slot | varint Late | uvarint K | uvarint Burst | uvarint Bytes
//	Text:  channel | varint At | uvarint Request | uvarint length | text
const tokenMerged = 1 << 0 // the one flag of a Token so far

var errPayload = errors.New("event: binary payload is cut short or out of range")

// AppendToken appends the record of t. It allocates nothing but the growth of
// dst. A nil token appends nothing.
func AppendToken(dst []byte, t *Token) []byte {
	if t == nil {
		return dst
	}
	// The longest payload has 57 bytes, so the length is always one byte.
	at := len(dst)
	var flags byte
	if t.Merged {
		flags |= tokenMerged
	}
	dst = append(dst, 0, byte(KindToken), flags, byte(t.Channel))
	dst = binary.AppendVarint(dst, t.At)
	dst = binary.AppendUvarint(dst, t.Request)
	dst = binary.AppendUvarint(dst, uint64(t.Target))
	dst = binary.AppendUvarint(dst, uint64(t.Slot))
	dst = binary.AppendVarint(dst, t.Late)
	dst = binary.AppendUvarint(dst, uint64(t.K))
	dst = binary.AppendUvarint(dst, uint64(t.Burst))
	dst = binary.AppendUvarint(dst, uint64(t.Bytes))
	dst[at] = byte(len(dst) - at - 1)
	return dst
}

func readToken(payload []byte) (*Token, error) {
	c := cursor{rest: payload}
	t := new(Token)
	flags := c.byte()
	t.Merged = flags&tokenMerged != 0
	t.Channel = Channel(c.byte())
	t.At = c.varint()
	t.Request = c.uvarint()
	t.Target = c.uint32()
	t.Slot = c.uint32()
	t.Late = c.varint()
	t.K = c.uint32()
	t.Burst = c.uint32()
	t.Bytes = c.uint32()
	if c.bad {
		return nil, errPayload
	}
	return t, nil
}

// AppendText appends the record of t, its text cut to MaxText. It allocates
// nothing but the growth of dst. A nil text appends nothing.
func AppendText(dst []byte, t *Text) []byte {
	if t == nil {
		return dst
	}
	text := t.Text
	if len(text) > MaxText {
		n := MaxText
		for i := 1; i < utf8.UTFMax; i++ { // bytes that are no UTF-8 are cut where the limit falls
			if utf8.RuneStart(text[n]) {
				break
			}
			n--
		}
		text = text[:n]
	}
	var room [2 + 3*binary.MaxVarintLen64]byte
	head := append(room[:0], byte(KindText), byte(t.Channel))
	head = binary.AppendVarint(head, t.At)
	head = binary.AppendUvarint(head, t.Request)
	head = binary.AppendUvarint(head, uint64(len(text)))
	dst = binary.AppendUvarint(dst, uint64(len(head)+len(text)))
	dst = append(dst, head...)
	return append(dst, text...)
}

func readText(payload []byte) (*Text, error) {
	c := cursor{rest: payload}
	t := new(Text)
	t.Channel = Channel(c.byte())
	t.At = c.varint()
	t.Request = c.uvarint()
	n := c.uvarint()
	if c.bad || n > uint64(len(c.rest)) {
		return nil, errPayload
	}
	t.Text = string(c.rest[:n])
	return t, nil
}

// cursor reads fields from the front of a payload; after a failure it yields
// zeros and bad is set.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) byte() byte {
	if len(c.rest) == 0 {
		c.bad = true
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.bad, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (c *cursor) uint32() uint32 {
	v := c.uvarint()
	if v > math.MaxUint32 {
		c.bad = true
		return 0
	}
	return uint32(v)
}
