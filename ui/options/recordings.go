package options

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// report takes endpoints to measure, or recordings to report on.
func (p *parser) report(args []string) error {
	o := &p.grammar.Options
	i, j := slices.IndexFunc(args, recording), slices.IndexFunc(args, func(a string) bool { return !recording(a) })
	switch {
	case i < 0 && o.Origin("merge").Kind == FromFlag:
		return usagef("--merge adds up recordings: name their files, e.g. teapot report a.teapot b.teapot --merge")
	case i < 0:
		return o.endpoints(args, "report needs a URL or a recording, e.g. teapot report http://localhost:8000 -d 60s")
	case j >= 0:
		return usagef("%s is a recording and %s is none: a report is of recordings or of endpoints", quote(args[i]), quote(Redact(args[j])))
	case len(args) > 1 && !o.Merge:
		return usagef("report takes one recording; --merge adds several up, and teapot compare A B tells two apart")
	}
	for k, f := range args {
		if slices.Contains(args[:k], f) {
			return usagef("%s is given twice", quote(f))
		}
	}
	for _, path := range p.ctx.Path {
		if path.Flag == nil || path.Resolved || appliesTo(path.Flag, Replay) || path.Flag.Name == "merge" {
			continue
		}
		return usagef("--%s has no meaning for a recording, which is measured already", path.Flag.Name)
	}
	o.Files = args
	if len(args) == 1 {
		o.File = args[0]
	}
	return o.canRead("report", args)
}

// recording tells a file from an address: it is there, and no socket, or its
// name is that of a file.
func recording(arg string) bool {
	if strings.Contains(arg, "://") {
		return false
	}
	for _, prefix := range []string{"/", "./", "../"} {
		if strings.HasPrefix(arg, prefix) {
			return true
		}
	}
	info, err := os.Stat(arg)
	return arg == "-" || strings.HasSuffix(arg, ".teapot") || err == nil && info.Mode()&(fs.ModeDir|fs.ModeSocket) == 0
}
