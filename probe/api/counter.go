package api

// counter follows a number that a server lets grow with the tokens it has
// generated: usage.completion_tokens with continuous usage, or llama.cpp's
// timings.predicted_n. The same fields appear once, at the end, on servers
// that do not count continuously; the counter tells the two apart.
type counter struct {
	last   int  // highest value seen
	since  int  // tokens known by other means since then
	blind  bool // tokens in unknown number came since then
	live   bool // it has grown before the end: it is continuous
	back   bool // it went down once
	covers bool // it accounts for the event at hand
}

// step takes the value n that came with an event and says how many tokens the
// event brought; ok is false when the counter cannot tell. closing: the event
// ends its choice or comes after that end. visible: it shows tokens by other
// means. first: no token came before it.
//
// A step down counts as none, and the highest value stays the reference, so
// that the sum of the steps remains the total.
func (c *counter) step(n int, closing, visible, first bool) (k int, ok bool) {
	if n < c.last {
		c.back = true
	}
	if n <= c.last {
		c.covers = c.live
		return 0, false
	}
	k = n - c.last - c.since
	ok = !c.blind
	if closing && !c.live {
		// The total of a server that does not count continuously. It belongs
		// to this event only if nothing came before.
		ok = ok && visible && first
	} else {
		c.live = true
	}
	c.last, c.since, c.blind, c.covers = n, 0, false, true
	return max(k, 0), ok
}

// missed tells the counter of an event with k tokens (0: unknown) that it did
// not account for.
func (c *counter) missed(k int) {
	if k > 0 {
		c.since += k
	} else {
		c.blind = true
	}
}
