package stats

import (
	"strings"
	"testing"

	"teapot/probe/event"
)

// opening is how a reply over a connection begins.
type opening struct {
	reused    bool
	idle, rtt int64 // ns
	ttft      int64 // headers to first token, ns
	gap, stop int64 // of all tokens, and of the one numbered at, ns
	at        int
	bytes     uint32
	merged    bool
}

func (o opening) play(warm *script) *Target {
	s := warm
	sent := int64(0)
	s.a.Add(&event.Start{At: sent, Target: 1, Request: 1, Slot: 1, Reused: o.reused, Idle: o.idle})
	at := sent + o.rtt + 2*ms
	s.a.Add(&event.Headers{At: at, Target: 1, Request: 1, Status: 200, RTT: o.rtt})
	at += o.ttft
	for i := 1; i <= 200; i++ {
		if i > 1 && i == o.at {
			at += o.stop
		} else if i > 1 {
			at += o.gap
		}
		s.a.Add(&event.Token{At: at, Target: 1, Request: 1, Slot: 1, K: 1, Bytes: max(o.bytes, 4), Merged: o.merged && i == o.at})
	}
	s.a.Add(&event.End{At: at, Target: 1, Request: 1, Slot: 1, N: 200, Class: event.OKFull, Count: event.CountUsage})
	return s.target()
}

// What a full window of ten segments makes of a stream: measured as 24 to 26 ms
// at a round trip of 40 ms and 1.6 ms a token.
func TestPhantomOfANewConnection(t *testing.T) {
	const rtt, gap = int64(40e6), int64(1600e3)
	cold := opening{rtt: rtt, ttft: 100 * ms, gap: gap, at: 11, stop: 25 * ms}
	with := func(change func(*opening)) opening { o := cold; change(&o); return o }
	for _, c := range []struct {
		name string
		o    opening
		want bool
	}{
		{"as measured", cold, true},
		{"24 ms", with(func(o *opening) { o.stop = 24 * ms }), true},
		{"26 ms", with(func(o *opening) { o.stop = 26 * ms }), true},
		{"the window held one more", with(func(o *opening) { o.at, o.stop = 12, rtt-10*gap }), true},
		{"the headers are the first segment of ten", with(func(o *opening) { o.ttft, o.at, o.stop = gap, 10, rtt-9*gap }), true},
		{"warm, after an idle second", with(func(o *opening) { o.reused, o.idle = true, second }), true},
		{"a far server", with(func(o *opening) { o.rtt, o.ttft, o.stop = 150*ms, 200*ms, 150*ms-9*gap }), true},
		{"large events fill it sooner", with(func(o *opening) { o.bytes, o.at, o.stop = 1300, 6, rtt-4*gap }), true},

		{"warm", with(func(o *opening) { o.reused, o.idle = true, 20*ms }), false},
		{"warm, idle for an unknown time", with(func(o *opening) { o.reused = true }), false},
		{"no round trip known", with(func(o *opening) { o.rtt = 0 }), false},
		{"a round trip within the machine", with(func(o *opening) { o.rtt = 60e3 }), false},
		{"too long for it", with(func(o *opening) { o.stop = 60 * ms }), false},
		{"too short for it", with(func(o *opening) { o.stop = 12 * ms }), false},
		{"too early", with(func(o *opening) { o.at, o.stop = 5, rtt-3*gap }), false},
		{"too late", with(func(o *opening) { o.at, o.stop = 20, 25*ms }), false},
		{"a slow stream does not fill a window", with(func(o *opening) { o.gap, o.stop = 20*ms, 60*ms }), false},
		{"merged by our being late", with(func(o *opening) { o.merged = true }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := c.o.play(newScript(Config{}))
			f, r := tg.Session, tg.Recent[0]
			got := f.Transport.Count == 1
			if got != c.want || f.Transport.Count > 1 {
				t.Fatalf("%+v, gap max %d", f.Transport, f.Gap.Max)
			}
			if r.TTFT+r.Gaps != r.E2E {
				t.Errorf("E2E %d is not TTFT %d and gaps %d", r.E2E, r.TTFT, r.Gaps)
			}
			var cols Column
			for _, col := range tg.Series.Columns(second, Bucket, 20) {
				cols.merge(&col)
			}
			if !got {
				return
			}
			if f.Gap.N != 198 || f.Gap.Max != c.o.gap || f.Transport.Total != c.o.stop || f.Transport.Longest != c.o.stop || r.Transport != c.o.stop || f.Merged != 0 {
				t.Errorf("n %d, max %d, %+v, %d merged", f.Gap.N, f.Gap.Max, f.Transport, f.Merged)
			}
			if cols.Transport != 1 || cols.Ours.Max != c.o.stop || cols.Gap.N != 198 {
				t.Errorf("columns %+v", cols)
			}
			if len(tg.Worst) != 1 || !tg.Worst[0].Transport || tg.Worst[0].Token != c.o.at || tg.Worst[0].Length != c.o.stop {
				t.Errorf("%+v", tg.Worst)
			}
			if text := tellsOf(tg, "transport"); !strings.Contains(text, "1 gap") || !strings.Contains(text, "window was full") {
				t.Errorf("said %q", text)
			}
			if f.Stalls.Count != 0 || !tg.Streams[0].Cells[c.o.at-1].Transport || tg.Streams[0].Cells[c.o.at].Transport {
				t.Errorf("%+v", f.Stalls)
			}
		})
	}
}

// tellsOf is what the reading of the session says by one rule.
func tellsOf(tg *Target, rule string) string {
	for _, x := range Read(tg, &tg.Session) {
		if x.Rule == rule {
			return x.Text
		}
	}
	return ""
}

// Only the first window of a stream is looked at: later stops are the server's.
func TestOnlyOnePhantomAStream(t *testing.T) {
	s := newScript(Config{})
	s.a.Add(&event.Start{At: 0, Target: 1, Request: 1, Slot: 1})
	s.a.Add(&event.Headers{At: 42 * ms, Target: 1, Request: 1, Status: 200, RTT: 40 * ms})
	at := 142 * ms
	for i := 1; i < 100; i++ {
		s.tokNs(1, at, 1)
		at += 1600e3
		if i%10 == 0 {
			at += 24 * ms
		}
	}
	if f := s.target().Session; f.Transport.Count != 1 || f.Gap.Max != 25_600_000 {
		t.Errorf("%+v, gap %+v", f.Transport, f.Gap)
	}
}

func TestRoundTripOfATarget(t *testing.T) {
	s := newScript(Config{})
	for i, rtt := range []int64{30 * ms, 20 * ms, 0, 25 * ms} {
		s.start(uint64(i+1), int64(i)*100)
		s.a.Add(&event.Headers{At: int64(i)*100*ms + ms, Request: uint64(i + 1), Status: 200, RTT: rtt})
	}
	if tg := s.target(); tg.RTT != 25*ms || tg.RTTMin != 20*ms {
		t.Errorf("%d, least %d", tg.RTT, tg.RTTMin)
	}
}
