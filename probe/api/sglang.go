package api

import (
	"bytes"
	"net/http"

	"teapot/probe/event"
)

// sglang is SGLang's own /generate: a bare prompt, a count of the tokens and
// the number of retractions in every event, and all of the text so far in each.
type sglang struct{}

var _ Dialect = sglang{}

func (sglang) Name() string { return "sglang" }

func (sglang) Endpoint(base, _ string) string { return rooted(base, "/generate") }

func (sglang) Auth(h http.Header, base, key string) { bearer(h, base, key) }

func (sglang) NewDecoder() Decoder { return newReply(newGenerate()) }

// Body leaves the seed out: at temperature 0 it changes nothing, and older
// servers refuse the request for it. The server has one model.
func (sglang) Body(a Ask) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	type sampling struct {
		MaxNew      int      `json:"max_new_tokens"`
		MinNew      int      `json:"min_new_tokens,omitempty"`
		IgnoreEOS   bool     `json:"ignore_eos,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
	}
	s := sampling{MaxNew: a.MaxTokens, IgnoreEOS: !a.Drop[FieldIgnoreEOS], Temperature: a.temperature()}
	if !a.Drop[FieldMinNewTokens] {
		s.MinNew = a.MaxTokens
	}
	return encode(struct {
		Text     string   `json:"text"`
		Sampling sampling `json:"sampling_params"`
		Stream   bool     `json:"stream"`
	}{a.Prompt, s, true})
}

// generate reads the events of /generate.
type generate struct {
	look *glance
	growing
}

// The fields of an event, in the order of the glance.
const (
	sglText = iota
	sglIDs
	sglError
	sglMessage
	sglFinish
	sglPrompt
	sglCompletion
	sglCached
	sglRetracted
	sglQueue
	sglTotal
	sglForward
	sglPrefilled
	sglRate
)

func newGenerate() *generate {
	return &generate{look: newGlance("text", "output_ids", "error", "message",
		"meta_info.finish_reason", "meta_info.prompt_tokens", "meta_info.completion_tokens", "meta_info.cached_tokens", "meta_info.num_retractions",
		"meta_info.queue_time", "meta_info.e2e_latency", "meta_info.forward_entry_time", "meta_info.prefill_finished_time", "meta_info.decode_throughput")}
}

func (g *generate) read(_ string, data []byte, c *chunk) bool {
	f, ok := g.look.look(data)
	if !ok {
		return false
	}
	c.choices, c.indices = 1, 1
	if !f[sglError].empty() || !f[sglMessage].empty() && !f[sglText].is && !f[sglIDs].is {
		c.fail = failureIn(data)
		return true
	}
	if n, ok := f[sglPrompt].count(); ok {
		c.usage.prompt = n
	}
	if n, ok := f[sglCached].count(); ok {
		c.usage.cached = n
	}
	// Reasoning is part of the text here, so that its count hides nothing.
	if n, ok := f[sglCompletion].count(); ok {
		c.usage.completion = n
	}
	text, ids := g.step(f[sglText].text, f[sglIDs].raw, c.usage.completion)
	c.say(event.Answer, text)
	// Some versions divide the ids and repeat the text all the same: where the
	// ids alone have shown that nothing is repeated, its text is still watched.
	c.pieces = g.whole || g.parts && !g.counted
	if c.usage.completion < 0 {
		c.ids = ids
	}
	g.times(f, c)
	g.end(f[sglFinish], c)
	return true
}

// end reads the reason: an object with a type, which tells more where the
// request was aborted.
func (g *generate) end(f field, c *chunk) {
	if !f.is {
		return
	}
	c.finished = 1
	o, ok := objectOf(f.raw)
	if !ok {
		c.end(1, f.text)
		return
	}
	reason := textOf(o["type"])
	c.end(1, reason)
	if message := textOf(o["message"]); len(message) > 0 && failing(string(reason)) {
		c.fail = (&failure{message: string(message), kind: string(textOf(o["err_type"]))}).fill(o)
	}
}

// times reads the server's own measurements, in s, which all but the whole are
// there only where its metrics are on: when the model began with the prompt and
// when it was through, the wait before, and the rate of the tokens after the first.
func (g *generate) times(f []field, c *chunk) {
	w := work{running: -1, queue: f[sglQueue].span(1e9), total: f[sglTotal].span(1e9)}
	w.retracted, _ = f[sglRetracted].count()
	begun, ok := f[sglForward].number()
	through, both := f[sglPrefilled].number()
	if ok && both {
		w.prompt = spanOf(through-begun, 1e9)
	}
	if rate, ok := f[sglRate].number(); ok && rate > 0 {
		w.perToken = spanOf(1/rate, 1e9)
		if n := c.usage.completion; n > 1 {
			w.decode = spanOf(float64(n-1)/rate, 1e9)
		}
	}
	w.set = w.queue > 0 || w.total > 0 || w.prompt > 0 || w.perToken > 0 || w.retracted > 0
	if w.set {
		w.decodeN = max(c.usage.completion, 0)
		w.cached = max(c.usage.cached, 0)
	}
	c.work.merge(w)
}

// growing tells what is new in the events of a server that repeats all it has
// generated so far, unless it was started so as not to. Which of the two it is
// shows in the second event: by the number of ids against the count of tokens,
// else by its text, which then begins with the one before.
type growing struct {
	text    []byte // all of it so far, while it may be repeated
	ids     int
	events  int
	whole   bool // everything is repeated
	parts   bool // nothing is
	counted bool // the count has shown it: no text can prove it wrong
}

// step takes the text of an event, its ids, and the number of tokens so far (-1
// when not said). It returns the text and the number of ids that are new.
func (g *growing) step(text, ids []byte, tokens int) (newText []byte, newIDs int) {
	n := -1
	if tokens < 0 || !g.whole && !g.parts {
		n = elements(ids)
	}
	if len(text) == 0 && n <= 0 && !g.whole {
		return nil, 0
	}
	g.events++
	if g.events > 1 && !g.whole && !g.parts {
		g.decide(text, n, tokens)
	}
	if g.parts {
		return text, max(n, 0)
	}
	same := shared(g.text, text)
	if same < len(g.text) && g.whole && !g.counted {
		g.whole, g.parts, g.text = false, true, nil
		return text, max(n, 0)
	}
	g.text = append(g.text[:same], text[same:]...)
	newIDs = max(n-g.ids, 0)
	g.ids = max(n, g.ids)
	return text[same:], newIDs
}

// decide finds out which of the two it is.
func (g *growing) decide(text []byte, n, tokens int) {
	switch {
	case n > 0 && tokens > 0:
		g.whole, g.counted = n >= tokens, true
	default:
		g.whole = bytes.HasPrefix(text, g.text)
	}
	if g.parts = !g.whole; g.parts {
		g.text = nil
	}
}

// shared is how many bytes two texts begin with in common.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n // as nearly always, and many times as quick
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// elements is the number of elements of a JSON array, -1 for what is none. The
// text must be valid.
func elements(raw []byte) int {
	if len(raw) == 0 || raw[0] != '[' {
		return -1
	}
	i := blank(raw, 1)
	if i >= len(raw) || raw[i] == ']' {
		return 0
	}
	for n := 1; ; n++ {
		if i = value(raw, i, 0); i < 0 {
			return -1 // a nest too deep: nobody's list of ids
		}
		if i = blank(raw, i); i >= len(raw) || raw[i] != ',' {
			return n
		}
		i = blank(raw, i+1)
	}
}
