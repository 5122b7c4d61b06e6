package command

import (
	"io"
	"os"
	"path/filepath"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/stats"
	"teapot/ui/export"
	"teapot/ui/options"
	"teapot/ui/session"
)

// snapshotOf reads a recording, "-" being standard input, to its end and
// returns what a report of it shows. What is damaged is left out and said in
// Snapshot.Damaged. The error is that of a file which cannot be read or is no
// recording.
func snapshotOf(path string, c stats.Config) (*stats.Snapshot, error) {
	r, f, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return stats.Collect(c, r.Next, r.Damage)
}

// recording opens what o.File names. It reads the first event, which says how
// the run was judged, and has that stand where o says nothing else.
func recording(o *options.Options) (next func() (event.Event, error), r *record.Reader, f io.Closer, err error) {
	if r, f, err = record.Open(o.File); err != nil {
		return nil, nil, nil, err
	}
	first, firstErr := r.Next()
	if s, ok := first.(*event.Session); ok {
		o.Recall(s.Judge)
	}
	return func() (event.Event, error) {
		if ev, err := first, firstErr; ev != nil || err != nil {
			first, firstErr = nil, nil
			return ev, err
		}
		return r.Next()
	}, r, f, nil
}

// reportOn reports on recordings, as fast as they can be read.
func reportOn(o *options.Options) (int, error) {
	s, err := session.New(o)
	if err != nil {
		return exitFailure, err
	}
	if o.Merge {
		return mergeAll(o, s)
	}
	next, r, f, err := recording(o)
	if err != nil {
		return exitFailure, err
	}
	defer f.Close()
	outlets, err := export.Open(o.Listen, o.HLog, options.Release)
	if err != nil {
		return exitFailure, err
	}
	s.Start(session.Source{Next: outlets.Follow(next, s), Stop: func() { f.Close() }, Damage: r.Damage})
	defer s.Close()
	have := (*session.Session).Show
	if o.Command == options.Report {
		have = (*session.Session).Measure
	}
	return besides(o, outlets, s, have)
}

// mergeAll reports on several recordings as one.
func mergeAll(o *options.Options, s *session.Session) (int, error) {
	var from []stats.Recorded
	for i, path := range o.Files {
		one := o
		if i > 0 { // judged as the first was
			others := *o
			one = &others
		}
		one.File = path
		next, r, f, err := recording(one)
		if err != nil {
			return exitFailure, err
		}
		defer f.Close()
		from = append(from, stats.Recorded{Name: filepath.Base(path), Next: next, Damage: r.Damage})
	}
	snap, err := stats.Merge(o.Stats(), from)
	if err != nil {
		return exitFailure, err
	}
	o.File = "merged"
	return s.Conclude(snap)
}

// replay shows a recording, or a stream of events on standard input, as if it
// happened now, or reports on it.
func replay(o *options.Options) (int, error) {
	if o.File != "-" && session.Screen(os.Stdout) {
		return play(o)
	}
	return reportOn(o) // a live stream sets its own pace, and nobody watches a report
}

// play shows a recording on the screen, where it can be held and gone about in.
func play(o *options.Options) (int, error) {
	s, err := session.New(o)
	if err != nil {
		return exitFailure, err
	}
	_, _, head, err := recording(o) // for what it was judged by
	if err != nil {
		return exitFailure, err
	}
	head.Close()
	deck, file, err := record.OpenDeck(o.File, o.Speed)
	if err != nil {
		return exitFailure, err
	}
	defer file.Close()
	outlets, err := export.Open(o.Listen, o.HLog, options.Release)
	if err != nil {
		return exitFailure, err
	}
	deck.Restart, deck.AtEnd, deck.Idle = stats.ErrRestart, s.Damaged, s.Refresh
	s.Start(session.Source{
		Next: outlets.Follow(deck.Next, s), Stop: deck.Stop, Damage: file.Damage, Playback: deck,
	})
	defer s.Close()
	return besides(o, outlets, s, (*session.Session).Show)
}
