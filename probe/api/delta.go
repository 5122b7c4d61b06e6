package api

import (
	"bytes"
	"encoding/json"

	"teapot/probe/event"
)

// decodeDelta finds the text of a delta in every channel. Where a server
// repeats the same text under two spellings, the first one counts.
func decodeDelta(o object, c *chunk) {
	answer, thought := contentOf(o["content"])
	c.say(event.Answer, answer)
	if sound, ok := objectOf(o["audio"]); ok {
		c.say(event.Answer, textOf(sound["transcript"])) // the sound itself is no text
	}
	c.say(event.ToolCall, toolText(o))
	c.say(event.Refusal, textOf(o["refusal"]))
	for _, text := range [][]byte{
		textOf(o["reasoning_content"]), looseText(o["reasoning"]), looseText(o["thinking"]), detailText(o["reasoning_details"]), thought,
	} {
		c.say(event.Reasoning, text)
	}
}

// contentOf reads content: a string, or an array of blocks, of which some hold
// the answer and some a thought.
func contentOf(raw json.RawMessage) (answer, thought []byte) {
	if text := textOf(raw); text != nil {
		return text, nil
	}
	for _, one := range listOf(raw) {
		if text := textOf(one); text != nil {
			answer = append(answer, text...)
			continue
		}
		block, ok := objectOf(one)
		if !ok {
			continue
		}
		switch string(textOf(block["type"])) {
		case "thinking", "reasoning":
			for _, key := range []string{"thinking", "reasoning", "text", "content"} {
				if text := looseText(block[key]); len(text) > 0 {
					thought = append(thought, text...)
					break
				}
			}
		default:
			answer = append(answer, textOf(block["text"])...)
		}
	}
	return answer, thought
}

// looseText reads a string, an object that holds one, or an array of either.
func looseText(raw json.RawMessage) []byte { return looseAt(raw, 0) }

func looseAt(raw json.RawMessage, depth int) []byte {
	if depth > 4 {
		return nil
	}
	if text := textOf(raw); text != nil {
		return text
	}
	if o, ok := objectOf(raw); ok {
		for _, key := range []string{"text", "content", "summary"} {
			if text := looseAt(o[key], depth+1); len(text) > 0 {
				return text
			}
		}
		return nil
	}
	var all []byte
	for _, one := range listOf(raw) {
		all = append(all, looseAt(one, depth+1)...)
	}
	return all
}

// detailText reads OpenRouter's reasoning details. An encrypted one is no text
// and arrives when the thinking is over.
func detailText(raw json.RawMessage) []byte {
	var all []byte
	for _, one := range listOf(raw) {
		if o, ok := objectOf(one); ok {
			if text := textOf(o["text"]); len(text) > 0 {
				all = append(all, text...)
			} else {
				all = append(all, textOf(o["summary"])...)
			}
		}
	}
	return all
}

// toolText reads the names and arguments of tool calls and of the older
// function call.
func toolText(o object) []byte {
	var all []byte
	call := func(raw json.RawMessage) {
		f, ok := objectOf(raw)
		if !ok {
			return
		}
		all = append(all, textOf(f["name"])...)
		for _, key := range []string{"arguments", "input"} {
			arg := bytes.TrimSpace(f[key])
			if text := textOf(arg); text != nil {
				all = append(all, text...)
			} else if len(arg) > 2 && arg[0] == '{' {
				all = append(all, arg...)
			}
		}
	}
	for _, one := range listOf(o["tool_calls"]) {
		if t, ok := objectOf(one); ok {
			call(t["function"])
			call(t["custom"])
		}
	}
	call(o["function_call"])
	return all
}
