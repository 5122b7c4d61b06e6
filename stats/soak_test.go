package stats

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"teapot/probe/event"
)

const (
	soakStreams = 9
	soakTokens  = 256
	soakDay     = 24 * 3600 * second
	soakRSS     = 64 << 20
)

// soak is a day of the article's law on nine streams, a token and its text at a
// time: some 5 000 events a second, or one in every so many of them.
type soak struct {
	a      *Aggregator
	every  int64 // one event in so many
	r      *rand.Rand
	now    int64
	beat   int64
	req    uint64
	stream [soakStreams]struct {
		req, left uint64
		next, gap int64
	}

	// What the oracle knows: all sums, and the gaps of the last minute.
	gaps, tokens, requests uint64
	sum, longest           int64
	minute                 []sample // or less of it
	keep                   int64    // seconds of that
	tok                    event.Token
	text                   event.Text
}

func newSoak(every int64) *soak {
	s := &soak{a: NewAggregator(Config{MaxErrorRate: -1, SLO: []SLO{{Metric: "gap", Limit: 50 * ms, Goal: 0.99}}}), every: every, r: rand.New(rand.NewPCG(7, 8))}
	s.a.Add(&event.Session{Source: event.SourceKernel})
	s.a.Add(&event.Target{ID: 1, State: event.StateLive})
	return s
}

// step adds what comes next.
func (s *soak) step() {
	i := 0
	for j := range s.stream {
		if s.stream[j].next < s.stream[i].next {
			i = j
		}
	}
	x := &s.stream[i]
	s.now = max(s.now, x.next)
	if s.now-s.beat >= 100*ms*s.every {
		s.beat = s.now
		s.a.Add(&event.Floor{At: s.now, Overshoot: 100e3, Late: []int64{20e3, 50e3, 90e3}, RTT: 300e3, RSS: 9 << 20})
	}
	slot := uint32(i)
	if x.req == 0 {
		s.req++
		x.req, x.left, x.gap = s.req, soakTokens, 0
		s.a.Add(&event.Start{At: s.now, Target: 1, Request: x.req, Slot: slot, Reused: true, Idle: ms})
		s.a.Add(&event.Headers{At: s.now + ms, Target: 1, Request: x.req, Status: 200, RTT: 300e3, Source: event.SourceKernel})
		x.next = s.now + 60*ms + s.r.Int64N(40*ms)
		return
	}
	s.tok = event.Token{At: s.now, Target: 1, Request: x.req, Slot: slot, K: 1, Late: 20e3 + s.r.Int64N(30_000)}
	s.a.Add(&s.tok)
	s.text = event.Text{At: s.now, Request: x.req, Text: " word"}
	s.a.Add(&s.text)
	s.tokens++
	if x.gap > 0 {
		s.gaps++
		s.sum += x.gap
		s.longest = max(s.longest, x.gap)
		if len(s.minute) == cap(s.minute) {
			s.forget()
		}
		s.minute = append(s.minute, sample{at: s.now, v: x.gap})
	}
	if x.left--; x.left == 0 {
		s.end(i)
		x.next = s.now
		return
	}
	x.gap = s.every * article.at(s.r.Float64())
	x.next = s.now + x.gap
}

// forget drops the gaps that no window of a minute holds any more.
func (s *soak) forget() {
	from := (s.now/second + 1 - s.keep) * second
	n := 0
	for n < len(s.minute) && s.minute[n].at < from {
		n++
	}
	s.minute = s.minute[:copy(s.minute, s.minute[n:])]
}

func (s *soak) end(i int) {
	x := &s.stream[i]
	s.a.Add(&event.End{At: s.now, Target: 1, Request: x.req, Slot: uint32(i), N: int(soakTokens - x.left), Class: event.OKFull, Count: event.CountUsage, Status: 200})
	s.requests++
	x.req = 0
}

// settle ends what is in flight, so that nothing is held back.
func (s *soak) settle() {
	for i := range s.stream {
		if x := &s.stream[i]; x.req != 0 && x.left < soakTokens {
			s.end(i)
			x.next = s.now
		}
	}
}

// verify compares the figures with the oracle's.
func (s *soak) verify(t *testing.T) {
	t.Helper()
	s.settle()
	s.forget()
	tg := s.a.Snapshot().Targets[0]
	f := &tg.Session
	if f.Gap.N != s.gaps || f.OutputTokens != s.tokens || f.Requests.OK != s.requests || f.Gap.Max != s.longest || f.ITL.N != s.gaps {
		t.Errorf("at %v: %d gaps, %d tokens, %d requests, longest %d; want %d, %d, %d, %d", time.Duration(s.now),
			f.Gap.N, f.OutputTokens, f.Requests.OK, f.Gap.Max, s.gaps, s.tokens, s.requests, s.longest)
	}
	if mean := float64(s.sum) / float64(s.gaps); math.Abs(f.Gap.Mean-mean) > 1e-9*mean {
		t.Errorf("at %v: mean %v, want %v", time.Duration(s.now), f.Gap.Mean, mean)
	}
	// The law bends at P99: a rank that is off there, by four standard errors, is
	// off by 225 times as much in value.
	p99 := 0.02 + 4*225*math.Sqrt(0.01*0.99/float64(s.gaps))
	for i, within := range map[int]float64{P50: 0.02, P90: 0.02, P99: p99} {
		if want := float64(s.every * article.at(Quantiles[i])); math.Abs(float64(f.Gap.Q[i].Value)/want-1) > within {
			t.Errorf("at %v: session quantile %d is %d, the law's %v", time.Duration(s.now), i, f.Gap.Q[i].Value, want)
		}
	}
	from := (s.now/second + 1 - 10) * second
	n := len(s.minute)
	for n > 0 && s.minute[n-1].at >= from {
		n--
	}
	if s.keep == 60 {
		same(t, "a minute at "+time.Duration(s.now).String(), tg.Windows[1].Gap, s.minute)
	}
	same(t, "ten seconds at "+time.Duration(s.now).String(), tg.Windows[0].Gap, s.minute[n:])
}

// rssAnon reads the process's anonymous memory in bytes, 0 where nobody tells.
func rssAnon() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(status, []byte("RssAnon:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte(" kB"))
	kb, _ := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	return kb << 10
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A day's events, one in a hundred of them; with -short a quarter of the day and
// one in a thousand. The whole of it, 24 hours at 5 000 events a second, takes
// some minutes, and is to keep within 64 MB with the collector set as tight as a
// process with a screen may set it:
//
//	GOGC=50 TEAPOT_SOAK=1 go test -run TestSoak -timeout 0 -v ./stats/
func TestSoak(t *testing.T) {
	every, hours := int64(100), soakDay/(3600*second)
	switch {
	case os.Getenv("TEAPOT_SOAK") != "":
		every = 1
	case testing.Short():
		every, hours = 1000, 6
	}
	s := newSoak(every)
	s.keep = 60
	if every == 1 {
		s.keep = 10 // the oracle's own memory is no part of what is measured
	}
	s.minute = make([]sample, 0, 60_000/every+5000)
	var first uint64
	top := int64(0)
	for hour := range hours {
		for s.now < (hour+1)*3600*second {
			for next := s.now + every*second; s.now < next; {
				s.step()
			}
			s.a.Snapshot()
		}
		if every == 1 {
			top = max(top, rssAnon())
		}
		if hour%3 == 2 {
			s.verify(t)
			h := heap()
			if every == 1 {
				t.Logf("%d h: %d events, HeapAlloc %.1f MB, RssAnon %.1f MB", hour+1, s.a.seq, float64(h)/1e6, float64(rssAnon())/1e6)
			}
			if first == 0 {
				first = h
			} else if h > first+first/10 {
				t.Errorf("%d bytes after 3 hours, %d after %d", first, h, hour+1)
			}
		}
	}
	if every == 1 && top > soakRSS {
		t.Errorf("RssAnon reached %d bytes, want at most %d", top, soakRSS)
	}
	// A law that stays makes few shifts and no stutter, however long.
	tg := s.a.Snapshot().Targets[0]
	if n := uint64(len(tg.Shifts)); n*18_000 > s.gaps/soakStreams+18_000 && n < maxShifts || tg.Session.Stalls.Stutters > s.gaps/2000 {
		t.Errorf("%d shifts, %d stutters in %d gaps", n, tg.Session.Stalls.Stutters, s.gaps)
	}
	runtime.KeepAlive(s)
}
