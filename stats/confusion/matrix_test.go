package confusion

import (
	"fmt"
	"math"
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

// between draws a time.
func (w *world) between(from, to int64) int64 { return from + w.r.Int64N(to-from) }

// strike makes one fault happen now.
func (w *world) strike(kind string) {
	victim := w.victim()
	f := Fault{Kind: kind, Start: w.now}
	switch kind {
	case Prefill:
		w.chunks = []int{2040, 2040, 2040, 880}
		if w.r.IntN(2) == 0 {
			w.chunks = []int{7000}
		}
		w.prefilling = len(w.faults)
	case Preemption:
		f.End = w.now + w.between(150*ms, 500*ms)
		victim.until, victim.recompute, victim.fault = f.End, true, len(w.faults)+1
		w.full = f.End
		w.counts.preempted++
	case GC:
		f.End = w.now + w.between(80*ms, 300*ms)
		w.frozen = f.End
		w.counts.gc++
	case Burst:
		f.End = w.now + w.between(90*ms, 220*ms)
		for i := range w.slots {
			w.slots[i].held = max(w.slots[i].held, f.End)
		}
	case SlowClient:
		f.End = w.now + w.between(300*ms, 700*ms)
		victim.held = max(victim.held, f.End)
	case Stall:
		f.End = w.now + w.between(400*ms, 1200*ms)
		victim.until = f.End
	case Ours:
		f.End = w.now + w.between(100*ms, 1500*ms)
		if w.r.IntN(4) == 0 {
			f.End = w.now + w.between(2300*ms, 6000*ms)
		}
		w.stopFrom, w.stopTo = w.now, f.End
	}
	w.faults = append(w.faults, f)
}

// victim is a stream that is neither about to begin nor to end.
func (w *world) victim() *slot {
	for {
		for _, i := range w.r.Perm(len(w.slots)) {
			if s := &w.slots[i]; s.made > 4 && s.made < 200 {
				return s
			}
		}
		w.step()
	}
}

var kinds = []string{Prefill, GC, Preemption, Burst, Stall, SlowClient, Ours}

// looks are the ways in which metrics may come.
var looks = []struct {
	name        string
	every, late int64
}{{"off", 0, 0}, {"on", second, 0}, {"late", 4 * second, 1500 * ms}}

// suffer plays every kind of fault so many times, each alone or with another
// one just behind it, and tells how often it struck.
func (m *Matrix) suffer(w *world, set Setting, rounds int, overlap bool) (struck int) {
	w.run(20 * second)
	for round := range rounds {
		for k, kind := range kinds {
			w.run(w.now + w.between(4*second, 6*second))
			w.strike(kind)
			struck++
			if overlap {
				w.run(w.now + w.between(0, 150*ms))
				w.strike(kinds[(k+1+round%(len(kinds)-1))%len(kinds)])
			}
			w.run(w.now + 2*second)
		}
		if round%8 == 7 || round == rounds-1 { // the list of the newest is bounded
			w.run(w.now + 35*second)
			w.flush(w.now)
			m.Add(w.agg.Snapshot().Targets[0].Spikes, w.faults, set)
			w.faults, w.prefilling = nil, -1
			w.agg.ResetSession()
		}
	}
	return struck
}

// Every kind of fault, alone and two at once, with one stream and several, with
// metrics and without: what is said of its spikes is right, and what no fault
// made is accused of nothing.
func TestCausesAgainstTheTruth(t *testing.T) {
	rounds := 24 // of every kind in each of nine settings
	if testing.Short() {
		rounds = 4
	}
	for _, overlap := range []bool{false, true} {
		var all Matrix
		if overlap { // one goes on in what the other has left
			all.Reach = 300 * ms
		}
		struck := 0
		for _, streams := range []int{1, 2, 8} {
			for n, look := range looks {
				w := newWorld(uint64(streams*10+n), streams, look.every, look.late)
				struck += all.suffer(w, Setting{Streams: streams, Metrics: look.every > 0}, rounds, overlap)
			}
		}
		t.Logf("overlap %v:\n%v", overlap, &all)
		for _, line := range all.Wrongs {
			t.Log(line)
		}
		if all.Share() < 0.95 {
			t.Errorf("overlap %v: %.1f %% are right", overlap, 100*all.Share())
		}
		if all.Accused*100 > all.Right+all.Natural {
			t.Errorf("overlap %v: %d accused of nothing", overlap, all.Accused)
		}
		if right, n := all.Told(Ours, stats.CauseOurs); !overlap && (100*right < 99*n || n == 0) {
			t.Errorf("%d of %d stops of this client are called so", right, n)
		}
		if want := 9 * rounds * len(kinds); struck != want {
			t.Errorf("%d faults, want %d", struck, want)
		}
	}
}

// The article's law, gap by gap and stream by stream, with metrics that show an
// engine at rest: what it has for a tail is accused of nothing.
func TestNothingIsAccusedWithoutAFault(t *testing.T) {
	runs, tokens := 500, 4000
	if testing.Short() {
		runs = 60
	}
	found, accused := 0, 0
	var lines []string
	for run := range runs {
		w := newWorld(uint64(run), []int{1, 2, 8}[run%3], 0, 0)
		w.flush(math.MaxInt64)
		w.article(tokens, run%2 == 0)
		for _, s := range w.agg.Snapshot().Targets[0].Spikes {
			found++
			if s.Why == nil || len(s.Why.Evidence) == 0 {
				t.Fatalf("run %d: a spike without a verdict and its evidence: %+v", run, s)
			}
			if s.Why.Verdict != stats.Unexplained {
				accused++
				lines = append(lines, fmt.Sprintf("%v %v", s.Why, s.Around))
			}
		}
	}
	t.Logf("%d spikes, %d accused", found, accused)
	if found < runs/4 {
		t.Errorf("only %d spikes", found)
	}
	if 100*accused > found {
		t.Errorf("%d of %d spikes are accused: %v", accused, found, lines[:min(len(lines), 5)])
	}
}

// law draws a gap of the article's distribution.
func (w *world) law() int64 {
	points := [][2]float64{{0, 0.9}, {0.5, 1.60}, {0.9, 7.2157}, {0.99, 12.88}, {0.9999, 120.22}, {1, 180}}
	p, i := w.r.Float64(), 1
	for i < len(points)-1 && p > points[i][0] {
		i++
	}
	a, b := points[i-1], points[i]
	x := (p - a[0]) / (b[0] - a[0])
	return int64(1e6 * math.Exp(math.Log(a[1])+x*(math.Log(b[1])-math.Log(a[1]))))
}

// article plays streams that draw their gaps from the article's law, each on its
// own clock.
func (w *world) article(tokens int, metrics bool) {
	for i := range w.slots {
		at := w.r.Int64N(100 * ms)
		for n := range tokens / len(w.slots) {
			if n%256 == 0 {
				w.now = at
				w.begin(uint32(i))
				at += 25 * ms
			}
			at += w.law()
			w.put(at, &event.Token{At: at, Target: 1, Request: w.slots[i].request, Slot: uint32(i), K: 1, Late: 30_000})
			if n%256 == 255 {
				w.end(uint32(i), at)
			}
		}
		w.now = max(w.now, at)
	}
	end := w.now
	if metrics {
		w.every = second
	}
	w.counts = counts{}
	for at := int64(0); at < end; at += 100 * ms {
		w.counts.made += 60
		w.counts.steps += 60
		if at%second == 0 {
			w.counts.prompt += 128 * float64(len(w.slots))
			w.counts.started += 128 * float64(len(w.slots))
		}
		w.housekeeping(at)
	}
	w.flush(math.MaxInt64)
}
