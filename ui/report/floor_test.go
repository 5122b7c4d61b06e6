package report

import (
	"strings"
	"testing"

	"teapot/stats"
)

// flat is a fact's lines as one line.
func flat(x fact) string { return strings.Join(x.lines, "\n") }

// What a user waited stands beside what the server took, for the same requests.
func TestScheduleBesideSent(t *testing.T) {
	x, ok := scheduleFact(&few().Targets[0].Session)
	if !ok {
		t.Fatal("an open loop has no schedule")
	}
	for _, want := range []string{
		"ttft from schedule: p50 180.0~ ms", "ttft from sent: p50 171.0~ ms",
		"e2e from schedule: p50 370.0~ ms", "e2e from sent: p50 360.0~ ms", "requests left late by p50 1.10~ ms",
	} {
		if !strings.Contains(flat(x), want) {
			t.Errorf("%q is not in\n%s", want, flat(x))
		}
	}
	if _, ok := scheduleFact(&article().Targets[0].Session); ok {
		t.Error("a closed loop has a schedule")
	}
}

// What this client adds is said in words when it matters, and only then.
func TestFloorInWords(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*stats.Snapshot, *stats.Target)
		want []string
		not  string
	}{
		{"all is well", func(*stats.Snapshot, *stats.Target) {},
			[]string{"every gap and ttft percentile shown is the server's", "nice 0, 13.4 MB, 3 collections"}, "dropped"},
		{"late", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.LateReads = 5 }, []string{"5 reads late by 1 ms or more"}, ""},
		{"merged", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.MergedReads = 4 }, []string{"(12 events in 4 reads)"}, ""},
		{"excluded", func(_ *stats.Snapshot, x *stats.Target) { x.Session.Tardy, x.Session.Excluded = 9, 7 },
			[]string{"9 gaps in large part ours", "n 70,000 without, 70,007 with"}, ""},
		{"late, kept", func(_ *stats.Snapshot, x *stats.Target) { x.Session.Tardy = 9 },
			[]string{"9 gaps in large part ours, because read late"}, "without"},
		{"stamps of two kinds", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.ReadStreams = 19 },
			[]string{"(19 of 300 streams at our read)"}, ""},
		{"some gaps ours", func(_ *stats.Snapshot, x *stats.Target) { x.Session.Gap.Q[stats.P50].Ours = true },
			[]string{"a tenth or more of the gap's p50 may be ours"}, "every gap"},
		{"told apart", func(_ *stats.Snapshot, x *stats.Target) { x.Session.TTFT.Q[stats.P50].Ours = true },
			[]string{"the ttft's p50 may be ours", "; the server's: p90, p95, p99", "every gap percentile"}, "and ttft percentile"},
		{"nothing to judge by", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.SessionP99 = 0 }, nil, "the server's"},
		{"censored", func(_ *stats.Snapshot, x *stats.Target) { x.Session.TTFT.Censored = 2 }, []string{"2 first tokens and 0 gaps ended by a limit"}, ""},
		{"transport", func(_ *stats.Snapshot, x *stats.Target) {
			x.Session.Transport = stats.Apart{Count: 3, Longest: 26e6}
		}, []string{"3 stops of new connections", "the longest 26"}, ""},
		{"suspended", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.Suspensions, s.Floor.Suspended = 1, 12e9 },
			[]string{"not running 12", "suspended or stopped once"}, ""},
		{"clock", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.ClockSteps = 2 }, []string{"the wall clock was set 2 times"}, ""},
		{"dropped", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.DroppedEvents, s.Floor.DroppedTexts = 1, 4 },
			[]string{"1 event dropped", "4 texts of tokens dropped"}, ""},
		{"round trip", func(_ *stats.Snapshot, x *stats.Target) { x.RTT, x.RTTMin = 41e6, 39e6 }, []string{"round trip 41", "least 39"}, ""},
		{"unknown process", func(s *stats.Snapshot, _ *stats.Target) { s.Floor.RSS = 0 }, nil, "nice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := article()
			c.set(s, s.Targets[0])
			got := flat(floorFact(s, s.Targets[0]))
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%q is in\n%s", c.not, got)
			}
		})
	}
}

// The newest changes of level are listed, and how many came before them.
func TestLevelFact(t *testing.T) {
	x := &stats.Target{}
	if _, ok := levelFact(x); ok {
		t.Error("a level that never changed is told")
	}
	for i := range int64(maxShifts + 2) {
		x.Shifts = append(x.Shifts, stats.Shift{Since: i * 60e9, From: 13e6, To: 26e6})
	}
	got, ok := levelFact(x)
	if !ok || len(got.lines) != maxShifts+1 || got.lines[0] != "2 changes before these" ||
		!strings.HasPrefix(got.lines[1], "after 2m") || !strings.Contains(got.lines[1], "13.00 → 26.00 ms") {
		t.Errorf("%v\n%s", ok, flat(got))
	}
}
