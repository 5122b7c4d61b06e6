package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"teapot/probe/event"
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
	read := 0
	counted := func() (event.Event, error) {
		ev, err := next()
		if ev != nil {
			read++
		}
		return ev, err
	}
	err = errors.Join(export.Write(to, export.Format(o.To), counted, o.Stats()), to.Close())
	if err != nil {
		return exitFailure, err
	}
	why := r.Damage()
	if read == 0 {
		return exitFailure, fmt.Errorf("%s: nothing can be read of it: %s", o.File, cmp.Or(why, "it holds no event"))
	}
	if why != "" {
		fmt.Fprintln(os.Stderr, "teapot: "+o.File+": "+why)
	}
	return 0, nil
}
