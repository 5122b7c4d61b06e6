package sim

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var series = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$`)

// scrape reads /metrics. Series are keyed by their name and those labels that
// are not on all of vLLM's.
func (w *world) scrape() map[string]float64 {
	res, err := w.http.Get("http://engine/metrics")
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		w.Errorf("metrics: status %d, %v", res.StatusCode, err)
	}
	return parseMetrics(w.T, string(b))
}

func parseMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	typed := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(name, " ")
			if typed[name] != "" {
				t.Errorf("%s is declared twice", name)
			}
			typed[name] = kind
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		m := series.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a series: %q", line)
			continue
		}
		family := m[1]
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(m[1], end); typed[base] == "histogram" {
				family = base
			}
		}
		if typed[family] == "" {
			t.Errorf("%s has no TYPE before it", m[1])
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		key := m[1]
		var rest []string
		for l := range strings.SplitSeq(m[2], ",") {
			if l != "" && !strings.HasPrefix(l, "engine=") && !strings.HasPrefix(l, "model_name=") {
				rest = append(rest, l)
			}
		}
		if len(rest) > 0 {
			key += "{" + strings.Join(rest, ",") + "}"
		}
		if _, twice := out[key]; twice {
			t.Errorf("series %s twice", key)
		}
		out[key] = v
	}
	return out
}

func TestMetricsTellTheRun(t *testing.T) {
	bubble(t, Options{Profile: "smooth", Model: `a "b"\c`}, func(w *world) {
		idle := w.scrape()
		if idle["vllm:num_requests_running"] != 0 || idle["vllm:generation_tokens_total"] != 0 {
			w.Errorf("before the first request: %v", idle)
		}
		go w.ask(usual + `,"max_tokens":100`)
		time.Sleep(500 * time.Millisecond)
		busy := w.scrape()
		if busy["vllm:num_requests_running"] != 1 || busy["vllm:kv_cache_usage_perc"] <= 0 || busy["vllm:kv_cache_usage_perc"] > 1 {
			w.Errorf("under way: running %v, KV %v", busy["vllm:num_requests_running"], busy["vllm:kv_cache_usage_perc"])
		}
		time.Sleep(3 * time.Second)
		m := w.scrape()
		for key, want := range map[string]float64{
			"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
			"vllm:generation_tokens_total": 100, "vllm:prompt_tokens_total": 10, "vllm:num_preemptions_total": 0,
			`vllm:request_success_total{finished_reason="length"}`:          1,
			"vllm:time_to_first_token_seconds_count":                        1,
			"vllm:inter_token_latency_seconds_count":                        99,
			"vllm:e2e_request_latency_seconds_count":                        1,
			"vllm:request_queue_time_seconds_count":                         1,
			`vllm:inter_token_latency_seconds_bucket{le="+Inf"}`:            99,
			`vllm:inter_token_latency_seconds_bucket{le="0.01"}`:            0,
			`vllm:inter_token_latency_seconds_bucket{le="0.025"}`:           99,
			`vllm:cache_config_info{block_size="16",num_gpu_blocks="4096"}`: 1,
		} {
			if got, ok := m[key]; !ok || got != want {
				w.Errorf("%s = %v, want %v", key, got, want)
			}
		}
		if mean := m["vllm:inter_token_latency_seconds_sum"] / 99; mean < 0.0125 || mean > 0.0155 {
			w.Errorf("mean inter-token latency %v s", mean)
		}
	})
}

func TestHistogramsAreCumulative(t *testing.T) {
	m := newMetrics("m", 1, time.Unix(1, 0))
	for _, v := range []float64{0.001, 0.0010001, 3, 1e9} {
		m.ttft.observe(v)
	}
	got := parseMetrics(t, string(m.text()))
	name := "vllm:time_to_first_token_seconds"
	for le, want := range map[string]float64{"0.001": 1, "0.005": 2, "2.5": 2, "5.0": 3, "2560.0": 3, "+Inf": 4} {
		if n := got[name+`_bucket{le="`+le+`"}`]; n != want {
			t.Errorf("le %s: %v, want %v", le, n, want)
		}
	}
	if got[name+"_count"] != 4 {
		t.Errorf("count %v", got[name+"_count"])
	}
}
