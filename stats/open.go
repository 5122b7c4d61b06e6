package stats

import (
	"slices"

	"teapot/probe/event"
)

// How long a spike's verdict stays open.
const (
	freshSpike  = second       // streams are looked at again for so long,
	waitSignals = lookSpan     // looks are waited for,
	waitRun     = 120 * second // and a run of long gaps may take so long
	maxOpen     = 128
	maxOwn      = 32 // spikes of one request that its end may still explain

	keptAsked = 1024 // starts of requests with their prompts
	keptGone  = 64   // times in which a target was away
	// After it came back, a server is cold for a while, and asked by everybody
	// who waited.
	freshServer = 2 * second
	leftSlack   = second / 4 // until it is noticed that a server is gone
)

// asked is the prompt of one request of ours.
type asked struct {
	at     int64
	prompt float64 // tokens; 0 when not known
}

// away is a time in which the target did not answer.
type away struct {
	from, to int64 // to is 0 while it lasts
	loading  bool
	detail   string
}

// spiked takes one spike of a stream, l, or of none. minor ones are never among
// the worst.
func (t *target) spiked(l *life, began int64, v Spike, minor bool) {
	if minor && l != nil && t.spikes.full(v.At) {
		return
	}
	n := &spike{Spike: v, began: began, life: l, minor: minor}
	if l != nil {
		n.Request, n.Slot = l.start.Request, l.start.Slot
		if v.First {
			n.Phase, n.Usual = PhaseFirst, t.d[mTTFT].median()
		} else {
			n.Phase = l.phaseOf(v.Token)
			if n.Usual = l.medianBefore(v.Token); n.Usual == 0 {
				n.Usual = t.history.of(began, t.d[mGap]).p50
			}
			n.rate = t.d[mGap].rateOver(v.Length / 10 * silentPart)
		}
	}
	s := t.spikes.add(n)
	if l != nil && len(l.spikes) < maxOwn && !slices.Contains(l.spikes, s) {
		l.spikes = append(l.spikes, s)
	}
	if !slices.Contains(t.spikes.open, s) && (s.Why == nil || !s.Why.Settled) {
		if len(t.spikes.open) >= maxOpen {
			t.settleSpike(t.spikes.open[0], t.time())
			t.spikes.open = slices.Delete(t.spikes.open, 0, 1)
		}
		t.spikes.open = append(t.spikes.open, s)
	}
	for _, o := range t.spikes.open { // the run that they are part of has grown
		if o == s || o.Request == s.Request && o.end() >= s.began {
			t.consider(o, t.time())
		}
	}
}

// median is the median of all samples of the session; 0 for none.
func (d *dist) median() int64 {
	if d.allC.N == 0 {
		return 0
	}
	return ranked(d.all, &d.allC, nearestRank(500_000, d.allC.N))[0]
}

// time is the time of the newest event.
func (t *target) time() int64 {
	if t.clock == nil {
		return 0
	}
	return *t.clock
}

// consider looks around a spike again and judges it by what is known now. It
// tells whether all signs are in.
func (t *target) consider(s *spike, now int64) (whole bool) {
	if s.Phase != PhaseOutage {
		t.look(s, now)
		if t.beats != nil {
			s.Around.Floor = t.beats.over(s.began, s.At)
		}
		if t.pauses.spans(s.began, s.At, s.At) {
			s.Around.Floor.Paused = true
		}
	}
	whole = t.signals(s)
	t.judge(s, now)
	t.spikes.causes.account(s)
	t.spikes.show(s)
	return whole
}

// reconsider looks again at the spikes whose verdict is open: while they are
// fresh, and when something was heard that may tell more.
func (t *target) reconsider(now int64, heard bool) {
	for _, firsts := range [...]bool{false, true} { // what a first token shared is known before it
		for _, s := range t.spikes.open {
			if s.First == firsts && (heard || now-s.end() < freshSpike || t.going(s, now)) {
				s.whole = t.consider(s, now)
			}
		}
	}
	kept := t.spikes.open[:0]
	for _, s := range t.spikes.open {
		fresh := now-s.end() < freshSpike
		going := t.going(s, now)
		if fresh || (going || !s.whole) && now-s.end() < waitSignals || going && now-s.At < waitRun {
			kept = append(kept, s)
			continue
		}
		t.settleSpike(s, now)
	}
	clear(t.spikes.open[len(kept):])
	t.spikes.open = kept
}

// end is when the spike, or the run that it is part of, was over.
func (s *spike) end() int64 {
	if s.Around == nil {
		return s.At
	}
	return max(s.At, s.Around.To)
}

// going tells whether the stream stands still again since the end of the run
// that the spike is part of.
func (t *target) going(s *spike, now int64) bool {
	l := s.life
	return l != nil && !l.ended && s.Around != nil && l.start.Request == s.Request && !s.First &&
		l.last == s.Around.To && now-l.last >= max(runMedians*s.Usual, s.Length/runPart) && now-s.At < waitRun
}

// settleSpike closes a spike: from now on only the end of its request changes
// the verdict.
func (t *target) settleSpike(s *spike, now int64) {
	if s.Why == nil || s.Why.Settled {
		return
	}
	w := *s.Why
	w.Settled, w.At = true, now
	s.Why = &w
	t.spikes.causes.account(s)
	t.spikes.show(s)
	s.release()
}

// release lets go of what only an open verdict needs.
func (s *spike) release() {
	if s.Why != nil && s.Why.Settled && (s.life == nil || s.life.ended) {
		s.life = nil
		s.pair = [nSources]lookPair{}
	}
}

// endSpikes judges the spikes of a request by what its end says.
func (t *target) endSpikes(l *life) {
	for _, s := range l.spikes {
		if s.life != l {
			continue // a longer one of another stream stands for it
		}
		if s.Why != nil && s.Why.Settled {
			t.judge(s, l.end.At)
			t.spikes.causes.account(s)
			t.spikes.show(s)
		} else {
			s.whole = t.consider(s, l.end.At)
		}
		s.release()
	}
	l.spikes = nil
	if l.end.Provider != "" {
		t.provider = l.end.Provider
	}
	if n := float64(min(max(l.end.Prompt, 0), maxK)); n > 0 {
		if t.prompts == 0 {
			t.prompts = n
		}
		t.prompts += (n - t.prompts) / 8
	}
}

// promptsIn is how many prompt tokens this client may have made the server work
// on from from to to, generously; false when that is not known.
func (t *target) promptsIn(from, to int64) (sum float64, known bool) {
	for i := len(t.asked.items) - 1; i >= 0; i-- {
		a := &t.asked.items[i]
		if a.at < from-freshSpike {
			break
		}
		if a.at > to {
			continue
		}
		n := a.prompt
		if n <= 0 {
			n = t.prompts
		}
		if n <= 0 {
			return 0, false
		}
		sum += n*5/4 + 64 // templates add some
	}
	return sum, true
}

// whereabouts follows whether the target is there.
func (t *target) whereabouts(ev *event.Target) {
	switch ev.State {
	case event.StateDown, event.StateLoading:
		if t.answered { // before that nobody can miss it
			t.left(ev.At, ev.State == event.StateLoading, t.info.Detail)
		}
	case event.StateLive, event.StateWarmup, event.StateBusy, event.StateLimited:
		t.answered = true
		t.back(ev.At)
	}
}

// left notes that the target does not answer any more, or what it says instead.
func (t *target) left(at int64, loading bool, detail string) {
	n := len(t.gone.items)
	if n > 0 && t.gone.items[n-1].to == 0 {
		g := t.gone.edit(n - 1)
		g.loading = g.loading || loading
		return
	}
	t.gone.add(away{from: at, loading: loading, detail: detail})
}

// back notes that it answers again. The time in between is a spike of its own.
func (t *target) back(at int64) {
	n := len(t.gone.items)
	if n == 0 || t.gone.items[n-1].to != 0 {
		return
	}
	g := t.gone.edit(n - 1)
	g.to = max(at, g.from+1)
	t.spiked(nil, g.from, Spike{At: g.to, Length: g.to - g.from, Phase: PhaseOutage}, true)
}
