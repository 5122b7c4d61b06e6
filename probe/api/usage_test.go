package api

import (
	"fmt"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

func TestUsagePlaces(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		n      int
		source event.CountSource
		want   Result // the other counts
	}{
		{"empty choices", []string{say("a"), stopChunk, `{"choices":[],` + usageOf(9) + `}`}, 9, event.CountUsage, Result{Prompt: 5}},
		{"choices null", []string{say("a"), stopChunk, `{"choices":null,` + usageOf(9) + `}`}, 9, event.CountUsage, Result{Prompt: 5}},
		{"no choices", []string{say("a"), stopChunk, `{` + usageOf(9) + `}`}, 9, event.CountUsage, Result{Prompt: 5}},
		{"empty delta", []string{say("a"), stopChunk, with(delta("", ""), usageOf(9))}, 9, event.CountUsage, Result{Prompt: 5}},
		{"the finish frame", []string{say("a"), with(stopChunk, usageOf(9))}, 9, event.CountUsage, Result{Prompt: 5}},
		{"before the finish frame", []string{say("a"), `{"choices":[],` + usageOf(9) + `}`, stopChunk}, 9, event.CountUsage, Result{Prompt: 5}},
		{"zeros, then real", []string{with(say("a"), usageOf(0)), with(stopChunk, usageOf(0)), `{"choices":[],` + usageOf(9) + `}`}, 9, event.CountUsage, Result{Prompt: 5}},
		{"real, then zeros", []string{say("a"), with(stopChunk, usageOf(9)), `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`}, 9, event.CountUsage, Result{Prompt: 5}},
		{"null and empty", []string{with(say("a"), `"usage":null`), with(stopChunk, `"usage":{}`)}, 1, event.CountEvents, Result{}},
		{"absent", []string{say("a"), say("b"), stopChunk}, 2, event.CountEvents, Result{}},
		{"inside the choice", []string{say("a"), delta("", `,"finish_reason":"stop",`+usageOf(9))}, 9, event.CountUsage, Result{Prompt: 5}},
		{"x_groq", []string{say("a"), with(stopChunk, `"x_groq":{"id":"r","usage":{"queue_time":0.01,"prompt_tokens":5,"prompt_time":0.001,"completion_tokens":9,"completion_time":0.05,"total_time":0.051}}`)}, 9, event.CountUsage, Result{Prompt: 5, Server: &event.ServerTimings{PromptN: 5, Prompt: 1e6, DecodeN: 9, Decode: 5e7, Queue: 1e7, Total: 51e6, PerToken: 5555555}}},
		{"time_info", []string{say("a"), with(stopChunk, usageOf(9)+`,"time_info":{"queue_time":0.002,"prompt_time":0.003,"completion_time":0.1,"total_time":0.2,"created":1}`)}, 9, event.CountUsage, Result{Prompt: 5, Server: &event.ServerTimings{PromptN: 5, Prompt: 3e6, DecodeN: 9, Decode: 1e8, Queue: 2e6, Total: 2e8, PerToken: 11111111}}},
		{"continuous, cut short", []string{with(say("a"), usageOf(1)), with(say("b"), usageOf(3))}, 3, event.CountRunning, Result{Prompt: 5}},
		{"timings only", []string{say("a"), with(stopChunk, `"timings":{"prompt_n":4,"prompt_ms":2.5,"predicted_n":9,"predicted_ms":80,"cache_n":3}`)}, 9, event.CountTimings, Result{Cached: 3, Server: &event.ServerTimings{PromptN: 4, Prompt: 2500000, DecodeN: 9, Decode: 8e7, PerToken: 8888888}}},
		{"usage beats timings", []string{say("a"), with(stopChunk, usageOf(9)+`,"timings":{"predicted_n":8}`)}, 9, event.CountUsage, Result{Prompt: 5, Server: &event.ServerTimings{DecodeN: 8}}},
		{"other names", []string{say("a"), with(stopChunk, `"usage":{"input_tokens":5,"output_tokens":9,"input_tokens_details":{"cached_tokens":2},"output_tokens_details":{"reasoning_tokens":4}}`)}, 9, event.CountUsage, Result{Prompt: 5, Cached: 2, Reasoning: 4, Hidden: true}},
		{"details", []string{say("a"), with(stopChunk, `"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":6}}`)}, 9, event.CountUsage, Result{Prompt: 5, Cached: 3, Reasoning: 6, Hidden: true}},
		{"reasoning that was shown", []string{delta(`"reasoning":"x"`, ""), say("a"), with(stopChunk, `"usage":{"prompt_tokens":5,"completion_tokens":9,"reasoning_tokens":6}`)}, 9, event.CountUsage, Result{Prompt: 5, Reasoning: 6}},
		{"DeepSeek's cache", []string{say("a"), with(stopChunk, `"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":1}`)}, 9, event.CountUsage, Result{Prompt: 5, Cached: 4}},
		{"strings and floats", []string{say("a"), with(stopChunk, `"usage":{"prompt_tokens":5.0,"completion_tokens":"9"}`)}, 9, event.CountUsage, Result{Prompt: 5}},
		{"absurd", []string{say("a"), with(stopChunk, `"usage":{"prompt_tokens":-5,"completion_tokens":1e300}`)}, 1, event.CountEvents, Result{}},
		{"after [DONE]", []string{say("a"), stopChunk, "[DONE]", `{"choices":[],` + usageOf(9) + `}`}, 9, event.CountUsage, Result{Prompt: 5}},
		{"logprobs counted", []string{delta(`"content":"abc"`, `,"logprobs":{"content":[{},{},{}]}`), say("d"), stopChunk}, 4, event.CountEvents, Result{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := feed(c.events...)
			r := s.Result(9, nil)
			if r.N != c.n || r.Count != c.source {
				t.Errorf("N %d by %s, want %d by %s", r.N, r.Count, c.n, c.source)
			}
			if r.Prompt != c.want.Prompt || r.Cached != c.want.Cached || r.Reasoning != c.want.Reasoning || r.Hidden != c.want.Hidden {
				t.Errorf("%+v", r)
			}
			if (r.Server == nil) != (c.want.Server == nil) || (r.Server != nil && *r.Server != *c.want.Server) {
				t.Errorf("server %+v, want %+v", r.Server, c.want.Server)
			}
		})
	}
}

// TestOneStream is a stream on which measuring tools disagree: a role event,
// thinking, a stall of 460 ms, several tokens in most events, the total last.
func TestOneStream(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	line := func(s string) []byte { return []byte("data: " + s + "\n\n") }
	sc := script{end: io.EOF, writes: []write{
		{ms(100), line(with(roleChunk, usageOf(0)))},
		{ms(400), line(with(delta(`"reasoning_content":"a"`, ""), usageOf(1)))},
		{ms(420), line(with(delta(`"reasoning_content":"b c d"`, ""), usageOf(4)))},
		{ms(440), line(with(say("e f"), usageOf(6)))},
		{ms(900), line(with(say("g h i j"), usageOf(10)))},
		{ms(920), line(with(say("k l"), usageOf(12)))},
		{ms(940), line(with(fullChunk, usageOf(12)))},
		{ms(950), line(`{"choices":[],` + usageOf(12) + `}`)},
		{ms(960), line("[DONE]")},
	}}
	s := replay(sc, 0, "chat")
	var at, gaps []time.Duration
	var ks []uint32
	for i, tok := range s.tokens {
		at, ks = append(at, tok.at), append(ks, tok.k)
		if i > 0 {
			gaps = append(gaps, at[i]-at[i-1])
		}
	}
	if got, want := fmt.Sprint(gaps), "[20ms 20ms 460ms 20ms]"; got != want {
		t.Errorf("gaps %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(ks), "[1 3 2 4 2]"; got != want {
		t.Errorf("k %s, want %s", got, want)
	}
	if at[0] != ms(400) || s.first(func(c event.Channel) bool { return c == event.Answer }) != ms(440) {
		t.Errorf("first token at %v, first answer at %v", at[0], s.first(func(c event.Channel) bool { return c == event.Answer }))
	}
	tpot := (at[4] - at[0]).Seconds() * 1000 / float64(s.res.N-int(ks[0]))
	if fmt.Sprintf("%.1f", tpot) != "47.3" || s.res.Class != event.OKFull || s.res.N != 12 {
		t.Errorf("TPOT %.1f ms, %s, N %d", tpot, s.res.Class, s.res.N)
	}
}

// TestCountsAddUp makes up streams with continuous usage: whatever the pieces,
// the sum of k is the server's total.
func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, tokenEvents := 0, 0
		events := []string{with(roleChunk, usageOf(0))}
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			k := rapid.IntRange(0, 5).Draw(t, "k")
			total += k
			if k > 0 {
				tokenEvents++
			}
			text := ""
			if k > 0 && rapid.Bool().Draw(t, "visible") {
				text = "x"
			}
			events = append(events, with(say(text), usageOf(total)))
			if k == 0 && rapid.Bool().Draw(t, "ping") {
				events = append(events, ":", "{}")
			}
		}
		if total == 0 {
			return
		}
		events = append(events, with(fullChunk, usageOf(total)), `{"choices":[],`+usageOf(total)+`}`, "[DONE]")
		s, parts := feed(events...)
		sum, n := 0, 0
		for _, p := range parts {
			sum += int(p.K)
			if p.Evidence {
				n++
			}
		}
		r := s.Result(total, nil)
		if sum != total || n != tokenEvents || r.N != total || r.Class != event.OKFull {
			t.Fatalf("sum of k %d, %d token events, %s with N %d; want %d, %d", sum, n, r.Class, r.N, total, tokenEvents)
		}
	})
}
