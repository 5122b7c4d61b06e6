package stats

import "fmt"

// This file holds the rules that rest on the server's counters.

func rulePreempted(c *scene) (Verdict, []string) {
	p := c.metrics()
	n, over, ok := p.grew("preemptions")
	swapped, _, have := p.most("swapped", c.s.began, c.s.At)
	if c.held() || !(ok && n > 0 || have && swapped > 0) || c.s.First && c.a.StartingPrompt >= ownLeast {
		return 0, nil
	}
	kv, _, known := p.most("kv_used", c.s.began, c.s.At)
	if c.all() && !(n >= float64(c.a.Together+1) && kv >= kvFull) {
		return 0, nil // one request loses its memory, not all of them at once
	}
	var lines []string
	if n > 0 {
		lines = append(lines, fmt.Sprintf("the server preempted %s in the %s of the looks around it", count(uint64(n), "request"), span(over)))
	}
	if have && swapped > 0 {
		lines = append(lines, fmt.Sprintf("%s stood aside for lack of memory", count(uint64(swapped), "request")))
	}
	if known && kv >= kvFull {
		lines = append(lines, fmt.Sprintf("its KV cache was %s full", per100(kv)))
	}
	if r, _, ok := p.grew("recomputed"); ok && r > 0 {
		lines = append(lines, fmt.Sprintf("it computed %.0f tokens again", r))
	}
	return Likely, with(lines, c.streams())
}

func ruleQueued(c *scene) (Verdict, []string) {
	if !c.s.First {
		return 0, nil
	}
	p := c.metrics()
	sum, _, ok := p.grew("queue_sum")
	n, _, _ := p.grew("queue_count")
	if mean := nanos(share(sum, n)); ok && n > 0 && mean >= (c.s.Length-c.s.Usual)/2 && mean > 0 {
		return Likely, []string{fmt.Sprintf("by the server's own figures the %.0f requests around it were queued for %s on average", n, span(mean))}
	}
	for _, from := range []sourceIndex{fromMetrics, fromPerf, fromIterations} {
		w, at, ok := c.s.pair[from].most("waiting", c.s.began, c.s.At-c.s.Length/4)
		if ok && w > 0 && at < c.s.Length {
			return Likely, with([]string{fmt.Sprintf("%s waiting at the server %s", wereWaiting(w), c.when(c.s.began+at))}, c.headers())
		}
	}
	// llama.cpp sends its headers when a slot takes the request.
	if h := c.a.ToHeaders; c.t.info.Engine == "llama.cpp" && h >= c.s.Length/2 && h > c.s.Usual {
		return Likely, []string{c.headers() + ": this engine sends them when a slot takes the request"}
	}
	return 0, nil
}

func wereWaiting(n float64) string {
	if n == 1 {
		return "1 request was"
	}
	return fmt.Sprintf("%.0f requests were", n)
}

func (c *scene) headers() string {
	if c.a.ToHeaders <= 0 {
		return ""
	}
	return fmt.Sprintf("the headers came after %s of the %s", span(c.a.ToHeaders), span(c.s.Length))
}

func rulePrompt(c *scene) (Verdict, []string) {
	if !c.s.First {
		return 0, nil
	}
	if n := float64(c.a.PromptToken); c.t.prompts > 0 && n >= 2*c.t.prompts && n >= promptLeast {
		return Likely, []string{fmt.Sprintf("its prompt had %.0f tokens, others %.0f on average", n, c.t.prompts)}
	}
	if n := c.a.StartingPrompt; c.a.Starting > 0 && n >= ownLeast {
		return Likely, []string{fmt.Sprintf("%s of this client with %d prompt tokens got the first token with it: one step worked on all of them",
			count(uint64(c.a.Starting), "other request"), n)}
	}
	p := c.metrics()
	hits, _, ok := p.grew("prefix_hits")
	asked, _, _ := p.grew("prefix_queries")
	had, _ := p.had("prefix_hits")
	if w, _, _ := p.most("waiting", c.s.began, c.s.At); ok && w == 0 && hits == 0 && asked >= promptLeast && had > 0 {
		return Likely, []string{fmt.Sprintf("none of %.0f prompt tokens was found in the prefix cache, some had been before, and nobody was waiting", asked)}
	}
	return 0, nil
}

func ruleStep(c *scene) (Verdict, []string) {
	p := &c.s.pair[fromIterations]
	for i := range p.looks {
		look := &p.looks[i]
		step, ok := sampleOf(look, "step_max", "")
		prompt, _ := sampleOf(look, "step_max_prefill", "")
		if !ok || look.At < c.s.began || c.s.First || c.held() || c.alone() || prompt.Value <= 0 {
			continue
		}
		if v := nanos(step.Value); v >= c.s.Length/10*6 && v <= c.s.Length/10*15 {
			return Proven, with([]string{fmt.Sprintf("the engine's longest step took %s and held %.0f prompt tokens", span(v), prompt.Value)}, c.streams())
		}
	}
	return 0, nil
}

// others is how many prompt tokens the server worked on around the spike that
// this client did not send, and over which span.
func (c *scene) others() (net float64, over int64, ok bool) {
	p := c.metrics()
	sum, over, ok := p.grew("step_tokens_sum")
	if ok {
		made, _, have := p.grew("gen_tokens")
		if !have {
			made, _, _ = p.grew("step_tokens_count")
		}
		sum -= made
	} else if sum, over, ok = p.grew("prefill_tokens"); ok {
		if _, _, known := p.grew("prefix_queries"); known {
			hits, _, _ := p.grew("prefix_hits")
			sum -= hits
		}
	}
	if !ok {
		return 0, 0, false
	}
	last := &p.looks[len(p.looks)-1] // what it tells of may be older than it is
	own, known := c.t.promptsIn(last.At-last.Age-over, last.At)
	return sum - own, over, known
}

// before is the rate of prompt tokens, a second, in the look before the spike;
// below 0 where it is not known.
func (c *scene) before() float64 {
	p := c.metrics()
	v, ok := p.had("step_tokens_sum")
	if made, have := p.had("gen_tokens"); ok && have {
		v -= made
	} else if v, ok = p.had("prefill_tokens"); !ok {
		return -1
	}
	return max(v, 0) / (float64(p.looks[0].Span) / 1e9)
}

func rulePrefill(c *scene) (Verdict, []string) {
	if c.held() || c.alone() {
		return 0, nil
	}
	net, over, ok := c.others()
	if !ok || net < promptLeast {
		return 0, nil
	}
	rate := net / (float64(over) / 1e9)
	if before := c.before(); !c.all() && before >= 0 && rate < standsOut*before {
		return 0, nil // it always does: that tells nothing of this spike
	}
	lines := []string{fmt.Sprintf("the server worked on %.0f prompt tokens of others in the %s of the looks around it", net, span(over))}
	p := c.metrics()
	sum, _, _ := p.grew("step_tokens_sum")
	if n, _, ok := p.grew("step_tokens_count"); ok && n > 0 {
		line := fmt.Sprintf("its steps held %s tokens on average", digits(sum/n))
		was, _ := p.had("step_tokens_sum")
		if m, ok := p.had("step_tokens_count"); ok && m > 0 {
			line += ", before it " + digits(was/m)
		}
		lines = append(lines, line)
	}
	return Likely, with(lines, c.batches(), c.streams())
}

// batches says how many steps of a prefill the run of gaps shows.
func (c *scene) batches() string {
	if !c.all() || c.a.Gaps < 2 {
		return ""
	}
	return fmt.Sprintf("%d long gaps follow each other, one for each batch of the prompt, %s in all", c.a.Gaps, span(c.a.To-c.a.From))
}

func ruleSlots(c *scene) (Verdict, []string) {
	p := &c.s.pair[fromSlots]
	if c.s.First || c.held() || c.alone() {
		return 0, nil
	}
	for i := range p.looks {
		look := &p.looks[i]
		n, ok := sampleOf(look, "prefilling", "")
		if !ok || n.Value <= 0 || look.At < c.s.began || look.At-look.Took > c.s.At {
			continue
		}
		left, _ := sampleOf(look, "prefill_left", "")
		return Likely, with([]string{fmt.Sprintf("a slot was at work on a prompt, %.0f tokens of it still to come %s", left.Value, c.when(look.At))}, c.batches(), c.streams())
	}
	return 0, nil
}

func ruleServerGC(c *scene) (Verdict, []string) {
	p := c.metrics()
	n, over, ok := p.grew("python_gc")
	had, _ := p.had("python_gc")
	if !ok || n <= 0 || c.held() || c.alone() || had > 0 && !c.all() {
		return 0, nil
	}
	return Likely, with([]string{fmt.Sprintf("the server's collector went through its oldest generation %s in the %s of the looks around it", timesRun(uint64(n)), span(over))}, c.streams())
}

func ruleKVTraffic(c *scene) (Verdict, []string) {
	p := c.metrics()
	var lines []string
	for _, x := range []struct{ name, what string }{
		{"loaded_back", "brought back into its KV cache"}, {"evicted", "put out of its KV cache"}, {"offloaded", "moved out of its KV cache"},
	} {
		had, _ := p.had(x.name)
		if n, over, ok := p.grew(x.name); ok && n > 0 && had <= 0 {
			lines = append(lines, fmt.Sprintf("%.0f units were %s in the %s of the looks around it, none before", n, x.what, span(over)))
		}
	}
	if len(lines) == 0 || c.held() || c.alone() {
		return 0, nil
	}
	return Likely, with(lines, c.streams())
}

func ruleThrottle(c *scene) (Verdict, []string) {
	if c.held() || c.alone() {
		return 0, nil
	}
	for _, from := range []sourceIndex{fromGPU, fromExporter} {
		p := &c.s.pair[from]
		now, _, ok := p.most("gpu.throttle", c.s.began, c.s.At)
		if !ok || !p.before {
			continue
		}
		was, _ := sampleOf(&p.looks[0], "gpu.throttle", "")
		if why := SlowedFor(now); why != "" && SlowedFor(was.Value) == "" {
			return Likely, with([]string{"a GPU began to slow down for " + why}, c.streams())
		}
	}
	return 0, nil
}

// SlowedFor is why a GPU is slow, by the bits of gpu.throttle; "" when it is not,
// or rests.
func SlowedFor(mask float64) string {
	if !(mask >= 1 && mask < 1<<32) {
		return ""
	}
	switch bits := uint32(mask); {
	case bits&0x60 != 0:
		return "heat"
	case bits&0x84 != 0:
		return "its power limit"
	case bits&0x8 != 0:
		return "its hardware's sake"
	}
	return ""
}
