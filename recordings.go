package main

import (
	"teapot/probe/record"
	"teapot/stats"
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
