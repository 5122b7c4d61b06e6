// Package options says what a person can ask teapot for: commands, flags,
// environment variables, the configuration file, service levels and URLs, and
// turns them into the settings of the probe and of the statistics.
//
// It decides and explains; it starts nothing, opens no connection and writes
// only what the person asked to see (help, version, settings) or did wrong. It
// must not let a secret into anything it prints.
package options

import (
	"time"
)

// Command is what teapot is asked to do.
type Command string

// The commands. "demo" is Watch with a demo: URL.
const (
	Watch   Command = "watch"   // the live screen, or plain lines where there is no terminal
	Report  Command = "report"  // measure without a screen, then report
	Replay  Command = "replay"  // the screen or the report of a recording
	Compare Command = "compare" // two runs against each other
	Export  Command = "export"  // a recording in the format of another tool
	Probe   Command = "probe"   // events on standard output
	Engine  Command = "engine"  // the built-in engine as a server

	SelfTest Command = "selftest" // how exact teapot is on this machine, in ten seconds
	Accuracy Command = "accuracy" // the same beside other clients, in minutes
)

// Options is everything a person asked for, checked and with defaults filled
// in. The tags are the single description of each flag: its names, its help,
// the range of its values, and the commands on which it means something.
type Options struct {
	// Command is what to do.
	Command Command `kong:"-"`
	// URLs are the endpoints, checked and normalised, or demo:PROFILE. They may
	// hold userinfo: show them through Redact. Empty on Watch means that the
	// well-known local ports are to be tried.
	URLs []string `kong:"-"`
	// File is the recording of Replay and Export, and of Report where it is one
	// recording; "-" is standard input.
	File string `kong:"-"`
	// Files are the recordings that Report is of; empty where it measures. Several
	// are there with Merge alone.
	Files []string `kong:"-"`
	// Against are the two runs of Compare, A and B: recordings or JSON reports.
	Against [2]string `kong:"-"`
	// Profile is the profile of Engine.
	Profile string `kong:"-"`
	// Prompts are the prompts of --prompt and --prompt-file, in turn.
	Prompts []string `kong:"-"`

	Concurrency    int           `name:"concurrency" short:"c" type:"opt" group:"load" placeholder:"N" default:"1" min:"1" max:"4096" eg:"-c 4" on:"watch report probe" help:"Streams at the same time. With --rate: the most in flight, then 128 unless given."`
	Rate           float64       `name:"rate" type:"opt" group:"load" placeholder:"R" default:"0" min:"0" max:"100000" eg:"--rate 2.5" on:"watch report probe" help:"Requests a second on a fixed schedule (open loop). 0: each stream sends its next request after the last one ended (closed loop)."`
	Requests       int           `name:"requests" short:"n" type:"opt" group:"load" placeholder:"N" default:"0" min:"0" max:"1000000000" eg:"-n 500" on:"watch report probe" help:"Stop after N measured requests of each endpoint. 0: no limit."`
	Duration       time.Duration `name:"duration" short:"d" type:"opt" group:"load" placeholder:"T" default:"0" min:"100ms" max:"8760h" zero:"ok" eg:"-d 60s" on:"watch report probe selftest accuracy" help:"No new request after T; those in flight get 10 s more. 0: no limit. On report 30s unless -n or -d is given."`
	Arrival        string        `name:"arrival" type:"opt" group:"load" placeholder:"HOW" default:"constant" values:"constant,poisson" on:"watch report probe" help:"Spacing of the requests of --rate: constant or poisson."`
	Seed           uint64        `name:"seed" type:"opt" group:"load" placeholder:"N" default:"0" eg:"--seed 7" on:"watch report probe engine" help:"Seed of the schedule, the prompts and the built-in engine. 0: a new one for each run."`
	Warmup         int           `name:"warmup" type:"opt" group:"load" placeholder:"N" default:"1" min:"0" max:"100000" eg:"--warmup 1" on:"watch report probe" help:"Requests per endpoint that are sent first and left out of the statistics."`
	MaxTotalTokens int           `name:"max-total-tokens" type:"opt" group:"load" placeholder:"N" default:"0" min:"0" max:"1000000000000" eg:"--max-total-tokens 100000" on:"watch report probe" help:"Stop when prompt and output tokens together reach N: a brake for paid endpoints. 0: no limit."`

	Passive       bool   `name:"passive" type:"opt" group:"signals" on:"watch report probe" help:"Send no request for tokens at all: only look at what the server says of itself."`
	ServerMetrics string `name:"server-metrics" type:"opt" rule:"signals" group:"signals" placeholder:"WHAT" default:"auto" words:"auto,off,drain" eg:"--server-metrics http://gpu07:8002/metrics" on:"watch report probe" help:"What to read beside the requests, once a second: auto (what the engine shows), off, drain (also what reading takes away from other collectors), or the URL of a page of metrics."`
	MetricsTable  string `name:"metrics-table" type:"opt" group:"signals" placeholder:"FILE" on:"watch report probe" help:"More names of metrics, one figure a line, tried before the built-in ones."`
	GPU           string `name:"gpu" type:"opt" rule:"signals" group:"signals" placeholder:"WHAT" default:"auto" words:"auto,off" eg:"--gpu http://gpu07:9400/metrics" on:"watch report probe" help:"auto: the GPUs of this machine (nvidia-smi), where the endpoint is on it; off; or the URL of a DCGM exporter's page."`

	Model        string   `name:"model" short:"m" type:"opt" group:"request" placeholder:"NAME" on:"watch report probe" help:"Model to ask for. Unset: the first one the endpoint lists."`
	API          string   `name:"api" type:"opt" group:"request" placeholder:"API" default:"auto" values:"auto,chat,completions,responses,anthropic,ollama,ollama-generate,llamacpp,lmstudio,sglang,tgi,triton,gemini,koboldcpp" on:"watch report probe" help:"Dialect to speak: auto, or one of OpenAI's (chat, completions, responses), anthropic, or an engine's own (ollama, ollama-generate, llamacpp, lmstudio, sglang, tgi, triton, gemini, koboldcpp)."`
	Prompt       string   `name:"prompt" type:"opt" group:"request" placeholder:"TEXT" on:"watch report probe" help:"Prompt to send instead of a made-up one."`
	PromptFile   string   `name:"prompt-file" type:"opt" group:"request" placeholder:"FILE" on:"watch report probe" help:"Prompts to send in turn, one a line."`
	PromptTokens int      `name:"prompt-tokens" type:"opt" group:"request" placeholder:"N" default:"128" min:"1" max:"1000000" eg:"--prompt-tokens 512" on:"watch report probe" help:"Length of the made-up prompts in tokens, about."`
	MaxTokens    int      `name:"max-tokens" type:"opt" group:"request" placeholder:"N" default:"256" min:"1" max:"1000000" eg:"--max-tokens 64" on:"watch report probe" help:"Output tokens to ask for."`
	Cache        string   `name:"cache" type:"opt" group:"request" placeholder:"HOW" default:"cold" values:"cold,warm" on:"watch report probe" help:"cold: every prompt begins differently, so that no prefix cache helps. warm: they all begin alike."`
	Header       []string `name:"header" short:"H" type:"opt" rule:"header" group:"request" placeholder:"'K: V'" eg:"-H 'X-Team: tea'" on:"watch report probe" help:"Header to add. May be repeated."`
	APIKeyEnv    string   `name:"api-key-env" type:"opt" rule:"env-name" group:"request" placeholder:"NAME" on:"watch report probe" help:"Environment variable that holds the API key. Unset: OPENAI_API_KEY, if there is one."`
	Insecure     bool     `name:"insecure" type:"opt" group:"request" on:"watch report probe" help:"Accept any TLS certificate."`
	CACert       string   `name:"cacert" type:"opt" group:"request" placeholder:"FILE" on:"watch report probe" help:"Certificates (PEM) to trust beside the system's."`

	ConnectTimeout time.Duration `name:"connect-timeout" type:"opt" group:"limits" placeholder:"T" default:"5s" min:"1ms" max:"24h" eg:"--connect-timeout 5s" on:"watch report probe" help:"Limit for DNS, TCP and TLS together."`
	TTFTTimeout    time.Duration `name:"ttft-timeout" type:"opt" group:"limits" placeholder:"T" default:"30s" min:"1ms" max:"24h" eg:"--ttft-timeout 30s" on:"watch report probe" help:"Limit from the request to its first token."`
	IdleTimeout    time.Duration `name:"idle-timeout" type:"opt" group:"limits" placeholder:"T" default:"30s" min:"1ms" max:"24h" eg:"--idle-timeout 30s" on:"watch report probe" help:"Limit between two tokens."`
	Timeout        time.Duration `name:"timeout" type:"opt" group:"limits" placeholder:"T" default:"10m" min:"1ms" max:"24h" eg:"--timeout 10m" on:"watch report probe" help:"Limit for a whole request."`

	ReadyTimeout time.Duration `name:"ready-timeout" type:"opt" group:"limits" placeholder:"T" default:"15m" min:"1s" max:"24h" eg:"--ready-timeout 30m" on:"watch report probe" help:"Limit of the wait for an endpoint that loads its model, or asks to be asked later, before anything is measured; -d begins after it. A watch without -d or -n waits for ever."`

	SLO          []string      `name:"slo" type:"opt" rule:"slo" group:"stats" placeholder:"EXPR" eg:"--slo 'gap<=50ms:99%'" on:"watch report replay" help:"Service level, such as 'gap<=50ms:99%' or 'ttft<500ms' (then 99 %); metrics ttft ttfo gap itl tpot e2e. Also mlperf:70b-interactive and the like, reader, 24fps, 60fps, instant. May be repeated; a miss gives exit code 3."`
	MaxErrorRate string        `name:"max-error-rate" type:"opt" rule:"share" group:"stats" placeholder:"SHARE" eg:"--max-error-rate 1%" on:"watch report replay" help:"Most failed requests to put up with, such as 1%; more gives exit code 3."`
	Window       string        `name:"window" type:"opt" rule:"window" group:"stats" placeholder:"T" default:"1m" eg:"--window 5m" on:"watch replay" help:"Rolling window shown first: 10s, 1m, 5m or 15m."`
	Retention    time.Duration `name:"retention" type:"opt" group:"stats" placeholder:"T" default:"15m" min:"1m" max:"24h" eg:"--retention 1h" on:"watch report replay" help:"How far back the charts and lists go."`
	ExcludeLate  bool          `name:"exclude-late" type:"opt" group:"stats" on:"watch report replay export" help:"Leave out of the percentiles what this client took late."`

	FailIf []string `name:"fail-if" type:"opt" rule:"condition" group:"stats" placeholder:"EXPR" eg:"--fail-if 'gap.p99>+10%'" on:"compare" help:"Exit with 3 if this holds: 'gap.p99>+10%' or 'ttft.p50>+20ms' (change from A to B, more than chance), 'gap.p99>50ms' or 'err>1%' (of B alone). Metrics gap itl ttft ttfo tpot e2e sched_ttft sched_e2e; mean, max, p50 to p99.99. May be repeated."`

	OutputFormat string        `name:"output-format" type:"opt" group:"output" placeholder:"FORMAT" values:",text,json,markdown,none" on:"watch report replay compare selftest" help:"Report at the end: text, json, markdown or none. Unset: by the ending of -o (.json, .md), else text."`
	Output       string        `name:"output" short:"o" type:"opt" group:"output" placeholder:"FILE" on:"watch report replay compare selftest accuracy export" help:"Write the report to FILE instead of standard output (-)."`
	Listen       string        `name:"listen" type:"opt" rule:"listen" group:"output" placeholder:"ADDR" eg:"--listen :9464" on:"watch report replay" help:"Serve the session's figures to Prometheus at http://ADDR/metrics. :PORT is on this machine alone; name a host to be reached from others."`
	HLog         string        `name:"hlog" type:"opt" group:"output" placeholder:"FILE" eg:"--hlog run.hlog" on:"watch report replay" help:"Write an HdrHistogram interval log to FILE: a line a second for each figure, tagged with its name."`
	To           string        `name:"to" type:"opt" group:"output" placeholder:"FORMAT" default:"trace" values:"trace,csv,requests,hlog,hgrm,vllm" on:"export" help:"trace: a Chrome trace, for Perfetto. csv: a row per token event; requests: one per request. hlog: HdrHistogram's interval log, for HistogramLogAnalyzer. hgrm: the gaps' percentile distribution, for hdr-plot. vllm: JSON with the keys of vllm bench serve."`
	Record       string        `name:"record" type:"opt" group:"output" placeholder:"FILE" on:"watch report" help:"Write the session's events to FILE, for teapot replay."`
	SaveText     bool          `name:"save-text" type:"opt" group:"output" on:"watch report probe" help:"Let the text of replies into recordings."`
	Merge        bool          `name:"merge" type:"opt" group:"output" on:"report" help:"One report of several recordings of the same time: their samples are added up, target by target."`
	NoSummary    bool          `name:"no-summary" type:"opt" group:"output" on:"watch replay" help:"Leave no table behind when the screen closes."`
	Speed        float64       `name:"speed" type:"opt" group:"output" placeholder:"X" default:"1" min:"0" max:"1000" eg:"--speed 4" on:"replay" help:"Pace of the replay; 0: as fast as possible."`
	Addr         string        `name:"addr" type:"opt" rule:"addr" group:"output" placeholder:"ADDR" default:"127.0.0.1:0" eg:"--addr 127.0.0.1:8000" on:"engine" help:"Address the engine listens on; port 0 takes a free one."`
	Loading      time.Duration `name:"loading" type:"opt" group:"output" placeholder:"T" default:"0" min:"1ms" max:"24h" zero:"ok" eg:"--loading 5s" on:"engine" help:"Answer 503 for T at first, as a server that loads its model."`
	Truth        string        `name:"truth" type:"opt" group:"output" placeholder:"FILE" on:"engine" help:"Write every token's true write time and every fault's cause to FILE, a JSON object a line."`

	Color        string `name:"color" type:"opt" group:"screen" placeholder:"WHEN" default:"auto" values:"auto,always,never" on:"watch replay" help:"auto, always or never. auto heeds NO_COLOR."`
	Glyphs       string `name:"glyphs" type:"opt" group:"screen" placeholder:"SET" default:"auto" values:"auto,block,braille,ascii" on:"watch report replay compare" help:"auto, block, braille or ascii. auto: ascii where the locale is not UTF-8."`
	Theme        string `name:"theme" type:"opt" group:"screen" placeholder:"NAME" default:"auto" values:"auto,dark,light,mono,contrast" on:"watch replay" help:"auto, dark, light, mono or contrast."`
	LowBandwidth bool   `name:"low-bandwidth" type:"opt" group:"screen" on:"watch replay" help:"Draw little and seldom, for a slow link."`
	NoSync       bool   `name:"no-sync" type:"opt" group:"screen" on:"watch replay" help:"Do not ask the terminal for synchronized output."`

	ConfigFile  string `name:"config" type:"opt" group:"general" placeholder:"FILE" on:"all" help:"Settings file (TOML). Unset: $XDG_CONFIG_HOME/teapot/config.toml, if it exists."`
	PrintConfig bool   `name:"print-config" type:"opt" group:"general" on:"all" help:"Print the settings in force and where each comes from, then exit."`
	Log         string `name:"log" type:"opt" group:"general" placeholder:"FILE" on:"all" help:"Append diagnostics to FILE."`
	Verbose     bool   `name:"verbose" short:"v" type:"opt" group:"general" on:"all" help:"Say why an engine or a dialect was chosen."`
	Version     bool   `name:"version" short:"V" type:"opt" group:"general" on:"all" help:"Print the version, then exit."`
	Help        bool   `name:"help" short:"h" type:"opt" group:"general" on:"all" help:"Print this help, then exit."`

	Rounds int `name:"rounds" type:"opt" group:"output" placeholder:"N" default:"3" min:"1" max:"100" eg:"--rounds 3" on:"accuracy" help:"How often each client takes each load; the median counts."`

	Quick bool `name:"quick" type:"opt" group:"output" on:"accuracy" help:"One round of half a second a load, unless --rounds or -d is given: a minute and a half, and rough."`

	// Serve and WorkDir make a process the scheduled server of a measurement.
	Serve   string `name:"serve" type:"opt" hidden:"" values:",http,https,h2,unix,distant" on:"accuracy"`
	WorkDir string `name:"work-dir" type:"opt" hidden:"" on:"accuracy"`

	// Child is set by teapot on the processes it starts itself: end when
	// standard input ends.
	Child bool `name:"child" type:"opt" hidden:"" on:"probe engine"`

	origins map[string]Origin
	runSeed uint64
	keyEnv  string
	narrow  bool // the locale has no UTF-8
}

// OriginKind says where a setting came from, weakest first.
type OriginKind uint8

// The origins.
const (
	FromDefault OriginKind = iota
	FromFile
	FromEnv
	FromFlag
)

// Origin says where a setting came from.
type Origin struct {
	Kind  OriginKind
	Where string // FromFile: "FILE:LINE"; FromEnv: the variable
}

// String names the origin for --print-config.
func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		return o.Where
	case FromEnv:
		return "environment " + o.Where
	case FromFlag:
		return "flag"
	}
	return "default"
}

// Origin tells where the value of a flag came from; name is its long name.
func (o *Options) Origin(name string) Origin { return o.origins[name] }

// Given tells whether a flag was set in any way; name is its long name.
func (o *Options) Given(name string) bool { return o.origins[name].Kind != FromDefault }
