package sim

import (
	"math"
	"sort"
	"strconv"
	"sync"
	"time"
)

// The bounds of vLLM's histograms, in seconds or tokens.
var (
	ttftBounds    = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	itlBounds     = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	stepBounds    = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

// histogram counts observations into buckets.
type histogram struct {
	bounds []float64 // upper ends, ascending, without +Inf
	counts []uint64  // one more than bounds
	sum    float64
	n      uint64
}

func newHistogram(bounds []float64) histogram {
	return histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	h.counts[sort.SearchFloat64s(h.bounds, v)]++
	h.sum += v
	h.n++
}

func (h *histogram) seconds(d int64) { h.observe(float64(d) / 1e9) }

// metrics is the state behind /metrics. The names are vLLM's.
type metrics struct {
	mu     sync.Mutex
	model  string
	blocks int
	counts
}

// counts is what starts again with the engine. Times are observed in seconds.
type counts struct {
	born time.Time

	running, waiting int
	usage            float64 // of the KV blocks, 0..1

	preemptions, prompt, recomputed, generated uint64
	queries, hits                              uint64 // prefix cache, tokens
	stopped, length, aborted, failed, rejected uint64
	drafts, drafted, accepted                  uint64
	gc                                         [3]uint64 // by generation

	ttft, itl, tpot, e2e, queue, prefill, decode, steps histogram
}

func newMetrics(model string, blocks int, born time.Time) *metrics {
	m := &metrics{model: model, blocks: blocks}
	m.reset(born)
	return m
}

// reset empties every counter, as the start of a new process does.
func (m *metrics) reset(born time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts = counts{
		born: born,
		ttft: newHistogram(ttftBounds), itl: newHistogram(itlBounds), tpot: newHistogram(itlBounds),
		e2e: newHistogram(requestBounds), queue: newHistogram(requestBounds),
		prefill: newHistogram(requestBounds), decode: newHistogram(requestBounds),
		steps: newHistogram(stepBounds),
	}
}

// text renders everything in the Prometheus text format 0.0.4.
func (m *metrics) text() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := printer{labels: `engine="0",model_name=` + quoteLabel(m.model), born: float64(m.born.UnixNano()) / 1e9}
	p.gauge("vllm:num_requests_running", "Requests in the batch.", float64(m.running))
	p.gauge("vllm:num_requests_waiting", "Requests in the queue.", float64(m.waiting))
	p.gauge("vllm:kv_cache_usage_perc", "Share of the KV blocks in use, 0 to 1.", m.usage)
	p.counter("vllm:num_preemptions", "Cumulative number of preemptions.", m.preemptions)
	p.counter("vllm:prefix_cache_queries", "Prefix cache queries, in tokens.", m.queries)
	p.counter("vllm:prefix_cache_hits", "Prefix cache hits, in tokens.", m.hits)
	p.counter("vllm:prompt_tokens", "Number of prefill tokens processed.", m.prompt)
	p.counter("vllm:prompt_tokens_recomputed", "Number of tokens computed again after a preemption.", m.recomputed)
	p.counter("vllm:generation_tokens", "Number of generation tokens processed.", m.generated)
	p.head("vllm:request_success_total", "Count of finished requests.", "counter")
	p.labelled("vllm:request_success_total", `finished_reason="stop"`, float64(m.stopped))
	p.labelled("vllm:request_success_total", `finished_reason="length"`, float64(m.length))
	p.labelled("vllm:request_success_total", `finished_reason="abort"`, float64(m.aborted))
	p.labelled("vllm:request_success_total", `finished_reason="error"`, float64(m.failed))
	p.counter("vllm:admission_rejections", "Requests turned away at the door.", m.rejected)
	if m.drafts > 0 {
		p.counter("vllm:spec_decode_num_drafts", "Number of drafts.", m.drafts)
		p.counter("vllm:spec_decode_num_draft_tokens", "Number of draft tokens.", m.drafted)
		p.counter("vllm:spec_decode_num_accepted_tokens", "Number of accepted draft tokens.", m.accepted)
	}
	p.histogram("vllm:iteration_tokens_total", "Number of tokens per engine step.", &m.steps)
	p.histogram("vllm:time_to_first_token_seconds", "Time to first token in seconds.", &m.ttft)
	p.histogram("vllm:inter_token_latency_seconds", "Inter-token latency in seconds.", &m.itl)
	p.histogram("vllm:request_time_per_output_token_seconds", "Mean time per output token of a request in seconds.", &m.tpot)
	p.histogram("vllm:e2e_request_latency_seconds", "End to end request latency in seconds.", &m.e2e)
	p.histogram("vllm:request_queue_time_seconds", "Time spent waiting in seconds.", &m.queue)
	p.histogram("vllm:request_prefill_time_seconds", "Time spent in prefill in seconds.", &m.prefill)
	p.histogram("vllm:request_decode_time_seconds", "Time spent in decode in seconds.", &m.decode)
	p.head("vllm:cache_config_info", "Information of the cache configuration.", "gauge")
	p.labelled("vllm:cache_config_info", `block_size="16",num_gpu_blocks="`+strconv.Itoa(m.blocks)+`"`, 1)
	p.process(m)
	return p.b
}

// process renders what the client library of a Python server adds.
func (p *printer) process(m *metrics) {
	p.labels = ""
	p.head("python_gc_collections_total", "Number of times this generation was collected.", "counter")
	for i, n := range m.gc {
		p.labelled("python_gc_collections_total", `generation="`+strconv.Itoa(i)+`"`, float64(n))
	}
	p.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", p.born)
}

// printer builds the exposition.
type printer struct {
	b      []byte
	labels string  // of every series
	born   float64 // seconds since 1970
}

func (p *printer) head(name, help, kind string) {
	p.b = append(p.b, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

func (p *printer) gauge(name, help string, v float64) {
	p.head(name, help, "gauge")
	p.labelled(name, "", v)
}

// counter prints a counter under its name and _total, and the gauge that says
// when it began.
func (p *printer) counter(name, help string, v uint64) {
	p.head(name+"_total", help, "counter")
	p.labelled(name+"_total", "", float64(v))
	p.gauge(name+"_created", help, p.born)
}

func (p *printer) histogram(name, help string, h *histogram) {
	p.head(name, help, "histogram")
	var sum uint64
	for i, n := range h.counts {
		sum += n
		le := "+Inf"
		if i < len(h.bounds) {
			le = number(h.bounds[i])
		}
		p.labelled(name+"_bucket", `le="`+le+`"`, float64(sum))
	}
	p.labelled(name+"_count", "", float64(h.n))
	p.labelled(name+"_sum", "", h.sum)
	p.gauge(name+"_created", help, p.born)
}

func (p *printer) labelled(name, more string, v float64) {
	p.b = append(p.b, name...)
	if p.labels != "" || more != "" {
		p.b = append(p.b, '{')
		p.b = append(p.b, p.labels...)
		if p.labels != "" && more != "" {
			p.b = append(p.b, ',')
		}
		p.b = append(p.b, more...)
		p.b = append(p.b, '}')
	}
	p.b = append(p.b, ' ')
	p.b = append(p.b, number(v)...)
	p.b = append(p.b, '\n')
}

// number writes a value as Python does: always with a point or an exponent.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// quoteLabel escapes a label value: backslash, quote and line feed.
func quoteLabel(s string) string {
	b := []byte{'"'}
	for i := range len(s) {
		switch s[i] {
		case '\\', '"':
			b = append(b, '\\', s[i])
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, s[i])
		}
	}
	return string(append(b, '"'))
}
