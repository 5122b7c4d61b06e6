package api

import (
	"bytes"
	"errors"

	"github.com/buger/jsonparser"

	"teapot/probe/event"
)

// errUnusual ends a walk that met something the picker leaves to encoding/json.
var errUnusual = errors.New("unusual chunk")

// picker takes the facts out of a plain chunk in one walk and without
// allocating. Anything it is not sure of (an error, several choices, blocks,
// tool calls, duplicate keys, odd numbers, bad UTF-8) it refuses, and the
// decoder reads the event the slow way.
type picker struct {
	scratch
	c *chunk

	top, choice, delta, usage, timings fields
	index                              int
	finish                             []byte
	text                               [6][]byte // in the order of textKeys

	// The callbacks are bound once: a method value made for each walk would
	// be garbage.
	onTop, onChoice, onDelta, onUsage, onTimings func(key, value []byte, t jsonparser.ValueType, at int) error
	onElement                                    func(value []byte, t jsonparser.ValueType, at int, err error)
	failed                                       bool
}

// The places of text in a choice, in the order in which they count.
const (
	textContent = iota
	textReasoningContent
	textReasoning
	textThinking
	textRefusal
	textPlain
)

// fields remembers the keys seen in one object, to notice a repeated one.
type fields uint32

// add notes key number i; it is false when that key was there before.
func (f *fields) add(i int) bool {
	bit := fields(1) << i
	if *f&bit != 0 {
		return false
	}
	*f |= bit
	return true
}

func newPicker() *picker {
	p := &picker{scratch: scratch{make([]byte, 0, 256)}}
	p.onTop, p.onChoice, p.onDelta = p.topKey, p.choiceKey, p.deltaKey
	p.onUsage, p.onTimings, p.onElement = p.usageKey, p.timingsKey, p.element
	return p
}

// pick fills c from a plain chunk. It is false when the chunk is not plain; c
// then holds nothing of use.
func (p *picker) pick(data []byte, c *chunk) bool {
	if !valid(data) {
		return false
	}
	p.c, p.buf, p.top, p.failed = c, p.buf[:0], 0, false
	return jsonparser.ObjectEach(data, p.onTop) == nil && !p.failed
}

func (p *picker) topKey(key, value []byte, t jsonparser.ValueType, _ int) error {
	null := t == jsonparser.Null
	switch string(key) {
	case "choices":
		if !p.top.add(0) || t != jsonparser.Array {
			return errUnusual
		}
		if _, err := jsonparser.ArrayEach(value, p.onElement); err != nil || p.failed {
			return errUnusual
		}
	case "usage":
		p.usage = 0
		if !p.top.add(1) || (!null && t != jsonparser.Object) {
			return errUnusual
		}
		if !null {
			return jsonparser.ObjectEach(value, p.onUsage)
		}
	case "timings":
		p.timings = 0
		if !p.top.add(2) || (!null && t != jsonparser.Object) {
			return errUnusual
		}
		if !null {
			p.c.work.set = true
			return jsonparser.ObjectEach(value, p.onTimings)
		}
	case "model":
		if !p.top.add(3) || t != jsonparser.String {
			return errUnusual
		}
		text, err := p.plain(value)
		p.c.model = text
		return err
	case "provider":
		if !p.top.add(5) || t != jsonparser.String {
			return errUnusual
		}
		text, err := p.plain(value)
		p.c.provider = text
		return err
	case "object":
		if !p.top.add(4) || t != jsonparser.String || string(value) == "error" || !tidy(value) {
			return errUnusual
		}
	case "error", "x_groq", "time_info":
		if !null {
			return errUnusual
		}
	case "type", "detail", "errors", "message", "code", "status_code", "__type":
		return errUnusual
	default:
		if t == jsonparser.Object && bytes.HasSuffix(key, []byte("Exception")) {
			return errUnusual
		}
	}
	return nil
}

func (p *picker) element(value []byte, t jsonparser.ValueType, _ int, err error) {
	if err != nil || t != jsonparser.Object || p.c.choices > 0 {
		p.failed = true
		return
	}
	p.c.choices++
	p.choice, p.delta, p.index, p.finish = 0, 0, 0, nil
	p.text = [6][]byte{}
	if jsonparser.ObjectEach(value, p.onChoice) != nil {
		p.failed = true
		return
	}
	for i, ch := range textChannels() {
		p.c.say(ch, p.text[i])
	}
	bit := bitOf(p.index)
	p.c.indices |= bit
	p.c.end(bit, p.finish)
}

// textChannels says what each text of a choice is, in the order of the text
// constants.
func textChannels() [6]event.Channel {
	return [6]event.Channel{event.Answer, event.Reasoning, event.Reasoning, event.Reasoning, event.Refusal, event.Answer}
}

func (p *picker) choiceKey(key, value []byte, t jsonparser.ValueType, _ int) error {
	null := t == jsonparser.Null
	switch string(key) {
	case "index":
		n, ok := small(value, t)
		if !p.choice.add(0) || !ok {
			return errUnusual
		}
		p.index = n
	case "delta":
		if !p.choice.add(1) || t != jsonparser.Object {
			return errUnusual
		}
		return jsonparser.ObjectEach(value, p.onDelta)
	case "text":
		return p.textOf(&p.choice, 2, textPlain, value, t)
	case "finish_reason":
		if !p.choice.add(3) || (!null && t != jsonparser.String) {
			return errUnusual
		}
		if !null {
			text, err := p.plain(value)
			p.finish = text
			return err
		}
	case "logprobs", "token_ids", "output_ids", "tokens", "message", "usage", "error":
		if !null {
			return errUnusual
		}
	}
	return nil
}

func (p *picker) deltaKey(key, value []byte, t jsonparser.ValueType, _ int) error {
	switch string(key) {
	case "content":
		return p.textOf(&p.delta, 0, textContent, value, t)
	case "reasoning_content":
		return p.textOf(&p.delta, 1, textReasoningContent, value, t)
	case "reasoning":
		return p.textOf(&p.delta, 2, textReasoning, value, t)
	case "thinking":
		return p.textOf(&p.delta, 3, textThinking, value, t)
	case "refusal":
		return p.textOf(&p.delta, 4, textRefusal, value, t)
	case "tool_calls", "function_call", "reasoning_details", "audio":
		if t != jsonparser.Null {
			return errUnusual
		}
	}
	return nil
}

// textOf takes the string under key number i of an object.
func (p *picker) textOf(seen *fields, i, place int, value []byte, t jsonparser.ValueType) error {
	if !seen.add(i) || (t != jsonparser.String && t != jsonparser.Null) {
		return errUnusual
	}
	if t == jsonparser.Null {
		return nil
	}
	text, err := p.plain(value)
	p.text[place] = text
	return err
}

func (p *picker) usageKey(key, value []byte, t jsonparser.ValueType, _ int) error {
	u := &p.c.usage
	switch string(key) {
	case "completion_tokens":
		return number(&p.usage, 0, value, t, &u.completion)
	case "prompt_tokens":
		return number(&p.usage, 1, value, t, &u.prompt)
	case "reasoning_tokens":
		return number(&p.usage, 2, value, t, &u.reasoning)
	case "output_tokens", "input_tokens", "completion_tokens_details", "output_tokens_details",
		"prompt_tokens_details", "input_tokens_details", "prompt_cache_hit_tokens", "cached_tokens",
		"queue_time", "prompt_time", "completion_time", "total_time":
		if t != jsonparser.Null {
			return errUnusual
		}
	}
	return nil
}

func (p *picker) timingsKey(key, value []byte, t jsonparser.ValueType, _ int) error {
	w := &p.c.work
	switch string(key) {
	case "predicted_n":
		if err := number(&p.timings, 0, value, t, &w.running); err != nil {
			return err
		}
		w.decodeN = w.running
	case "prompt_n":
		return number(&p.timings, 1, value, t, &w.promptN)
	case "cache_n":
		return number(&p.timings, 2, value, t, &w.cached)
	case "draft_n":
		return number(&p.timings, 3, value, t, &w.drafted)
	case "draft_n_accepted":
		return number(&p.timings, 4, value, t, &w.accepted)
	case "prompt_ms":
		return millis(&p.timings, 5, value, t, &w.prompt)
	case "predicted_ms":
		return millis(&p.timings, 6, value, t, &w.decode)
	case "predicted_per_token_ms":
		return millis(&p.timings, 7, value, t, &w.perToken)
	}
	return nil
}
