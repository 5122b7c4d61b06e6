package stats

import (
	"errors"
	"io"
	"testing"
	"time"

	"teapot/probe/event"
)

// from returns a source of the events, then of err.
func from(events []event.Event, err error) func() (event.Event, error) {
	return func() (event.Event, error) {
		if len(events) == 0 {
			return nil, err
		}
		ev := events[0]
		events = events[1:]
		return ev, nil
	}
}

func TestFeedEnds(t *testing.T) {
	broken := errors.New("probe died")
	for _, c := range []struct {
		name      string
		end, want error
	}{{"by itself", io.EOF, nil}, {"by an error", broken, broken}} {
		t.Run(c.name, func(t *testing.T) {
			f := NewFeed(Config{MaxErrorRate: -1}, from([]event.Event{&event.Target{ID: 3}, nil, &event.Floor{At: 7}}, c.end), time.Hour)
			if s := f.Snapshot(); s == nil || s.Now != 0 {
				t.Fatalf("before the start: %+v", s)
			}
			if err := f.Run(); !errors.Is(err, c.want) || err != nil && c.want == nil {
				t.Errorf("error %v", err)
			}
			<-f.Done()
			if s := f.Snapshot(); s.Now != 7 || len(s.Targets) != 1 {
				t.Errorf("the last snapshot: %+v", s)
			}
		})
	}
}

func TestFeedPublishesNoOftenerThanAsked(t *testing.T) {
	var events []event.Event
	for i := range int64(1000) {
		events = append(events, &event.Floor{At: i})
	}
	f := NewFeed(Config{}, nil, 100*time.Millisecond)
	now, shown, last := time.Unix(0, 0), 0, f.Snapshot()
	f.now = func() time.Time { return now }
	next := from(events, io.EOF)
	f.next = func() (event.Event, error) {
		now = now.Add(time.Millisecond)
		if s := f.Snapshot(); s != last {
			last = s
			shown++
		}
		return next()
	}
	if err := f.Run(); err != nil {
		t.Fatal(err)
	}
	if shown < 9 || shown > 11 {
		t.Errorf("%d snapshots in a second", shown)
	}
	if f.Snapshot().Now != 999 {
		t.Error("the end was not published")
	}
}

func TestDoDoesNotWaitForTheSource(t *testing.T) {
	block := make(chan struct{})
	asked := make(chan struct{}, 1)
	f := NewFeed(Config{}, func() (event.Event, error) {
		asked <- struct{}{}
		<-block
		return nil, io.EOF
	}, 0)
	ran := make(chan error)
	go func() { ran <- f.Run() }()
	<-asked // now the source has nothing to give
	before := f.Snapshot()
	f.Do(func(a *Aggregator) { a.Damaged("cut\nshort") })
	if s := f.Snapshot(); s == before || s.Damaged != "cut short" {
		t.Errorf("%+v", s)
	}
	select {
	case <-f.Done():
		t.Error("done before the end")
	default:
	}
	close(block)
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
