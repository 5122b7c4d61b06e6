package stats

import "teapot/probe/event"

// Server is what a server, or the GPUs of this machine, say of themselves. It
// enters no figure of a target; it stands beside them.
type Server struct {
	Sources []ServerSource // where it was said, by name
	Values  []ServerValue  // the newest of every name
	// Restarts counts the times that the counters began anew; RestartAt is the
	// newest.
	Restarts  int
	RestartAt int64
	// The server's own figures, by the growth of its histograms.
	TTFT, ITL, TPOT, Queue, Prefill, E2E ServerFigure
	// Missing are the names that would help and that no page of this server
	// has; empty as long as no page was read.
	Missing []string

	looks []event.Signal
}

// ServerSource is one place that is asked.
type ServerSource struct {
	Name     string // one of event's Signal… names
	At       int64  // the newest answer
	Every    int64  // ns between the newest two; 0 before there were two
	Took     int64  // of the newest, ns
	TookSum  int64  // of all, ns: what watching cost the server
	Bytes    uint64
	Looks    uint64
	Restarts int
	Detail   string // one line of the newest: why it has no values, "" otherwise
	Effect   string // one line: what asking does to the server or to others, "" where nothing is known
	// Of the last minute: what watching adds. Per minute once a minute has passed.
	MinuteLooks, MinuteBytes uint64
}

// ServerValue is the newest value of one name.
type ServerValue struct {
	Name, Of, Source string
	Value            float64 // seconds, bytes, tokens, requests, or a share
	Delta            float64 // growth during Span, of what only counts up
	Span             int64   // ns
	At               int64   // when it was heard
	Age              int64   // how old it was by then at most, ns
	Max              float64 // the highest Value of the session
	Grown            float64 // Σ of its growths in the session
}

// ServerFigure is one of the server's histograms, of what it counted lately.
// Times are ns.
type ServerFigure struct {
	At, Span int64   // of the newest growth
	N        float64 // observations in that
	P50, P99 int64
	Mean     int64
	// Of the last minute.
	MinuteN    float64
	MinuteMean int64
	// Of the session. The percentiles are those since the first look, or since
	// the server's newest restart, and known by their bucket alone: they are at
	// most this, or beyond it where it is negative. 0 as long as there are none.
	AllN           float64
	AllMean        int64
	AllP50, AllP99 int64

	sum float64 // of the session, s
}

// Value finds the newest value of a name, whatever it is of: the first one.
func (s *Server) Value(name string) (ServerValue, bool) {
	if s != nil {
		for i := range s.Values {
			if s.Values[i].Name == name {
				return s.Values[i], true
			}
		}
	}
	return ServerValue{}, false
}

// StripCell is one column of a strip: a server's figure over one span of time.
type StripCell struct {
	Start int64
	Has   bool    // something was heard in it
	Value float64 // the last
	Max   float64
	Delta float64 // Σ of the growths
	At    int64   // when Value was heard
	Age   int64   // how old it was by then at most, ns
}

// Strip returns n columns of width ns each of the figure of a name and of what
// it is of ("" for the first), oldest first and aligned as those of
// Series.Columns: to multiples of width, the last one holding the instant end.
func (s *Server) Strip(name, of string, end, width int64, n int) []StripCell {
	per := max(width/Bucket, 1)
	width = per * Bucket
	cells := make([]StripCell, max(n, 0))
	first := end/width - int64(n) + 1
	for i := range cells {
		cells[i].Start = (first + int64(i)) * width
	}
	if s == nil {
		return cells
	}
	for i := len(s.looks) - 1; i >= 0; i-- {
		look := &s.looks[i]
		at := look.At/width - first
		if at < 0 {
			break
		}
		if at >= int64(len(cells)) {
			continue
		}
		if v, ok := sampleOf(look, name, of); ok {
			cells[at].take(look, v)
		}
	}
	return cells
}

// take adds one value; they come newest first.
func (c *StripCell) take(look *event.Signal, v event.Sample) {
	if !c.Has {
		c.Has, c.Value, c.Max, c.At, c.Age = true, v.Value, v.Value, look.At, look.Age
	}
	c.Max = max(c.Max, v.Value)
	c.Delta += v.Delta
}

// sampleOf finds a value by its name and what it is of, "" for any.
func sampleOf(look *event.Signal, name, of string) (event.Sample, bool) {
	for i := range look.Values {
		if v := &look.Values[i]; v.Name == name && (of == "" || v.Of == of) {
			return *v, true
		}
	}
	return event.Sample{}, false
}
