package event

import "time"

// Config is everything a probe is told before it starts: which endpoints, how
// to speak to them, and the load to make. A parent writes it as the first line
// of its child's control pipe, so that no header and no key stands in an
// argument list. It is never recorded; Load, its harmless part, is.
type Config struct {
	Targets []TargetConfig `json:"targets"`
	Load    Load           `json:"load"`
	Limits  Limits         `json:"limits"`
	// Text lets the text of tokens into the stream of events: into a pipe, and
	// into a regular file only when the user asked for it.
	Text bool `json:"text"`
	// Prompts are the user's own prompts, taken in turn; they are sent and
	// never recorded. Empty: prompts of Load.PromptTokens are made up.
	Prompts []string `json:"prompts,omitempty"`
	// GiveUp ends a run in which no target has ever answered once each of them
	// has failed three times: a report has nothing to wait for, a watcher has.
	GiveUp bool `json:"give_up,omitempty"`
	// Version is the program's, for the Session event.
	Version string `json:"version,omitempty"`
	// Verbose adds notes that say why an engine or a dialect was chosen.
	Verbose bool `json:"verbose,omitempty"`
	// GPU has the GPUs of this machine watched where a target is served from it;
	// Exporter is the page of a DCGM exporter that is read instead, "" for none.
	GPU      bool   `json:"gpu,omitempty"`
	Exporter string `json:"exporter,omitempty"`
	// MetricsTable is a file with more lines for the table of metrics, "" for
	// none.
	MetricsTable string `json:"metrics_table,omitempty"`
}

// TargetConfig is one endpoint.
type TargetConfig struct {
	URL      string   `json:"url"`               // may hold userinfo: never shown as it is
	Model    string   `json:"model"`             // "" takes the first of /v1/models
	API      string   `json:"api"`               // "auto", or the name of a dialect
	Headers  []string `json:"headers,omitempty"` // "Name: value"
	KeyEnv   string   `json:"key_env,omitempty"` // the environment variable with the API key
	Insecure bool     `json:"insecure,omitempty"`
	CACert   string   `json:"cacert,omitempty"`
	Cold     bool     `json:"cold"` // cache-busting nonce at the front of every prompt
	// Metrics is what is asked of the server's own signals: one of the Metrics
	// names below, or the address of a page. "" is MetricsOff.
	Metrics string `json:"metrics,omitempty"`
}

// What TargetConfig.Metrics may be, beside an address.
const (
	MetricsOff   = "off"
	MetricsAuto  = "auto"  // what the engine is known to show
	MetricsDrain = "drain" // also what reading takes away from other collectors
)

// Load is what is asked of the endpoints.
type Load struct {
	Concurrency  int           `json:"concurrency"`        // streams of the closed loop; in the open loop the most in flight
	Rate         float64       `json:"rate,omitempty"`     // requests/s of the open loop; 0 means closed loop
	Arrival      string        `json:"arrival,omitempty"`  // "constant" or "poisson"
	Pause        time.Duration `json:"pause,omitempty"`    // ns between two requests of one stream
	Requests     int           `json:"requests,omitempty"` // stop after so many measured requests of each target; 0 is no limit
	Duration     time.Duration `json:"duration,omitempty"` // no new request after it; 0 is no limit
	MaxTotal     int           `json:"max_total_tokens,omitempty"`
	Warmup       int           `json:"warmup"` // requests per target left out of the statistics
	MaxTokens    int           `json:"max_tokens"`
	PromptTokens int           `json:"prompt_tokens"`
	Seed         uint64        `json:"seed"`
	Cold         bool          `json:"cold"`
	// Passive: no request for tokens is ever made; only what the server says of
	// itself is read.
	Passive bool `json:"passive,omitempty"`
}

// Limits are the four timers of a request, and those of a run; 0 means the default of the probe.
type Limits struct {
	Connect time.Duration `json:"connect"` // DNS, TCP and TLS together
	First   time.Duration `json:"first"`   // from sent to the first token
	Idle    time.Duration `json:"idle"`    // between two tokens; bytes that carry none (comments, pings) do not count
	Total   time.Duration `json:"total"`   // from sent to the end
	Grace   time.Duration `json:"grace"`   // for requests in flight when the run's limit is reached

	// Ready is how long a run that has an end waits for its first measured
	// request while a target is loading its model, is warmed up, or asks to wait.
	Ready time.Duration `json:"ready,omitempty"`
}

// Control is one line of JSON on a probe's standard input.
type Control struct {
	Do     string  `json:"do"`               // one of the Do constants
	Value  float64 `json:"value,omitempty"`  // for DoRate, DoConcurrency, DoMaxTokens, DoPromptTokens
	Label  string  `json:"label,omitempty"`  // for DoMark
	Config *Config `json:"config,omitempty"` // for DoStart
}

// What a probe can be told while it runs.
const (
	DoStart        = "start"
	DoPause        = "pause"
	DoResume       = "resume"
	DoRate         = "rate"
	DoConcurrency  = "concurrency"
	DoMaxTokens    = "max_tokens"
	DoPromptTokens = "prompt_tokens"
	DoMark         = "mark"
	DoStop         = "stop"  // no new request; those in flight are aborted; Finished; exit
	DoAbort        = "abort" // exit now
	DoScene        = "scene" // of the built-in engine alone: play the scene of Label
)
