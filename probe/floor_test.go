package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"teapot/probe/event"
)

func TestFloorTake(t *testing.T) {
	var f floor
	var ev event.Floor
	f.take(&ev)
	if diff := cmp.Diff(event.Floor{Late: ev.Late}, ev); diff != "" || len(ev.Late) != 0 {
		t.Errorf("nothing happened, and yet %+v", ev)
	}
	for i := int64(1); i <= 100; i++ {
		f.read(i, 1, 0)
	}
	f.read(5000, 3, 2)
	f.lagged(7)
	f.lagged(3)
	f.take(&ev)
	want := event.Floor{Late: []int64{52, 5000, 5000}, Reads: 101, Merged: 2, Lag: 7}
	if diff := cmp.Diff(want, ev); diff != "" {
		t.Errorf("floor (-want +got):\n%s", diff)
	}
	f.take(&ev)
	if ev.Reads != 0 || ev.Lag != 0 || len(ev.Late) != 0 {
		t.Errorf("the last interval is counted twice: %+v", ev)
	}
}

func TestFloorIsBounded(t *testing.T) {
	var f floor
	f.read(1, maxLates+500, 0)
	f.read(9, 10, 0)
	var ev event.Floor
	f.take(&ev)
	if len(f.lates) != 0 || cap(f.lates) > 2*maxLates {
		t.Errorf("keeps %d of room for %d", cap(f.lates), maxLates)
	}
	if diff := cmp.Diff([]int64{1, 1, 9}, ev.Late); diff != "" {
		t.Errorf("the worst must survive the bound (-want +got):\n%s", diff)
	}
}

func TestSlumber(t *testing.T) {
	for _, c := range []struct{ grew, want time.Duration }{{-time.Second, 0}, {0, 0}, {40 * time.Microsecond, 0}, {time.Minute, time.Minute}} {
		if got := slumber(int64(c.grew)); got != int64(c.want) {
			t.Errorf("%v counts as %v asleep", c.grew, time.Duration(got))
		}
	}
	if a := asleep(); a < 0 || asleep() < a-int64(time.Millisecond) {
		t.Errorf("this machine was asleep for %v, and then for less", time.Duration(a))
	}
}
