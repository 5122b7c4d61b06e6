package stats

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// How streams are held against each other.
const (
	keptPeers = 32 // of a spike, to be shown

	// A stream is silent over a spike when one gap of its own covers so much of
	// it, in tenths.
	silentPart = 7
	// It takes no part when it was under way for less than this of it, in tenths.
	leastPart = 3
	// A gap belongs to a run of long ones from so many medians on, and from so
	// small a part of the spike on.
	runMedians = 2
	runPart    = 12
	// Tokens that were held back come within this share of a median gap.
	heldPart = 4
	heldMost = int64(5e6)

	textTokens = 8  // around a spike
	textBytes  = 96 // of them, on each side
)

// look fills in what the streams did around a spike, as far as it is known by
// now. What was seen of a stream that is gone since stays. What was shown before
// is not written to.
func (t *target) look(s *spike, now int64) {
	old := s.Around
	a := &Around{Before: max(s.Token-1, 0), Chance: 1, Gaps: 1, From: s.began, To: s.At}
	s.Around = a
	if s.life != nil && s.life.start.Request == s.Request {
		t.own(s, a)
	} else if old != nil {
		a.Held, a.Due, a.After, a.Gaps, a.From, a.To = old.Held, old.Due, old.After, old.Gaps, old.From, old.To
		a.TextBefore, a.TextAfter, a.ToHeaders, a.PromptToken = old.TextBefore, old.TextAfter, old.ToHeaders, old.PromptToken
	}
	others := make([]*life, 0, len(t.slots))
	for _, l := range t.slots {
		if l != s.life && l.start.Request != s.Request {
			others = append(others, l)
		}
	}
	slices.SortFunc(others, func(a, b *life) int { return cmp.Compare(a.start.Slot, b.start.Slot) })
	product, seen := 1.0, map[uint32]bool{}
	for _, l := range others {
		t.starting(s, a, l)
		p, ok := l.peer(s.began, s.At, now)
		if !ok {
			continue
		}
		seen[p.Slot] = true
		product *= a.count(p, s, l.usual())
	}
	if old != nil {
		for _, p := range old.Peers { // of requests that have ended and made room
			if !seen[p.Slot] && len(old.Peers) < keptPeers {
				product *= a.count(p, s, s.Usual)
			}
		}
		a.Starting, a.StartingPrompt = max(a.Starting, old.Starting), max(a.StartingPrompt, old.StartingPrompt)
	}
	a.chance(product)
}

// own is what the stream itself shows.
func (t *target) own(s *spike, a *Around) {
	l := s.life
	a.After = max(l.events-s.Token, 0)
	a.TextBefore, a.TextAfter = l.words(s.Token-textTokens, s.Token-1), l.words(s.Token, s.Token+textTokens-1)
	a.PromptToken = max(l.start.Prompt, l.end.Prompt)
	if s.First {
		if l.headers > 0 && l.headers <= s.At {
			a.ToHeaders = l.headers - l.start.At
		}
		return
	}
	i := l.cell(s.Token)
	if i < 0 || s.Token > l.events {
		return
	}
	cells := l.cells.items
	usual := max(s.Usual, 1)
	long := max(runMedians*usual, s.Length/runPart)
	begin := l.cell(2) // the first event has no gap
	if l.cell(1) < 0 {
		begin = 0
	}
	from, to := i, i
	for from > begin && cells[from-1].Gap >= long && !cells[from-1].Merged {
		from--
	}
	for to+1 < len(cells) && cells[to+1].Gap >= long && !cells[to+1].Merged {
		to++
	}
	a.Gaps, a.From, a.To = to-from+1, cells[from].At-cells[from].Gap, cells[to].At
	a.Due = int(min(s.Length/usual, 1e6))
	within := min(usual/heldPart, heldMost)
	for j := i; j < len(cells) && (j == i || cells[j].At-cells[i].At <= within || cells[j].Burst); j++ {
		a.Held += int(max(min(cells[j].K, maxK), 1))
	}
}

// words is the text of some token events, as far as it is kept.
func (l *life) words(from, to int) string {
	var b strings.Builder
	for ev := max(from, 1); ev <= min(to, l.events); ev++ {
		if i := l.cell(ev); i >= 0 {
			b.WriteString(l.cells.items[i].Text)
		}
	}
	text := b.String()
	if len(text) <= textBytes {
		return text
	}
	text = text[:textBytes]
	for i := 0; i < utf8.UTFMax && !utf8.ValidString(text); i++ {
		text = text[:len(text)-1]
	}
	return text
}

// usual is the stream's median gap, as of the last view or now.
func (l *life) usual() int64 {
	if l.med == 0 && l.events > 3 {
		l.medianOf, l.med = l.events, l.medianBefore(l.events+1)
	}
	return l.med
}

// peer is what another stream did over the time from..to; false when it was not
// receiving then, or for a small part of it alone.
func (l *life) peer(from, to, now int64) (Peer, bool) {
	part, until := (to-from)/10, to
	if l.ended {
		until = min(to, l.last)
	}
	p := Peer{Slot: l.start.Slot, Request: l.start.Request, Apart: -1, Under: until - max(from, l.first)}
	if l.events == 0 || p.Under < leastPart*part || p.Under <= 0 {
		return Peer{}, false
	}
	if !l.ended && l.last < to {
		if p.Over = max(min(now, to)-max(l.last, from), 0); p.Over > 0 {
			p.Gap = now - l.last
		}
	}
	edge := min(part, heldMost)
	cells := l.cells.items
	for i := len(cells) - 1; i >= 0 && cells[i].At > from; i-- {
		c := &cells[i]
		if c.At > from+edge && c.At < to-edge {
			p.Tokens++
		}
		if c.At == l.first && l.cell(1) == i {
			break // the wait for a first token is no gap
		}
		if over := min(c.At, to) - max(c.At-c.Gap, from); over > p.Over {
			p.Over, p.Gap, p.Apart = over, c.Gap, abs(c.At-to)
		}
	}
	return p, true
}

// count takes one other stream into account and returns how probable it is that
// it coincides by chance; 1 where it does not.
func (a *Around) count(p Peer, s *spike, usual int64) float64 {
	if a.Receiving++; len(a.Peers) < keptPeers {
		a.Peers = append(a.Peers, p)
	}
	if 10*p.Over < silentPart*s.Length {
		if due := p.Under / max(usual, 1); int64(p.Tokens) >= max(min(due/3, 8), 1) {
			a.Moving++
		}
		return 1
	}
	a.Silent++
	if p.Apart < 0 || p.Apart > together(s.Length, p.Gap) {
		return 1
	}
	a.Together++
	return 1 - math.Exp(-s.rate*2*float64(max(p.Apart, 1e6)))
}

// chance is how probable it is that so many of the other streams coincide.
func (a *Around) chance(product float64) {
	if a.Together == 0 {
		return
	}
	lg := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	ways := math.Exp(lg(a.Receiving) - lg(a.Together) - lg(a.Receiving-a.Together))
	a.Chance = min(max(product*min(ways, 1e300), 0), 1)
}

// starting counts a request of ours that was being started over the spike and
// got its first token with the end of the run.
func (t *target) starting(s *spike, a *Around, l *life) {
	switch {
	case l.start.At >= s.At || l.first == 0 && l.ended:
		return
	case s.First && (l.first == 0 || abs(l.first-s.At) > sameInstant):
		return
	case l.first > 0 && l.first < s.At-s.Length/4 || l.first > a.To+together(s.Length, s.Length):
		return
	}
	a.Starting++
	if n := max(l.start.Prompt, l.end.Prompt); n > 0 {
		a.StartingPrompt += n
	} else {
		a.StartingPrompt += int(t.prompts)
	}
}

// rateOver is how many gaps of at least v there are in a nanosecond of one
// stream, by the last quarter of an hour.
func (d *dist) rateOver(v int64) float64 {
	w := &d.wins[len(d.wins)-1]
	if d.ring == nil || w.total == 0 || d.allC.N == 0 {
		return 0
	}
	n := uint64(1) // the next one
	for i := d.geom.index(min(max(v, 0), hour)); i < w.high; i++ {
		n += uint64(w.counts[i])
	}
	time := float64(d.allC.Sum) / float64(d.allC.N) * float64(w.total)
	return share(float64(n), time)
}
