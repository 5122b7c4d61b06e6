package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"teapot/probe/record"
	"teapot/stats"
	"teapot/ui/options"
	"teapot/ui/report"
)

// compareRuns holds two runs against each other.
func compareRuns(o *options.Options) (int, error) {
	if err := report.Writable(o.Output); err != nil {
		return exitFailure, err
	}
	var runs [2]report.Run
	for i, path := range o.Against {
		s, err := loadRun(path)
		if err != nil {
			return exitFailure, err
		}
		runs[i] = report.Run{Name: path, Snap: s}
	}
	c := report.Compare(runs[0], runs[1], o.Conditions())
	text, err := c.Render(o.ReportFormat(), report.Options{ASCII: o.ASCII()})
	if err == nil {
		err = report.Save(o.Output, text)
	}
	if err != nil {
		return exitFailure, err
	}
	code, why := c.Verdict()
	if why != "" {
		return code, errors.New(why)
	}
	return code, nil
}

// maxReport is the most of a JSON report that is read, in bytes.
const maxReport = 256 << 20

// loadRun reads a run that was kept: a recording, or a JSON report. A file that
// holds no endpoint is an error; one that is damaged says so in the Snapshot.
func loadRun(path string) (*stats.Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	if bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n\ufeff"), []byte("{")) {
		rest, err := io.ReadAll(io.LimitReader(f, maxReport))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s, err := report.Parse(append(head[:n:n], rest...))
		return loaded(path, s, err)
	}
	r, file, err := record.Open(path)
	if errors.Is(err, record.ErrNotRecording) {
		err = report.ErrNotReport
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := fromRecording(r)
	return loaded(path, s, err)
}

// fromRecording counts a recording through.
func fromRecording(r *record.Reader) (*stats.Snapshot, error) {
	a := stats.NewAggregator(stats.Config{MaxErrorRate: -1})
	for {
		ev, err := r.Next()
		if err != nil { // the end, or nothing more that could be read
			a.Damaged(r.Damage())
			if !errors.Is(err, io.EOF) && r.Damage() == "" {
				return nil, err
			}
			return a.Snapshot(), nil
		}
		if ev != nil {
			a.Add(ev)
		}
	}
}

func loaded(path string, s *stats.Snapshot, err error) (*stats.Snapshot, error) {
	if err == nil && len(s.Targets) == 0 {
		err = errors.New("there is no endpoint in it")
		if s.Damaged != "" {
			err = fmt.Errorf("%w; %s", err, s.Damaged)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
