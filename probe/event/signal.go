package event

// Signal is what a server, its GPU or an exporter said of itself at one look.
// It is evidence for why something took long, and enters no measured figure.
type Signal struct {
	At     int64  `json:"at"`               // when the answer had come whole
	Target uint32 `json:"target,omitempty"` // 0: of this machine, not of one target
	Source string `json:"source"`           // one of the Signal… names below
	Age    int64  `json:"age,omitempty"`    // ns that the values were old by then, at most
	Took   int64  `json:"took,omitempty"`   // ns from the question to the last byte of the answer
	Bytes  int    `json:"bytes,omitempty"`  // of the answer
	Span   int64  `json:"span,omitempty"`   // ns since the look that Delta counts from; 0 where there is none
	// Restart: a counter went back or the process has a later start, so whatever
	// is counted began anew since the look before.
	Restart bool     `json:"restart,omitempty"`
	Detail  string   `json:"detail,omitempty"` // one line: why there are no values, or what to think of them
	Effect  string   `json:"effect,omitempty"` // one line, in the first look: what asking does to the server or to others
	Values  []Sample `json:"values,omitempty"`
}

// Sources of a Signal.
const (
	SignalMetrics    = "metrics"    // a page in the Prometheus text format
	SignalSlots      = "slots"      // llama.cpp's /slots
	SignalLoaded     = "loaded"     // Ollama's /api/ps
	SignalPerf       = "perf"       // KoboldCpp's /api/extra/perf
	SignalIterations = "iterations" // TensorRT-LLM's JSON, which is drained by reading it
	SignalGPU        = "gpu"        // nvidia-smi on this machine
	SignalExporter   = "exporter"   // the page of a DCGM exporter
)

// Sample is one figure of a Signal under a name that is the same for all
// engines: running, waiting, kv_used, preemptions, gen_tokens, gpu.util. A
// histogram is the samples NAME_sum and NAME_count, and NAME_p50 and NAME_p99
// of what it counted during Span, interpolated within a bucket, and NAME_p50_all
// and NAME_p99_all of what it counted since the first look: the upper edge of the
// bucket that they lie in, negative where they lie beyond the last edge, which it
// then is.
type Sample struct {
	Name  string  `json:"n"`
	Of    string  `json:"of,omitempty"` // which one, where there are several: a GPU
	Value float64 `json:"v"`            // seconds, bytes, tokens, requests, or a share from 0 to 1
	Delta float64 `json:"d,omitempty"`  // growth during Span, of what only counts up
}

// Value finds a figure by its name, whatever it is of: the first one.
func (e *Signal) Value(name string) (Sample, bool) {
	for _, s := range e.Values {
		if s.Name == name {
			return s, true
		}
	}
	return Sample{}, false
}

// Kind is KindSignal.
func (*Signal) Kind() Kind { return KindSignal }

// Time is At.
func (e *Signal) Time() int64 { return e.At }
