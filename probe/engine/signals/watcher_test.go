package signals

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
)

// clock counts a millisecond at every look at it.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() int64 { return c.ns.Add(1e6) }

func file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// server answers what it is told to at the time.
type server struct {
	*httptest.Server
	handle atomic.Pointer[http.HandlerFunc]
}

func serve(t *testing.T, body string) *server {
	t.Helper()
	s := &server{}
	s.says(body)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handle.Load())(w, r) }))
	t.Cleanup(s.Close)
	return s
}

func (s *server) does(h http.HandlerFunc) { s.handle.Store(&h) }

func (s *server) says(body string) {
	s.does(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
}

func watch(t *testing.T, s *server, cfg Config) *Watcher {
	t.Helper()
	cfg.Source.URL = s.URL + "/metrics"
	if cfg.Source.Name == "" {
		cfg.Source.Name = event.SignalMetrics
	}
	cfg.Source.Every, cfg.Now = often, new(clock).now
	w, err := NewWatcher(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func look(t *testing.T, w *Watcher) event.Signal {
	t.Helper()
	sig, err := w.Poll(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// want compares figures; a name may have #GPU behind it. What is NaN must not
// be there.
func want(t *testing.T, sig event.Signal, figures map[string]float64) {
	t.Helper()
	have := map[string]event.Sample{}
	for _, s := range sig.Values {
		key := s.Name
		if s.Of != "" {
			key += "#" + s.Of
		}
		if _, twice := have[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		have[key] = s
		have[key+"+"] = event.Sample{Value: s.Delta}
	}
	for name, v := range figures {
		got, ok := have[name]
		if ok == math.IsNaN(v) || ok && math.Abs(got.Value-v) > 1e-9*math.Max(1, math.Abs(v)) {
			t.Errorf("%s is %v (there: %v), want %v", name, got.Value, ok, v)
		}
	}
}

func TestPages(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		file string
		want map[string]float64
	}{
		{"vllm_v1.prom", map[string]float64{
			"running": 12, "waiting": 3, "kv_used": .93, "kv_used_mean": .63, "preemptions": 12, "prefix_queries": 10000, "prefix_hits": 4100,
			"step_tokens_sum": 4096, "step_tokens_count": 100, "itl_sum": .9, "itl_count": 100, "itl_p99": none, "swapped": none, "started": 1.7672256e9,
		}},
		{"vllm_v0.prom", map[string]float64{"running": 2, "swapped": 1, "waiting": 0, "kv_used": .5, "prefix_rate": none, "preemptions": 0, "itl_sum": 3, "itl_count": 300, "forward_sum": 1.5, "forward_count": 3}},
		{"sglang.prom", map[string]float64{"running": 4, "waiting": 1, "kv_used": .61, "preemptions": 2, "prefill_tokens": 9000, "gen_tokens": 750, "prefix_rate": .25, "evicted": 64, "accept_length": 2.5}},
		{"tgi.prom", map[string]float64{"running": 3, "waiting": 5, "kv_used": .25, "rejected": 7, "failed": 8, "gen_tokens": 640, "queue_sum": .5, "queue_count": 2, "prefill_sum": .25, "decode_count": 400}},
		{"llamacpp_after.prom", map[string]float64{"running": 0, "waiting": 0, "prefill_tokens": 2642, "prefix_hits": 1322, "gen_tokens": 642, "steps": 636, "prefill_seconds": .715777, "decode_seconds": 1.73889, "gen_rate": 349.648, "drafted": 0, "kv_used": none}},
		{"others.prom", map[string]float64{"running": 1, "waiting_api": 2, "kv_used": .1}},
		{"trtllm.prom", map[string]float64{"running": 6, "waiting": 1, "swapped": 1, "kv_used": .75, "prefix_rate": .5, "queue_sum": .5}},
		{"triton.prom", map[string]float64{"running": 3, "waiting": 2, "kv_used": .4, "finished": 11, "ttft_sum": .42, "gpu.util#GPU-a": .5, "gpu.util#GPU-b": .9, "gpu.mem_used#GPU-a": 1 << 20}},
		{"litellm.prom", map[string]float64{"finished": 40, "failed": 3, "upstream_sum": 12, "overhead_count": 40}},
		{"dcgm.prom", map[string]float64{"gpu.clock#0": 1.98e9, "gpu.clock#1": 3.45e8, "gpu.util#0": .97, "gpu.util#1": 0, "gpu.mem_used#0": 2 << 20, "gpu.throttle#0": 4}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text := file(t, c.file)
			sig := look(t, watch(t, serve(t, text), Config{Target: 7}))
			want(t, sig, c.want)
			if sig.Target != 7 || sig.Source != event.SignalMetrics || sig.Bytes != len(text) || sig.Took <= 0 || sig.Age != sig.Took || sig.Span != 0 || sig.Restart {
				t.Errorf("%+v", sig)
			}
		})
	}
}

func TestNamesWithoutPrefix(t *testing.T) {
	text := strings.ReplaceAll(file(t, "vllm_v1.prom"), "vllm:", "")
	want(t, look(t, watch(t, serve(t, text), Config{})), map[string]float64{"running": 12, "kv_used": .93, "preemptions": 12})
	text = strings.ReplaceAll(file(t, "vllm_v1.prom"), "vllm:", "vllm_")
	want(t, look(t, watch(t, serve(t, text), Config{})), map[string]float64{"running": 12, "kv_used": .93, "itl_count": 100})
}

func TestGrowth(t *testing.T) {
	s := serve(t, file(t, "vllm_v1.prom"))
	w := watch(t, s, Config{})
	first := look(t, w)
	r := strings.NewReplacer("preemptions_total{engine=\"0\",model_name=\"m\"} 12", "preemptions_total{engine=\"0\",model_name=\"m\"} 15",
		"le=\"0.01\",model_name=\"m\"} 90", "le=\"0.01\",model_name=\"m\"} 140", "le=\"0.025\",model_name=\"m\"} 100", "le=\"0.025\",model_name=\"m\"} 200",
		"latency_seconds_count{engine=\"0\",model_name=\"m\"} 100", "latency_seconds_count{engine=\"0\",model_name=\"m\"} 200", "latency_seconds_sum{engine=\"0\",model_name=\"m\"} 0.9", "latency_seconds_sum{engine=\"0\",model_name=\"m\"} 2.9")
	s.says(r.Replace(file(t, "vllm_v1.prom")))
	sig := look(t, w)
	if sig.Span != sig.At-first.At || sig.Restart {
		t.Errorf("%+v", sig)
	}
	// Of the 100 new ones 50 took up to 10 ms and 50 from there to 25 ms.
	want(t, sig, map[string]float64{"preemptions": 15, "preemptions+": 3, "running+": 0, "itl_count+": 100, "itl_sum+": 2, "itl_p50": .01, "itl_p99": .0247, "step_tokens_count+": 0, "step_tokens_p50": math.NaN()})
	if c := w.Cost(); c.Looks != 2 || c.Bytes != int64(first.Bytes+sig.Bytes) || c.Time != time.Duration(first.Took+sig.Took) {
		t.Errorf("%+v", c)
	}
}

func TestRecordedGrowth(t *testing.T) {
	s := serve(t, file(t, "llamacpp_idle.prom"))
	w := watch(t, s, Config{})
	look(t, w)
	s.says(file(t, "llamacpp_after.prom"))
	want(t, look(t, w), map[string]float64{"prefill_tokens+": 2642, "gen_tokens+": 642, "steps+": 636})
	s.says(file(t, "llamacpp_idle.prom"))
	sig := look(t, w)
	if !sig.Restart || sig.Span != 0 {
		t.Errorf("no restart: %+v", sig)
	}
	want(t, sig, map[string]float64{"gen_tokens": 0, "gen_tokens+": 0})
	if sig = look(t, w); sig.Restart || sig.Span == 0 {
		t.Errorf("a restart that lasts: %+v", sig)
	}
}

func TestRestarts(t *testing.T) {
	const a, b = "process_start_time_seconds 100\nvllm:generation_tokens_total 5\n", "process_start_time_seconds 200\nvllm:generation_tokens_total 9\n"
	for _, c := range []struct {
		name    string
		pages   []string
		restart bool
		several bool
		delta   float64
	}{
		{"a later start", []string{a, b}, true, false, 0},
		{"an earlier start", []string{b, a}, false, true, 0},
		{"the same start", []string{a, strings.Replace(a, " 5", " 6", 1)}, false, false, 1},
		{"a counter that fell", []string{a, strings.Replace(a, " 5", " 4", 1)}, true, false, 0},
		{"a histogram that fell", []string{"vllm:e2e_request_latency_seconds_count 5\n", "vllm:e2e_request_latency_seconds_count 4\n"}, true, false, 0},
		{"a gauge that fell", []string{"vllm:num_requests_running 5\n", "vllm:num_requests_running 4\n"}, false, false, 0},
		{"a counter that comes", []string{"vllm:num_requests_running 5\n", "vllm:num_requests_running 4\nvllm:generation_tokens_total 9\n"}, false, false, 0},
		{"a failed look between", []string{a, "", strings.Replace(a, " 5", " 8", 1)}, false, false, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, "")
			w := watch(t, s, Config{})
			var sig event.Signal
			for _, p := range c.pages {
				s.says(p)
				if p == "" {
					_, _ = w.Poll(context.Background())
					continue
				}
				sig = look(t, w)
			}
			if sig.Restart != c.restart || (sig.Detail == severalServers) != c.several || (sig.Span > 0) == (c.restart || c.several) {
				t.Errorf("%+v", sig)
			}
			if got, _ := sig.Value("gen_tokens"); got.Delta != c.delta {
				t.Errorf("grew by %v", got.Delta)
			}
		})
	}
}

func TestModels(t *testing.T) {
	const text = "vllm:num_requests_running{model_name=\"a\"} 2\nvllm:num_requests_running{model_name=\"b\"} 5\nvllm:num_requests_waiting{model_name=\"b\"} 1\nprocess_start_time_seconds 9\n"
	for model, running := range map[string]float64{"a": 2, "b": 5, "c": 7, "": 7} {
		want(t, look(t, watch(t, serve(t, text), Config{Model: model})), map[string]float64{"running": running, "started": 9})
	}
}

func TestNothingToSee(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, body) }
	}
	says := func(body string) http.HandlerFunc { return status(200, body) }
	for _, c := range []struct {
		name   string
		does   http.HandlerFunc
		absent bool
		text   string
	}{
		{"404", status(404, `{"detail":"Not Found"}`), true, "/metrics answers 404: Not Found; is the server started with its metrics on?"},
		{"501", status(501, `{"error":{"message":"This server does not support metrics endpoint.","code":501}}`), true, "/metrics answers 501: This server does not support metrics endpoint."},
		{"401", status(401, `{"error":"no key sk-abcdef123456"}`), true, "/metrics answers 401: no key"},
		{"HTML", says("<!doctype html><html>"), true, "/metrics answers HTML"},
		{"JSON", says(`[{"iter":1}]`), true, "/metrics answers JSON"},
		{"empty", says(" \n"), true, "/metrics is empty"},
		{"unknown metrics", says("a 1\nb 2\n"), true, "/metrics has 2 metrics, none of which is known"},
		{"too long", says(strings.Repeat("#", maxPage+1)), true, "/metrics: longer than 8 MiB"},
		{"503", status(503, `{"error":"busy"}`), false, "/metrics answers 503: busy"},
		{"429", status(429, ""), false, "/metrics answers 429"},
		{"another host", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://127.0.0.1:1/", 307) }, true, "/metrics answers 307"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, "")
			s.does(c.does)
			w := watch(t, s, Config{})
			sig, err := w.Poll(context.Background())
			_, absent := errors.AsType[*Absent](err)
			if err == nil || absent != c.absent || !strings.HasPrefix(err.Error(), c.text) || sig.Detail != err.Error() || len(sig.Values) != 0 || strings.Contains(sig.Detail, "sk-abc") {
				t.Errorf("%v (%T), %+v", err, err, sig)
			}
			if every := w.Every(); (every == seldom) != c.absent {
				t.Errorf("next look after %v", every)
			}
			s.says("vllm:num_requests_running 1\n")
			if look(t, w); w.Every() != often {
				t.Errorf("next look after %v once it is there", w.Every())
			}
		})
	}
}

func TestTransportFails(t *testing.T) {
	s := serve(t, "x")
	w := watch(t, s, Config{})
	s.Close()
	w.cfg.Source.URL = strings.Replace(s.URL, "http://", "http://user:s3cretpw@", 1) + "/metrics?key=s3cretq"
	sig, err := w.Poll(context.Background())
	if err == nil || strings.Contains(err.Error()+sig.Detail, "s3cret") || !strings.HasPrefix(sig.Detail, "/metrics: ") || w.Every() != often {
		t.Errorf("%v, %+v", err, sig)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	w.cfg.Source.URL = "http://h\x7f/"
	if _, err := w.Poll(context.Background()); err == nil || strings.Contains(err.Error(), "\x7f") {
		t.Errorf("no URL: %v", err)
	}
}

// TestSlowAnswer: the time a look takes is part of what it says.
func TestSlowAnswer(t *testing.T) {
	s := serve(t, "")
	var c clock
	s.does(func(w http.ResponseWriter, _ *http.Request) {
		c.ns.Add(2e9)
		_, _ = io.WriteString(w, "vllm:num_requests_running 1\n")
	})
	w := watch(t, s, Config{})
	w.cfg.Now = c.now
	if sig := look(t, w); sig.Took < 2e9 || sig.Took > 3e9 {
		t.Errorf("took %v", time.Duration(sig.Took))
	}
}

// TestKeysStayHome: the header goes to the target alone, also through vLLM's
// redirect, and not to what is somewhere else.
func TestKeysStayHome(t *testing.T) {
	for _, own := range []bool{true, false} {
		s := serve(t, "")
		var keys []string
		s.does(func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Authorization"))
			if r.URL.Path == "/metrics" {
				http.Redirect(w, r, "/metrics/", http.StatusTemporaryRedirect)
				return
			}
			_, _ = io.WriteString(w, "vllm:num_requests_running 1\n")
		})
		h := http.Header{"Authorization": {"Bearer k"}}
		w := watch(t, s, Config{Header: h, Source: Source{Own: own}})
		look(t, w)
		wantKey := ""
		if own {
			wantKey = "Bearer k"
		}
		if len(keys) != 2 || keys[0] != wantKey || keys[1] != wantKey || len(h) != 1 {
			t.Errorf("own %v: keys %q, header %v", own, keys, h)
		}
	}
}

// BenchmarkPage is a page of vLLM's size, most of which nobody asked for.
func BenchmarkPage(b *testing.B) {
	text, err := os.ReadFile("testdata/vllm_v1.prom")
	if err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat(text, 200)
	table := DefaultTable()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p := readPage(body, table.wanted)
		_ = table.figures(p)
	}
}
