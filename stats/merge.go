package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"teapot/probe/event"
)

// Recorded is one recording that is to be merged with others.
type Recorded struct {
	Name   string // as it is called in what is said of it
	Next   func() (event.Event, error)
	Damage func() string // as that of Collect; nil for none
}

// Merge reads recordings of one time from several boxes and returns the
// snapshot of all of them: the first target of each becomes the first of the
// result, and so on. Samples are added up, histogram by histogram, so that a
// percentile is that of every sample, and no mean of percentiles. Each box is
// judged by what happened on it; its times are laid onto one axis by its wall
// clock, which begins with the first box.
//
// What does not add up is not there: the windows, charts, streams, marks, and
// what servers say of themselves. Of what the clients added the worst counts.
// The error is a source's, or says why the recordings do not fit together.
func Merge(c Config, from []Recorded) (*Snapshot, error) {
	m := merging{levels: newLevels(c), config: c}
	for _, r := range from {
		a, err := gather(c, r.Next)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if r.Damage != nil {
			a.Damaged(r.Damage())
		}
		switch {
		case a.session.Wall == 0 && len(a.order) == 0:
			return nil, fmt.Errorf("%s: nothing was recorded in it", r.Name)
		case a.session.Wall == 0:
			return nil, fmt.Errorf("%s does not say when it was made: its beginning is missing", r.Name)
		case len(m.boxes) > 0 && len(a.order) != len(m.boxes[0].a.order):
			return nil, fmt.Errorf("recordings of different numbers of endpoints do not add up: %s has %d, %s has %d",
				m.boxes[0].name, len(m.boxes[0].a.order), r.Name, len(a.order))
		}
		m.boxes = append(m.boxes, box{name: r.Name, a: a, snap: a.Snapshot()})
	}
	if len(m.boxes) == 0 {
		return NewAggregator(c).Snapshot(), nil
	}
	return m.snapshot(), nil
}

// box is one recording, and by how much its clock is behind the common one, ns.
type box struct {
	name  string
	a     *Aggregator
	snap  *Snapshot
	shift int64
}

type merging struct {
	config Config
	levels *levels
	boxes  []box
}

func (m *merging) snapshot() *Snapshot {
	base := m.boxes[0].a.session.Wall
	for _, b := range m.boxes {
		base = min(base, b.a.session.Wall)
	}
	first := m.boxes[0].snap
	out := &Snapshot{Seq: 1, Session: first.Session, Load: first.Load, Wall: time.Unix(0, base), Floor: first.Floor, Finished: m.finished()}
	out.Session.Wall = base
	for i := range m.boxes {
		b := &m.boxes[i]
		b.shift = min(b.a.session.Wall-base, maxTime)
		out.Now = max(out.Now, b.a.now+b.shift)
		if b.snap.Damaged != "" {
			out.Damaged = strings.TrimPrefix(out.Damaged+"; "+b.name+": "+b.snap.Damaged, "; ")
		}
		for _, n := range b.snap.Notes {
			n.At, n.Text = n.At+b.shift, b.name+": "+n.Text
			out.Notes = append(out.Notes, n)
		}
		if i > 0 {
			out.Load.Concurrency += b.snap.Load.Concurrency
			out.Load.Rate += b.snap.Load.Rate
			out.Floor.join(&b.snap.Floor)
		}
	}
	out.Notes = append(out.Notes, m.apart()...)
	slices.SortStableFunc(out.Notes, func(a, b event.Note) int { return cmp.Compare(a.At, b.At) })
	out.Notes = out.Notes[max(len(out.Notes)-keptNotes, 0):]
	for i := range m.boxes[0].a.order {
		t := m.target(i, out)
		t.Floor = &out.Floor
		out.Targets = append(out.Targets, t)
	}
	return out
}

// apart warns of recordings that share no instant with the first one.
func (m *merging) apart() []event.Note {
	var out []event.Note
	one := &m.boxes[0]
	for _, b := range m.boxes[1:] {
		if b.shift+b.a.start > one.shift+one.a.now || one.shift+one.a.start > b.shift+b.a.now {
			out = append(out, event.Note{At: b.shift, Level: "warn",
				Text: fmt.Sprintf("%s and %s were not made at the same time", one.name, b.name)})
		}
	}
	return out
}

// finished is how all of them ended: complete when each was.
func (m *merging) finished() *event.Finished {
	out := event.Finished{Complete: true}
	var reasons []string
	for _, b := range m.boxes {
		f := b.a.finished
		if f == nil {
			return nil
		}
		out.Complete = out.Complete && f.Complete
		if !slices.Contains(reasons, f.Reason) {
			reasons = append(reasons, f.Reason)
		}
	}
	out.Reason = strings.Join(reasons, ", ")
	return &out
}

// target adds up the targets at one place of all recordings.
func (m *merging) target(i int, s *Snapshot) *Target {
	sum := newTarget(m.boxes[0].a.order[i].info.ID, &m.config, m.levels)
	sec := s.Now / second
	var urls []string
	v := &Target{Info: m.boxes[0].a.order[i].info, Series: sum.series.View(), Traces: sum.traces.view(sum)}
	for _, b := range m.boxes {
		t := b.a.order[i]
		for k, d := range sum.d {
			d.join(t.d[k], sec)
		}
		sum.book.all.merge(&t.book.all)
		if at := t.first + b.shift; t.measured && (!sum.measured || at < sum.first) {
			sum.measured, sum.first = true, at
		}
		v.joinLists(b.snap.Targets[i], b.shift)
		if !slices.Contains(urls, t.info.URL) {
			urls = append(urls, t.info.URL)
		}
	}
	if len(urls) > 1 { // one list is no URL: without schemes it is not taken for one
		v.Info.URL = strings.NewReplacer("http://", "", "https://", "").Replace(strings.Join(urls, " + "))
	}
	v.sortLists()
	f := &v.Session
	sum.figures(f, horizons-1, sec, &sum.book.all)
	f.tells(s.Floor.SessionP99)
	if sum.measured {
		f.Span = max(s.Now-sum.first, 0)
	}
	rates(f, &sum.book.all)
	f.SLO = m.levels.results(&sum.book.all)
	v.Buffered = bufferedShare(&sum.book.all)
	return v
}

// join takes all samples of another distribution of the session.
func (d *dist) join(o *dist, sec int64) {
	if o.ring == nil {
		return
	}
	if d.ring == nil {
		d.open(sec)
	}
	d.all.Merge(o.all.Histogram) // of one geometry: nothing is dropped
	d.allC.merge(&o.allC)
	d.dirty = true
}

// joinLists takes the lists of a target whose clock is behind by shift.
func (t *Target) joinLists(o *Target, shift int64) {
	for _, w := range o.Worst {
		w.At += shift
		t.Worst = append(t.Worst, w)
	}
	for _, x := range o.Shifts {
		x.At, x.Since = x.At+shift, x.Since+shift
		t.Shifts = append(t.Shifts, x)
	}
	for _, row := range o.Causes {
		row.Worst.At += shift
		i := slices.IndexFunc(t.Causes, func(r CauseRow) bool { return r.Cause == row.Cause })
		if i < 0 {
			t.Causes = append(t.Causes, row)
			continue
		}
		r := &t.Causes[i]
		r.Count, r.Total = r.Count+row.Count, r.Total+row.Total
		for v := range r.By {
			r.By[v] += row.By[v]
		}
		if row.Worst.Length > r.Worst.Length {
			r.Worst, r.Advice = row.Worst, row.Advice
		}
	}
	t.Unlisted += o.Unlisted
	if at := o.LastErrorAt + shift; o.LastError != "" && (t.LastError == "" || at > t.LastErrorAt) {
		t.LastError, t.LastErrorAt = o.LastError, at
	}
}

// sortLists puts lists of several recordings into the order of one.
func (t *Target) sortLists() {
	slices.SortStableFunc(t.Worst, func(a, b Spike) int { return cmp.Or(cmp.Compare(b.Length, a.Length), cmp.Compare(a.At, b.At)) })
	t.Worst = t.Worst[:min(len(t.Worst), 2*worstKept)]
	slices.SortStableFunc(t.Shifts, func(a, b Shift) int { return cmp.Compare(a.At, b.At) })
	t.Shifts = t.Shifts[max(len(t.Shifts)-maxShifts, 0):]
	slices.SortFunc(t.Causes, costlier)
}

// join takes what another client added: sums of what is counted, else the worst.
func (f *Floor) join(o *Floor) {
	if f.Source != o.Source {
		f.Source = event.SourceRead
	}
	for _, p := range [...][2]*int64{
		{&f.LateP50, &o.LateP50}, {&f.LateP99, &o.LateP99}, {&f.LateMax, &o.LateMax}, {&f.Overshoot, &o.Overshoot},
		{&f.SessionOvershoot, &o.SessionOvershoot}, {&f.Lag, &o.Lag}, {&f.P99, &o.P99}, {&f.SessionP99, &o.SessionP99},
		{&f.LagP50, &o.LagP50}, {&f.LagP99, &o.LagP99}, {&f.RTT, &o.RTT}, {&f.RSS, &o.RSS},
	} {
		*p[0] = max(*p[0], *p[1])
	}
	for _, p := range [...][2]*uint64{
		{&f.Merged, &o.Merged}, {&f.Reads, &o.Reads}, {&f.DroppedTexts, &o.DroppedTexts}, {&f.DroppedEvents, &o.DroppedEvents},
		{&f.LateReads, &o.LateReads}, {&f.MergedReads, &o.MergedReads}, {&f.LagN, &o.LagN},
		{&f.KernelStreams, &o.KernelStreams}, {&f.ReadStreams, &o.ReadStreams}, {&f.Suspensions, &o.Suspensions},
		{&f.ClockSteps, &o.ClockSteps}, {&f.HostStalls, &o.HostStalls}, {&f.GC, &o.GC},
	} {
		*p[0] += *p[1]
	}
	f.Suspended += o.Suspended
	words := map[string]int{"ok": 0, "late": 1, "stalled": 2, "dropping": 3}
	if words[o.Word] > words[f.Word] {
		f.Word = o.Word
	}
}
