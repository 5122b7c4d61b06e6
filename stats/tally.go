package stats

import (
	"maps"

	"teapot/probe/event"
)

// tally counts what adds up: over a second, a window or the session.
type tally struct {
	ok, failed, aborted, short, warmup, skipped uint64
	class                                       map[event.Class]uint64

	out, prompt       int64  // output and prompt tokens
	approx            uint64 // requests whose N was counted from events
	moreTok, moreEvs  int64  // Σ(N − n₁) and Σ(events − 1), for tokens per event
	gaps, unknown     uint64 // token events after the first, and those of unknown k
	bursts            uint64 // those that came together with the one before
	merged            uint64
	mergedSum         int64
	mergedTTFT, tardy uint64
	excluded, paused  uint64 // tardy gaps left out; gaps over a pause of the probe
	buffered          uint64
	sent, reused      uint64
	cold              uint64 // on a connection of their own making

	transport                      uint64 // stops of a new connection's window
	transportSum, transportLongest int64

	stalls                   uint64
	stallTotal, stallLongest int64
	stutters                 uint64
	stutterTotal             int64

	starved, played [2]int64   // of the readers, ns
	met, missed     uint64     // deadlines
	behind, whole   [2]float64 // of the readers: Σ(actual − ideal), Σ(actual − sent), ns
	jitter, square  float64    // Σ of the running jitter, ns; Σ gap², ms²
	spread          uint64     // gaps in square
	sum             float64    // Σ gap, ms
	jitters         uint64

	slo  []score
	good uint64
}

// score is a service level's samples.
type score struct{ n, met uint64 }

func (t *tally) countClass(c event.Class) {
	if t.class == nil {
		t.class = map[event.Class]uint64{}
	}
	if _, known := t.class[c]; !known && len(t.class) >= maxClasses {
		c = otherClass
	}
	t.class[c]++
}

// A recording of a later version may hold classes that this one does not know.
// Their number stays bounded.
const (
	maxClasses = 64
	otherClass = event.Class("other")
)

// countGap counts one gap by what is known of it.
func (t *tally) countGap(a arrival, tardy, excluded bool) {
	t.gaps++
	for _, c := range []struct {
		is bool
		n  *uint64
	}{{a.k == 0, &t.unknown}, {a.burst, &t.bursts}, {tardy, &t.tardy}, {excluded, &t.excluded}, {a.paused, &t.paused}} {
		if c.is {
			*c.n++
		}
	}
}

// countEnd counts how one request ended.
func (t *tally) countEnd(c event.Class) {
	t.countClass(c)
	switch {
	case c.OK():
		t.ok++
		if c == event.OKShort {
			t.short++
		}
	case c.Failed():
		t.failed++
	default:
		t.aborted++
	}
}

// merge adds another tally's counts.
func (t *tally) merge(o *tally) {
	t.ok += o.ok
	t.failed += o.failed
	t.aborted += o.aborted
	t.short += o.short
	t.warmup += o.warmup
	t.skipped += o.skipped
	if len(o.class) > 0 && t.class == nil {
		t.class = map[event.Class]uint64{}
	}
	for c, n := range o.class {
		t.class[c] += n
	}
	t.out += o.out
	t.prompt += o.prompt
	t.approx += o.approx
	t.moreTok += o.moreTok
	t.moreEvs += o.moreEvs
	t.gaps += o.gaps
	t.unknown += o.unknown
	t.bursts += o.bursts
	t.merged += o.merged
	t.mergedSum += o.mergedSum
	t.mergedTTFT += o.mergedTTFT
	t.tardy += o.tardy
	t.excluded += o.excluded
	t.paused += o.paused
	t.cold += o.cold
	t.transport += o.transport
	t.transportSum += o.transportSum
	t.transportLongest = max(t.transportLongest, o.transportLongest)
	t.stutters += o.stutters
	t.stutterTotal += o.stutterTotal
	t.buffered += o.buffered
	t.sent += o.sent
	t.reused += o.reused
	t.stalls += o.stalls
	t.stallTotal += o.stallTotal
	t.stallLongest = max(t.stallLongest, o.stallLongest)
	for i := range t.starved {
		t.starved[i] += o.starved[i]
		t.played[i] += o.played[i]
		t.behind[i] += o.behind[i]
		t.whole[i] += o.whole[i]
	}
	t.met += o.met
	t.missed += o.missed
	t.jitter += o.jitter
	t.jitters += o.jitters
	t.square += o.square
	t.sum += o.sum
	t.spread += o.spread
	t.mergeSLO(o)
	t.good += o.good
}

func (t *tally) mergeSLO(o *tally) {
	for i := range t.slo {
		if i < len(o.slo) {
			t.slo[i].n += o.slo[i].n
			t.slo[i].met += o.slo[i].met
		}
	}
}

// requests returns the counts of endings as a snapshot shows them.
func (t *tally) requests() Requests {
	return Requests{
		OK: t.ok, Failed: t.failed, Aborted: t.aborted, Short: t.short,
		Warmup: t.warmup, Skipped: t.skipped, ByClass: maps.Clone(t.class),
	}
}

// ledger keeps the tallies of the seconds of the windows and of the session.
type ledger struct {
	ring  [slots]*tally
	secs  [slots]int64
	all   tally
	trash tally // takes what is older than every window
	slos  int
	now   int64
}

func newLedger(slos int) *ledger {
	l := &ledger{slos: slos}
	l.all.slo, l.trash.slo = make([]score, slos), make([]score, slos)
	return l
}

// at returns the two tallies that something at an instant belongs to: its
// second's and the session's.
func (l *ledger) at(at int64) [2]*tally {
	sec := at / second
	l.now = max(l.now, sec)
	if sec <= l.now-slots {
		return [2]*tally{&l.trash, &l.all}
	}
	i := sec % slots
	t := l.ring[i]
	if t == nil || l.secs[i] != sec {
		t = &tally{slo: make([]score, l.slos)}
		l.ring[i], l.secs[i] = t, sec
	}
	return [2]*tally{t, &l.all}
}

// walk calls each with the second's tallies from now back, nil for an empty one,
// and tells when a window is complete.
func (l *ledger) walk(now int64, each func(*tally), window func(w int)) {
	w := 0
	for back := int64(0); back < slots && w < len(Windows); back++ {
		if sec := now - back; sec >= 0 {
			if t := l.ring[sec%slots]; t != nil && l.secs[sec%slots] == sec {
				each(t)
			}
		}
		if back+1 == int64(Windows[w])/second {
			window(w)
			w++
		}
	}
}

// sums returns the tallies of every horizon as of the second now.
func (l *ledger) sums(now int64) *[horizons]tally {
	var out [horizons]tally
	acc := tally{slo: make([]score, l.slos)}
	l.walk(now, acc.merge, func(w int) { out[w] = acc.clone() })
	out[horizons-1] = l.all.clone()
	return &out
}

func (t *tally) clone() tally {
	c := *t
	c.class = maps.Clone(t.class)
	c.slo = append([]score(nil), t.slo...)
	return c
}

func (l *ledger) resetWindows() { clear(l.ring[:]) }

func (l *ledger) resetSession() {
	l.resetWindows()
	l.all = tally{slo: make([]score, l.slos)}
}
