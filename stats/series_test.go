package stats

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestHeatRows(t *testing.T) {
	for _, c := range []struct {
		gap int64
		row int
	}{{0, 0}, {100e3, 0}, {100e3 + 1, 1}, {ms, 3}, {60e9, 17}, {3600e9, 17}} {
		if got := HeatRow(c.gap); got != c.row {
			t.Errorf("%d ns in row %d, want %d", c.gap, got, c.row)
		}
	}
}

// A series against a map of every bucket, with views that must not change.
func TestSeriesAgainstMap(t *testing.T) {
	type shown struct {
		view *Series
		cols []Column
		end  int64
	}
	rapid.Check(t, func(t *rapid.T) {
		keep := int64(rapid.IntRange(1, 300).Draw(t, "keep"))
		s := NewSeries(keep * Bucket)
		model := map[int64]Column{}
		newest, now := int64(-1), int64(0)
		var old []shown
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += int64(rapid.SampledFrom([]int64{0, Bucket / 2, Bucket, 7 * Bucket, 90 * Bucket, 1000 * Bucket}).Draw(t, "dt"))
			at := max(now-int64(rapid.IntRange(0, 100).Draw(t, "late"))*Bucket, 0)
			id := at / Bucket
			newest = max(newest, id)
			c := s.At(at)
			if fits := id > newest-(keep+1); fits != (c != nil) {
				t.Fatalf("bucket %d of %d..%d: kept %v", id, newest-keep, newest, c != nil)
			}
			if c != nil {
				v := int64(rapid.IntRange(0, 1000).Draw(t, "v")) * ms
				c.Gap.Add(v)
				c.Heat[HeatRow(v)]++
				m := model[id]
				m.Gap.Add(v)
				m.Heat[HeatRow(v)]++
				model[id] = m
			}
			if rapid.IntRange(0, 5).Draw(t, "view") == 0 {
				v := s.View()
				old = append(old, shown{v, v.Columns(now, Bucket, 50), now})
			}
		}
		width := int64(rapid.IntRange(1, 30).Draw(t, "width")) * Bucket
		n := rapid.IntRange(0, 40).Draw(t, "n")
		for i, got := range s.Columns(now, width, n) {
			want := Column{Start: (now/width - int64(n) + 1 + int64(i)) * width}
			for id := newest; id >= 0 && id >= newest-keep; id-- {
				if m, ok := model[id]; ok && id*Bucket >= want.Start && id*Bucket < want.Start+width {
					want.merge(&m)
				}
			}
			if got != want {
				t.Fatalf("column %d: %+v, want %+v", i, got, want)
			}
		}
		for _, o := range old {
			if !reflect.DeepEqual(o.view.Columns(o.end, Bucket, 50), o.cols) {
				t.Fatal("a view changed after it was made")
			}
		}
	})
}

// One long gap in an hour is seen at every zoom, at the same height.
func TestSpikeSurvivesEveryZoom(t *testing.T) {
	s := NewSeries(3600 * second)
	for i := range int64(36_000) {
		s.At(i * Bucket).Gap.Add(10 * ms)
	}
	s.At(1234 * second).Gap.Add(1000 * ms)
	for _, width := range []int64{1, 2, 5, 15, 60} {
		seen := 0
		for _, c := range s.Columns(3599*second, width*second, int(3600/width)) {
			if c.Gap.Max == 1000*ms {
				seen++
				if 1234*second < c.Start || 1234*second >= c.Start+width*second {
					t.Errorf("width %d: in column %d", width, c.Start)
				}
			}
		}
		if seen != 1 {
			t.Errorf("width %d: seen %d times", width, seen)
		}
	}
}

func TestColumnsOfNothing(t *testing.T) {
	s := NewSeries(0)
	if got := s.Columns(0, 0, 3); len(got) != 3 || got[2].Start != 0 || got[0].Start != -2*Bucket {
		t.Errorf("%+v", got)
	}
	if got := s.Columns(5, Bucket, -1); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if s.At(-1) != nil {
		t.Error("a bucket before the session")
	}
}

func TestLogViewsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := log[int]{keep: rapid.IntRange(1, 10).Draw(t, "keep")}
		var model []int
		type shown struct{ view, copy []int }
		var old []shown
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 4).Draw(t, "op"); {
			case op == 0 && len(model) > 0:
				j := rapid.IntRange(0, len(model)-1).Draw(t, "at")
				*l.edit(j) += 1000
				model[j] += 1000
			case op == 1:
				v := l.view()
				old = append(old, shown{v, append([]int(nil), v...)})
			case op == 2:
				l.drop(1)
				model = model[min(1, len(model)):]
			case op == 3:
				j := rapid.IntRange(0, len(model)).Draw(t, "at")
				l.insert(j, i)
				model = append(model[:j:j], append([]int{i}, model[j:]...)...)
				if over := len(model) - l.keep; over > 0 {
					if j == 0 { // the one put before the oldest of a full list
						model[1] = i
					}
					model = model[over:]
				}
			default:
				l.add(i)
				model = append(model, i)
				model = model[max(0, len(model)-l.keep):]
			}
			if got := l.view(); len(got) != len(model) || len(got) > 0 && !reflect.DeepEqual(got, model) {
				t.Fatalf("%v, want %v", got, model)
			}
		}
		for _, o := range old {
			if len(o.copy) > 0 && !reflect.DeepEqual(o.view, o.copy) {
				t.Fatalf("a view changed: %v, was %v", o.view, o.copy)
			}
		}
	})
}
