package report

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	"teapot/stats"
	"teapot/ui/format"
)

// The shape of the JSON report. Version grows only when a key changes its
// meaning; keys are added, never renamed or removed. Times are milliseconds
// unless the key says otherwise, shares lie between 0 and 1, and what is
// undefined is null.
type document struct {
	Version     int       `json:"version"`
	Complete    bool      `json:"complete"`
	Reason      *string   `json:"reason"` // why the run ended; null while it goes on or when it was cut
	Teapot      *string   `json:"teapot"` // the version that measured
	Started     *string   `json:"started"`
	ElapsedS    float64   `json:"elapsed_s"`
	Settings    settings  `json:"settings"`
	StampSource *string   `json:"stamp_source"`
	Damaged     *string   `json:"damaged"`
	Notes       []note    `json:"notes"`
	Targets     []jTarget `json:"targets"`
	Compared    *compared `json:"compared"` // the other endpoints against the first; null with one
}

type settings struct {
	Concurrency    int     `json:"concurrency"`
	Rate           float64 `json:"rate"` // requests/s; 0: closed loop
	Arrival        *string `json:"arrival"`
	PauseMS        float64 `json:"pause_ms"`
	Requests       int     `json:"requests"`
	DurationS      float64 `json:"duration_s"`
	MaxTotalTokens int     `json:"max_total_tokens"`
	Warmup         int     `json:"warmup"`
	MaxTokens      int     `json:"max_tokens"`
	PromptTokens   *int    `json:"prompt_tokens"` // null: the user's own prompts
	Cache          string  `json:"cache"`
	Seed           uint64  `json:"seed"`
	Passive        bool    `json:"passive"` // no request was made
	Limits         *limits `json:"limits_ms"`
}

type limits struct {
	Connect float64 `json:"connect"`
	First   float64 `json:"first"`
	Idle    float64 `json:"idle"`
	Total   float64 `json:"total"`
}

type note struct {
	AtS   float64 `json:"at_s"`
	Level string  `json:"level"`
	Text  string  `json:"text"`
}

type jTarget struct {
	URL           string     `json:"url"`
	Engine        *string    `json:"engine"`
	EngineVersion *string    `json:"engine_version"`
	Model         *string    `json:"model"`
	API           *string    `json:"api"`
	State         string     `json:"state"`
	Requests      requests   `json:"requests"`
	Figures       figures    `json:"figures"`
	ITLWhy        *string    `json:"itl_why"`
	FromSchedule  *scheduled `json:"from_schedule"` // null in a closed loop
	Cold          cold       `json:"cold"`
	Phases        phases     `json:"phases"`
	Served        *served    `json:"server_times"` // null: the server says nothing of its own
	SLO           []slo      `json:"slo"`
	Throughput    throughput `json:"throughput"`
	Stalls        stalls     `json:"stalls"`
	Smoothness    smoothness `json:"smoothness"`
	Merged        merged     `json:"merged"`
	Transport     apart      `json:"transport"`
	Shifts        []shift    `json:"shifts"`
	Worst         []spike    `json:"worst"`
	Causes        []cause    `json:"causes"`
	Unlisted      uint64     `json:"spikes_unlisted"` // that came too fast to be judged
	Server        *server    `json:"server"`          // what it says of itself; null when nothing did
	Floor         floor      `json:"floor"`
	Reading       []sentence `json:"reading"`
	LastError     *string    `json:"last_error"`
}

type requests struct {
	OK        uint64            `json:"ok"`
	Failed    uint64            `json:"failed"`
	Aborted   uint64            `json:"aborted"`
	Short     uint64            `json:"short"`
	Warmup    uint64            `json:"warmup"`
	Skipped   uint64            `json:"skipped"`
	Buffered  uint64            `json:"buffered"`
	ErrorRate *float64          `json:"error_rate"`
	ByClass   map[string]uint64 `json:"by_class"`
}

type phases struct {
	DNS    span     `json:"dns"`
	TCP    span     `json:"tcp"`
	TLS    span     `json:"tls"`
	Send   span     `json:"send"`
	Wait   span     `json:"wait"`
	First  span     `json:"first"`
	Reused *float64 `json:"reused"`
}

// served are the server's own times, and what of ours they leave open.
type served struct {
	Queue      span `json:"queue"`
	Prefill    span `json:"prefill"`
	Decode     span `json:"decode"`
	RestFirst  span `json:"rest_of_ttft"`
	RestDecode span `json:"rest_of_decode"`
}

type span struct {
	N   uint64   `json:"n"`
	P50 *float64 `json:"p50"`
	P90 *float64 `json:"p90"`
}

type slo struct {
	Expr     string   `json:"expr"`
	Metric   string   `json:"metric"`
	Limit    *float64 `json:"limit_ms"`    // null for err
	Share    *float64 `json:"limit_share"` // for err alone
	Goal     *float64 `json:"goal"`
	N        uint64   `json:"n"`
	Met      uint64   `json:"met"`
	Attained *float64 `json:"attained"`
	OK       *bool    `json:"ok"` // null: no data, or a run that did not complete
}

type throughput struct {
	OutputTokens   uint64   `json:"output_tokens"`
	PromptTokens   uint64   `json:"prompt_tokens"`
	Approx         bool     `json:"approx"` // some tokens were counted from events
	OutputRate     *float64 `json:"output_tok_s"`
	PromptRate     *float64 `json:"prompt_tok_s"`
	RequestRate    *float64 `json:"requests_s"`
	TokensPerEvent *float64 `json:"tokens_per_event"`
	Bursts         uint64   `json:"bursts"`      // events that came together with the one before
	BurstShare     *float64 `json:"burst_share"` // of all events after the first of each stream
	StreamMedian   *float64 `json:"stream_median_tok_s"`
	StreamSlow10   *float64 `json:"stream_slowest10_tok_s"`
	Goodput        *float64 `json:"goodput"`
}

type stalls struct {
	Count   uint64   `json:"count"`
	Total   float64  `json:"total_ms"`
	Longest *float64 `json:"longest_ms"`
	PerKTok *float64 `json:"per_1000_tokens"`
	// Pauses that come so regularly that they are no stalls by the rule.
	Stutters     uint64  `json:"stutters"`
	StutterTotal float64 `json:"stutter_total_ms"`
}

// cold are the requests on new connections; they are among all others too.
type cold struct {
	Requests uint64 `json:"requests"`
	TTFT     figure `json:"ttft"`
}

// apart are gaps that a new connection's full window made: not the server's.
type apart struct {
	Gaps    uint64   `json:"gaps"`
	Total   float64  `json:"total_ms"`
	Longest *float64 `json:"longest_ms"`
}

// shift is a lasting change of the level of the gaps.
type shift struct {
	AtS    float64  `json:"at_s"`
	SinceS float64  `json:"since_s"`
	From   float64  `json:"from_ms"`
	To     float64  `json:"to_ms"`
	Ratio  *float64 `json:"ratio"`
}

type smoothness struct {
	Stalled5  *float64 `json:"stalled_at_5_tok_s"`
	Stalled10 *float64 `json:"stalled_at_10_tok_s"`
	Fluidity  *float64 `json:"fluidity"`
	FluidityN uint64   `json:"fluidity_n"`
	QoE5      *float64 `json:"qoe_at_5_tok_s"`
	QoE10     *float64 `json:"qoe_at_10_tok_s"`
	Jitter    *float64 `json:"jitter_ms"`
	CV        *float64 `json:"cv"`
}

type merged struct {
	Gaps  uint64  `json:"gaps"` // left out of the percentiles: this client's
	Total float64 `json:"total_ms"`
	TTFT  uint64  `json:"ttft"`
	Late  uint64  `json:"late_gaps"`
	// Excluded late gaps: with them n is the gaps' n and these.
	Excluded uint64 `json:"excluded_late_gaps"`
	Paused   uint64 `json:"paused"` // gaps over which the probe was not running
}

type spike struct {
	AtS     float64 `json:"at_s"`
	Length  float64 `json:"length_ms"`
	Request uint64  `json:"request"`
	Token   int     `json:"token"`
	First   bool    `json:"first"`
	Merged  bool    `json:"merged"`
	Peers   int     `json:"peers"`
	// Transport: the network protocol's, on a new connection.
	Transport bool   `json:"transport"`
	Phase     string `json:"phase"`
	Why       *why   `json:"why"` // null where nobody judged
}

type floor struct {
	Source           *string  `json:"source"`
	LateP50          *float64 `json:"late_p50"`
	LateP99          *float64 `json:"late_p99"`
	LateMax          *float64 `json:"late_max"`
	Overshoot        float64  `json:"overshoot"`
	SessionOvershoot float64  `json:"session_overshoot"`
	Lag              float64  `json:"schedule_lag"`
	Merged           uint64   `json:"merged"`
	Reads            uint64   `json:"reads"`
	DroppedTexts     uint64   `json:"dropped_texts"`
	DroppedEvents    uint64   `json:"dropped_events"`
	HostStalls       uint64   `json:"host_stalls"`
	GC               uint64   `json:"gc"`
	RTT              *float64 `json:"rtt"`
	RSS              *int64   `json:"rss_bytes"`
	P99              float64  `json:"p99"` // of all that this client adds to an instant, in the last minute
	SessionP99       float64  `json:"session_p99"`
	LateReads        uint64   `json:"late_reads"` // by a millisecond or more
	MergedReads      uint64   `json:"merged_reads"`
	LagN             uint64   `json:"schedule_lag_n"`
	LagP50           *float64 `json:"schedule_lag_p50"`
	LagP99           *float64 `json:"schedule_lag_p99"`
	KernelStreams    uint64   `json:"kernel_streams"`
	ReadStreams      uint64   `json:"read_streams"`
	Suspensions      uint64   `json:"suspensions"`
	Suspended        float64  `json:"suspended_ms"`
	ClockSteps       uint64   `json:"clock_steps"`
	Nice             int      `json:"nice"`
	Word             *string  `json:"word"`
}

type sentence struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// JSON writes the report as one JSON document, indented, ended by a newline,
// its keys in a fixed order.
func JSON(s *stats.Snapshot, o Options) ([]byte, error) { return marshal(s, o, stats.Read) }

func marshal(s *stats.Snapshot, o Options, read reader) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(newDocument(s, o, read)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ms is a duration in ns as milliseconds.
func ms(ns int64) float64 { return float64(ns) / 1e6 }

// seconds is a duration in ns as seconds, to the millisecond.
func seconds(ns int64) float64 { return math.Round(float64(ns)/1e6) / 1e3 }

// num is a number that may not exist.
func num(v float64, exists bool) *float64 {
	if !exists || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// str is text of untrusted origin that may be unknown.
func str(s string) *string {
	if s = clean(s); s == "" {
		return nil
	}
	return &s
}

func clean(s string) string { return format.Clean(format.RedactText(s)) }

func started(s *stats.Snapshot) *string {
	if s.Wall.IsZero() {
		return nil
	}
	at := s.Wall.Format(time.RFC3339)
	return &at
}
