package api

import (
	"bytes"
	"encoding/json"
	"strconv"

	"teapot/probe/event"
)

// object is a JSON object whose values are still to be read. Of a repeated key
// the last value counts.
type object map[string]json.RawMessage

// maxBatch bounds the chunks taken from one event that holds an array of them.
const maxBatch = 4096

// decode fills c from any event, with encoding/json. It is false when the
// event makes no sense: not JSON, or JSON that is neither null, an object nor
// an array of objects.
func decode(data []byte, c *chunk) bool {
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		return true
	}
	if len(data) > 0 && data[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return false
		}
		for i, one := range list {
			o, ok := objectOf(one)
			if !ok || i >= maxBatch {
				return false
			}
			decodeChunk(o, c)
		}
		return true
	}
	o, ok := objectOf(data)
	if !ok {
		return false
	}
	decodeChunk(o, c)
	return true
}

func decodeChunk(o object, c *chunk) {
	if c.fail == nil {
		c.fail = failureOf(o)
	}
	if name := textOf(o["model"]); len(name) > 0 && len(c.model) == 0 {
		c.model = name
	}
	if name := textOf(o["provider"]); len(name) > 0 && len(c.provider) == 0 {
		c.provider = name
	}
	for _, raw := range listOf(o["choices"]) {
		if choice, ok := objectOf(raw); ok {
			decodeChoice(choice, c)
		}
	}
	if u, ok := objectOf(o["usage"]); ok {
		decodeUsage(u, c)
	}
	if t, ok := objectOf(o["timings"]); ok {
		decodeTimings(t, c)
	}
	if g, ok := objectOf(o["x_groq"]); ok {
		if u, ok := objectOf(g["usage"]); ok {
			decodeUsage(u, c)
		}
	}
	if t, ok := objectOf(o["time_info"]); ok {
		decodeSeconds(t, c)
	}
}

func decodeChoice(o object, c *chunk) {
	c.choices++
	index, _ := countOf(o["index"])
	bit := bitOf(index)
	c.indices |= bit

	d, ok := objectOf(o["delta"])
	if !ok {
		// Some servers stream the message; beside a delta it repeats all the
		// text so far.
		d, ok = objectOf(o["message"])
	}
	if ok {
		decodeDelta(d, c)
	}
	c.say(event.Answer, textOf(o["text"]))

	for _, key := range []string{"token_ids", "output_ids", "tokens"} {
		if n := len(listOf(o[key])); n > 0 {
			c.ids += n
			break
		}
	}
	if l, ok := objectOf(o["logprobs"]); ok {
		for _, key := range []string{"content", "tokens", "refusal"} {
			if n := len(listOf(l[key])); n > 0 {
				c.logprobs += n
				break
			}
		}
	}
	if u, ok := objectOf(o["usage"]); ok {
		decodeUsage(u, c)
	}
	if c.fail == nil {
		c.fail = errorOf(o["error"])
	}
	reason := textOf(o["finish_reason"])
	if f, ok := objectOf(o["finish_reason"]); ok {
		reason = textOf(f["type"])
	}
	c.end(bit, reason)
}

// decodeUsage reads the counts in every spelling.
func decodeUsage(o object, c *chunk) {
	u := noUsage()
	first := func(into *int, keys ...string) {
		for _, key := range keys {
			if n, ok := countOf(o[key]); ok && *into <= 0 {
				*into = n
			}
		}
	}
	inside := func(into *int, key string, names ...string) {
		for _, name := range names {
			if d, ok := objectOf(o[name]); ok {
				if n, ok := countOf(d[key]); ok && *into <= 0 {
					*into = n
				}
			}
		}
	}
	first(&u.completion, "completion_tokens", "output_tokens")
	first(&u.prompt, "prompt_tokens", "input_tokens")
	first(&u.reasoning, "reasoning_tokens")
	first(&u.cached, "prompt_cache_hit_tokens", "cached_tokens")
	inside(&u.reasoning, "reasoning_tokens", "completion_tokens_details", "output_tokens_details")
	inside(&u.cached, "cached_tokens", "prompt_tokens_details", "input_tokens_details")
	c.usage.merge(u)
	decodeSeconds(o, c)
}

// decodeSeconds reads the server's times of Groq (in its usage) and Cerebras
// (time_info), in seconds.
func decodeSeconds(o object, c *chunk) {
	w := work{running: -1}
	for _, f := range []struct {
		key  string
		into *int64
	}{{"queue_time", &w.queue}, {"prompt_time", &w.prompt}, {"completion_time", &w.decode}, {"total_time", &w.total}} {
		if v, ok := floatOf(o[f.key]); ok {
			w.set = true
			*f.into = spanOf(v, 1e9)
		}
	}
	c.work.merge(w)
}

// decodeTimings reads llama.cpp's own measurements, in ms. predicted_ms runs
// from the first token to the last, predicted_n counts both.
func decodeTimings(o object, c *chunk) {
	w := work{set: true, running: -1}
	if n, ok := countOf(o["predicted_n"]); ok {
		w.running, w.decodeN = n, n
	}
	w.promptN, _ = countOf(o["prompt_n"])
	w.cached, _ = countOf(o["cache_n"])
	w.drafted, _ = countOf(o["draft_n"])
	w.accepted, _ = countOf(o["draft_n_accepted"])
	if v, ok := floatOf(o["prompt_ms"]); ok {
		w.prompt = spanOf(v, 1e6)
	}
	if v, ok := floatOf(o["predicted_ms"]); ok {
		w.decode = spanOf(v, 1e6)
	}
	if v, ok := floatOf(o["predicted_per_token_ms"]); ok {
		w.perToken = spanOf(v, 1e6)
	}
	if c.work.running < 0 && w.running == 0 {
		c.work.running = 0
	}
	c.work.merge(w)
}

func objectOf(raw json.RawMessage) (object, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	var o object
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, false
	}
	return o, true
}

func listOf(raw json.RawMessage) []json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

// textOf is the value of a JSON string, nil for anything else.
func textOf(raw json.RawMessage) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return []byte(s)
}

// countOf reads a count, also one written as a string or with a fraction; a
// negative or absurd one does not count as said.
func countOf(raw json.RawMessage) (int, bool) {
	f, ok := floatOf(raw)
	return whole(f, ok)
}

// countIn is countOf for the text of a number.
func countIn(text string) (int, bool) {
	f, ok := floatIn(text)
	return whole(f, ok)
}

func whole(f float64, ok bool) (int, bool) {
	if !ok || !(f >= 0 && f < 1e9) {
		return 0, false
	}
	return int(f), true
}

func floatOf(raw json.RawMessage) (float64, bool) {
	if len(raw) > 0 && raw[0] == '"' {
		return floatIn(string(textOf(raw)))
	}
	return floatIn(string(raw))
}

func floatIn(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}
