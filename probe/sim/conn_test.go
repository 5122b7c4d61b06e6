package sim

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestConnectionIsUsedAgain: after a stream, as after a document.
func TestConnectionIsUsedAgain(t *testing.T) {
	bubble(t, Options{Profile: "smooth"}, func(w *world) {
		for i := range 3 {
			var reused bool
			ctx := httptrace.WithClientTrace(w.Context(), &httptrace.ClientTrace{
				GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused },
			})
			body := `{"messages":[{"role":"user","content":"x"}],"stream":true,"max_tokens":3}`
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine/v1/chat/completions", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if got := w.read(w.http.Do(r)); !got.done || got.err != nil {
				w.Errorf("request %d: %+v", i, got)
			}
			if reused != (i > 0) {
				w.Errorf("request %d: connection reused: %v", i, reused)
			}
			synctest.Wait()
		}
	})
}

// TestPipelinedRequest: bytes that a client sent ahead of time are not lost.
func TestPipelinedRequest(t *testing.T) {
	bubble(t, Options{Profile: "smooth"}, func(w *world) {
		one := wirePost("/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"stream":true,"max_tokens":2}`)
		got := w.raw(one+"GET /version HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n", `{"version":"dev"}`)
		if !strings.HasSuffix(got, `{"version":"dev"}`) || strings.Count(got, "[DONE]") != 1 {
			w.Errorf("got %q", got)
		}
	})
}

// TestOldHTTP: without chunked coding the end of the reply is the end of the
// connection.
func TestOldHTTP(t *testing.T) {
	bubble(t, Options{Profile: "smooth"}, func(w *world) {
		one := wirePost("/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"stream":true,"max_tokens":2}`)
		got := w.raw(strings.Replace(one, "HTTP/1.1", "HTTP/1.0", 1), "never")
		if !strings.HasSuffix(got, "}\n\ndata: [DONE]\n\n") || strings.Contains(got, "chunked") {
			w.Errorf("got %q", got)
		}
	})
}

// TestDisconnectFreesTheSlot: at once, whatever was asked for.
func TestDisconnectFreesTheSlot(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		t.Run("stream "+stream, func(t *testing.T) {
			bubble(t, Options{Profile: "smooth"}, func(w *world) {
				ctx, cancel := context.WithCancel(w.Context())
				body := `{"messages":[{"role":"user","content":"x"}],"stream":` + stream + `,"max_tokens":20000,"ignore_eos":true}`
				r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine/v1/chat/completions", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					w.read(w.http.Do(r))
				}()
				time.Sleep(time.Second)
				if m := w.scrape(); m["vllm:num_requests_running"] != 1 {
					w.Errorf("running: %v", m["vllm:num_requests_running"])
				}
				cancel()
				<-ended
				time.Sleep(30 * time.Millisecond)
				m := w.scrape()
				if m["vllm:num_requests_running"] != 0 || m["vllm:kv_cache_usage_perc"] != 0 ||
					m[`vllm:request_success_total{finished_reason="abort"}`] != 1 {
					w.Errorf("afterwards: running %v, KV %v", m["vllm:num_requests_running"], m["vllm:kv_cache_usage_perc"])
				}
				_, _, ends := w.facts()
				if len(ends) != 1 || ends[0].Why != "abort" || *ends[0].N < 50 || *ends[0].N > 90 {
					w.Errorf("the truth log has %+v", ends)
				}
			})
		})
	}
}

// TestQueueIsBounded: beyond batch and queue the answer is 503.
func TestQueueIsBounded(t *testing.T) {
	p, _ := profileNamed("smooth")
	p.pace.maxSeqs, p.queue = 2, 1
	bubbleOf(t, Options{}, p, func(w *world) {
		all := make(chan reply, 4)
		for range 4 {
			go func() { all <- w.ask(usual + `,"max_tokens":50`) }()
		}
		time.Sleep(40 * time.Millisecond) // two steps
		if m := w.scrape(); m["vllm:num_requests_running"] != 2 || m["vllm:num_requests_waiting"] != 1 {
			w.Errorf("running %v, waiting %v", m["vllm:num_requests_running"], m["vllm:num_requests_waiting"])
		}
		full, fine := 0, 0
		for range 4 {
			switch r := <-all; {
			case r.status == 503 && r.header.Get("Retry-After") == "1":
				full++
			case r.tokens == 50 && r.done:
				fine++
			}
		}
		if full != 1 || fine != 3 {
			w.Errorf("%d turned away, %d served", full, fine)
		}
	})
}
