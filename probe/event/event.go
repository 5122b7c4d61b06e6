// Package event is the vocabulary shared by everything in teapot: what can
// happen to a request, a token or the client itself, and what a probe can be
// asked to do.
//
// The probe writes events in the order in which they happened; the viewer, a
// report and a replay read the same ones. The package is a leaf: it imports
// nothing of teapot, opens nothing and starts nothing.
//
// All times are nanoseconds on one monotonic clock that starts at 0 with the
// session; Session.Wall says which wall-clock instant that 0 was.
package event

// Kind tells which event a record holds. The numbers are part of the format:
// they are never reused, and a reader skips the kinds it does not know.
type Kind uint8

// The kinds of events.
const (
	KindSession  Kind = 1
	KindTarget   Kind = 2
	KindStart    Kind = 3
	KindHeaders  Kind = 4
	KindToken    Kind = 5
	KindText     Kind = 6
	KindEnd      Kind = 7
	KindSkip     Kind = 8
	KindFloor    Kind = 9
	KindMark     Kind = 10
	KindSetting  Kind = 11
	KindNote     Kind = 12
	KindDropped  Kind = 13
	KindFinished Kind = 14
	KindSignal   Kind = 15
	KindReset    Kind = 16
)

// Event is one thing that happened. The concrete types are pointers to the
// structs of this package.
type Event interface {
	// Kind names the type of the event in the format.
	Kind() Kind
	// Time is when it happened, in nanoseconds of the session's clock.
	Time() int64
}

// Session opens every stream of events.
type Session struct {
	At       int64  `json:"at"`
	Wall     int64  `json:"wall"` // Unix nanoseconds of the session's time 0
	Version  string `json:"version"`
	Host     string `json:"host,omitempty"`
	PID      int    `json:"pid"`
	Source   string `json:"source"`          // where stamps come from: SourceKernel or SourceRead
	Priority int    `json:"nice"`            // the probe's nice value
	Slice    int64  `json:"slice,omitempty"` // the probe's share of a processor before another may run, ns; 0 unknown
	Load     Load   `json:"load"`
	// Limits are the timers of the requests, and Judge how the run is judged; nil
	// in recordings from before they were written.
	Limits *Limits `json:"limits,omitempty"`
	Judge  *Judge  `json:"judge,omitempty"`
}

// Stamp sources, as shown on the screen and in reports.
const (
	SourceKernel = "kernel" // the kernel's receive time of the segment (SO_TIMESTAMPNS)
	SourceRead   = "read"   // the return of the read call
)

// State is what a target is doing, as far as the probe can know.
type State string

// The states of a target.
const (
	StateConnecting State = "connecting" // nothing has answered yet
	StateLoading    State = "loading"    // it answers that its model is being loaded
	StateWarmup     State = "warm-up"    // requests are sent, but left out of the statistics
	StateLive       State = "live"
	StatePaused     State = "paused"       // the operator paused probing
	StateBusy       State = "busy"         // its only slot serves somebody else
	StateLimited    State = "rate limited" // it asked us to wait
	StateDown       State = "down"
	StateDone       State = "done" // the run's limit was reached
)

// Target describes an endpoint, and is written again whenever that changes.
type Target struct {
	At      int64  `json:"at"`
	ID      uint32 `json:"id"`
	URL     string `json:"url"` // without userinfo and query
	Model   string `json:"model,omitempty"`
	Engine  string `json:"engine,omitempty"`  // "vLLM", "llama.cpp", "gateway, engine unknown", "" when unknown
	Gateway string `json:"gateway,omitempty"` // what stands in front of the engine: "envoy"; "" when nothing was seen
	Version string `json:"version,omitempty"` // the engine's own version
	API     string `json:"api,omitempty"`     // the dialect spoken: chat, completions
	State   State  `json:"state"`
	Detail  string `json:"detail,omitempty"` // one line about the state: "connection refused, next try in 4 s"
	Slots   int    `json:"slots,omitempty"`  // requests it serves at once; 0 when unknown
}

// Start is a request put on the wire.
type Start struct {
	At        int64  `json:"at"` // sent: just before the request was written on an established connection
	Target    uint32 `json:"target"`
	Request   uint64 `json:"req"`             // from 1, unique in the session
	Slot      uint32 `json:"slot"`            // the stream of the closed loop, or the lowest free lane
	Scheduled int64  `json:"sched,omitempty"` // when an open loop wanted it sent; 0 in a closed loop
	Warmup    bool   `json:"warmup,omitempty"`
	Reused    bool   `json:"reused,omitempty"` // the connection had carried a request before
	Idle      int64  `json:"idle,omitempty"`   // ns since a reused connection last carried anything; 0 unknown
	DNS       int64  `json:"dns,omitempty"`    // spans in ns, all before At; 0 on a reused connection
	TCP       int64  `json:"tcp,omitempty"`
	TLS       int64  `json:"tls,omitempty"`
	Asked     int    `json:"asked"`           // output tokens asked for
	Prompt    int    `json:"prompt"`          // prompt tokens aimed at; 0 when the user gave the text
	Wrote     int64  `json:"wrote,omitempty"` // time needed to write the request, ns; 0 when not known at the start
}

// Headers is the parsed status line and header block of a reply.
type Headers struct {
	At      int64  `json:"at"`
	Target  uint32 `json:"target"`
	Request uint64 `json:"req"`
	Status  int    `json:"status"`
	Proto   string `json:"proto,omitempty"`  // HTTP/1.1, HTTP/2.0
	Source  string `json:"source,omitempty"` // stamp source of this stream
	RTT     int64  `json:"rtt,omitempty"`    // smoothed round trip of this connection, ns; 0 unknown
}

// Channel says in which part of a reply a token stood.
type Channel uint8

// The channels of a reply.
const (
	Answer Channel = iota
	Reasoning
	Refusal
	ToolCall
	Counted // no visible text: a counter grew
)

// String names the channel.
func (c Channel) String() string {
	names := [...]string{"answer", "reasoning", "refusal", "tool call", "counted"}
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// Token is one event of a reply that carried evidence of at least one token.
// It is the only event on the hot path and has a binary form.
type Token struct {
	At      int64 // arrival: the stamp of the read that completed it
	Target  uint32
	Request uint64
	Slot    uint32
	Late    int64  // ns from the kernel's stamp to our read of it; 0 when the stamp is the read's
	K       uint32 // tokens in this event; 0 when unknown (at least one)
	Burst   uint32 // position among the token events of the same read, from 0
	Bytes   uint32 // length of its text in bytes
	Channel Channel
	// Merged: this event came in a read that we took late and that may join
	// what the server sent apart, so the gap before it is not the server's. It
	// stays in sums and enters no percentile.
	Merged bool
}

// Text is the text of the token event before it, of the same request. It is
// the first thing dropped under pressure and never goes into a regular file
// unless asked for.
type Text struct {
	At      int64
	Request uint64
	Channel Channel
	Text    string // raw from the model: untrusted
}

// Skip is a request that was due and was not sent.
type Skip struct {
	At     int64  `json:"at"`
	Target uint32 `json:"target"`
	Reason string `json:"reason"` // SkipBusy, SkipSchedule, SkipDown
	Count  int    `json:"count"`
}

// Reasons of a Skip.
const (
	SkipBusy     = "busy"     // the server's only slot was somebody else's
	SkipSchedule = "schedule" // the open loop could not keep up
	SkipDown     = "down"     // the target was known to be down
)

// Floor is the probe's heartbeat, ten times a second: what the client itself
// added since the one before, and, by its time, the clock of a replay.
type Floor struct {
	At        int64   `json:"at"`
	Wall      int64   `json:"wall"`           // Unix ns now, to see steps of the wall clock
	Overshoot int64   `json:"over"`           // worst oversleep of the 1 ms ticker, ns
	Late      []int64 `json:"late,omitempty"` // P50, P99, max of Token.Late, ns
	Reads     uint64  `json:"reads,omitempty"`
	Merged    uint64  `json:"merged,omitempty"` // token events in reads that may have merged
	Lag       int64   `json:"lag,omitempty"`    // worst schedule lag of a request, ns
	GC        uint32  `json:"gc,omitempty"`     // garbage collections
	RTT       int64   `json:"rtt,omitempty"`    // smoothed round trip of the newest connection, ns; 0 unknown
	RSS       int64   `json:"rss,omitempty"`    // bytes, once a second
	// Asleep is how long the machine was suspended since the heartbeat before,
	// ns, where its clocks can tell: the session's clock may stand still then.
	Asleep int64 `json:"asleep,omitempty"`
	// What else may keep this process from reading in time, each since the
	// heartbeat before, ns; 0 where nobody can tell.
	GCPause int64 `json:"gc_pause,omitempty"` // the longest stop of all goroutines by the collector
	Sched   int64 `json:"run_wait,omitempty"` // the longest that a goroutine which could run had to wait
	Steal   int64 `json:"steal,omitempty"`    // processor time that the hypervisor gave to others
	Blocked int64 `json:"blocked,omitempty"`  // the longest that writing events out took: nobody reads the pipe
	// Load is how many tasks of this machine ran or wanted to, on average over
	// the last minute, once a second; 0 where nobody can tell.
	Load float64 `json:"load,omitempty"`
}

// Mark is an instant that somebody wants to find again.
type Mark struct {
	At    int64  `json:"at"`
	Label string `json:"label"`
	Auto  bool   `json:"auto,omitempty"` // made by a change of setting or a restart, not by hand
	// Amends: it takes the place of the mark before, which was made a moment ago by
	// a change that this one is part of.
	Amends bool `json:"amends,omitempty"`
}

// Setting is a change of the load that took effect.
type Setting struct {
	At   int64  `json:"at"`
	Name string `json:"name"` // "rate", "concurrency", "max_tokens", "paused"
	From string `json:"from"`
	To   string `json:"to"`
}

// Note is one line for the operator's eyes.
type Note struct {
	At     int64  `json:"at"`
	Target uint32 `json:"target,omitempty"`
	Level  string `json:"level"` // "info", "warn", "error"
	Text   string `json:"text"`
}

// Dropped says how many events the inbox let go since the last one because
// nobody read them.
type Dropped struct {
	At     int64  `json:"at"`
	Texts  uint64 `json:"texts"`
	Events uint64 `json:"events"`
}

// Finished closes a stream of events: the probe ended by itself.
type Finished struct {
	At       int64  `json:"at"`
	Complete bool   `json:"complete"` // the limit of the run was reached, not an interruption
	Reason   string `json:"reason"`   // "duration", "requests", "tokens", "stopped", "interrupted", "never answered"
}

// Reset is that the operator emptied the figures. It is the viewer's, not the
// probe's, and stands in a recording so that it gives the same figures again.
type Reset struct {
	At      int64 `json:"at"`
	Session bool  `json:"session,omitempty"` // those of the session, else those of the windows alone
}

// Kind and Time of each event.

func (*Session) Kind() Kind  { return KindSession }
func (*Target) Kind() Kind   { return KindTarget }
func (*Start) Kind() Kind    { return KindStart }
func (*Headers) Kind() Kind  { return KindHeaders }
func (*Token) Kind() Kind    { return KindToken }
func (*Text) Kind() Kind     { return KindText }
func (*End) Kind() Kind      { return KindEnd }
func (*Skip) Kind() Kind     { return KindSkip }
func (*Floor) Kind() Kind    { return KindFloor }
func (*Mark) Kind() Kind     { return KindMark }
func (*Setting) Kind() Kind  { return KindSetting }
func (*Note) Kind() Kind     { return KindNote }
func (*Dropped) Kind() Kind  { return KindDropped }
func (*Finished) Kind() Kind { return KindFinished }
func (*Reset) Kind() Kind    { return KindReset }

func (e *Session) Time() int64  { return e.At }
func (e *Target) Time() int64   { return e.At }
func (e *Start) Time() int64    { return e.At }
func (e *Headers) Time() int64  { return e.At }
func (e *Token) Time() int64    { return e.At }
func (e *Text) Time() int64     { return e.At }
func (e *End) Time() int64      { return e.At }
func (e *Skip) Time() int64     { return e.At }
func (e *Floor) Time() int64    { return e.At }
func (e *Mark) Time() int64     { return e.At }
func (e *Setting) Time() int64  { return e.At }
func (e *Note) Time() int64     { return e.At }
func (e *Dropped) Time() int64  { return e.At }
func (e *Finished) Time() int64 { return e.At }
func (e *Reset) Time() int64    { return e.At }
