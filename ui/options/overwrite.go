package options

import (
	"os"
	"path/filepath"
)

// named is a file that the command line names, and what it is named as.
type named struct{ as, path string }

// checkOverwrites refuses a file to write that is one to read, whose content
// would be gone before it is read or right after, and one that is written twice,
// of which neither could be read again. Devices and pipes may be named as often
// as one likes.
func (o *Options) checkOverwrites() error {
	var reads, writes []named
	add := func(to *[]named, as, path string) {
		if path != "" && path != "-" {
			*to = append(*to, named{as, path})
		}
	}
	add(&reads, "the recording", o.File)
	for _, f := range o.Files {
		add(&reads, "the recording", f)
	}
	for _, f := range o.Against {
		add(&reads, "the run", f)
	}
	add(&reads, "--prompt-file", o.PromptFile)
	add(&reads, "--metrics-table", o.MetricsTable)
	add(&reads, "--cacert", o.CACert)
	add(&reads, "--config", o.ConfigFile)
	add(&writes, "-o", o.Output)
	add(&writes, "--record", o.Record)
	add(&writes, "--hlog", o.HLog)
	add(&writes, "--truth", o.Truth)
	add(&writes, "--log", o.Log)
	for i, w := range writes {
		for _, r := range reads {
			if sameFile(w.path, r.path) {
				return usagef("%s names %s itself, %s, which would be lost: give another file", w.as, r.as, quote(r.path))
			}
		}
		for _, other := range writes[:i] {
			if sameFile(w.path, other.path) {
				return usagef("%s and %s name the same file, %s: give each its own", other.as, w.as, quote(w.path))
			}
		}
	}
	return nil
}

// sameFile tells whether two names are those of one ordinary file, which need
// not exist yet.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	switch {
	case err == nil && other == nil:
		return x.Mode().IsRegular() && os.SameFile(x, y)
	case err == nil || other == nil:
		return false
	}
	one, err := filepath.Abs(a)
	two, other := filepath.Abs(b)
	return err == nil && other == nil && one == two
}
