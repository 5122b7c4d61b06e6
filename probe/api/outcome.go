package api

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// atLength tells whether a finish reason means that the limit of tokens was
// reached.
func atLength(reason string) bool {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "max_output_tokens", "model_length", "limit":
		return true
	}
	return false
}

// failing tells whether a finish reason means that the reply went wrong.
func failing(reason string) bool {
	switch strings.ToLower(reason) {
	case "abort", "aborted", "cancelled", "canceled", "error", "parse_error", "content_filter", "refusal",
		"insufficient_system_resource", "safety", "recitation", "other", "malformed_function_call",
		"blocklist", "prohibited_content", "spii", "unload", "timeout":
		return true
	}
	return false
}

// Result implements Decoder.
func (s *stream) Result(asked int, end error) Result {
	r := Result{
		Finish: OneLine(s.finish),
		Model:  s.model, Provider: OneLine(s.provider),
		Flags:  s.flags,
		Prompt: max(s.usage.prompt, 0),
		Cached: max(s.usage.cached, 0),
	}
	s.count(&r)
	s.server(&r)
	r.Class, r.Message = s.class(asked, end, &r)
	return r
}

// count finds the number of output tokens with the best authority there is.
func (s *stream) count(r *Result) {
	switch {
	case s.usage.completion > 0 && s.usageFinal:
		r.N, r.Count = s.usage.completion, event.CountUsage
	case s.usage.completion > 0:
		r.N, r.Count = s.usage.completion, event.CountRunning
	case s.work.running > 0:
		r.N, r.Count = s.work.running, event.CountTimings
	case s.tokenEvents > 0:
		r.N, r.Count = s.tokens, event.CountEvents
	}
	r.Reasoning = max(s.usage.reasoning, 0)
	// What a running count brought is in the tokens of some event, seen or not.
	r.Hidden = r.Reasoning > 0 && !s.reasoned && !s.byUsage.live
	if r.Cached == 0 {
		r.Cached = s.work.cached
	}
}

// server hands on the server's own times.
func (s *stream) server(r *Result) {
	if !s.work.set {
		return
	}
	r.Server = &event.ServerTimings{
		PromptN: s.work.promptN, Prompt: s.work.prompt,
		DecodeN: s.work.decodeN, Decode: s.work.decode,
		Queue: s.work.queue, Load: s.work.load, Total: s.work.total, PerToken: s.work.perToken,
		Drafted: s.work.drafted, Accepted: s.work.accepted, Retracted: s.work.retracted,
	}
	// Groq and Cerebras give the times there and the counts in usage.
	if r.Server.PromptN == 0 && s.work.running < 0 {
		r.Server.PromptN = max(s.usage.prompt, 0)
	}
	if r.Server.DecodeN == 0 {
		r.Server.DecodeN = max(s.usage.completion, 0)
	}
	if r.Server.PerToken == 0 && r.Server.DecodeN > 0 {
		r.Server.PerToken = r.Server.Decode / int64(r.Server.DecodeN)
	}
}

// class says how the reply ended. An error outranks every marker of success
// that came before or after it, and nothing is a success without a terminal
// reason: neither [DONE] nor a clean end of the body is one.
func (s *stream) class(asked int, end error, r *Result) (event.Class, string) {
	switch {
	case s.fail != nil:
		r.Code, r.Overload = s.fail.code, s.fail.overload()
		line := OneLine(s.fail.message)
		if line == "" {
			line = "the server reported an error without a text"
		}
		if (s.format == sse.JSON || s.format == sse.Array) && s.tokenEvents == 0 {
			return event.ErrBody200, line
		}
		return event.ErrStream, line
	case s.foreign != "":
		return event.ErrNotStream, s.foreign
	case s.format == sse.JSON && s.events > 0 && !s.lines:
		return event.ErrNotStream, "one JSON document came instead of a stream"
	case errors.Is(end, sse.ErrTooLong) && !s.terminal():
		return event.ErrLimit, OneLine(end.Error())
	case s.hopeless:
		return event.ErrDecode, fmt.Sprintf("%d events in a row were not JSON", badInRow)
	case failing(s.finish):
		return event.ErrStream, OneLine("the server ended the reply with the reason " + s.finish)
	case s.tokenEvents == 0 && (s.done || s.terminal() || s.muteEnd(end)):
		if n := max(s.usage.completion, 0); n > 0 {
			return event.ErrEmpty, fmt.Sprintf("no token was shown, though the server counted %d", n)
		}
		if s.finish != "" {
			return event.ErrEmpty, OneLine("the reply ended without a token, with the reason " + s.finish)
		}
		return event.ErrEmpty, "the reply ended without a token"
	case s.terminal():
		return s.success(asked, r), ""
	case s.muteEnd(end):
		return event.OKUnknownReason, ""
	}
	return event.ErrTruncated, s.brokenLine(end)
}

// muteEnd tells whether the body ended as that of a dialect should which has no
// other end: in order, and not inside an event.
func (s *stream) muteEnd(end error) bool {
	return s.mute && s.events > 0 && !s.torn && (end == nil || end == io.EOF) && !slices.Contains(s.flags, event.FlagNoTerminator)
}

// describe says what came instead of a stream.
func describe(body []byte) string {
	if len(body) > 0 && body[0] == '<' {
		if title := titleOf(body); title != "" {
			return OneLine("an HTML page came instead of a stream: " + title)
		}
		return "an HTML page came instead of a stream"
	}
	return OneLine("plain text came instead of a stream: " + string(body[:min(len(body), maxRaw)]))
}

// success tells a full reply from a shorter or a longer one.
func (s *stream) success(asked int, r *Result) event.Class {
	switch {
	case s.finish == "":
		return event.OKUnknownReason
	case asked > 0 && r.N > asked:
		return event.OKLong
	case s.finish == "completed" && r.N == asked && r.Count != event.CountEvents:
		// llama.cpp says so of a response that reached the limit, too.
		return event.OKFull
	case !atLength(s.finish):
		return event.OKShort
	case r.N == asked:
		// Also where only events were counted: each holds a token at least,
		// and the limit was the number of tokens asked for.
		return event.OKFull
	case r.Count == event.CountEvents:
		return event.OKUnknownReason
	}
	return event.OKShort
}

// brokenLine says in which way a reply broke off.
func (s *stream) brokenLine(end error) string {
	switch {
	case end != nil && !errors.Is(end, io.EOF):
		return OneLine("the connection broke before the end: " + root(end).Error())
	case s.done:
		return "the mark of the end came without a finish reason"
	case s.torn, s.mute && slices.Contains(s.flags, event.FlagNoTerminator):
		return "the body ended inside an event"
	case s.events == 0:
		return "the body ended before any event"
	}
	return "the body ended without a finish reason"
}

// root is the innermost reason of an error: "connection reset by peer" without
// the addresses around it.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
