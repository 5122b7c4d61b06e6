package stats

import (
	"teapot/probe/event"
)

const (
	// A stream's gaps are held back until it has lasted this long past its
	// first token, or has ended: before that nobody can know whether it streams
	// at all or was handed over whole by something that buffers.
	holdBack = int64(50e6)
	maxHeld  = 8192

	// A reply of at least so many tokens is buffered when it came in one read,
	// within a millisecond, or, so soon after a long wait that no engine can
	// have made it meanwhile, at under 100 µs a token.
	bufferedTokens = 8
	bufferedSpread = int64(1e6)
	bufferedPerTok = int64(100e3)
	bufferedWait   = 10 // the wait before it, in spreads

	keptCells = 512
	keptText  = 4096 // bytes of text kept with one cell

	// An event can claim any number of tokens; no engine sends more in one.
	maxK = 1 << 20
)

// arrival is one token event of a stream, as it will enter the figures.
type arrival struct {
	at, gap int64 // for the first event gap is its TTFT
	late    int64
	k       int64 // 0 when unknown
	event   int   // from 1
	ours    bool
	burst   bool // it came in the same read as the one before
	shared  bool // the same, whether or not that read was late

	paused    bool // the probe was not running at some time of the gap
	transport bool // the gap is the stop of a new connection's full window
}

// life is one request from its start to its end.
type life struct {
	t       *target
	start   event.Start
	headers int64
	status  int

	first, last int64 // of token evidence; 0 before any
	answered    int64 // first evidence that is no reasoning; 0 before any
	events      int
	known       int64 // Σk over the events of known k
	unknown     int   // events of unknown k
	n1          int64 // tokens of the first event, 1 where unknown
	oneRead     bool  // every event shares the read of the first
	lossy       bool  // events of it were dropped: its spans cannot be trusted
	ours        bool  // so the next gap is this client's
	paused      bool  // the probe was stopped meanwhile: its spans say nothing
	flight      flight

	gapSum, mergedSum int64
	transportSum      int64
	maxGap            int64
	stalls            int
	counted           int64 // tokens counted so far
	through           [len(readers)]int64
	carry             float64 // of the estimate of unknown k

	holding  bool
	held     []arrival
	buffered bool
	play     playout
	own      []score

	ended bool
	end   event.End

	spikes   []*spike // that its end may still explain
	provider string   // that served the request before it
	n        int64    // final count of tokens on the wire
	tpot     int64    // 0 when undefined

	cells    log[Cell]
	trace    trace
	medianOf int   // number of events med was computed for
	med      int64 // median gap
}

func newLife(t *target, s *event.Start) *life {
	l := &life{t: t, start: *s, oneRead: true, holding: true, cells: log[Cell]{keep: keptCells}}
	if t.levels.perGap {
		l.own = make([]score, len(t.levels.list))
	}
	l.flight.begin(s)
	return l
}

// take dates one token event: it never goes back in time, so that the sum of
// the gaps stays the span from the first token to the last.
func (l *life) take(ev *event.Token) arrival {
	at := max(ev.At, l.start.At, l.last)
	a := arrival{at: at, late: ev.Late, k: int64(min(ev.K, maxK)), ours: ev.Merged || l.ours, burst: ev.Burst > 0 && !ev.Merged, shared: ev.Burst > 0}
	l.ours = false
	if from := max(l.last, l.start.At); l.t.pauses.spans(from, at, at+min(max(ev.Late, 0), maxTime)) {
		a.ours, a.paused, l.paused = true, true, true
	}
	if l.events == 0 {
		l.first = at
		a.gap = at - l.start.At
		l.n1 = max(a.k, 1)
	} else {
		a.gap = at - l.last
		l.gapSum += a.gap
		l.maxGap = max(l.maxGap, a.gap)
		if a.ours {
			l.mergedSum += a.gap
		}
		if ev.Burst == 0 {
			l.oneRead = false
		}
	}
	l.last = at
	l.events++
	a.event = l.events
	if a.k > 0 {
		l.known += a.k
	} else {
		l.unknown++
	}
	l.trace.add(at-l.start.At, a, ev)
	if a.event > 1 && !a.ours && a.tardy() {
		l.trace.flag(a.event, traceLate)
	}
	l.cells.add(Cell{
		At: at, Gap: a.gap, K: ev.K, Channel: ev.Channel, Merged: a.ours, Burst: ev.Burst > 0,
		Late: a.event > 1 && !a.ours && a.tardy(),
	})
	return a
}

// text attaches text to the newest token event.
func (l *life) text(s string) {
	i := len(l.cells.items) - 1
	if i < 0 {
		return
	}
	room := keptText - len(l.cells.items[i].Text)
	if room <= 0 || s == "" {
		return
	}
	l.cells.edit(i).Text += s[:min(len(s), room)]
}

// cell returns the index of an event's cell, −1 when it is no longer kept.
func (l *life) cell(event int) int {
	return max(len(l.cells.items)-l.events+event-1, -1)
}

// medianBefore is the median of the stream's own gaps before an event, over
// those that are kept; 0 when there are none.
func (l *life) medianBefore(ev int) int64 {
	upto := l.cell(ev)
	gaps := make([]int64, 0, max(upto, 0))
	for i := 0; i < upto; i++ {
		if c := &l.cells.items[i]; !c.Merged && !(i == 0 && l.cell(1) == 0) {
			gaps = append(gaps, c.Gap)
		}
	}
	return median(gaps)
}

// isBuffered tells whether the reply was handed over whole.
func (l *life) isBuffered() bool {
	tokens := max(l.n, int64(l.events), l.known)
	if tokens < bufferedTokens || l.events == 0 || l.broken() {
		return false
	}
	spread := l.last - l.first
	if l.oneRead || spread < bufferedSpread {
		return true
	}
	return spread < holdBack && spread <= bufferedPerTok*(tokens-1) && spread*bufferedWait <= l.first-l.start.At
}

// finish sets what can be known only at the end: N and TPOT, in ns per token,
// from the first token to the last, over the tokens after the first event. All
// events of one read carry its stamp, so that a reply of one read has no span
// and no TPOT.
func (l *life) finish(ev *event.End) {
	l.ended, l.end = true, *ev
	l.n = int64(max(ev.N, 0))
	if ev.HiddenReasoning {
		l.n = max(l.n-int64(max(ev.Reasoning, 0)), 0)
	}
	if ev.Status != 0 {
		l.status = ev.Status
	}
	l.buffered = l.buffered || l.holding && l.isBuffered()
	if more := l.n - l.n1; ev.Class.OK() && more > 0 && l.last > l.first && !l.buffered && !l.broken() {
		l.tpot = (l.last - l.first + more/2) / more
	}
}

// ttft and e2e are spans in ns; false when undefined.
func (l *life) ttft() (int64, bool) { return l.first - l.start.At, l.events > 0 }

func (l *life) e2e() (int64, bool) {
	return l.last - l.start.At, l.events > 0 && l.ended && l.end.Class.OK() && !l.broken()
}

// broken tells whether a span of the request may hold what nobody saw.
func (l *life) broken() bool { return l.lossy || l.paused }

// tokens is the best count of the stream's tokens at this moment.
func (l *life) tokens() int64 {
	if l.ended && l.n > 0 {
		return l.n
	}
	return l.counted
}

// stream is the slot's view of this request.
func (l *life) stream() Stream {
	s := Stream{
		Slot: l.start.Slot, Request: l.start.Request, Sent: l.start.At, LastAt: l.last,
		Tokens: int(l.tokens()), Events: l.events, Warmup: l.start.Warmup, Buffered: l.buffered,
		TPOT: l.tpot, Cells: l.cells.view(), Through: l.through,
	}
	if l.events > 0 {
		s.FirstAt = l.first
	}
	if l.ended {
		s.EndAt, s.Class = l.end.At, l.end.Class
	} else if more := l.counted - l.n1; !l.holding && more > 0 && l.last > l.first {
		s.TPOT = (l.last - l.first) / more
	}
	if l.medianOf != l.events {
		l.medianOf, l.med = l.events, 0
		if l.events > 3 {
			l.med = l.medianBefore(l.events + 1)
		}
	}
	s.Median = l.med
	return s
}

// request is the finished request's line in the list.
func (l *life) request() Request {
	r := Request{
		ID: l.start.Request, Sent: l.start.At, Headers: l.headers, End: l.end.At,
		Last: l.last, TPOT: l.tpot, MaxGap: l.maxGap, N: int(l.tokens()), Events: l.events, Stalls: l.stalls,
		Class: l.end.Class, Status: l.status, Message: oneLine(l.end.Message), Warmup: l.start.Warmup,
		Gaps: l.gapSum, Merged: l.mergedSum, Buffered: l.buffered, Slot: l.start.Slot,
		Transport: l.transportSum,
		Wrote:     l.start.Wrote, DNS: l.start.DNS, TCP: l.start.TCP, TLS: l.start.TLS,
		Asked: l.start.Asked, Prompt: l.start.Prompt,
	}
	if ttft, ok := l.ttft(); ok {
		r.First, r.TTFT = l.first, ttft
	}
	if e2e, ok := l.e2e(); ok {
		r.E2E = e2e
	}
	return r
}
