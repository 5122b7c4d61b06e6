// Package stats turns events into numbers: the life of a request, percentiles
// over rolling windows and over the session, series for charts, stalls,
// smoothness, service levels, and the reading of a tail.
//
// It is pure. It does no I/O, starts no goroutine but the feed's, and takes its
// time from the events, so that a replay gives bit for bit what the live run
// gave. It must not import anything of teapot but probe/event.
package stats

import (
	"time"

	"teapot/probe/event"
)

// Snapshot is everything a screen, a report or an exporter shows. It is
// immutable: whoever holds one may read it for ever, from any goroutine.
//
// All times are nanoseconds of the session's clock unless the name says Wall.
type Snapshot struct {
	Seq      uint64    // grows with every change; equal numbers mean an equal snapshot
	Now      int64     // time of the newest event
	Wall     time.Time // the wall clock at session time 0; zero before the first event
	Session  event.Session
	Load     event.Load // as it is now, after the controls
	Targets  []*Target  // in the order of their ids
	Floor    Floor
	Lane     []LaneEvent     // the event lane, oldest first
	Notes    []event.Note    // the newest last, at most 50
	Finished *event.Finished // nil while the run goes on
	Damaged  string          // one line when the recording read was damaged or cut; else ""
	Machine  *Server         // what the GPUs of this machine say; nil when nothing did
}

// Windows are the horizons that are kept beside the session.
var Windows = [...]time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// Target is one endpoint's block of a Snapshot.
type Target struct {
	Info        event.Target // as last announced: URL, model, engine, state
	Since       int64        // when Info.State began
	InFlight    int
	Windows     [len(Windows)]Figures
	Session     Figures
	Series      *Series   // for charts
	Dots        []Dot     // one per finished or timed-out request within the retention, oldest first
	Streams     []Stream  // one per slot with a request in flight or the last one it had; by slot
	Worst       []Spike   // worst stalls and TTFTs of the session, worst first, at most 50
	Shifts      []Shift   // lasting changes of the level of the gaps, oldest first, at most 100
	Recent      []Request // finished requests, newest last, at most 1000
	LastError   string    // "503 overloaded" and the like: one line, sanitised; "" when there was none
	LastErrorAt int64
	// Buffered is the share of the last minute's finished requests (of the
	// session's, when there were none) whose reply was handed over whole by
	// something that buffers. Their gaps and speeds enter no figure.
	Buffered float64
	// RTT is the smoothed round trip of the newest connection and RTTMin the least
	// of the session, ns; 0 where nobody can tell.
	RTT, RTTMin int64
	// Marked compares the time since the newest mark with the time before it; nil
	// while there is no mark.
	Marked *Marked
	// Traces are the requests that can be looked into gap by gap: those in flight,
	// the newest finished ones, and those of Worst.
	Traces *Traces
	// Floor is the snapshot's own, so that a reading can say what is ours.
	Floor *Floor
	// Spikes are the newest of the session, oldest first, at most 500: what passes
	// the stall rule or a service level, is a stutter, came from a stop of this
	// client, or was an outage. Their verdicts may still change while they are
	// not Settled.
	Spikes []Spike
	// Unlisted counts those that came too fast to be looked at one by one.
	Unlisted uint64
	// Causes sums up all spikes of the session by cause, the costliest first.
	Causes []CauseRow
	// Server is what the server says of itself; nil when nothing did.
	Server *Server
}

// Figures are the numbers of one target over one horizon.
type Figures struct {
	// Span is how many ns the horizon covers so far: at most its length, and
	// not before the first request that was measured.
	Span     int64
	Requests Requests

	TTFT, TTFO, Gap, ITL, TPOT, E2E Figure
	// SchedTTFT and SchedE2E count from the instant the open loop's schedule
	// wanted, so that waiting for a free stream is not hidden (coordinated
	// omission). Empty in a closed loop.
	SchedTTFT, SchedE2E, Late Figure
	// ColdTTFT is TTFT over the Cold requests alone: those whose connection was
	// new. They are in TTFT too. Connecting comes before sent and is in neither,
	// but a new connection sends and receives slowly at first.
	ColdTTFT Figure
	Cold     uint64
	// ITLWhy says why ITL is not shown; "" when it is.
	ITLWhy string

	// Speed of the streams, tok/s = 1/TPOT: the median, and the speed that the
	// slowest tenth stay under. Mark applies to the latter.
	SpeedMedian, SpeedSlow10 float64
	SpeedSlow10Mark          Mark

	OutputTokens, PromptTokens uint64  // counted tokens
	Approx                     bool    // some of OutputTokens were counted from events
	OutputRate, PromptRate     float64 // tok/s over Span
	RequestRate                float64 // finished requests/s over Span
	TokensPerEvent             float64 // 0 when unknown
	// Bursts are token events that came in the same read as the one before them,
	// because they were sent together; BurstShare is their share of all after the
	// first of each stream. Much of it on a plain engine is merging on the way,
	// not decoding.
	Bursts     uint64
	BurstShare float64

	Phases    Phases
	Served    Served // the server's own column
	Stalls    Stalls
	Smooth    Smooth
	SLO       []SLOResult // in the order given
	Merged    uint64      // gaps left out of the percentiles because they are ours
	MergedSum int64       // their total time, ns
	// Paused counts those of Merged over which the probe was not running: they are
	// nobody's latency.
	Paused uint64
	// Transport are the gaps left out because a new connection's window was full:
	// TCP's and not the server's. They stay in the sums.
	Transport Apart
	// MergedTTFT counts first tokens left out for the same reason.
	MergedTTFT uint64
	// Tardy counts gaps whose end this client read late by a large part of
	// them; with Config.ExcludeLate they are among Merged.
	Tardy uint64
	// Excluded counts those of Tardy that Config.ExcludeLate left out. Gap.N is n
	// without them, Gap.N + Excluded is n with them.
	Excluded  uint64
	Buffered  uint64  // finished requests whose reply was handed over whole
	ErrorRate float64 // failed / (ok + failed); 0 when there were none
	Goodput   float64 // share of attempted requests that met every SLO; NaN never: 0 when none
}

// Apart sums up gaps that are kept out of the percentiles.
type Apart struct {
	Count          uint64
	Total, Longest int64 // ns
}

// Requests counts endings.
type Requests struct {
	OK, Failed, Aborted, Short, Warmup, Skipped uint64
	ByClass                                     map[event.Class]uint64
}

// Quantiles are the percentiles of every figure, in this order.
var Quantiles = [...]float64{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999}

// Indexes into Figure.Q.
const (
	P50 = iota
	P90
	P95
	P99
	P999
	P9999
)

// Mark is the sample rule's verdict on one percentile.
type Mark uint8

// The marks.
const (
	MarkNone   Mark = iota // n < 1/(1−p): there is no such percentile; show –
	MarkApprox             // n < 10/(1−p): show it with ~
	MarkOK
)

// Quantile is one percentile of a figure, by nearest rank ⌈p·n⌉. Where Mark is
// MarkNone it still holds the raw rank, which is not to be shown.
type Quantile struct {
	Value    int64 // ns
	Mark     Mark
	Censored bool  // it lies among the timeouts: Value is a lower bound; show ">30s"
	Lo, Hi   int64 // 95 % confidence interval from order statistics, ns
	// HiOpen: there is no finite upper bound below the maximum at this n.
	HiOpen bool
	// LoOpen: nor is there a lower one above the minimum.
	LoOpen bool
	// Ours: this client's own part, the P99 of the floor, is a tenth of Value or
	// more, so that it cannot be called the server's.
	Ours bool
	// Spread is the design effect: how many times the variance of independent
	// samples that of this quantile is, from how it wobbled through the run; at
	// least 1. It is known of the session once that is over, and of windows where
	// there are several targets. 0: not known, or too short to tell.
	Spread float64
}

// Figure is the distribution of one quantity, in ns.
type Figure struct {
	N        uint64
	Min, Max int64 // exact
	Mean     float64
	MeanErr  float64 // standard error of Mean, from how it wobbled through the run; 0 as of Spread
	Q        [len(Quantiles)]Quantile
	Censored uint64 // samples known only to be at least a limit
	Clipped  uint64 // samples above one hour
}

// Phases are the medians and ninth deciles of a request's spans, ns, over the
// requests that had them.
type Phases struct {
	DNS, TCP, TLS, Send, Wait, First Span    // Wait: sent → headers; First: headers → first token
	Reused                           float64 // share of requests on a used connection
}

// Span is a median with its ninth decile.
type Span struct {
	N        uint64
	P50, P90 int64
}

// Stalls sums up the gaps that pass the stall rule: a frame of film (41.7 ms) or
// more, and at least three times the target's P99 over the minute up to the
// gap's beginning; as long as there are fewer than 100 samples, at least eight
// times the stream's own median instead.
type Stalls struct {
	Count   uint64
	Total   int64 // ns
	Longest int64
	PerKTok float64 // stalls per 1 000 tokens
	// Stutters are gaps that are no stalls only because such gaps are more than
	// one in a hundred: a frame of film or more, and nine times the P90 of the
	// same minute, of 500 gaps or more. They are counted beside the stalls, never among them.
	Stutters     uint64
	StutterTotal int64 // ns
}

// Smooth is what a reader feels.
type Smooth struct {
	// Stalled5 and Stalled10 are the share of the play-out time in which a
	// reader at 5 or 10 tok/s had nothing to read.
	Stalled5, Stalled10 float64
	// Fluidity is 1 − missed/total of the per-token deadlines with carried
	// slack; FluidityN is the number of deadlines. Deadline: the gap SLO, else
	// 100 ms.
	Fluidity  float64
	FluidityN uint64
	// QoE5 and QoE10 are the quality of experience of Andes for a reader at 5 or
	// 10 tok/s: 1 − Σ(shown − ideal)/Σ(shown − sent) over the tokens. A token is
	// shown when it is there and the reader is through with the one before; the
	// ideal goes on at the reader's pace from the first token, or from the limit
	// for TTFT where there is one and the first token came later. 0 when there are none.
	QoE5, QoE10 float64
	Jitter      float64 // RFC 3550 over gaps, ns
	CV          float64 // coefficient of variation of the gaps
}

// SLOResult is one service level over one horizon.
type SLOResult struct {
	Expr     string  // as normalised: "gap<=50ms:99%"
	Metric   string  // "ttft", "gap", "tpot", "e2e", ..., "err"
	Limit    int64   // ns; for err in parts per million
	Goal     float64 // 0.99
	N, Met   uint64
	Attained float64 // Met/N; 0 when N is 0
	OK       bool
	NoData   bool
	For      int64 // ns since it last changed between met and missed
}

// Dot is one request on the TTFT chart.
type Dot struct {
	At      int64 // first token, or the failure
	TTFT    int64 // ns; with Timeout the limit that passed
	Class   event.Class
	Timeout bool
	Request uint64
	Warmup  bool
}

// Cell is one token event of a stream: a cell of the cadence strip.
type Cell struct {
	At      int64
	Gap     int64 // ns since the token event before; for the first one since sent
	K       uint32
	Channel event.Channel
	Stall   bool
	Merged  bool
	Late    bool // its end was read late by a large part of the gap; it counts all the same
	Burst   bool // it shared its read with an earlier one
	// Transport: the gap is the stop of a new connection's full window.
	Transport bool
	Text      string // raw, untrusted; "" when text was not recorded
}

// Stream is one slot of the load and the request it carries or carried last.
type Stream struct {
	Slot    uint32
	Request uint64
	Sent    int64
	FirstAt int64 // 0 before the first token
	LastAt  int64
	EndAt   int64       // 0 while it runs
	Class   event.Class // once it ended
	Tokens  int         // so far, counted as well as is known
	Events  int
	Median  int64 // median gap of this stream, ns; 0 below 3 gaps
	TPOT    int64 // ns; 0 when undefined
	Warmup  bool
	// Through is when somebody who reads 5 tokens a second, and somebody who reads
	// 10, are through with what came, ns; an instant that has passed is since when
	// they wait for the next token. 0 before the first token.
	Through [2]int64
	// Buffered: the reply was handed over whole; it shows no cadence.
	Buffered bool
	Cells    []Cell // the newest last, at most 512
}

// Spike is a stall or a slow first token that is kept after it scrolled off.
type Spike struct {
	At      int64 // its end: when the late token came
	Length  int64 // ns
	Request uint64
	Slot    uint32
	Token   int  // index of the token event after the gap, from 1
	First   bool // a TTFT
	Merged  bool // ours
	// Late: of those, one that counts all the same: its end was read late by a large
	// part of it, and the rest is the server's.
	Late bool
	// Transport: the network protocol's, on a new connection: see Figures.Transport.
	Transport bool
	Peers     int // other streams that stalled over the same instant
	Of        int // streams that were receiving tokens then, this one included; 0 when not known

	ID    uint64 // from 1 in the order in which they were found, unique in the target
	Phase Phase
	Usual int64 // the stream's median gap before it, of a first token the target's median TTFT, ns; 0 unknown
	// Why is the verdict with its evidence; nil only where nobody judged. It is
	// replaced and never written when a later sign revises it.
	Why    *Why
	Around *Around // what was seen around it; nil for an outage
}

// Request is one finished request, for the list.
type Request struct {
	ID, Conn          uint64
	Sent, Headers     int64
	First, Last, End  int64
	TTFT, TPOT, E2E   int64 // ns; 0 when undefined
	MaxGap            int64
	N, Events, Stalls int
	Class             event.Class
	Status            int
	Message           string
	Warmup            bool
	Slot              uint32
	Wrote             int64 // time needed to write the request, ns; 0 when not known
	DNS, TCP, TLS     int64 // before Sent, ns; 0 on a used connection
	Asked, Prompt     int   // output tokens asked for, prompt tokens aimed at
	Gaps              int64 // Σ of all gaps, ns, merged ones too: E2E = TTFT + Gaps
	Merged            int64 // Σ of the merged ones
	Buffered          bool  // the reply was handed over whole
	Transport         int64 // Σ of the gaps that are the transport's
}

// Shared tells whether the spike struck what the streams have in common: at
// least two of them, and three in four of those that were receiving tokens.
// Stalls of independent streams overlap by chance, but not most of them.
func (s Spike) Shared() bool {
	return s.Peers > 0 && s.Of > 0 && 4*(s.Peers+1) >= 3*s.Of
}
