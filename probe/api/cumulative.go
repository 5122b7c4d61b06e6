package api

import "bytes"

// cumulative finds out whether a server repeats all the text so far in every
// event, as DashScope and some native APIs do, and tells what is new.
//
// Pieces may look like that by chance ("\n", then "\n\n"), so a few events must
// agree before it is believed, and one that does not ends it for good.
type cumulative struct {
	last   []byte // the text of the event before, while it may be the beginning of the next
	grown  int    // events that continued the text before them
	sure   bool   // the text is cumulative
	pieces bool   // it is not
}

// How many events must repeat the text before them: fewer where the text is
// longer than a token or two.
const (
	surelyGrown = 3
	longGrown   = 2
	longText    = 12 // bytes
)

// step takes the text of an event and returns the part that is new: all of it
// while nothing is certain.
func (c *cumulative) step(text []byte) []byte {
	if c.pieces || len(text) == 0 {
		return text
	}
	old := len(c.last)
	if !bytes.HasPrefix(text, c.last) || old == len(text) && !c.sure {
		c.pieces, c.last = true, nil
		return text
	}
	c.last = append(c.last, text[old:]...)
	if old == 0 {
		return text
	}
	if c.sure {
		return text[old:]
	}
	c.grown++
	c.sure = c.grown >= surelyGrown || c.grown >= longGrown && old >= longText
	if c.sure {
		return text[old:]
	}
	return text
}
