package stats

import (
	"strings"
	"testing"

	"teapot/probe/event"
)

func TestFloorWord(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"quiet", []event.Event{&event.Floor{At: ms, Overshoot: 300e3}}, "ok"},
		{"overslept", []event.Event{&event.Floor{At: ms, Overshoot: 12 * ms}}, "stalled"},
		{"overslept, over a minute ago", []event.Event{&event.Floor{At: ms, Overshoot: 12 * ms}, &event.Floor{At: 62 * second}}, "ok"},
		{"behind schedule", []event.Event{&event.Floor{At: ms, Lag: 20 * ms}}, "late"},
		{"late reads", []event.Event{&event.Token{At: ms, Late: 2 * ms}}, "late"},
		{"lost", []event.Event{&event.Floor{At: ms, Overshoot: 12 * ms}, &event.Dropped{At: 2 * ms, Events: 1}}, "dropping"},
		{"lost words only", []event.Event{&event.Dropped{At: 2 * ms, Texts: 100}}, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(Config{})
			for _, ev := range c.events {
				s.a.Add(ev)
			}
			if got := s.a.Snapshot().Floor; got.Word != c.want {
				t.Errorf("%q, want %q: %+v", got.Word, c.want, got)
			}
		})
	}
}

func TestFloorCounts(t *testing.T) {
	s := newScript(Config{})
	for i := range int64(20) {
		s.a.Add(&event.Floor{At: i * 100 * ms, Overshoot: i * ms, Late: []int64{1, 2, i * 1000}, Reads: 5, GC: 1, RTT: 40 + i, RSS: i / 10 * 1000})
	}
	for i := range int64(100) {
		s.a.Add(&event.Token{At: 2 * second, Late: (i + 1) * 1000, Merged: i == 0})
	}
	s.a.Add(&event.Dropped{At: 2 * second, Texts: 7, Events: 3})
	f := s.a.Snapshot().Floor
	want := Floor{
		Source: event.SourceKernel, LateMax: 100_000, Overshoot: 19 * ms, SessionOvershoot: 19 * ms,
		Merged: 1, Reads: 100, DroppedTexts: 7, DroppedEvents: 3, HostStalls: 10, GC: 20, RTT: 59, RSS: 1000, Word: "dropping",
		LateP50: f.LateP50, LateP99: f.LateP99, P99: f.LateP99, SessionP99: f.LateP99, MergedReads: 1,
	}
	if f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
	if f.LateP50 < 50_000 || f.LateP50 > 50_500 || f.LateP99 < 99_000 || f.LateP99 > 100_000 {
		t.Errorf("late P50 %d, P99 %d", f.LateP50, f.LateP99)
	}
	if c := s.target().Series.Columns(1999*ms, Bucket, 1)[0]; c.HostStall != 19*ms {
		t.Errorf("column %+v", c)
	}
}

func TestLane(t *testing.T) {
	s := newScript(Config{})
	state := func(at int64, st event.State) { s.a.Add(&event.Target{At: at, ID: 1, State: st, Detail: "why"}) }
	for i := range int64(28) {
		s.a.Add(&event.Mark{At: i, Label: "here\n"})
	}
	state(100, event.StateDown)
	state(110, event.StateDown)
	state(200, event.StateLoading)
	state(300, event.StateLive)
	s.a.Add(&event.Setting{At: 400, Name: "concurrency", From: "1", To: "8"})
	s.a.Add(&event.Setting{At: 401, Name: "rate", From: "1", To: "NaN"})
	s.a.Add(&event.Dropped{At: 500, Events: 2})
	s.a.Add(&event.Floor{At: 600, Overshoot: 10 * ms})
	s.a.Add(&event.Floor{At: 601, Overshoot: 10*ms - 1})
	s.a.Add(&event.End{At: 700, Target: 1, Request: 9, Class: event.ErrOverload, Status: 503, Message: "busy"})
	snap := s.a.Snapshot()
	l := snap.Lane
	if l[0].Letter != 'A' || l[25].Letter != 'Z' || l[26].Letter != 'A' || l[0].Text != "here" {
		t.Errorf("marks %+v", l[:27])
	}
	var got []string
	kinds := map[LaneKind]string{LaneError: "error", LaneHostStall: "host", LaneRestart: "restart", LaneDown: "down", LaneDropped: "dropped", LaneSetting: "setting"}
	for _, e := range l[28:] {
		got = append(got, kinds[e.Kind]+" "+e.Text)
	}
	want := "down why, restart loading, setting concurrency 1 → 8, setting rate 1 → NaN, dropped 2 events, host 10ms, error 503 busy"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
	if snap.Load.Concurrency != 8 || snap.Load.Rate != 0 {
		t.Errorf("%+v", snap.Load)
	}
	if tg := snap.Targets[0]; tg.Since != 300 || tg.LastError != "503 busy" || tg.LastErrorAt != 700 || tg.Session.Requests.Failed != 1 {
		t.Errorf("%+v", tg)
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		" a\r\n\tb ":                "a b",
		"\x1b]0;title\a\x1b[2Jtext": "]0;title[2Jtext",
		"right\u202eleft\u200b":     "rightleft",
		"broken\xff\xc3":            "broken",
		"größe 模型 🙂":                "größe 模型 🙂",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := oneLine(strings.Repeat("模", 100)); len(got) > maxLine || strings.Trim(got, "模") != "" {
		t.Errorf("cut to %q", got)
	}
}
