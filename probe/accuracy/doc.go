// Package accuracy measures the measurer: how far the gaps that a client
// reports are from the gaps that a server made.
//
// A server in a process of its own writes tokens on a schedule and remembers
// when each of them left, on the monotonic clock of the machine. Clients read
// it, each in a process of its own, in turn: the probe, with and without a
// screen beside it, and small ones of other designs as yardsticks. What a
// client says of each token is then held against what the server did, token by
// token.
//
// The package starts processes, and sends to addresses of this machine alone.
// It judges the probe from outside, as a stranger would: of its code it uses
// the reader of its events, and, on the server's side, the stamp of an arrival.
package accuracy

// Written is what the server remembers of one stream. Times are ns of the
// machine's monotonic clock (CLOCK_MONOTONIC).
type Written struct {
	ID     string  // the request's X-Request-Id
	Heard  int64   // when the request was read
	Before []int64 // just before the write of each token
	After  []int64 // just after it
	Behind []int64 // how much later than by the schedule, ns
}

// Log is everything the server wrote since the log was asked for last.
type Log struct {
	Streams []Written
	// WallOffset is what to add to a time of the log to get Unix ns, as the two
	// clocks stood when the log was asked for.
	WallOffset int64
	Realtime   bool // the writing thread had real-time priority
	Pinned     bool // and a core of its own
}
