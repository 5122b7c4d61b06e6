package stats

import (
	"slices"
	"strconv"
	"time"

	"teapot/probe/event"
)

// Config says what the statistics are to judge and keep.
type Config struct {
	SLO          []SLO
	MaxErrorRate float64       // share of failures allowed, 0.01 for 1 %; < 0 for none
	Retention    time.Duration // of charts and dots; 0 means an hour
	ExcludeLate  bool          // leave gaps out that this client read late by a large part of them
	// Ended is told of every request of a target that has ended, with all its
	// gaps; nil: nobody is. It is called by whoever calls Add, before that returns.
	Ended func(target uint32, t Trace)
}

const (
	defaultRetention = time.Hour
	maxRetention     = 24 * time.Hour // some 200 MB of charts
	maxTargets       = 64
	maxEnded         = 8192 // ids of ended requests that are remembered

	// Times outside of a session's life are nonsense, and would overflow.
	maxTime = int64(1) << 60
)

// Aggregator turns events into snapshots. It is owned by one goroutine, and
// its time is that of the events.
type Aggregator struct {
	config Config
	levels *levels

	session event.Session
	load    event.Load
	wanted  []event.Setting // lengths that no request was sent with yet
	started bool
	start   int64 // of the session's figures
	since   int64 // of the windows' figures
	now     int64
	seq     uint64

	targets  map[uint32]*target
	order    []*target // by id
	lives    map[uint64]*life
	ended    map[uint64]struct{}
	endedIDs log[uint64]

	floor    floor
	beats    beatsLog
	machine  *watch // target 0 of the signals
	pauses   pauses
	lane     lane
	notes    log[event.Note]
	finished *event.Finished
	damaged  string

	last *Snapshot
}

// NewAggregator returns an aggregator that has seen nothing.
func NewAggregator(c Config) *Aggregator {
	if c.Retention <= 0 {
		c.Retention = defaultRetention
	}
	c.Retention = min(c.Retention, maxRetention)
	return &Aggregator{
		config: c, levels: newLevels(c),
		targets: map[uint32]*target{}, lives: map[uint64]*life{},
		ended: map[uint64]struct{}{}, endedIDs: log[uint64]{keep: maxEnded},
		floor: newFloor(), machine: newWatch(),
		lane: lane{log: log[LaneEvent]{keep: keptLane}}, notes: log[event.Note]{keep: keptNotes},
	}
}

// Add takes one event. Events that contradict what came before, or belong to
// nothing that is known, change nothing but the time. The event may be reused
// by the caller afterwards.
func (a *Aggregator) Add(ev event.Event) {
	at := ev.Time()
	if at < 0 || at > maxTime {
		return
	}
	a.seq++
	if !a.started {
		a.started, a.start, a.since, a.now = true, at, at, at
	}
	if at > a.now {
		if at/second > a.now/second {
			for _, t := range a.order {
				t.stand.tick(at/second, a.levels, t.book)
				t.reconsider(at, false)
			}
		}
		a.now = at
	}
	switch ev := ev.(type) {
	case *event.Token:
		if read := ev.At + min(max(ev.Late, 0), maxTime); !a.pauses.spans(ev.At, read, read) {
			a.floor.token(ev)
		}
		if l := a.lives[ev.Request]; l != nil {
			l.t.token(l, ev)
		}
	case *event.Text:
		if l := a.lives[ev.Request]; l != nil {
			l.text(ev.Text)
		}
	case *event.Start:
		a.begin(ev)
	case *event.Headers:
		a.floor.stream(ev.Source)
		if l := a.lives[ev.Request]; l != nil {
			l.t.headers(l, ev)
		}
	case *event.End:
		a.end(ev)
	case *event.Floor:
		a.heartbeat(ev)
	default:
		a.rare(ev)
	}
}

// rare takes the events that come by hand or by accident.
func (a *Aggregator) rare(ev event.Event) {
	switch ev := ev.(type) {
	case *event.Session:
		a.session, a.load, a.floor.source = *ev, ev.Load, ev.Source
	case *event.Target:
		a.describe(ev)
	case *event.Skip:
		if t := a.target(ev.Target); t != nil {
			for _, y := range t.book.at(ev.At) {
				y.skipped += uint64(max(ev.Count, 0))
			}
		}
	case *event.Mark:
		letter := a.lane.mark(ev)
		for _, t := range a.order {
			t.marked(Marked{At: ev.At, Letter: letter, Label: oneLine(ev.Label)}, ev.Amends)
		}
	case *event.Setting:
		a.setting(ev)
		a.lane.put(ev.At, LaneSetting, 0, ev.Name+" "+ev.From+" → "+ev.To)
	case *event.Note:
		n := *ev
		n.Text = oneLine(n.Text)
		a.notes.add(n)
	case *event.Dropped:
		a.dropped(ev)
	case *event.Signal:
		a.signal(ev)
	case *event.Reset:
		if ev.Session {
			a.ResetSession()
		} else {
			a.ResetWindow()
		}
	case *event.Finished:
		f := *ev
		a.finished = &f
	}
}

// target returns a target, made on first mention; nil when there are too many.
func (a *Aggregator) target(id uint32) *target {
	t := a.targets[id]
	if t == nil && len(a.targets) < maxTargets {
		t = newTarget(id, &a.config, a.levels)
		t.since, t.pauses, t.lane = a.now, &a.pauses, &a.lane
		t.machine, t.beats, t.clock = a.machine, &a.beats, &a.now
		a.targets[id] = t
		i, _ := slices.BinarySearchFunc(a.order, id, func(t *target, id uint32) int { return int(int64(t.info.ID) - int64(id)) })
		a.order = slices.Insert(a.order, i, t)
	}
	return t
}

func (a *Aggregator) describe(ev *event.Target) {
	t := a.target(ev.ID)
	if t == nil {
		return
	}
	if a.lane.state(t.info.State, ev) {
		t.marked(Marked{At: ev.At, Label: "it came back"}, false)
	}
	if t.info.State != ev.State {
		t.since = ev.At
	}
	t.info = *ev
	t.info.Detail = oneLine(ev.Detail)
	t.whereabouts(ev)
}

func (a *Aggregator) begin(ev *event.Start) {
	if _, over := a.ended[ev.Request]; over || a.lives[ev.Request] != nil {
		return // heard twice
	}
	t := a.target(ev.Target)
	if t == nil {
		return
	}
	l := newLife(t, ev)
	if lost := t.begin(l); lost != nil {
		delete(a.lives, lost.start.Request)
	}
	a.lives[ev.Request] = l
	a.sentWith(ev)
	if ev.Scheduled > 0 && !ev.Warmup {
		a.floor.lagged(ev.At, ev.At-ev.Scheduled)
	}
}

func (a *Aggregator) end(ev *event.End) {
	if _, over := a.ended[ev.Request]; over {
		return
	}
	a.remember(ev.Request)
	l := a.lives[ev.Request]
	if l == nil {
		// Its start was dropped or never was: it has no figures, but it ended.
		if t := a.target(ev.Target); t != nil {
			t.stray(ev)
			a.failed(t, ev, ev.Status)
		}
		return
	}
	delete(a.lives, ev.Request)
	l.t.finish(l, ev)
	a.failed(l.t, ev, l.status)
}

// failed makes a failure visible.
func (a *Aggregator) failed(t *target, ev *event.End, status int) {
	if !ev.Class.Failed() {
		return
	}
	t.lastError, t.lastErrorAt = failure(ev.Class, status, ev.Message), ev.At
	a.lane.put(ev.At, LaneError, t.info.ID, t.lastError)
}

// remember keeps the id of an ended request, so that its end is counted once.
func (a *Aggregator) remember(id uint64) {
	if len(a.endedIDs.items) == maxEnded {
		delete(a.ended, a.endedIDs.items[0])
	}
	a.endedIDs.add(id)
	a.ended[id] = struct{}{}
}

func (a *Aggregator) heartbeat(ev *event.Floor) {
	from := a.floor.lastAt
	stopped := a.pauses.beat(ev)
	if stopped > 0 {
		a.stopped(ev, stopped)
	}
	if by := a.pauses.step(ev); by != 0 && stopped == 0 {
		a.stepped(ev, by)
	}
	a.floor.heartbeat(ev, stopped > 0)
	a.beats.take(ev, from, stopped > 0)
	for _, t := range a.order {
		if c := t.series.At(ev.At); c != nil && stopped == 0 {
			c.HostStall = max(c.HostStall, ev.Overshoot)
		}
		if ev.Overshoot >= hostStall {
			t.spikes.ours(from, ev.At, ev.Overshoot)
		}
		t.reconsider(a.now, false)
	}
	if ev.Overshoot >= hostStall && stopped == 0 {
		a.lane.put(ev.At, LaneHostStall, 0, time.Duration(ev.Overshoot).Round(time.Millisecond).String())
	}
}

// dropped marks what lost events make untrue: the next gap of every request in
// flight may span some of them.
func (a *Aggregator) dropped(ev *event.Dropped) {
	a.floor.lost(ev)
	a.beats.lost(ev)
	if ev.Events == 0 {
		return
	}
	a.pauses.lost(ev.At)
	for _, l := range a.lives {
		l.lossy, l.ours = true, true
	}
	a.lane.put(ev.At, LaneDropped, 0, strconv.FormatUint(ev.Events, 10)+" events")
}

// Damaged notes that what was read is damaged or cut: one line, "" for sound.
func (a *Aggregator) Damaged(line string) {
	a.seq++
	a.damaged = oneLine(line)
}

// ResetWindow starts the rolling windows afresh. The session goes on.
func (a *Aggregator) ResetWindow() {
	a.seq++
	a.since = a.now
	for _, t := range a.order {
		t.resetWindows()
	}
}

// ResetSession starts every figure afresh, and the worst spikes. What charts
// and lists show stays.
func (a *Aggregator) ResetSession() {
	a.seq++
	a.start, a.since = a.now, a.now
	a.floor.resetSession()
	for _, t := range a.order {
		t.resetSession()
	}
}
