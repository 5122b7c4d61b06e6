package export

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"teapot/probe/event"
	"teapot/stats"
)

// Outlets are what a session gives to others while it goes on: a page to scrape
// and an interval log, either or both or none. They are used by one goroutine.
type Outlets struct {
	version  string
	listener net.Listener // nil: no page
	server   *Server
	log      *Log // nil: none
	file     io.Closer
}

// Open takes the address and the file before anything is measured, so that one
// that cannot be had is told at once; "" asks for none.
func Open(listen, hlog, version string) (*Outlets, error) {
	o := &Outlets{version: version}
	if hlog != "" {
		f, err := os.Create(hlog)
		if err != nil {
			return nil, fmt.Errorf("write the interval log: %w", err)
		}
		o.log, o.file = NewLog(f), f
	}
	if listen != "" {
		var err error
		if o.listener, err = Listen(listen); err != nil {
			return nil, errors.Join(err, o.closeFile())
		}
	}
	return o, nil
}

// Follow passes the events of the session on.
func (o *Outlets) Follow(next func() (event.Event, error), from Source) func() (event.Event, error) {
	if o.log == nil {
		return next
	}
	return o.log.Follow(next, from.Do)
}

// Serve begins to answer scrapes, and says where; "" where there is no page. From
// must be ready to be asked.
func (o *Outlets) Serve(from Source) string {
	if o.listener == nil {
		return ""
	}
	o.server = Serve(o.listener, from, o.version)
	return o.server.URL()
}

// Close ends the page and writes the rest of the log, once the session has seen
// its last event.
func (o *Outlets) Close(from Source) error {
	var err error
	if o.log != nil {
		from.Do(func(a *stats.Aggregator) { err = o.log.End(a) })
	}
	if o.server != nil {
		_ = o.server.Close() // who was being answered asks again, or not
	}
	return errors.Join(err, o.closeFile())
}

func (o *Outlets) closeFile() error {
	if o.file == nil {
		return nil
	}
	if err := o.file.Close(); err != nil {
		return fmt.Errorf("write the interval log: %w", err)
	}
	return nil
}
