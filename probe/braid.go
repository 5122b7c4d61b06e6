package probe

// braid follows the text of a reply from one channel into another, in the order
// in which it comes: a secret whose pieces take turns between what is answered,
// what is thought and the arguments of a tool is in none of these as a whole, and
// on a screen it is. It works only after a change of channels, for as long as
// what began before the change goes on, so that an ordinary reply costs nothing.
type braid struct {
	last  int   // channel of the newest piece; -1: there was none
	run   int   // bytes since the change
	on    bool  // a beginning of a secret reaches from before the change
	told  bool  // its replacement was handed on
	state int32 // of the matcher
}

// weave hands a piece of a channel to its veil, and hides the part of a secret in
// it that began in another one. As in a veil, a beginning of less than minPart
// bytes may have been shown.
func (b *body) weave(channel int, text []byte) {
	if len(text) == 0 {
		b.arena = b.veils[channel].push(b.arena, text)
		return
	}
	w := &b.braid
	if channel != w.last {
		if !w.on && w.last >= 0 {
			w.state, w.told = b.veils[w.last].state, false
		}
		w.on = w.state != 0
		if w.on {
			b.change(channel, text)
			return
		}
		w.last, w.run = channel, 0
	} else if w.on {
		b.follow(channel, channel, text)
		return
	}
	b.arena = b.veils[channel].push(b.arena, text)
}

// change goes on in another channel.
func (b *body) change(channel int, text []byte) {
	from := b.braid.last
	b.braid.last, b.braid.run = channel, 0
	b.follow(from, channel, text)
}

// follow takes a piece while a beginning of a secret reaches from before the
// change. What of it is still held in the channel it came from is hidden, too.
func (b *body) follow(from, channel int, text []byte) {
	w, find, hide := &b.braid, &b.red.find, 0
	for i, c := range text {
		size := 0
		w.state, size = find.step(w.state, c)
		reach, run := max(int(find.nodes[w.state].depth), size), w.run+i+1
		if reach <= run {
			w.on, w.state = false, 0
			break
		}
		if reach < minPart {
			continue
		}
		hide = i + 1
		if held := min(reach-run, len(b.veils[from].held)); held > 0 && from != channel {
			b.veils[from].cover(held)
		}
	}
	w.run += len(text)
	b.arena = b.veils[channel].pushHiding(b.arena, text, hide, w.told && hide > 0)
	w.told = w.told || hide > 0
}
