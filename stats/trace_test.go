package stats

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func TestTraceKeepsEveryGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.Int64Range(0, 1e12).Draw(t, "sent")
		at := sent
		cells := []Cell{}
		for range rapid.IntRange(0, 50).Draw(t, "events") {
			gap := rapid.Int64Range(0, 40e9).Draw(t, "gap")
			at += gap
			cells = append(cells, Cell{
				At: at, Gap: gap, K: rapid.Uint32().Draw(t, "k"), Channel: event.Channel(rapid.Uint8().Draw(t, "channel")),
				Merged: rapid.Bool().Draw(t, "ours"), Burst: rapid.Bool().Draw(t, "burst"),
				Stall: rapid.Bool().Draw(t, "stall"), Transport: rapid.Bool().Draw(t, "transport"),
			})
		}
		x := NewTrace(Request{ID: 7, Sent: sent}, false, cells)
		if got := x.Cells(); !reflect.DeepEqual(got, cells) {
			t.Fatalf("%+v came back as %+v", cells, got)
		}
		if y := NewTrace(x.Request, false, cells); !x.Equal(y) || x.Equal(NewTrace(x.Request, true, cells)) {
			t.Fatal("a trace equals another one than itself")
		}
	})
}

func TestTracesAreBoundedAndKeepTheWorst(t *testing.T) {
	s := newScript(Config{})
	at := s.replies(1, 3, 0, 15)
	s.start(100, at)
	s.tok(100, at+10, 1)
	s.tok(100, at+2010, 1) // the worst of the session
	s.end(100, at+2010, 2, event.OKFull)
	at = s.replies(200, keptTraces+30, at+3000, 5)
	s.start(900, at)
	for i := range int64(maxTrace + 10) {
		s.tok(900, at+i, 1)
	}
	got := s.target().Traces
	if len(got.Finished) != keptTraces || len(got.Running) != 1 || len(got.Worst) == 0 || len(got.Worst) > 2*worstKept {
		t.Fatalf("%d finished, %d running, %d of the worst", len(got.Finished), len(got.Running), len(got.Worst))
	}
	if x := got.Find(2); x != nil {
		t.Error("an old request of no note is kept")
	}
	x := got.Find(100)
	if x == nil {
		t.Fatal("the request with the worst gap is gone")
	}
	if c := x.Cells(); len(c) != 2 || c[1].Gap != 2000*ms || !c[1].Stall || x.Running {
		t.Errorf("its trace is %+v", c)
	}
	x = got.Find(900)
	if x == nil || !x.Running || x.Events() != maxTrace || x.Lost != 10 || len(x.Cells()) != maxTrace {
		t.Errorf("the long request's trace: %+v", x)
	}
	if (*Traces)(nil).Find(1) != nil {
		t.Error("nothing holds something")
	}
}
