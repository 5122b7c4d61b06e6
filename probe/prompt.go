package probe

import (
	"math/rand/v2"
	"strings"
)

// prompts makes the prompts of one target, or takes the user's in turn.
//
// A made-up prompt is a nonce, an instruction and filler. It consists of short
// common words, because with the vocabularies in use such a word with the
// space before it is nearly always one token: the length in tokens is
// estimated as the number of words, which is within a few per cent. What a
// chat template adds is not counted.
type prompts struct {
	own     []string // the user's, taken in turn
	seed    uint64   // of the filler
	session uint32   // random part of the nonce, so that two runs never share a cache
	cold    bool     // a nonce at the front of each prompt
}

// nonceWords is the length of a nonce: four words count the requests and four
// are the session's, 8 bits each.
const nonceWords = 8

// instruction asks for an answer that does not end by itself. Servers that can
// be told to ignore the end of text do not need it.
const instruction = " write a very long story and do not stop, use these words:"

// make gives the prompt of request n (unique in the session) and its length in
// tokens, 0 when the user gave the text. want is the length aimed at; a nonce
// is never cut, so a cold prompt has at least its length.
func (p *prompts) make(n uint64, want int) (text string, tokens int) {
	var b strings.Builder
	if p.cold {
		p.nonce(&b, n)
	}
	if len(p.own) > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.own[int((n-1)%uint64(len(p.own)))])
		return b.String(), 0
	}
	if b.Len() > 0 {
		tokens = nonceWords
	}
	if lead := strings.Count(instruction, " "); want >= tokens+2*lead {
		b.WriteString(instruction)
		tokens += lead
	}
	if tokens == 0 && want <= 0 {
		want = 1 // a prompt of nothing is refused everywhere
	}
	var src rand.PCG
	src.Seed(p.seed, 0) // warm prompts are all the same: that is their point
	if p.cold {
		src.Seed(p.seed, n)
	}
	for r := rand.New(&src); tokens < want; tokens++ {
		b.WriteByte(' ')
		b.WriteString(words[r.Uint32()%uint32(len(words))])
	}
	return strings.TrimPrefix(b.String(), " "), tokens
}

// nonce writes the words that make this prompt's beginning unlike that of any
// other, the fastest changing first: a prefix cache matches from the start.
func (p *prompts) nonce(b *strings.Builder, n uint64) {
	for i := range 4 {
		b.WriteByte(' ')
		b.WriteString(words[byte(n>>(8*i))])
	}
	for i := range 4 {
		b.WriteByte(' ')
		b.WriteString(words[byte(p.session>>(8*i))])
	}
}

// words are 256 short common words, one for each byte.
var words = strings.Fields(wordList)

const wordList = `
the of and to in is that it was for on are with as his they be at one have
this from or had by hot but some what there we can out other were all your
when up use word how said an each she which do their time if will way about
many then them would write like so these her long make thing see him two has
look more day could go come did my sound no most number who over know water
than call first people may down side been now find any new work part take get
place made live where after back little only round man year came show every
good me give our under name very through just form much great think say help
low line before turn cause same mean move right boy old too does tell set
three want air well also play small end put home read hand port large spell
add even land here must big high such follow act why ask men change went
light kind off need house picture try us again animal point mother world near
build self earth father head stand own page should country found answer
school grow study still learn plant cover food sun four thought let keep eye
never last door between city tree cross since hard start might story saw far
sea draw left late run while press close night real life few stop open seem
together next white begin group always music those both mark often
`
