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
