package sim

import (
	_ "embed" // the text is part of the binary
	"encoding/json"
	"strings"
	"unicode/utf8"
)

//go:embed text.txt
var text string

// longWord is the length from which a word becomes two pieces, as it would in
// the vocabulary of a model.
const longWord = 9

// piece is one token of text.
type piece struct {
	text    string
	escaped string // the same inside a JSON string, without the quotes
}

// prose is the text that the engine speaks, cut into tokens. It is read-only
// after newProse and shared by all streams.
type prose struct {
	pieces []piece
	starts []int // indexes of pieces that begin a sentence
}

func newProse() *prose {
	p := &prose{}
	for n, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if n > 0 {
			p.add("\n\n")
		}
		begins := true
		for i, word := range strings.Fields(paragraph) {
			if begins {
				p.starts = append(p.starts, len(p.pieces))
			}
			begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "?")
			if i > 0 {
				word = " " + word
			}
			p.word(word)
		}
	}
	p.add("\n\n") // what stands between the end and the beginning when it wraps
	return p
}

// word adds a word, in two pieces when it is long.
func (p *prose) word(w string) {
	if len(w) <= longWord {
		p.add(w)
		return
	}
	cut := len(w) * 3 / 5
	for cut < len(w) && !utf8.RuneStart(w[cut]) {
		cut++
	}
	p.add(w[:cut])
	p.add(w[cut:])
}

func (p *prose) add(s string) {
	quoted, err := json.Marshal(s)
	if err != nil || len(quoted) < 2 {
		return // a string always marshals
	}
	p.pieces = append(p.pieces, piece{text: s, escaped: string(quoted[1 : len(quoted)-1])})
}

// start returns the piece with which reply number n begins.
func (p *prose) start(n uint64) int {
	return p.starts[n%uint64(len(p.starts))]
}

// at returns the i-th token of a reply that begins at piece start. Its first
// token has no leading space.
func (p *prose) at(start, i int) piece {
	q := p.pieces[(start+i)%len(p.pieces)]
	if i == 0 {
		q.text = strings.TrimLeft(q.text, " ")
		q.escaped = strings.TrimLeft(q.escaped, " ")
	}
	return q
}
