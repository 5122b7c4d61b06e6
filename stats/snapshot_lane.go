package stats

// Floor is what this client added, over the last minute and the session.
type Floor struct {
	Source           string // stamp source in use, "kernel" or "read"
	LateP50, LateP99 int64  // ns, of the last minute
	LateMax          int64
	Overshoot        int64 // worst in the last minute
	SessionOvershoot int64
	Lag              int64  // worst schedule lag of the last minute
	Merged           uint64 // of the session
	Reads            uint64
	DroppedTexts     uint64
	DroppedEvents    uint64
	// P99 is the 99th percentile of what this client added to one instant, ns, over
	// the last minute, and SessionP99 over the session: lateness where the kernel
	// stamps, the heartbeat's oversleep where it does not.
	P99, SessionP99 int64
	LateReads       uint64 // taken a millisecond or more after the kernel's stamp, in the session
	MergedReads     uint64 // the reads that Merged events came in
	// LagP50 and LagP99 are by how much LagN requests of the last minute were
	// sent behind their schedule, ns.
	LagN                       uint64
	LagP50, LagP99             int64
	KernelStreams, ReadStreams uint64 // streams of the session by the source of their stamps
	// Suspensions counts the times that the probe was not running, and Suspended
	// is their sum, ns; ClockSteps counts steps of the wall clock, which no figure
	// depends on. Of the session.
	Suspensions uint64
	Suspended   int64
	ClockSteps  uint64
	HostStalls  uint64 // heartbeats that overslept by 10 ms or more, in the session
	GC          uint64
	RTT         int64
	RSS         int64
	Word        string // one word for the title: "ok", "late", "dropping", "stalled"
}

// LaneKind is a kind of event on the lane under the charts.
type LaneKind uint8

// The kinds, with the glyph a screen gives them.
const (
	LaneMark      LaneKind = iota // a letter
	LaneError                     // ×
	LaneHostStall                 // ▼
	LaneRestart                   // the target came back
	LaneDown                      // the target went away
	LaneDropped
	LaneSetting
	LaneShift     // the level of the target's gaps changed for good
	LaneSuspended // this probe was stopped, or its machine asleep
	LaneClock     // the wall clock was set; the figures do not depend on it
	LanePreempted // the server put requests aside for lack of memory
)

// LaneEvent is one thing on the event lane.
type LaneEvent struct {
	At     int64
	Kind   LaneKind
	Target uint32
	Letter byte // A, B, ... for marks
	Text   string
}

// Shift is a change of the level of a target's gaps that lasted: a setting was
// changed, a neighbour arrived. From and To are geometric means of the gaps.
type Shift struct {
	At       int64   // when it was certain
	Since    int64   // its likeliest beginning
	From, To int64   // ns
	Ratio    float64 // To/From
	Gaps     uint64  // seen from Since to At
}
