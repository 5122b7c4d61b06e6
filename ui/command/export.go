package command

import (
	"errors"
	"fmt"
	"os"

	"teapot/ui/export"
	"teapot/ui/options"
)

// exported writes a recording in the format of another tool.
func exported(o *options.Options) (int, error) {
	next, r, f, err := recording(o)
	if err != nil {
		return exitFailure, err
	}
	defer f.Close()
	if same(o.File, o.Output) {
		return options.ExitUsage, fmt.Errorf("-o names the recording itself, which would be lost: give another file")
	}
	to, err := export.Create(o.Output)
	if err != nil {
		return exitFailure, err
	}
	err = errors.Join(export.Write(to, export.Format(o.To), next, o.Stats()), to.Close())
	if err != nil {
		return exitFailure, err
	}
	if why := r.Damage(); why != "" {
		fmt.Fprintln(os.Stderr, "teapot: "+o.File+": "+why)
	}
	return 0, nil
}

// same tells whether two names are those of one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}
