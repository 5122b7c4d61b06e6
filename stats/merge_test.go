package stats

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"teapot/probe/event"
)

// boxRun is a made-up recording of one box: requests whose gaps are kept.
func boxRun(seed uint64, wall int64, n int, urls ...string) (evs []event.Event, gaps, ttfts []int64) {
	r := rand.New(rand.NewPCG(seed, 1))
	evs = append(evs, &event.Session{Wall: wall, Source: event.SourceKernel, Load: event.Load{Concurrency: 2}})
	for i, u := range urls {
		evs = append(evs, &event.Target{ID: uint32(i + 1), URL: u, State: event.StateLive})
	}
	at, beat := int64(1e9), int64(1e9)
	for id := uint64(1); id <= uint64(n); id++ {
		evs = append(evs, &event.Start{At: at, Target: 1, Request: id, Asked: 50})
		sent := at
		at += int64(100e6 + r.ExpFloat64()*50e6*float64(seed))
		ttfts = append(ttfts, at-sent)
		evs = append(evs, &event.Token{At: at, Target: 1, Request: id, K: 1})
		for range 49 {
			gap := int64(5e6 + r.ExpFloat64()*3e6*float64(seed))
			gaps = append(gaps, gap)
			at += gap
			evs = append(evs, &event.Token{At: at, Target: 1, Request: id, K: 1})
		}
		evs = append(evs, &event.End{At: at, Target: 1, Request: id, Class: event.OKFull, N: 50, Count: event.CountUsage, Status: 200})
		for ; beat < at; beat += 1e8 {
			evs = append(evs, &event.Floor{At: at, Wall: wall + at})
		}
	}
	return append(evs, &event.Finished{At: at, Complete: true, Reason: "requests"}), gaps, ttfts
}

func recorded(name string, evs []event.Event) Recorded {
	return Recorded{Name: name, Next: from(evs, io.EOF)}
}

// The percentiles of several recordings are those of all their samples, sorted.
func TestMergeAgainstSortedSamples(t *testing.T) {
	var all, firsts []int64
	var boxes []Recorded
	const wall = int64(1_700_000_000e9)
	for i := range 3 {
		evs, gaps, ttfts := boxRun(uint64(i+1), wall+int64(i)*5e9, 100+150*i, fmt.Sprintf("http://gpu0%d:8000", i+7))
		all, firsts = append(all, gaps...), append(firsts, ttfts...)
		boxes = append(boxes, recorded(fmt.Sprint("box", i), evs))
	}
	slo, c := SLO{Expr: "gap<=8ms:99%", Metric: "gap", Limit: 8e6, Goal: .99}, Config{MaxErrorRate: -1}
	c.SLO = []SLO{slo}
	s, err := Merge(c, boxes)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Targets) != 1 || s.Targets[0].Info.URL != "gpu07:8000 + gpu08:8000 + gpu09:8000" || s.Load.Concurrency != 6 {
		t.Errorf("%d targets, %q, %d streams", len(s.Targets), s.Targets[0].Info.URL, s.Load.Concurrency)
	}
	f := &s.Targets[0].Session
	for _, m := range []struct {
		name    string
		got     *Figure
		samples []int64
	}{{"gap", &f.Gap, all}, {"ttft", &f.TTFT, firsts}} {
		slices.Sort(m.samples)
		n := len(m.samples)
		if m.got.N != uint64(n) || m.got.Min != m.samples[0] || m.got.Max != m.samples[n-1] {
			t.Errorf("%s: n %d of %d, %d to %d", m.name, m.got.N, n, m.got.Min, m.got.Max)
		}
		for i, ppm := range quantilePPM {
			want := m.samples[nearestRank(ppm, uint64(n))-1]
			if got := m.got.Q[i].Value; got < want || float64(got) > float64(want)*1.001 {
				t.Errorf("%s at %d ppm: %d, of all samples %d", m.name, ppm, got, want)
			}
		}
	}
	met := uint64(0)
	for _, g := range all {
		if g <= 8e6 {
			met++
		}
	}
	if r := f.SLO[0]; r.N != uint64(len(all)) || r.Met != met || r.OK {
		t.Errorf("service level: %+v, %d of %d", r, met, len(all))
	}
	if f.Requests.OK != 100+250+400 || f.OutputTokens != 50*750 || s.Finished == nil || !s.Finished.Complete {
		t.Errorf("%d ok, %d tokens, %+v", f.Requests.OK, f.OutputTokens, s.Finished)
	}
	finite(t, s)
}

// Merged with nothing, a recording gives the figures that it has alone.
func TestMergeOfOne(t *testing.T) {
	evs, _, _ := boxRun(2, 1_700_000_000e9, 60, "http://h:1", "http://h:2")
	c := Config{MaxErrorRate: -1}
	want, err := Collect(c, from(evs, io.EOF), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Merge(c, []Recorded{recorded("one", evs)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Targets {
		// How a figure wobbled in the course of a run is not known of several.
		f := &want.Targets[i].Session
		for _, x := range [...]*Figure{&f.TTFT, &f.TTFO, &f.Gap, &f.ITL, &f.TPOT, &f.E2E, &f.SchedTTFT, &f.SchedE2E} {
			x.MeanErr = 0
			for q := range x.Q {
				x.Q[q].Spread = 0
			}
		}
		if a, b := fmt.Sprintf("%+v", want.Targets[i].Session), fmt.Sprintf("%+v", got.Targets[i].Session); a != b {
			t.Errorf("target %d alone\n%s\nmerged\n%s", i, a, b)
		}
	}
	if got.Now != want.Now || !got.Wall.Equal(want.Wall) {
		t.Errorf("at %d, wall %v; alone at %d, %v", got.Now, got.Wall, want.Now, want.Wall)
	}
}

func TestMergeLaysTimesOntoOneAxis(t *testing.T) {
	const wall = int64(1_700_000_000e9)
	one := []event.Event{&event.Session{Wall: wall + 60e9}, &event.Target{ID: 1, URL: "http://a"},
		&event.Note{At: 5e9, Level: "warn", Text: "later"}, &event.Floor{At: 100e9}}
	two := []event.Event{&event.Session{Wall: wall}, &event.Target{ID: 4, URL: "http://b"},
		&event.Note{At: 7e9, Level: "warn", Text: "sooner"}, &event.Floor{At: 30e9}}
	a, b := recorded("one", one), recorded("two", two)
	b.Damage = func() string { return "cut off" }
	s, err := Merge(Config{MaxErrorRate: -1}, []Recorded{a, b})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, n := range s.Notes {
		said = append(said, fmt.Sprint(n.At/1e9, " ", n.Text))
	}
	if want := []string{"0 one and two were not made at the same time", "7 two: sooner", "65 one: later"}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
	if s.Now != 160e9 || s.Wall.UnixNano() != wall || s.Damaged != "two: cut off" || s.Finished != nil {
		t.Errorf("now %d, wall %v, %q, %+v", s.Now, s.Wall, s.Damaged, s.Finished)
	}
}

func TestMergeSaysWhatDoesNotFit(t *testing.T) {
	target := &event.Target{ID: 1, URL: "http://a"}
	sound := []event.Event{&event.Session{Wall: 1e18}, target}
	for _, c := range []struct {
		what string
		evs  []event.Event
		want string
	}{
		{"nothing", nil, "b: nothing was recorded in it"},
		{"no session", []event.Event{target}, "b does not say when it was made"},
		{"more endpoints", append(slices.Clone(sound), &event.Target{ID: 2}), "recordings of different numbers of endpoints do not add up: a has 1, b has 2"},
	} {
		_, err := Merge(Config{}, []Recorded{recorded("a", sound), recorded("b", c.evs)})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
