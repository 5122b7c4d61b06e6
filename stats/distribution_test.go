package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func find(list []Distribution, name string) Distribution {
	for _, d := range list {
		if d.Name == name {
			return d
		}
	}
	return Distribution{}
}

// A distribution holds the samples of its figure: as many, with the same sum and
// the same percentiles.
func TestDistributionsAreTheFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(Config{})
		at := int64(0)
		for req := range uint64(rapid.IntRange(1, 5).Draw(t, "requests")) {
			s.start(req+1, at/ms)
			at = at/ms*ms + 5*ms
			n := rapid.IntRange(1, 40).Draw(t, "tokens")
			for range n {
				at += rapid.Int64Range(1e5, 3e9).Draw(t, "gap")
				for beat := s.a.now + 100*ms; beat < at; beat += 100 * ms { // the probe is awake
					s.a.Add(&event.Floor{At: beat})
				}
				s.tokNs(req+1, at, 1)
			}
			at += ms
			s.end(req+1, at/ms+1, n, event.OKFull)
			at += 2 * ms
		}
		f, list := &s.target().Session, s.a.Distributions()
		for name, fig := range map[string]*Figure{"ttft": &f.TTFT, "ttfo": &f.TTFO, "gap": &f.Gap, "itl": &f.ITL, "tpot": &f.TPOT, "e2e": &f.E2E} {
			d := find(list, name)
			if d.N != fig.N || math.Abs(float64(d.Sum)-fig.Mean*float64(fig.N)) > 1e-9*float64(d.Sum)+1 {
				t.Fatalf("%s: n %d, sum %d; the figure has %d of %v", name, d.N, d.Sum, fig.N, fig.Mean)
			}
			n, last := uint64(0), int64(-1)
			for _, b := range d.Buckets {
				if n += b.N; b.Value <= last || b.N == 0 {
					t.Fatalf("%s: buckets %v are not in order", name, d.Buckets)
				}
				last = b.Value
			}
			if n != fig.N {
				t.Fatalf("%s: the buckets hold %d of %d", name, n, fig.N)
			}
			for q, p := range Quantiles {
				rank, v := uint64(math.Ceil(p*float64(n)-1e-9)), int64(0)
				for i := 0; rank > 0 && i < len(d.Buckets); i++ {
					v = d.Buckets[i].Value
					rank -= min(rank, d.Buckets[i].N)
				}
				if got := fig.Q[q].Value; n > 0 && min(max(v, fig.Min), fig.Max) != got {
					t.Fatalf("%s p%v: %d by the buckets, %d", name, p, v, got)
				}
			}
		}
	})
}

func TestDistributionsOfWhatIsNotKnown(t *testing.T) {
	s := newScript(Config{})
	s.start(1, 10)
	for i := range int64(20) {
		s.tok(1, 20+5*i, 0) // nobody says how many tokens
	}
	s.end(1, 200, 20, event.OKFull)
	s.start(2, 300)
	for beat := int64(0); beat < 30_300; beat += 100 {
		s.a.Add(&event.Floor{At: beat * ms})
	}
	s.a.Add(&event.End{At: 30_300 * ms, Target: 1, Request: 2, Slot: 2, Class: event.ErrFirst, Limit: 30_000 * ms})
	list := s.a.Distributions()
	if d := find(list, "itl"); d.N != 0 || len(d.Buckets) != 0 {
		t.Errorf("a distribution per token of tokens that nobody counted: %+v", d)
	}
	if d := find(list, "gap"); d.N != 19 {
		t.Errorf("%d gaps", d.N)
	}
	d := find(list, "ttft")
	if d.N != 2 || len(d.Buckets) != 1 || len(d.Censored) != 1 || d.Censored[0] != (Bucketed{30_000 * ms, 1}) {
		t.Errorf("one first token and one timeout: %+v", d)
	}
	if dev := d.Deviation(); math.Abs(dev-14995*1e6) > 0.001*dev {
		t.Errorf("10 ms and 30 s deviate by %v", dev)
	}
}

// Whoever asks is told of every request that ended, once.
func TestEndedIsTold(t *testing.T) {
	told := map[uint64]Request{}
	s := newScript(Config{Ended: func(target uint32, tr Trace) {
		r := tr.Request
		if _, twice := told[r.ID]; twice || target != 1 {
			t.Errorf("request %d of target %d", r.ID, target)
		}
		told[r.ID] = r
	}})
	for req := range uint64(3) {
		at := int64(req) * 100
		s.start(req+1, at)
		s.tok(req+1, at+10, 1)
		s.tok(req+1, at+15, 1)
		s.end(req+1, at+20, 2, event.OKFull)
		s.end(req+1, at+21, 2, event.OKFull)
	}
	if len(told) != 3 || told[2].TTFT != 10*ms || told[2].Events != 2 || told[2].End != 120*ms {
		t.Errorf("told of %+v", told)
	}
}
