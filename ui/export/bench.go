package export

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// bench writes the key names of vllm bench serve's result file, so that scripts
// that were written for that read these. The numbers are teapot's, by teapot's
// definitions, which a key of its own names.
type bench struct {
	out    io.Writer
	a      *stats.Aggregator
	by     map[uint32]*benchRequests
	err    error
	starts map[uint32]*span
}

// span is from the first request that was measured to the end of the last.
type span struct{ from, to int64 }

// benchRequests are the lists that hold an entry per request.
type benchRequests struct {
	in, out []int
	ttfts   []float64   // s
	itls    [][]float64 // s
	errors  []string
}

func newBench(out io.Writer, a *stats.Aggregator) writer {
	return &bench{out: out, a: a, by: map[uint32]*benchRequests{}, starts: map[uint32]*span{}}
}

func (w *bench) event(event.Event) error { return nil }

func (w *bench) ended(target uint32, t *stats.Trace) {
	if t.Warmup {
		return
	}
	r, s := w.by[target], w.starts[target]
	if r == nil {
		r, s = &benchRequests{}, &span{from: t.Sent}
		w.by[target], w.starts[target] = r, s
	}
	s.from, s.to = min(s.from, t.Sent), max(s.to, t.End, t.Last)
	failed := ""
	if t.Class.Failed() {
		failed = format.Clean(string(t.Class) + " " + format.RedactText(t.Message))
	}
	r.in, r.out = append(r.in, t.Prompt), append(r.out, t.N)
	r.errors = append(r.errors, failed)
	r.ttfts = append(r.ttfts, float64(t.TTFT)/1e9)
	gaps := []float64{}
	for i, c := range t.Cells() {
		if i > 0 {
			gaps = append(gaps, float64(c.Gap)/1e9)
		}
	}
	r.itls = append(r.itls, gaps)
}

// definitions say where teapot's numbers are not what the key's name means in
// vllm.
var definitions = map[string]string{
	"ttft":           "request written on a standing connection to the first token in any channel; connecting is not in it",
	"itl":            "between two events that carried tokens, as vllm bench serve takes it; gaps that this client made are left out of the percentiles",
	"tpot":           "(last token - first token) / (tokens - 1), of each request",
	"e2el":           "request written to its last token",
	"percentiles":    "nearest rank, of all samples with the timeouts as samples of at least their limit; null where there are too few samples for the percentile to exist",
	"std":            "of the population, to the resolution of the histogram (0.1 %)",
	"input":          "prompt tokens as the server counted them, or else as aimed at",
	"generated_text": "never written",
}

// result is one target as one result file.
func (w *bench) result(s *stats.Snapshot, t *stats.Target, dists []stats.Distribution) map[string]any {
	f, load := &t.Session, s.Load
	r := w.by[t.Info.ID]
	if r == nil {
		r = &benchRequests{in: []int{}, out: []int{}, ttfts: []float64{}, itls: [][]float64{}, errors: []string{}}
	}
	seconds := 0.0
	if x := w.starts[t.Info.ID]; x != nil {
		seconds = float64(x.to-x.from) / 1e9
	}
	rate := func(n float64) float64 {
		if seconds <= 0 {
			return 0
		}
		return n / seconds
	}
	completed := f.Requests.OK // the short ones are among them
	out := map[string]any{
		"date": "", "backend": "teapot", "endpoint_type": t.Info.API, "label": nil,
		"model_id": format.Clean(t.Info.Model), "tokenizer_id": nil, "base_url": format.Clean(format.Redact(t.Info.URL)),
		"num_prompts": len(r.out), "request_rate": "inf", "burstiness": 1.0, "max_concurrency": load.Concurrency,
		"duration": seconds, "completed": completed, "failed": f.Requests.Failed,
		"total_input_tokens": f.PromptTokens, "total_output_tokens": f.OutputTokens,
		"request_throughput": rate(float64(completed)), "request_goodput": nil,
		"output_throughput": rate(float64(f.OutputTokens)), "total_token_throughput": rate(float64(f.OutputTokens + f.PromptTokens)),
		"input_lens": r.in, "output_lens": r.out, "generated_texts": []string{}, "ttfts": r.ttfts, "itls": r.itls, "errors": r.errors,
		"max_output_tokens_per_s": peak(s, t), "max_concurrent_requests": load.Concurrency,
		"teapot_definitions": definitions,
	}
	if !s.Wall.IsZero() {
		out["date"] = s.Wall.UTC().Format("20060102-150405")
	}
	if load.Rate > 0 {
		out["request_rate"] = load.Rate
	}
	if len(f.SLO) > 0 {
		out["request_goodput"] = rate(f.Goodput * float64(f.Requests.OK+f.Requests.Failed))
	}
	for _, m := range [...]benchMetric{{"ttft", &f.TTFT, "ttft"}, {"tpot", &f.TPOT, "tpot"}, {"itl", &f.Gap, "gap"}, {"e2el", &f.E2E, "e2e"}} {
		m.put(out, dists, t.Info.ID)
	}
	return out
}

// benchMetric is a figure under vLLM's name.
type benchMetric struct {
	name string
	f    *stats.Figure
	dist string
}

// put writes the figure's keys. What does not exist is null, and not a 0.
func (m *benchMetric) put(out map[string]any, dists []stats.Distribution, target uint32) {
	value := func(ns float64, known bool) any {
		if !known {
			return nil
		}
		return ns / 1e6
	}
	out["mean_"+m.name+"_ms"] = value(m.f.Mean, m.f.N > 0)
	out["std_"+m.name+"_ms"] = nil
	for i := range dists {
		if d := &dists[i]; d.Target == target && d.Name == m.dist {
			out["std_"+m.name+"_ms"] = value(d.Deviation(), d.N > 0)
		}
	}
	for i, p := range stats.Quantiles {
		q := &m.f.Q[i]
		v := value(float64(q.Value), q.Mark != stats.MarkNone)
		out["p"+percentileWord(p)+"_"+m.name+"_ms"] = v
		if p == 0.5 {
			out["median_"+m.name+"_ms"] = v
		}
	}
}

// peak is the most tokens in one second.
func peak(s *stats.Snapshot, t *stats.Target) float64 {
	most := uint64(0)
	if t.Series != nil {
		for _, c := range t.Series.Columns(s.Now, int64(time.Second), int(s.Now/int64(time.Second))+1) {
			most = max(most, c.Tokens)
		}
	}
	return float64(most)
}

func (w *bench) end() error {
	s, dists := w.a.Snapshot(), w.a.Distributions()
	enc := json.NewEncoder(w.out)
	enc.SetIndent("", "  ")
	if len(s.Targets) == 1 {
		return enc.Encode(w.result(s, s.Targets[0], dists))
	}
	list := make([]any, len(s.Targets))
	for i, t := range s.Targets {
		list[i] = w.result(s, t, dists)
	}
	return enc.Encode(list)
}

// percentileWord is vLLM's name of a percentile: "99", "99.9".
func percentileWord(p float64) string { return strconv.FormatFloat(p*100, 'f', -1, 64) }
